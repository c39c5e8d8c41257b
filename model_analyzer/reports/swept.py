# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Display names of parameters, and the values of those that only a user sweeps."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from model_analyzer.domain.parameters import PARAMETER, model_and_field
from model_analyzer.domain.words import shortened
from model_analyzer.results.columns import Cell
from model_analyzer.results.flat_rows import Row
from model_analyzer.results.ranking import Ranking, VariantResult
from model_analyzer.results.varied import varied_parameters

_NAMES = {
    "concurrency": "Concurrency",
    "request_rate": "Requests per second",
    "batch_size": "Client batch size",
    "max_batch_size": "Max batch size",
    "instance_group": "Instance group",
    "instance_group.count": "Instances",
    "instance_group.kind": "Kind of instance",
    "dynamic_batching": "Dynamic batching",
    "dynamic_batching.max_queue_delay_microseconds": "Max queue delay (µs)",
    "dynamic_batching.preferred_batch_size": "Preferred batch sizes",
}

# What a search varies by itself.
_SEARCHED = {
    "concurrency", "request_rate", "batch_size", "max_batch_size", "instance_group",
    "instance_group.count", "instance_group.kind", "dynamic_batching",
}  # fmt: skip


# A key of the field `parameters`, and what a JSON object there has inside.
_KEY = re.compile(r"(?:(?P<model>.*)\.)?parameters\.(?P<key>.*?)\.string_value(?P<inner>\..*)?")

NOT_SET = "not set"

# A sentence names so many values, and so many characters of each; tables have all.
_MOST_NAMED = 2
_LONGEST = 40


def parameter_name(parameter: str) -> str:
    """The display name: `config.instance_group.0.count` becomes `Instances`, and a key of the field
    `parameters` is itself; with the model's name for composing models.
    """
    field = re.sub(r"\.0(?=\.|$)", "", parameter.removeprefix("config."))
    if field in _NAMES:
        return _NAMES[field]
    if key := _KEY.fullmatch(field):
        of_model = f" of {key['model']}" if key["model"] else ""
        return f"{key['key']}{key['inner'] or ''}{of_model}"
    model, rest = model_and_field(field)
    return f"{_NAMES[rest]} of {model}" if rest in _NAMES else field


def parameters_of(rows: Sequence[Row]) -> Sequence[tuple[str, str]]:
    """The columns of the parameters in which rows differ: the display name and the name of each."""
    names = dict.fromkeys(name for row in rows for name in row if name.startswith(PARAMETER))
    return [(parameter_name(name), name) for name in names]


def is_swept(parameter: str) -> bool:
    """Whether only a user sweeps it: searches vary instances, batch limits and loads."""
    _, field = model_and_field(re.sub(r"\.0(?=\.|$)", "", parameter))
    return field not in _SEARCHED


def swept_values(results: Sequence[VariantResult]) -> Sequence[Mapping[str, Cell]]:
    """For each configuration, the swept parameters in which these differ, by display name."""
    rows = varied_parameters([(each.variants, each.best.trial.gpus) for each in results])
    names = dict.fromkeys(name for row in rows for name in row if is_swept(name))
    return [{parameter_name(name): _cell(row.get(name)) for name in names} for row in rows]


def swept_text(ranking: Ranking, *, with_default: bool = False) -> str:
    """The swept values of the recommendation, such as `iterations 10`; with those that the default
    has `iterations 40 → 10`; "" if nothing was swept.
    """
    own, *_ = rows = swept_values(ranking.results)
    places = (place for place, result in enumerate(ranking.results) if result.is_default)
    default = rows[next(places, 0)] if with_default else own
    texts = [
        f"{name} {_short(default[name])} → {_short(value)}"
        if default[name] not in (value, NOT_SET)
        else f"{name} {_short(value)}"
        for name, value in own.items()
    ]
    more = len(texts) - _MOST_NAMED
    texts[_MOST_NAMED:] = [f"{more} more"] if more > 0 else []
    return ", ".join(texts)


def _short(value: Cell) -> str:
    return shortened(value_text(value), _LONGEST)


def _cell(value: Cell) -> Cell:
    return value if isinstance(value, (int, float)) else value_text(value)


def value_text(value: Cell) -> str:
    """A value of a parameter in words: `{}` is a field that is set without further fields."""
    if value is None:
        return NOT_SET
    return "on" if value == "{}" else str(value)
