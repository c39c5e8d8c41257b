# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The effect of each parameter: the best result with each of its values.

Searches measure more where results are good, so averages would describe the search rather than the
parameter. The best result shows what a value allows, whatever the other parameters are. The number
of measurements is shown with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from model_analyzer.domain.metrics import Better, metric_of
from model_analyzer.domain.trials import LoadKind
from model_analyzer.results.columns import Cell
from model_analyzer.results.ranking import Ranking
from model_analyzer.results.varied import varied_parameters

# Parameters that are not fields of a configuration.
CONCURRENCY, REQUEST_RATE, BATCH_SIZE = "concurrency", "request_rate", "batch_size"


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueEffect:
    """A value of a parameter (None: not set), the `best` result with it, and the number of
    measurements with it.

    `best` is None if none of them met the constraints or had the metric.
    """

    value: Cell
    best: float | None
    measurements: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterEffect:
    """A parameter (`concurrency`, or a field such as `config.max_batch_size`) and its values in
    order.

    `change` is the difference between the lowest and the highest `best`, in percent of the lowest;
    None if fewer than two values have a `best`.
    """

    parameter: str
    values: tuple[ValueEffect, ...]
    change: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """The effects of the parameters on the metric `tag`, largest first.

    If `constrained`, only measurements that meet the constraints count. If none meets them, all
    count.
    """

    tag: str
    constrained: bool
    parameters: tuple[ParameterEffect, ...]


def effects(ranking: Ranking) -> Effects | None:
    """The effects on the first objective of all parameters with more than one value.

    None for rankings across models, for models measured together, and if nothing was varied.
    """
    measured = ranking.measured
    if ranking.is_across_models or not measured or len(measured[0].trial.workloads) != 1:
        return None
    tag = next(iter(ranking.goal.tags))
    nothing_passes = not any(ranking.passing)
    results = [
        value if passes or nothing_passes else None
        for value, passes in zip(ranking.columns.of(tag), ranking.passing, strict=True)
    ]
    parameters = []
    for name, column in _columns(ranking).items():
        groups: dict[Cell, list[float | None]] = {}
        for value, number in zip(column, results, strict=True):
            groups.setdefault(value, []).append(number)
        if len(groups) > 1:
            parameters.append(_effect(name, groups, tag))
    parameters.sort(key=lambda effect: -(effect.change if effect.change is not None else -1.0))
    if not parameters:
        return None
    return Effects(
        tag=tag,
        constrained=not nothing_passes and ranking.goal.has_constraints,
        parameters=tuple(parameters),
    )


def _effect(name: str, groups: Mapping[Cell, Sequence[float | None]], tag: str) -> ParameterEffect:
    """The effect of a parameter; `groups` has the results of all measurements by value."""
    best = max if metric_of(tag).better is Better.HIGHER else min
    values = [
        ValueEffect(
            value=value,
            best=best((number for number in groups[value] if number is not None), default=None),
            measurements=len(groups[value]),
        )
        for value in sorted(groups, key=in_order)
    ]
    return ParameterEffect(parameter=name, values=tuple(values), change=_change(values))


def _change(values: Sequence[ValueEffect]) -> float | None:
    present = [value.best for value in values if value.best is not None]
    if len(present) < 2:
        return None
    low, high = min(present), max(present)
    return (high - low) / low * 100 if low > 0 else None


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
    parameters of the best variant come first, then the load, then the others.
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

    columns = {name: column(name) for name in by_result[0]}
    loads = [item.trial.workloads[0].load for item in ranking.measured]
    columns[BATCH_SIZE] = [load.batch_size for load in loads]
    for kind in (LoadKind.CONCURRENCY, LoadKind.REQUEST_RATE):
        if any(load.kind is kind for load in loads):
            columns[kind.value] = [load.value if load.kind is kind else None for load in loads]
    others = dict.fromkeys(name for row in by_result for name in row if name not in columns)
    return columns | {name: column(name) for name in others}
