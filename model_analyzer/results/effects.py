# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The parameters in which configurations differ, and the best result with each value of each.

Searches measure more where results are good, so averages would describe the search rather than the
parameter. The best result shows what a value allows, whatever the other parameters and the load
are. So it comes with its load, and no difference of two is called an effect.

Parameters are as the server uses them: a configuration without `instance_group` has as many
instances as the server gives it, and one without `dynamic_batching` has it off. So the default
configuration has a value of each, and can be compared with configurations that set them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

from model_analyzer.domain.metrics import Better, metric_of
from model_analyzer.domain.models import ModelVariant, differing_parameters, model_and_field
from model_analyzer.domain.trials import Trial
from model_analyzer.results.columns import Cell, Row
from model_analyzer.results.ranking import Ranking

_PREFIX = "config."
COUNT, KIND = "instance_group.count", "instance_group.kind"
BATCH, BATCHING = "max_batch_size", "dynamic_batching"

# What instance groups have besides further fields.
_OF_GROUPS = re.compile(r"instance_group(\.\d+\.(count|kind|name)|\.count|\.kind)?")

# Variants that are measured together, and the number of GPUs.
Served = tuple[Sequence[ModelVariant], int]


def varied_parameters(served: Sequence[Served]) -> Sequence[Row]:
    """The values of the parameters that differ, for each configuration; a value that is not set is
    missing. Keys are such as `config.max_batch_size`, or `config.MODEL.max_batch_size` if several
    models are served.

    The order is: instances, max batch size and dynamic batching of each model, then the others.
    Empty rows if the configurations are not all of the same models.
    """
    rows = [dict(_in_use(variants, gpus)) for variants, gpus in served]
    if len({tuple(variant.model for variant in variants) for variants, _ in served}) != 1:
        return [{} for _ in served]
    for position in range(len(served[0][0])):
        differing = differing_parameters([variants[position] for variants, _ in served])
        is_alone = len(served[0][0]) == 1
        for row, (variants, _) in zip(rows, served, strict=True):
            variant = variants[position]
            prefix = _PREFIX if is_alone else f"{_PREFIX}{variant.model}."
            for name, value in differing[variant.identity].items():
                if not _is_in_use(name):
                    row[prefix + name.removeprefix(_PREFIX)] = value
    names = [name for name in _names(rows) if len({row.get(name) for row in rows}) > 1]
    return [{name: row[name] for name in names if name in row} for row in rows]


def _in_use(variants: Sequence[ModelVariant], gpus: int) -> Iterator[tuple[str, Cell]]:
    """The parameters for which the server has defaults."""
    parts = [part for variant in variants for part in variant.served]
    for part in parts:
        prefix = _PREFIX if len(parts) == 1 else f"{_PREFIX}{part.model}."
        instances = part.instances(gpus=gpus)
        yield prefix + COUNT, sum(count for count, _ in instances)
        yield prefix + BATCH, part.max_batch_size
        yield prefix + BATCHING, "on" if part.has_dynamic_batching else "off"
        yield prefix + KIND, " + ".join(dict.fromkeys(kind for _, kind in instances))


def _is_in_use(name: str) -> bool:
    """Whether `_in_use` has the parameter: groups of instances, max batch size, and whether there
    is dynamic batching.
    """
    _, field = model_and_field(name)
    return field in (BATCH, BATCHING) or _OF_GROUPS.fullmatch(field) is not None


def _names(rows: Sequence[Row]) -> Sequence[str]:
    """All parameters, those in use first."""
    names = dict.fromkeys(name for row in rows for name in row)
    return sorted(names, key=lambda name: not _is_in_use(name))


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueEffect:
    """A value of a parameter (None: not set), the `best` result with it and its `trial`, and the
    number of measurements with it.

    Both are None if no measurement met the constraints or had the metric.
    """

    value: Cell
    best: float | None
    trial: Trial | None
    measurements: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """The best results of the metric `tag`, by parameter (a field such as `config.max_batch_size`),
    with its values in order.

    If `constrained`, only measurements that meet the constraints count. If none meets them, all
    count.
    """

    tag: str
    constrained: bool
    parameters: Mapping[str, Sequence[ValueEffect]]


def effects(ranking: Ranking) -> Effects | None:
    """The best results of the first wish of the goal for all parameters with more than one value.

    None for rankings across models, for models measured together, and if nothing was varied.
    """
    measured = ranking.measured
    if ranking.is_across_models or not measured or len(measured[0].trial.workloads) != 1:
        return None
    tag = ranking.goal.wishes[0]
    nothing_passes = not any(ranking.passing)
    results = [
        None if value is None or not (passes or nothing_passes) else (value, item.trial)
        for value, passes, item in zip(
            ranking.columns.of(tag), ranking.passing, measured, strict=True
        )
    ]
    parameters = {}
    for name, column in _columns(ranking).items():
        groups: dict[Cell, list[_Result | None]] = {}
        for value, result in zip(column, results, strict=True):
            groups.setdefault(value, []).append(result)
        if len(groups) > 1:
            parameters[name] = _effects(groups, tag)
    if not parameters:
        return None
    return Effects(
        tag=tag,
        constrained=not nothing_passes and ranking.goal.has_constraints,
        parameters=parameters,
    )


# The value of a metric, and the trial that has it.
_Result = tuple[float, Trial]


def _effects(groups: Mapping[Cell, Sequence[_Result | None]], tag: str) -> Sequence[ValueEffect]:
    """The values of a parameter; `groups` has the results of all measurements by value."""
    best = max if metric_of(tag).better is Better.HIGHER else min
    values = []
    for value in sorted(groups, key=in_order):
        results = [result for result in groups[value] if result is not None]
        number, trial = best(results, key=itemgetter(0), default=(None, None))
        values.append(
            ValueEffect(value=value, best=number, trial=trial, measurements=len(groups[value]))
        )
    return values


def in_order(value: Cell) -> tuple[int, tuple[float, ...], str]:
    """A sort key for values of a parameter: None first, then numbers and lists of numbers such as
    `4,8`, then texts.
    """
    if value is None:
        return 0, (), ""
    if isinstance(value, (int, float)):
        return 1, (float(value),), ""
    try:
        return 1, tuple(map(float, value.split(","))), ""
    except ValueError:
        return 2, (), value


def _columns(ranking: Ranking) -> Mapping[str, Sequence[Cell]]:
    """For each parameter, its value in each measurement of the ranking (None: not set). The
    parameters of the best variant come first.
    """
    by_result = varied_parameters(
        [(result.variants, result.best.trial.gpus) for result in ranking.results]
    )

    def column(name: str) -> Sequence[Cell]:
        return [
            cell
            for result, row in zip(ranking.results, by_result, strict=True)
            for cell in [row.get(name)] * len(result.measured)
        ]

    names = dict.fromkeys(name for row in by_result for name in row)
    return {name: column(name) for name in names}
