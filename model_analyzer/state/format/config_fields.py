# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The model configuration of a variant, as a field of an entry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from model_analyzer.domain.model_config_fields import ENUMS, MESSAGES
from model_analyzer.domain.models import ModelConfig, freeze
from model_analyzer.state.format.fields import (
    Field,
    Malformed,
    integer,
    list_of,
    mapping_of,
    number,
    switch,
    text,
)

_MOST_FLOAT = 3.4e38

_SCALARS: Mapping[str, Field[Any]] = {
    "int32": integer(-(2**31), 2**31 - 1),
    "int64": integer(-(2**63), 2**63 - 1),
    "uint32": integer(0, 2**32 - 1),
    "uint64": integer(0, 2**64 - 1),
    "float": number(-_MOST_FLOAT, _MOST_FLOAT),
    "bool": switch,
    "str": text,
}


def model_config(value: Any) -> ModelConfig:
    """A model configuration that Triton's protobuf can hold. Our table has its fields; only for
    other fields is the protobuf asked, which may be newer but is slow to import.
    """
    if not _message("ModelConfig", value):
        from model_analyzer.domain.protobuf import to_message

        try:
            to_message(value)
        except ValueError as error:
            raise Malformed(f"a model configuration ({error})", value) from None
    config: ModelConfig = freeze(value)
    return config


def _message(kind: str, value: Any) -> bool:
    """Whether our table has all fields of a message. Raises Malformed if one has a wrong type."""
    if type(value) is not dict:
        raise Malformed(f"an object ({kind})", value)
    fields, is_known = MESSAGES[kind], True
    for name, item in value.items():
        if name not in fields:
            is_known = False
            continue
        try:
            is_known &= _is_known(fields[name], item)
        except Malformed as error:
            raise error.inside(name) from None
    return is_known


def _is_known(kind: str, value: Any) -> bool:
    if kind.startswith("["):
        return all(list_of(lambda item: _is_known(kind[1:-1], item))(value))
    if kind.startswith("{"):
        return all(mapping_of(lambda item: _is_known(kind[1:-1], item))(value).values())
    if kind in MESSAGES:
        return _message(kind, value)
    if kind in ENUMS:  # a value without a name is a number
        return type(value) is int or text(value) in ENUMS[kind]
    _SCALARS[kind](value)
    return True
