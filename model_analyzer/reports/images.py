# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Draws charts: images of their own, or inside a page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from model_analyzer.domain.printable import drawable, drawable_values

_SCALE = 1.5  # pixels of an image for each of the chart's own: sharp on most screens


def to_svg(spec: Mapping[str, Any]) -> str:
    """A Vega-Lite specification as SVG. What texts hold is escaped: the renderer would end the
    process over what is no character.
    """
    return _drawn(json.dumps(drawable_values(spec)))


def to_png(spec: Mapping[str, Any]) -> bytes:
    """A Vega-Lite specification as PNG."""
    import vl_convert

    image: bytes = vl_convert.svg_to_png(to_svg(spec), scale=_SCALE)
    return image


@lru_cache(maxsize=256)
def _drawn(spec: str) -> str:
    """A page and images of the same chart are drawn once."""
    import vl_convert  # at the moment of use: it brings an engine of its own

    svg: str = vl_convert.vegalite_to_svg(spec)
    return drawable(svg)  # an escape in a text may have become what it stands for
