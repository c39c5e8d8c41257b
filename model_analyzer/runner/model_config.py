# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Model configurations between Triton's protobuf (text and JSON) and our mappings.

The protobuf that tritonclient ships is the only parser: nothing here reads pbtxt by hand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from google.protobuf import json_format, text_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from tritonclient.grpc import model_config_pb2

from model_analyzer.domain.models import ModelConfig, freeze, thaw
from model_analyzer.errors import RepositoryError


def parse_text(text: str, name: str) -> ModelConfig:
    """The configuration in protobuf `text`; `name` stands for the file in messages."""
    try:
        return from_message(text_format.Parse(text, model_config_pb2.ModelConfig()))
    except text_format.ParseError as error:
        # protobuf says "LINE:COLUMN : reason", where it knows the place
        found = re.match(r"(\d+:\d+) : (.*)", str(error), re.DOTALL)
        where, reason = found.groups() if found else ("", str(error))
        where = f"{name}:{where}" if where else name
        reason = reason.strip().splitlines()[0].replace('"inference.ModelConfig"', "ModelConfig")
        raise RepositoryError(f"{where}: not a model configuration: {reason}") from error


def from_message(message: Message) -> ModelConfig:
    """The fields that are set, with integers as integers (JSON would make 64-bit ones text)."""
    config: ModelConfig = freeze(_mapping(message))
    return config


def from_json(content: dict[str, Any]) -> ModelConfig:
    """The configuration as the server shows it over HTTP, without the defaults that it adds."""
    return from_message(json_format.ParseDict(content, model_config_pb2.ModelConfig()))


def is_complete(config: ModelConfig) -> bool:
    """Whether a server can serve the model without completing the configuration itself."""
    return not _missing(config)


def completed(answer: ModelConfig, own: ModelConfig, where: str) -> ModelConfig:
    """What a server made of `own`, fit to be varied; `where` stands for its file in messages.

    A preferred batch size that the server has chosen would forbid smaller batch limits.
    """
    if not is_complete(answer):
        missing = " and no ".join(_missing(answer))
        raise RepositoryError(
            f"{where}: the server could not complete the configuration: it has no {missing}; write"
            " that into the file"
        )
    batching = answer.get("dynamic_batching")
    if batching is None or "preferred_batch_size" in own.get("dynamic_batching", {}):
        return answer
    kept = {key: value for key, value in batching.items() if key != "preferred_batch_size"}
    config: ModelConfig = freeze({**answer, "dynamic_batching": kept})
    return config


def _missing(config: ModelConfig) -> Sequence[str]:
    if "ensemble_scheduling" in config:
        return ()
    parts = {
        "backend": config.get("backend") or config.get("platform"),
        "input": config.get("input"),
        "output": config.get("output"),
    }
    return [name for name, value in parts.items() if not value]


def to_text(config: ModelConfig) -> str:
    """The configuration as `config.pbtxt`."""
    text: str = text_format.MessageToString(_message(config))
    return text


def to_json(config: ModelConfig) -> str:
    """The configuration as the server takes it in a load request."""
    return json.dumps(thaw(config))


def _message(config: ModelConfig) -> Message:
    try:
        message: Message = json_format.ParseDict(thaw(config), model_config_pb2.ModelConfig())
    except json_format.ParseError as error:
        raise RepositoryError(
            f"{config.get('name')}: not a model configuration: {error}"
        ) from error
    return message


def _mapping(message: Message) -> Mapping[str, Any]:
    return {field.name: _value(field, value) for field, value in message.ListFields()}


def _value(field: FieldDescriptor, value: Any) -> Any:
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        inner = field.message_type.fields_by_name["value"]
        return {str(key): _single(inner, value[key]) for key in sorted(value)}
    if field.is_repeated:
        return [_single(field, item) for item in value]
    return _single(field, value)


def _single(field: FieldDescriptor, value: Any) -> Any:
    if field.message_type is not None:
        return _mapping(value)
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        return known.name if known else value
    return value
