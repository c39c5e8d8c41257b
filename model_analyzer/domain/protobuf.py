# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Converts model configurations between Triton's protobuf, its JSON, and our mappings.

The only module of `domain` that needs a library: import it where a configuration is converted.
Nothing here reads a file or parses text.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, MutableSequence
from functools import cache
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from google.protobuf import json_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from model_analyzer.domain.models import ModelConfig, freeze, thaw

_MESSAGES = "tritonclient.grpc.model_config_pb2"


def new_message() -> Message:
    """An empty ModelConfig."""
    message: Message = _messages().ModelConfig()
    return message


@cache
def _messages() -> ModuleType:
    """Triton's messages, without the client in the same package: its imports take a tenth of a
    second.
    """
    if _MESSAGES in sys.modules:
        return sys.modules[_MESSAGES]
    package, *folders, name = _MESSAGES.split(".")
    client = find_spec(package)
    assert client is not None, "a dependency"
    places = [
        Path(place, *folders) / f"{name}.py" for place in client.submodule_search_locations or ()
    ]
    spec = spec_from_file_location(_MESSAGES, next(place for place in places if place.exists()))
    assert spec is not None, "a Python file"
    assert spec.loader is not None, "a Python file"
    module = sys.modules[_MESSAGES] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def from_message(message: Message) -> ModelConfig:
    """The fields that are set; integers stay integers (in JSON, 64-bit ones are text)."""
    config: ModelConfig = freeze(_mapping(message))
    return config


def to_message(config: ModelConfig) -> Message:
    """The configuration as a message. Raises ValueError with the reason if it is invalid."""
    return _parsed(thaw(config))


def from_json(content: Mapping[str, Any]) -> ModelConfig:
    """The configuration from the JSON of a server or an upstream checkpoint, without fields that
    have their default value. Raises ValueError with the reason if it is invalid.
    """
    return from_message(_parsed(content))


def to_json(config: ModelConfig, *, proto_names: bool = False) -> dict[str, Any]:
    """The configuration by protobuf's rules for JSON: lowerCamelCase, unless `proto_names`, and
    64-bit integers as text. Raises ValueError if it is invalid.
    """
    content: dict[str, Any] = json_format.MessageToDict(
        to_message(config), preserving_proto_field_name=proto_names
    )
    return content


def normal(config: ModelConfig) -> ModelConfig:
    """The same configuration in one form, whatever its source: without fields that have their
    default value, and with names for enumerations. Raises ValueError if it is invalid.
    """
    return from_message(to_message(config))


def _parsed(content: Mapping[str, Any]) -> Message:
    message = new_message()
    try:
        json_format.ParseDict(dict(content), message)
    except (json_format.ParseError, TypeError, AttributeError, SystemError) as error:
        # as the odd content is; the last of text that is not UTF-8
        raise ValueError(f"not a model configuration: {error}") from error
    return message


def _mapping(message: Message) -> Mapping[str, Any]:
    return {field.name: _value(field, value) for field, value in message.ListFields()}


def _value(field: FieldDescriptor, value: Any) -> Any:
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        inner = field.message_type.fields_by_name["value"]
        return {str(key): _single(inner, value[key]) for key in sorted(value)}
    if isinstance(value, MutableSequence):  # in all versions of protobuf; is_repeated is new
        return [_single(field, item) for item in value]
    return _single(field, value)


def _single(field: FieldDescriptor, value: Any) -> Any:
    if field.message_type is not None:
        return _mapping(value)
    if field.enum_type is not None:
        member = field.enum_type.values_by_number.get(value)
        return member.name if member else value
    return value
