# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Templates of HTML pages, printed pages and YAML manifests. All inserted values are escaped."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2
import markupsafe
import yaml

from model_analyzer.domain.trials import trial_words
from model_analyzer.domain.words import capitalized, one_line
from model_analyzer.reports.renderer import Picture

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


def yaml_documents(remarks: Iterable[str], documents: Iterable[Any]) -> str:
    """YAML documents of mappings, sequences, scalars and `Commented`, below remarks as comments."""
    head = "".join(f"{_comment(remark)}\n" for remark in remarks)
    bodies = ("".join(f"{line}\n" for line in _block(document)) for document in documents)
    return head + "---\n".join(bodies)


def _block(value: Mapping[str, Any] | Sequence[Any]) -> Iterator[str]:
    """The lines of a collection that is not empty."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _item(f"{key}:", item, "  ")
        return
    for item in value:
        if _is_nested(item):
            first, *rest = _block(item)
            yield f"- {first}"
            yield from (f"  {line}" if line else line for line in rest)
        else:
            yield from _item("-", item, "  ")


def _item(head: str, value: Any, indent: str) -> Iterator[str]:
    if _is_nested(value):
        yield head
        yield from (indent + line if line else line for line in _block(value))
    elif isinstance(value, (Mapping, Sequence)) and not isinstance(value, str):
        yield f"{head} {'{}' if isinstance(value, Mapping) else '[]'}"
    elif isinstance(value, bool):
        yield f"{head} {str(value).lower()}"
    elif isinstance(value, str) and _is_block(value):
        dumped = yaml.safe_dump({"x": value}, default_style="|", width=math.inf)
        text = dumped.split(": ", 1)[1].rstrip("\n")
        yield from f"{head} {text}".split("\n")
    else:
        yield f"{head} {_yaml(value)}"


def _is_nested(value: Any) -> bool:
    return isinstance(value, (Mapping, list, tuple)) and bool(value)


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    environment = _templates(autoescape=True)
    environment.filters["capitalized"] = capitalized
    environment.filters["shown"] = _shown
    environment.filters["svg"] = _svg
    environment.filters["words"] = trial_words
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


def _shown(cell: str | None) -> markupsafe.Markup:
    """The text of a table cell, with line break opportunities in long names; its own lines are not
    broken.
    """
    text = markupsafe.escape("-" if cell is None else cell)
    if "\n" in text:
        return text.replace("\n", markupsafe.Markup("<br>"))
    broken = text.replace("_config_", markupsafe.Markup("<wbr>_config_"))
    return broken.replace(",", markupsafe.Markup(",<wbr>"))


def _svg(picture: Picture) -> markupsafe.Markup:
    """The chart as SVG, escaped by the renderer; or the reason why it is missing."""
    if picture.content is None:
        return markupsafe.Markup('<p class="missing">Not drawn: {}.</p>').format(picture.why)
    return markupsafe.Markup(picture.content.decode())
