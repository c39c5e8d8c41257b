# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Texts with a few pieces cut, copied or put in: for whatever reads files and answers."""

from __future__ import annotations

from hypothesis import strategies as st


@st.composite
def damaged(
    draw: st.DrawFn,
    texts: st.SearchStrategy[str],
    pieces: st.SearchStrategy[str],
    *,
    least: int = 1,
) -> str:
    """One of the texts with `least` to five changes."""
    text = draw(texts)
    for _ in range(draw(st.integers(least, 5))):
        start = draw(st.integers(0, len(text)))
        stop = min(len(text), start + draw(st.integers(0, 12)))
        match draw(st.integers(0, 3)):
            case 0:
                text = text[:start] + text[stop:]
            case 1:
                text = text[:stop] + text[start:]
            case 2:
                text = text[:start] + draw(pieces) + text[stop:]
            case _:
                text = text[:start] + draw(pieces) + text[start:]
    return text
