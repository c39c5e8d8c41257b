# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The reader for JSON that may be anything: files of users and of other tools, answers of servers,
and what an earlier run left where others can write.

It has limits of size and of depth: code that handles a value is recursive, and Python limits that
to less than a thousand calls. All functions raise ValueError; with a place in the text, that is a
`json.JSONDecodeError`. `reading.json_stream` reads what does not fit into memory.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import orjson

MOST_BYTES = 64 * 2**20
DEEPEST = 100

Pairs = list[tuple[str, Any]]


class TooDeep(ValueError):
    """JSON with more levels of lists and objects than anybody needs."""

    def __init__(self) -> None:
        super().__init__("nested too deeply")


def parse_json(text: bytes | str, *, most_bytes: int = MOST_BYTES, deepest: int = DEEPEST) -> Any:
    """The value of a JSON text, which may have NaN and Infinity, as Python writes them."""
    try:
        return parse_standard(text, most_bytes=most_bytes, deepest=deepest)
    except json.JSONDecodeError:
        # the slower parser knows more, and explains errors
        return parse_with(text, most_bytes=most_bytes, deepest=deepest)


def parse_standard(
    text: bytes | str, *, most_bytes: int = MOST_BYTES, deepest: int = DEEPEST
) -> Any:
    """The value of a text that is JSON by its standard."""
    _check_size(text, most_bytes)
    value = orjson.loads(text)
    check_depth(text, value, deepest)
    return value


def no_number(name: str) -> Any:
    """For NaN and infinity, which are not JSON: raises ValueError."""
    raise ValueError(f"{name} is not a number")


def parse_unambiguous(
    text: bytes,
    *,
    most_bytes: int = MOST_BYTES,
    deepest: int = DEEPEST,
    constant: Callable[[str], Any] = no_number,
) -> Any:
    """The value of a text that all parsers read in the same way: no object has a key twice, and
    there is no NaN or infinity, if `constant` makes nothing else of them.
    """
    try:
        value = parse_standard(text, most_bytes=most_bytes, deepest=deepest)
        if orjson.dumps(value) == text:
            return value  # writing it gives the same text, so it is unambiguous
    except (json.JSONDecodeError, TypeError):
        pass  # the slower parser knows more, and explains errors
    return parse_with(
        text, most_bytes=most_bytes, deepest=deepest, pairs=_unique, constant=constant
    )


def parse_with(
    text: bytes | str,
    *,
    most_bytes: int = MOST_BYTES,
    deepest: int = DEEPEST,
    pairs: Callable[[Pairs], Any] | None = None,
    constant: Callable[[str], Any] | None = None,
    number: Callable[[str], Any] | None = None,
) -> Any:
    """The value of a text, in which `pairs` makes objects, `constant` NaN and infinity, and
    `number` all other numbers.
    """
    _check_size(text, most_bytes)
    characters = text.decode() if isinstance(text, bytes) else text
    try:
        value = json.loads(
            characters,
            object_pairs_hook=pairs,
            parse_constant=constant,
            parse_int=number,
            parse_float=number,
        )
    except RecursionError:
        raise TooDeep from None
    check_depth(text, value, deepest)
    return value


def check_depth(text: bytes | str, value: Any, deepest: int = DEEPEST) -> None:
    """Raises TooDeep if the value of this text has more levels."""
    brackets = (b"[", b"{") if isinstance(text, bytes) else ("[", "{")
    if sum(map(text.count, brackets)) > deepest and depth(value) > deepest:  # type: ignore[arg-type]
        raise TooDeep


def depth(value: Any) -> int:
    """How many mappings and lists are nested."""
    levels, level = 0, [value]
    while level := [item for item in level if isinstance(item, (dict, list))]:
        levels += 1
        level = [
            inner for item in level for inner in (item.values() if isinstance(item, dict) else item)
        ]
    return levels


def _check_size(text: bytes | str, most_bytes: int) -> None:
    if len(text) > most_bytes:
        raise ValueError(f"larger than {most_bytes // 2**20} MiB")


def _unique(pairs: Pairs) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise ValueError(f"the key {twice!r} occurs twice")
    return mapping
