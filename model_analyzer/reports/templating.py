# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The templates of pages, for the browser and for paper: whatever is put into them is escaped."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2
import markupsafe

from model_analyzer.reports.renderer import Picture
from model_analyzer.results.columns import Cell, show

_TEMPLATES = Path(__file__).with_name("templates")


def render(template: str, **values: Any) -> str:
    """The text of a template with these values."""
    return _environment().get_template(template).render(**values)


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
    environment.filters["shown"] = _shown
    environment.filters["svg"] = _svg
    return environment


def _shown(cell: Cell) -> markupsafe.Markup:
    """A cell of a table, with places where a long name may be broken."""
    text = markupsafe.escape("-" if cell is None else show(cell))
    broken = text.replace("_config_", markupsafe.Markup("<wbr>_config_"))
    return broken.replace(",", markupsafe.Markup(",<wbr>"))


def _svg(picture: Picture) -> markupsafe.Markup:
    """The chart as SVG, whose texts the renderer has escaped; or why there is none."""
    if picture.content is None:
        return markupsafe.Markup('<p class="missing">Not drawn: {}.</p>').format(picture.why)
    return markupsafe.Markup(picture.content.decode())
