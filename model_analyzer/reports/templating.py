# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Templates of HTML pages, printed pages and YAML manifests. All inserted values are escaped."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2
import markupsafe
import yaml

from model_analyzer.domain.printable import one_line
from model_analyzer.reports.renderer import Picture
from model_analyzer.results.columns import Cell, show

_TEMPLATES = Path(__file__).with_name("templates")


@dataclass(frozen=True, slots=True)
class Commented:
    """A YAML value with a comment after it."""

    value: str | int
    comment: str


def render(template: str, **values: Any) -> str:
    """Renders an HTML template with these values."""
    return _environment().get_template(template).render(**values)


def render_yaml(template: str, **values: Any) -> str:
    """Renders a YAML template with these values: scalars, or `Commented`."""
    return _yaml_environment().get_template(template).render(**values)


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    environment = _templates(autoescape=True)
    environment.filters["show"] = show
    environment.filters["shown"] = _shown
    environment.filters["svg"] = _svg
    return environment


@lru_cache(maxsize=1)
def _yaml_environment() -> jinja2.Environment:
    environment = _templates(finalize=_yaml, keep_trailing_newline=True)
    environment.filters["comment"] = _comment
    environment.filters["mapping"] = _mapping
    return environment


def _templates(**options: Any) -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        **options,
    )


def _yaml(value: str | int | Commented | markupsafe.Markup) -> str:
    """An inserted value as YAML: a scalar, with its comment if any; output of filters as it is."""
    match value:
        case markupsafe.Markup():
            return value
        case Commented():
            return f"{_scalar(value.value)}  {_comment(value.comment)}"
        case _:
            return _scalar(value)


def _scalar(value: str | int) -> str:
    """Text is always quoted: YAML readers differ in how they read plain scalars."""
    if isinstance(value, int):
        return str(value)
    return yaml.safe_dump(value, default_style='"', width=math.inf).rstrip("\n")


def _comment(text: str) -> markupsafe.Markup:
    return markupsafe.Markup(f"# {one_line(text)}")


def _mapping(texts: Mapping[str, str]) -> markupsafe.Markup:
    """A YAML mapping of names to texts; as block scalars where possible."""
    entries = (
        yaml.safe_dump({name: text}, default_style="|" if _is_block(text) else '"', width=math.inf)
        for name, text in texts.items()
    )
    return markupsafe.Markup("".join(entries).removesuffix("\n"))


def _is_block(text: str) -> bool:
    """Whether a text can be a block scalar; PyYAML checks the rest."""
    return not text[:1].isspace() and text.endswith("\n") and not text.endswith("\n\n")


def _shown(cell: Cell) -> markupsafe.Markup:
    """A table cell, with line break opportunities in long names."""
    text = markupsafe.escape("-" if cell is None else show(cell))
    broken = text.replace("_config_", markupsafe.Markup("<wbr>_config_"))
    return broken.replace(",", markupsafe.Markup(",<wbr>"))


def _svg(picture: Picture) -> markupsafe.Markup:
    """The chart as SVG, escaped by the renderer; or the reason why it is missing."""
    if picture.content is None:
        return markupsafe.Markup('<p class="missing">Not drawn: {}.</p>').format(picture.why)
    return markupsafe.Markup(picture.content.decode())
