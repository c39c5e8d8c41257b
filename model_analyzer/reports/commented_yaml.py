# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""YAML with comments that say where its values come from: no library writes those."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# What needs no quotes: no number, no other word for true, false or null, nothing with a meaning.
_PLAIN = re.compile(r"-{0,2}[A-Za-z/][\w./=@-]*(:[\w./=@-]+)*", re.ASCII)
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "y", "n", "null"})

# What YAML only has in escapes, or takes for the end of a line.
_UNPRINTABLE = re.compile(
    "[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)


@dataclass(frozen=True, slots=True)
class Noted:
    """A value with a comment, which stands behind it."""

    value: Any
    comment: str


def to_yaml(value: Mapping[str, Any]) -> str:
    """A document: mappings, sequences, text, numbers and truth values, any of them `Noted`."""
    return "".join(f"{line}\n" for line in _lines(value))


def comment(text: str) -> str:
    """A line that says `text`, whatever is in it."""
    text = re.sub(r"\s+", " ", text)
    return f"# {_UNPRINTABLE.sub('?', text)}"


def _lines(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _entry(f"{_scalar(key)}:", item)
        return
    for item in value:
        item, behind = _noted(item)
        if _is_scalar(item):
            yield f"- {_scalar(item)}{behind}"
            continue
        for index, line in enumerate(_lines(item)):
            yield f"- {line}{behind}" if index == 0 else f"  {line}"


def _entry(key: str, item: Any) -> Iterator[str]:
    item, behind = _noted(item)
    if isinstance(item, str) and _is_block(item):
        yield f"{key} |{behind}"
        yield from (f"  {line}" for line in item.splitlines())
    elif _is_scalar(item):
        yield f"{key} {_scalar(item)}{behind}"
    else:
        yield f"{key}{behind}"
        yield from (f"  {line}" for line in _lines(item))


def _noted(item: Any) -> tuple[Any, str]:
    return (item.value, f"  {comment(item.comment)}") if isinstance(item, Noted) else (item, "")


def _is_scalar(item: Any) -> bool:
    return isinstance(item, str) or not isinstance(item, (Mapping, Sequence)) or not item


def _is_block(text: str) -> bool:
    """Whether it is shown best as the lines that it is."""
    ends = text.endswith("\n") and not text.endswith("\n\n")
    return ends and not text[0].isspace() and not _UNPRINTABLE.search(text)


def _scalar(value: Any) -> str:
    if not isinstance(value, str):
        return json.dumps(value)  # of mappings and sequences, those that are empty
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    quoted = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)
