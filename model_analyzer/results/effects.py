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
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.domain.trials import LoadKind
from model_analyzer.results.ranking import Ranking
from model_analyzer.results.rows import Cell, differing_parameters

# Names of parameters that are no fields of a configuration.
CONCURRENCY, REQUEST_RATE, BATCH_SIZE = "concurrency", "request_rate", "batch_size"


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueEffect:
    """A value of a parameter (None: the configuration does not set it), the `best` that was
    reached with it, and how many measurements that is the best of.

    `best` is None where none of them kept the constraints, or had the metric.
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

    `constrained` tells whether only measurements that keep the constraints count: where none
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
    passing = [item for item in measured if ranking.goal.passes(item.measurement)]
    counted = {id(item) for item in passing or measured}
    values = _values(ranking)
    names = dict.fromkeys(name for one in values.values() for name in one)
    found = []
    for name in names:
        groups: dict[Cell, list[MeasuredTrial]] = {}
        for item in measured:
            groups.setdefault(values[id(item)].get(name), []).append(item)
        if len(groups) > 1:
            found.append(_effect(name, groups, tag, counted))
    found.sort(key=lambda effect: -(effect.change if effect.change is not None else -1.0))
    if not found:
        return None
    return Effects(
        tag=tag,
        constrained=bool(passing) and ranking.goal.has_constraints,
        parameters=tuple(found),
    )


def _effect(
    name: str, groups: Mapping[Cell, Sequence[MeasuredTrial]], tag: str, counted: set[int]
) -> ParameterEffect:
    is_high = METRICS[ALIASES.get(tag, tag)].better is Better.HIGHER
    values = []
    for value in sorted(groups, key=_order):
        reached = [
            number
            for item in groups[value]
            if id(item) in counted and (number := item.measurement.value(tag)) is not None
        ]
        values.append(
            ValueEffect(
                value=value,
                best=(max if is_high else min)(reached, default=None),
                measurements=len(groups[value]),
            )
        )
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


def _values(ranking: Ranking) -> Mapping[int, Mapping[str, Cell]]:
    """The parameters of each measurement (by its `id`)."""
    parameters = differing_parameters([result.variants[0] for result in ranking.results])
    values: dict[int, Mapping[str, Cell]] = {}
    for result in ranking.results:
        own = parameters[result.variants[0].identity]
        for item in result.measured:
            load = item.trial.workloads[0].load
            of_load: dict[str, Cell] = {BATCH_SIZE: load.batch_size}
            if load.kind is not LoadKind.REQUEST_INTERVALS:
                of_load[load.kind.value] = load.value
            values[id(item)] = {**own, **of_load}
    return values
