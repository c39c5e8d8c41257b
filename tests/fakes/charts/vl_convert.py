# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A pretend vl_convert that draws nothing: to start the engine of the real one takes a second of a
processor, a third of a whole run on pretend programs.
"""

from __future__ import annotations


def vegalite_to_svg(_specification: str) -> str:
    return '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"></svg>'


def svg_to_png(svg: str, *, scale: float) -> bytes:
    """No image: a test that looks at one has to have it drawn."""
    assert svg.startswith("<svg")
    assert scale > 0
    return b""
