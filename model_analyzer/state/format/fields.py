# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Small decoders for the fields of an entry.

A field takes a JSON value, and returns the value that it stands for. It checks type and range, on
which other code relies, and refuses everything else with its place.
"""

from __future__ import annotations

import re
import reprlib
from array import array
from collections.abc import Callable, Iterable, Mapping
from math import hypot
from types import MappingProxyType
from typing import Any, TypeVar

from model_analyzer.domain.hardware import Device
from model_analyzer.domain.models import freeze
from model_analyzer.domain.value_rows import ValueRow

T = TypeVar("T")
Field = Callable[[Any], T]

# No metric comes near this number, in any unit: so sums, squares and quotients are finite.
MOST = 1e15
_LONGEST_NAME = 1000
_YEAR_10000_S = 253_402_300_800
_SURROGATE = re.compile("[\ud800-\udfff]")  # only Python accepts these
_FLOAT = frozenset({float})
_NUMBERS = frozenset({int, float})
_SCALARS = frozenset({str, int, float, bool})
_MISSING = object()


class Malformed(ValueError):
    """A value of a wrong type, or out of range."""

    def __init__(self, expected: str, value: Any, place: str = "") -> None:
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


# -- one value -------------------------------------------------------------------------------------


def text(value: Any) -> str:
    if type(value) is str:
        return value
    raise Malformed("a text", value)


def name(value: Any) -> str:
    """A name, or an identity."""
    if (
        type(value) is str
        and 0 < len(value) <= _LONGEST_NAME
        and (value.isascii() or not _SURROGATE.search(value))
    ):
        return value
    raise Malformed(f"a text of 1 to {_LONGEST_NAME} characters", value)


def node(value: Any) -> str:
    """A node of a cluster: a part of file names."""
    if type(value) is str and len(value) <= _LONGEST_NAME and not {"/", "\0"} & set(value):
        return value
    raise Malformed("the name of a node", value)


def switch(value: Any) -> bool:
    if type(value) is bool:
        return value
    raise Malformed("true or false", value)


def integer(low: int = 0, high: int = 2**63 - 1) -> Field[int]:
    """A whole number within these bounds."""

    def field(value: Any) -> int:
        if type(value) is int and low <= value <= high:
            return value
        raise Malformed(f"a whole number from {low} to {high}", value)

    return field


def number(low: float = -MOST, high: float = MOST) -> Field[float]:
    """A number within these bounds."""

    def field(value: Any) -> float:
        if type(value) in _NUMBERS and low <= value <= high:
            accepted: float = value
            return accepted
        raise Malformed(f"a number from {low:g} to {high:g}", value)

    return field


amount = number(0)
seconds = number(0, _YEAR_10000_S)  # a duration, or a time since 1970 that a calendar has


def one_of(values: Mapping[str, T]) -> Field[T]:
    """A word, and the value that it stands for."""

    def field(value: Any) -> T:
        if type(value) is str and value in values:
            return values[value]
        raise Malformed(f"one of {', '.join(values)}", value)

    return field


def or_null(field: Field[T]) -> Field[T | None]:
    return lambda value: None if value is None else field(value)


# -- several ---------------------------------------------------------------------------------------


def list_of(field: Field[T]) -> Field[tuple[T, ...]]:
    """A list of such values."""

    def of_list(value: Any) -> tuple[T, ...]:
        if type(value) is not list:
            raise Malformed("a list", value)
        try:
            return tuple([field(item) for item in value])
        except Malformed as error:
            raise _placed(error, field, enumerate(value)) from None

    return of_list


def mapping_of(field: Field[T]) -> Field[Mapping[str, T]]:
    """A mapping from any text to such values."""

    def of_mapping(value: Any) -> Mapping[str, T]:
        if type(value) is not dict:
            raise Malformed("an object", value)
        try:
            return MappingProxyType({key: field(item) for key, item in value.items()})
        except Malformed as error:
            raise _placed(error, field, value.items()) from None

    return of_mapping


def _placed(
    error: Malformed, field: Field[Any], items: Iterable[tuple[str | int, Any]]
) -> Malformed:
    """The error with the step to the first item that the field refuses."""
    for step, item in items:
        try:
            field(item)
        except Malformed as refused:
            return refused.inside(step)
    return error


def row(make: Callable[..., T], *fields: Field[Any]) -> Field[T]:
    """A list with one value for each field."""

    def of_row(value: Any) -> T:
        if type(value) is not list or len(value) != len(fields):
            raise Malformed(f"a list of {len(fields)}", value)
        return make(*[field(item) for field, item in zip(fields, value, strict=True)])

    return of_row


def optional(field: Field[Any], default: Any) -> tuple[Field[Any], Any]:
    """A field of `record` that may be missing."""
    return field, default


def record(make: Callable[..., T], **fields: Field[Any] | tuple[Field[Any], Any]) -> Field[T]:
    """A mapping with these keys; other keys are ignored."""
    decode = keyed(**fields)
    return lambda value: make(**decode(value))


def keyed(**fields: Field[Any] | tuple[Field[Any], Any]) -> Field[dict[str, Any]]:
    """Like `record`, as a dictionary."""
    required = [(key, field) for key, field in fields.items() if not isinstance(field, tuple)]
    others = [(key, field[0]) for key, field in fields.items() if isinstance(field, tuple)]
    defaults = {key: field[1] for key, field in fields.items() if isinstance(field, tuple)}

    def of_record(value: Any) -> dict[str, Any]:
        if type(value) is not dict:
            raise Malformed("an object", value)
        decoded = defaults.copy()
        key = ""
        try:
            for key, field in required:
                decoded[key] = field(value.get(key, _MISSING))
            for key, field in others:
                if key in value:
                    decoded[key] = field(value[key])
        except Malformed as error:
            raise error.inside(key) from None
        return decoded

    return of_record


# -- many numbers, checked together to be fast -----------------------------------------------------

_amount_of_any_sign = number()


def _are_numbers(values: Iterable[Any]) -> bool:
    """Whether these are numbers, and even their sum is in range, as nearly always."""
    return _NUMBERS.issuperset(map(type, values)) and sum(map(abs, values)) <= MOST


def metrics(value: Any) -> Mapping[str, float]:
    """A mapping from any text to numbers."""
    if type(value) is dict:
        numbers = [*value.values()]
        if _FLOAT.issuperset(map(type, numbers)) and hypot(*numbers) <= MOST:
            return ValueRow(tuple(value), array("d", numbers))
    return mapping_of(_amount_of_any_sign)(value)


def amounts(value: Any) -> tuple[float, ...]:
    """A list of numbers, 0 or greater."""
    if type(value) is list and (not value or (_are_numbers(value) and min(value) >= 0)):
        return tuple(value)
    return list_of(amount)(value)


# -- values that several kinds of entries have -----------------------------------------------------

device = record(Device, uuid=text, name=text, memory=amount)

# -- values that other programs define -------------------------------------------------------------


def _scalar(value: Any) -> Any:
    if type(value) in _SCALARS:
        return _amount_of_any_sign(value) if type(value) is float else value
    raise Malformed("a text, a number, true or false", value)


def _flag(value: Any) -> Any:
    return list_of(_scalar)(value) if type(value) is list else _scalar(value)


flags = mapping_of(_flag)


def anything(value: Any) -> Any:
    """Any JSON value, made read-only."""
    if value is _MISSING:
        raise Malformed("a value", value)
    return freeze(value)


def tree(value: Any) -> Mapping[str, Any]:
    """A mapping with any JSON values inside."""
    frozen: Mapping[str, Any] = mapping_of(anything)(value)
    return frozen
