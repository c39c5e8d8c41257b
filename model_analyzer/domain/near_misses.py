# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What is better than the answer, but just misses a bound, or may break it: the user decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from model_analyzer.domain.goals import Constraint, Goal
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.ties import Comparison, chance_to_keep

# A bound is just missed up to this fraction of it, or with this chance to keep it.
_JUST = 0.05
# What keeps the bounds with this chance is no miss.
_SURE = 0.95
# Better by as much as this (by the goal's score) is worth telling.
_BETTER = 0.03

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """The mean `value` of the bounded metric of the model at index `model`, by how much it breaks
    the bound (`excess`, a fraction of the bound, 0 where it keeps it), and in how many of the
    `times` that it was measured.
    """

    model: int
    constraint: Constraint
    value: float
    excess: float
    broken: int
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NearMiss(Generic[T]):
    """Something measured that is better than the answer by `gain_percent`. It keeps all bounds with
    the probability `chance`; `misses` are those that it breaks, or may break: at least one.
    """

    item: T
    gain_percent: float
    chance: float
    misses: tuple[Miss, ...]


def near_misses(
    goal: Goal, answer: T, repetitions: Mapping[T, Sequence[Measurement]]
) -> list[NearMiss[T]]:
    """What was measured and is better than `answer` by more than noise, but just misses the bounds,
    or keeps them by less than noise; the most gain first. What gives less than another and keeps
    the bounds no more likely is left out.
    """
    if not goal.has_constraints:
        return []
    comparison = Comparison(goal, repetitions)
    chance = chance_to_keep(goal, repetitions)
    least = chance(answer)
    found = []
    for item in repetitions:
        if item == answer or comparison.lead(item, answer) < _BETTER:
            continue
        misses = tuple(_misses(goal, comparison.mean(item), repetitions[item]))
        is_near = all(miss.excess <= _JUST for miss in misses) or chance(item) >= _JUST
        may_break = any(miss.broken for miss in misses) or chance(item) < min(_SURE, least)
        if comparison.is_better(item, answer) and is_near and may_break:
            gain = goal.gain_percent(comparison.mean(item), comparison.mean(answer))
            found.append(NearMiss(item=item, gain_percent=gain, chance=chance(item), misses=misses))
    found.sort(key=lambda miss: -miss.gain_percent)
    likeliest: list[NearMiss[T]] = []
    for miss in found:
        if all(miss.chance > other.chance for other in likeliest):
            likeliest.append(miss)
    return likeliest


def _misses(goal: Goal, mean: Measurement, runs: Sequence[Measurement]) -> list[Miss]:
    """The bounds that the mean or any of the measurements breaks; where none does, the bound that
    is nearest.
    """
    found: list[Miss] = []
    kept: list[Miss] = []
    for index, wish in enumerate(goal.models):
        for constraint in wish.constraints:
            value = mean.model_value(index, constraint.tag)
            if value is None:
                continue
            values = [run.model_value(index, constraint.tag) for run in runs]
            broken = sum(one is not None and constraint.excess(one) > 0 for one in values)
            miss = Miss(
                model=index,
                constraint=constraint,
                value=value,
                excess=constraint.excess(value),
                broken=broken,
                times=len(runs),
            )
            (found if broken or miss.excess else kept).append(miss)
    nearest = sorted(kept, key=lambda miss: miss.constraint.margin(miss.value))[:1]
    return found or nearest
