# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The model configuration of a variant, as a field of an entry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from model_analyzer.domain.model_config_fields import ENUMS, MESSAGES
from model_analyzer.domain.models import ModelConfig, freeze
from model_analyzer.state.format.refusals import Malformed

_INTEGERS = {
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint32": (0, 2**32 - 1),
    "uint64": (0, 2**64 - 1),
}
_MOST_FLOAT = 3.4e38


def model_config(value: Any) -> ModelConfig:
    """A model configuration that Triton's protobuf can hold. Our table has its fields; only for
    other fields is the protobuf asked, which may be newer but is slow to import. Raises Malformed.
    """
    if not _is_known("ModelConfig", value):
        from model_analyzer.domain.protobuf import to_message

        try:
            to_message(value)
        except ValueError as error:
            raise Malformed(f"a model configuration ({error})", value) from None
    config: ModelConfig = freeze(value)
    return config


def _is_known(kind: str, value: Any) -> bool:
    """Whether our table has all fields of a value. Raises Malformed if it has a wrong type."""
    if kind.startswith("["):
        items = enumerate(_typed(value, list, "a list"))
        return _are_known([(index, kind[1:-1], item) for index, item in items])
    if kind.startswith("{"):
        named = _typed(value, dict, "an object").items()
        return _are_known([(key, kind[1:-1], item) for key, item in named])
    if kind in MESSAGES:
        fields = MESSAGES[kind]
        named = _typed(value, dict, f"an object ({kind})").items()
        known = [(key, fields[key], item) for key, item in named if key in fields]
        return _are_known(known) and len(known) == len(value)
    if kind in ENUMS:  # a value without a name is a number
        return type(value) is int or _typed(value, str, "a text") in ENUMS[kind]
    _check_scalar(kind, value)
    return True


def _are_known(items: Sequence[tuple[str | int, str, Any]]) -> bool:
    """Whether all items are known: each comes with its step and its kind."""
    are_known = True
    for step, kind, item in items:
        try:
            are_known &= _is_known(kind, item)
        except Malformed as error:
            raise error.inside(step) from None
    return are_known


def _check_scalar(kind: str, value: Any) -> None:
    match kind:
        case "bool":
            _typed(value, bool, "true or false")
        case "str":
            _typed(value, str, "a text")
        case "float":
            if type(value) not in (int, float) or not abs(value) <= _MOST_FLOAT:
                raise Malformed(f"a number from {-_MOST_FLOAT:g} to {_MOST_FLOAT:g}", value)
        case _:
            low, high = _INTEGERS[kind]
            if type(value) is not int or not low <= value <= high:
                raise Malformed(f"a whole number from {low} to {high}", value)


def _typed(value: Any, kind: type, expected: str) -> Any:
    """The value, if it has this type."""
    if type(value) is not kind:
        raise Malformed(expected, value)
    return value
