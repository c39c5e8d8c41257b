# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The fields in which configurations differ, as columns of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from model_analyzer.domain.foreign_json import parse_with
from model_analyzer.domain.model_config_fields import MESSAGES
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.secrets import masked_values

# The beginning of the names of these columns.
PARAMETER = "config."

Setting = str | int | float | None


def differing_parameters(variants: Iterable[ModelVariant]) -> Mapping[str, Mapping[str, Setting]]:
    """The parameters (`config.…`) in which the variants of one model differ, by identity; those in
    JSON texts, too.
    """
    parameters = {variant.identity: dict(_parameters(variant)) for variant in variants}
    names = dict.fromkeys(name for values in parameters.values() for name in values)
    differing = [
        name for name in names if len({str(values.get(name)) for values in parameters.values()}) > 1
    ]
    return {
        identity: {name: values[name] for name in differing if name in values}
        for identity, values in parameters.items()
    }


def _parameters(variant: ModelVariant) -> Iterator[tuple[str, Setting]]:
    """The fields of the configuration, such as `config.max_batch_size`; for composing models with
    their name: `config.MODEL.max_batch_size`.
    """
    for field, value in masked_values(variant.config).items():
        yield from _leaves(PARAMETER + field, value)
    for part in variant.composing:
        for name, cell in _parameters(part):
            yield f"{PARAMETER}{part.model}.{name.removeprefix(PARAMETER)}", cell


def model_and_field(parameter: str) -> tuple[str, str]:
    """The model of a parameter ("" if it is not named) and its field, such as `max_batch_size`.
    Names of models may contain dots: the field begins where the configuration has one.
    """
    words = parameter.removeprefix(PARAMETER).split(".")
    places = (place for place, word in enumerate(words) if word in MESSAGES["ModelConfig"])
    place = next(places, 0)
    return ".".join(words[:place]), ".".join(words[place:])


def unpacked(value: Any) -> Any:
    """A text that is a JSON object as a mapping, with numbers as they are written; any other value
    as it is.
    """
    if not isinstance(value, str) or not value.lstrip().startswith("{"):
        return value
    try:
        return parse_with(value, number=str, constant=str)
    except ValueError:
        return value


def _leaves(name: str, value: Any) -> Iterator[tuple[str, Setting]]:
    value = unpacked(value)
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _leaves(f"{name}.{key}", inner)
    elif isinstance(value, Mapping):
        yield name, "{}"
    elif isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
        for index, item in enumerate(value):
            yield from _leaves(f"{name}.{index}", item)
    elif isinstance(value, list):
        yield name, ",".join(map(str, value))
    else:
        yield name, value
