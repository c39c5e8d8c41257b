# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Says which value of an entry is invalid, where it is, and what was expected there.

msgspec checks entries fast, but its messages lack the key in a mapping and the value. So an entry
that it refused is searched for the part that it refuses.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterator
from enum import Enum
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from msgspec import Struct, ValidationError, convert
from msgspec.structs import fields

# What msgspec raises for an invalid value: the second for a text with surrogates in a wrong place.
REFUSED = (ValidationError, UnicodeEncodeError)

_MISSING = object()
_NO_STEP = object()
_COMPOUND = (Annotated, Union, UnionType)
_WORDS = {str: "a text", bool: "true or false", list: "a list", Any: "a value"}


class Malformed(ValueError):
    """A value of a wrong type, or out of range."""

    def __init__(self, expected: str, value: Any = _MISSING, place: str = "") -> None:
        """Without a `value`, it is missing. `place` is where it is in the entry."""
        super().__init__(expected, value, place)
        self._expected, self._value, self._place = expected, value, place

    def __str__(self) -> str:
        value = "nothing" if self._value is _MISSING else reprlib.repr(self._value)
        place = f"{self._place.lstrip('.')}: " if self._place else ""
        return f"{place}expected {self._expected}, found {value}"

    def inside(self, step: str | int) -> Malformed:
        """The same error for the mapping or list that has the value at `step`."""
        place = f"[{step}]" if isinstance(step, int) else f".{step}"
        return Malformed(self._expected, self._value, place + self._place)


def refusal(kind: Any, value: Any) -> Malformed:
    """Why a value is not of this kind: of a type of `schema`, which refuses it."""
    for step, part, item in _parts(kind, value):
        if item is _MISSING:
            return Malformed(_expected(part)).inside(step)
        if not _is_of(part, item):
            inner = refusal(part, item)
            return inner if step is _NO_STEP else inner.inside(step)
    return Malformed(_expected(kind), value)


def _is_of(kind: Any, value: Any) -> bool:
    try:
        convert(value, kind)
    except REFUSED:
        return False
    return True


def _parts(kind: Any, value: Any) -> Iterator[tuple[Any, Any, Any]]:
    """The step to each part of a value, its kind, and the part; missing ones, too. Rows (lists with
    a fixed length) are small: their items have no step.
    """
    kind = _main(kind, value)
    origin, arguments = get_origin(kind), get_args(kind)
    if isinstance(value, dict) and origin is dict:
        for key, item in value.items():
            yield _NO_STEP, arguments[0], key
            yield key, arguments[1], item
    elif isinstance(value, dict) and isinstance(kind, type) and issubclass(kind, Struct):
        for field in fields(kind):
            if field.required or field.encode_name in value:
                yield field.encode_name, field.type, value.get(field.encode_name, _MISSING)
    elif isinstance(value, list) and origin is list:
        yield from ((index, arguments[0], item) for index, item in enumerate(value))
    elif isinstance(value, list) and origin is tuple and len(value) == len(arguments):
        yield from zip([_NO_STEP] * len(value), arguments, value, strict=True)


def _main(kind: Any, value: Any) -> Any:
    """The kind without its bounds; of several, the one that may be a list if the value is one, else
    the first: the others stand for its absence.
    """
    while get_origin(kind) in _COMPOUND:
        kinds = [each for each in get_args(kind) if get_origin(each) is list]
        kind = kinds[0] if kinds and isinstance(value, list) else get_args(kind)[0]
    return kind


def _expected(kind: Any) -> str:
    for bounds in kind.__metadata__ if get_origin(kind) is Annotated else ():
        if bounds.description:
            return str(bounds.description)
    if get_origin(kind) in _COMPOUND:
        return _expected(get_args(kind)[0])
    if get_origin(kind) is tuple:
        return f"a list of {len(get_args(kind))}"
    if isinstance(kind, type) and issubclass(kind, Enum):
        return f"one of {', '.join(word.value for word in kind)}"
    return _WORDS.get(get_origin(kind) or kind, "an object")
