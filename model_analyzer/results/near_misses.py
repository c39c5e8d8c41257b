# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Near misses: better than the recommendation, but a constraint is just missed or uncertain.

The user decides about them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from model_analyzer.domain.goals import Constraint, Goal
from model_analyzer.domain.measurements import Measurement
from model_analyzer.noise.ties import Comparison, chance_to_meet

# A miss is near up to this fraction of the limit, or from this probability to meet the constraints.
_JUST = 0.05
# From this probability to meet the constraints, there is no miss.
_SURE = 0.95
# The smallest gain (of the goal's score) that is reported.
_BETTER = 0.03

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """A constraint that a trial does not meet, or may not meet.

    `value` is the mean of the constrained metric of the model at index `model`. `excess` is the
    distance from the limit as a fraction of it, 0 if the mean meets the constraint. `broken` of the
    `times` measurements did not meet it.
    """

    model: int
    constraint: Constraint
    value: float
    excess: float
    broken: int
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NearMiss(Generic[T]):
    """A measured item that is better than the recommendation by `gain_percent`. It meets all
    constraints with the probability `chance`; `misses` has at least one constraint.
    """

    item: T
    gain_percent: float
    chance: float
    misses: tuple[Miss, ...]


def near_misses(
    goal: Goal, answer: T, repetitions: Mapping[T, Sequence[Measurement]]
) -> list[NearMiss[T]]:
    """Items that are better than `answer` by more than noise, but miss the constraints by a little
    or meet them by less than the noise; highest gain first. Leaves out an item if another one has a
    higher gain and is at least as likely to meet the constraints.
    """
    if not goal.has_constraints:
        return []
    comparison = Comparison(goal, repetitions)
    chance = chance_to_meet(goal, repetitions)
    least = chance(answer)
    near = []
    for item in repetitions:
        if item == answer or comparison.lead(item, answer) < _BETTER:
            continue
        misses = tuple(_misses(goal, comparison.mean(item), repetitions[item]))
        is_near = all(miss.excess <= _JUST for miss in misses) or chance(item) >= _JUST
        may_break = any(miss.broken for miss in misses) or chance(item) < min(_SURE, least)
        if comparison.is_better(item, answer) and is_near and may_break:
            gain = goal.gain_percent(comparison.mean(item), comparison.mean(answer))
            near.append(NearMiss(item=item, gain_percent=gain, chance=chance(item), misses=misses))
    near.sort(key=lambda miss: -miss.gain_percent)
    likeliest: list[NearMiss[T]] = []
    for miss in near:
        if all(miss.chance > other.chance for other in likeliest):
            likeliest.append(miss)
    return likeliest


def _misses(goal: Goal, mean: Measurement, runs: Sequence[Measurement]) -> list[Miss]:
    """The constraints that the mean or any measurement does not meet; if there is none, the
    constraint with the smallest margin.
    """
    missed: list[Miss] = []
    met: list[Miss] = []
    for index, wish in enumerate(goal.models):
        for constraint in wish.constraints:
            value = mean.model_value(index, constraint.tag)
            if value is None:
                continue
            values = [run.model_value(index, constraint.tag) for run in runs]
            broken = sum(run is not None and constraint.excess(run) > 0 for run in values)
            miss = Miss(
                model=index,
                constraint=constraint,
                value=value,
                excess=constraint.excess(value),
                broken=broken,
                times=len(runs),
            )
            (missed if broken or miss.excess else met).append(miss)
    nearest = sorted(met, key=lambda miss: miss.constraint.margin(miss.value))[:1]
    return missed or nearest
