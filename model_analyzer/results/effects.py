# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What each parameter changed: the best that was reached with each of its values.

Searches measure more where results are good, so averages over everything measured would say more
about the search than about the parameter. The best that was reached says what a value allows, with
everything else free; that fewer measurements were made of a value is told with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from model_analyzer.domain.metrics import ALIASES, METRICS, Better
from model_analyzer.domain.trials import LoadKind
from model_analyzer.results.columns import Cell
from model_analyzer.results.flat_rows import differing_parameters
from model_analyzer.results.ranking import Ranking

# Names of parameters that are no fields of a configuration.
CONCURRENCY, REQUEST_RATE, BATCH_SIZE = "concurrency", "request_rate", "batch_size"


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueEffect:
    """A value of a parameter (None: the configuration does not set it), the `best` that was
    reached with it, and how many measurements that is the best of.

    `best` is None where none of them met the constraints, or had the metric.
    """

    value: Cell
    best: float | None
    measurements: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterEffect:
    """A parameter (`concurrency`, or a field: `config.max_batch_size`) and its values in order.

    `change` is by how many percent the highest `best` of its values is above the lowest; None
    where fewer than two values have one.
    """

    parameter: str
    values: tuple[ValueEffect, ...]
    change: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """What the parameters changed, the one that changed most first, judged by the metric `tag`.

    `constrained` tells whether only measurements that meet the constraints count: where none
    does, all do.
    """

    tag: str
    constrained: bool
    parameters: tuple[ParameterEffect, ...]


def effects(ranking: Ranking) -> Effects | None:
    """The effects of all parameters that had more than one value on the first objective.

    None across models, for models measured together, and where nothing was varied: then nothing
    can be told.
    """
    measured = ranking.measured
    if ranking.is_across_models or not measured or len(measured[0].trial.workloads) != 1:
        return None
    tag = next(iter(ranking.goal.tags))
    nothing_passes = not any(ranking.passing)
    reached = [
        value if counts or nothing_passes else None
        for value, counts in zip(ranking.columns.of(tag), ranking.passing, strict=True)
    ]
    found = []
    for name, column in _columns(ranking).items():
        groups: dict[Cell, list[float | None]] = {}
        for value, number in zip(column, reached, strict=True):
            groups.setdefault(value, []).append(number)
        if len(groups) > 1:
            found.append(_effect(name, groups, tag))
    found.sort(key=lambda effect: -(effect.change if effect.change is not None else -1.0))
    if not found:
        return None
    return Effects(
        tag=tag,
        constrained=not nothing_passes and ranking.goal.has_constraints,
        parameters=tuple(found),
    )


def _effect(name: str, groups: Mapping[Cell, Sequence[float | None]], tag: str) -> ParameterEffect:
    """That of the parameter, with what was reached in each measurement of each of its values."""
    best = max if METRICS[ALIASES.get(tag, tag)].better is Better.HIGHER else min
    values = [
        ValueEffect(
            value=value,
            best=best((number for number in groups[value] if number is not None), default=None),
            measurements=len(groups[value]),
        )
        for value in sorted(groups, key=_order)
    ]
    return ParameterEffect(parameter=name, values=tuple(values), change=_change(values))


def _change(values: Sequence[ValueEffect]) -> float | None:
    present = [value.best for value in values if value.best is not None]
    if len(present) < 2:
        return None
    low, high = min(present), max(present)
    return (high - low) / low * 100 if low > 0 else None


def _order(value: Cell) -> tuple[int, float, str]:
    """What is not set first, then numbers, then texts."""
    if value is None:
        return 0, 0.0, ""
    if isinstance(value, (int, float)):
        return 1, float(value), ""
    return 2, 0.0, value


def _columns(ranking: Ranking) -> Mapping[str, Sequence[Cell]]:
    """By parameter, its value in each measurement of the ranking, in their order; None where the
    parameter is not set. First those that the best variant sets, then the load.
    """
    differing = differing_parameters([result.variants[0] for result in ranking.results])
    of_results = [differing[result.variants[0].identity] for result in ranking.results]

    def column(name: str) -> Sequence[Cell]:
        return [
            cell
            for result, own in zip(ranking.results, of_results, strict=True)
            for cell in [own.get(name)] * len(result.measured)
        ]

    columns = {name: column(name) for name in of_results[0]}
    loads = [item.trial.workloads[0].load for item in ranking.measured]
    columns[BATCH_SIZE] = [load.batch_size for load in loads]
    for kind in (LoadKind.CONCURRENCY, LoadKind.REQUEST_RATE):
        if any(load.kind is kind for load in loads):
            columns[kind.value] = [load.value if load.kind is kind else None for load in loads]
    others = dict.fromkeys(name for own in of_results for name in own if name not in columns)
    return columns | {name: column(name) for name in others}
