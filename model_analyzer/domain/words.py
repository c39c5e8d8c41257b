# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Words for people."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, noun: str) -> str:
    """`1 trial`, `2 trials`: of nouns that only take an s."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def whole(number: float) -> float:
    """The number rounded for display: 0 instead of -0."""
    return round(number, 0) + 0.0


def first_few(names: Sequence[str], most: int = 12) -> str:
    """The names with commas between; of more than `most`, the number of the others: `a, b and 3
    more`.
    """
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
