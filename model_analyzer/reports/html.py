# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Renders reports as HTML: one self-contained file each, everything escaped."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2
import markupsafe

from model_analyzer.reports.build import Detail, Summary
from model_analyzer.reports.images import to_svg
from model_analyzer.reports.tables import show

_TEMPLATES = Path(__file__).with_name("templates")


def render_summary(report: Summary) -> str:
    return _environment().get_template("summary.html.j2").render(report=report)


def render_detail(report: Detail) -> str:
    return _environment().get_template("detailed.html.j2").render(report=report)


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["show"] = show
    environment.filters["svg"] = _svg
    return environment


def _svg(spec: dict[str, Any]) -> markupsafe.Markup:
    """The chart as SVG, whose texts the renderer has escaped."""
    return markupsafe.Markup(to_svg(spec))
