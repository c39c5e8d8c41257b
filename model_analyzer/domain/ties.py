# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the best trials can be told apart, and which is recommended if not: the cheapest.

Only repetitions tell how noisy the measurements are, so what was measured once never ties.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import NormalDist, fmean
from typing import TypeVar

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.measurements import Measurement, averaged
from model_analyzer.domain.trials import Trial

# Means that are apart by less than so many standard deviations of their difference tie, as long as
# that is not more than this by the goal's score.
_DEVIATIONS = 2.0
_MOST = 0.01

# What ties has to be as sure to keep the constraints, up to this much.
_AS_SURE = 0.1

# A bound that is missed by so many standard deviations still counts as kept.
_ALLOWED = 1.0
# The chance to keep the bounds counts with this power: who names a bound minds breaking it more
# than giving away as much of the objective.
_CAUTION = 2
_NORMAL = NormalDist()

# Repetitions that agree better than this do so by chance.
_LEAST_NOISE = 0.01

# The noise of a metric before repetitions tell; it counts as much as so many of them.
_USUAL_NOISE, _USUAL_COUNT = 0.03, 1

# Memory counts in steps of this factor.
_STEP = 1.02

T = TypeVar("T")


def tied(
    goal: Goal,
    ordered: Sequence[T],
    repetitions: Mapping[T, Sequence[Measurement]],
    sure: Callable[[T], float],
) -> list[T]:
    """Those that tie with the first of `ordered` (best first), itself included: they are not told
    apart by the goal, and as `sure` to keep the constraints (a probability).
    """
    first = ordered[0]
    noise = _noise(goal, repetitions)
    if noise is None or len(repetitions[first]) < 2:
        return [first]
    best = averaged(repetitions[first])
    least = sure(first) - _AS_SURE
    found = [first]
    for other in ordered[1:]:
        times = len(repetitions[other])
        mean = averaged(repetitions[other])
        if times < 2 or goal.passes(mean) != goal.passes(best):
            continue
        apart = noise * math.sqrt(1 / times + 1 / len(repetitions[first]))
        is_close = abs(goal.score(best, mean)) <= min(_DEVIATIONS * apart, _MOST)
        if is_close and sure(other) >= least:
            found.append(other)
    return found


def assurance(goal: Goal, repetitions: Mapping[T, Sequence[Measurement]]) -> Callable[[T], float]:
    """The chance that something measured keeps the constraints, as far as noise can hide it."""
    wobble = {tag: _wobble(tag, repetitions) for tag in goal.tags}

    def chance(one: T) -> float:
        mean, times = averaged(repetitions[one]), len(repetitions[one])
        kept = 1.0
        for tag, off in wobble.items():
            deviation = off / math.sqrt(times)
            if deviation:
                kept *= _NORMAL.cdf(goal.margin(mean, tag) / deviation + _ALLOWED)
        return kept

    return chance


def assured_first(
    goal: Goal,
    ordered: Sequence[T],
    repetitions: Mapping[T, Sequence[Measurement]],
    sure: Callable[[T], float],
) -> list[T]:
    """The same, but of those that keep the constraints the first is worth most times the chance
    that it does keep them, which `sure` tells. What leads by a single measurement, and by no more
    than noise, comes after the best of those that were repeated: that may be luck.
    """
    noise = _noise(goal, repetitions)
    means = {one: averaged(repetitions[one]) for one in ordered}
    passing = [one for one in ordered if goal.passes(means[one])]
    if noise is None or not passing:
        return list(ordered)

    def worth(one: T) -> float:
        return sure(one) ** _CAUTION * math.exp(goal.score(means[one], means[passing[0]]))

    best = max(passing, key=worth)
    repeated = [one for one in passing if len(repetitions[one]) > 1]
    if repeated and len(repetitions[best]) == 1:
        most = max(repeated, key=worth)
        apart = max(noise, _LEAST_NOISE) * math.sqrt(1 + 1 / len(repetitions[most]))
        if goal.score(means[best], means[most]) <= _DEVIATIONS * apart:
            best = most
    return [best, *(one for one in ordered if one != best)]


def _wobble(tag: str, repetitions: Mapping[T, Sequence[Measurement]]) -> float:
    """The standard deviation of a metric that is measured once, as a fraction of its value: from
    everything that was repeated, and from what is usual while that is little. Memory and the like
    are what they are, unless repetitions say otherwise.
    """
    usual = _USUAL_NOISE if tag.startswith("perf_") else 0.0
    squares, free = usual**2 * _USUAL_COUNT, float(_USUAL_COUNT)
    for found in repetitions.values():
        for index in range(len(found[0].models)):
            values = [one.model_value(index, tag) for one in found]
            known = [value for value in values if value]
            if len(known) > 1:
                middle = fmean(known)
                squares += sum((value / middle - 1) ** 2 for value in known)
                free += len(known) - 1
    return math.sqrt(squares / free)


def cost(trial: Trial, measurement: Measurement) -> tuple[float, ...]:
    """What a trial takes: memory, as far as it was measured, instances, batches, load."""
    memory = [measurement.value(tag) or 0.0 for tag in ("gpu_used_memory", "cpu_used_ram")]
    served = [part for work in trial.workloads for part in work.variant.served]
    gpus = len(trial.setup.devices)
    return (
        *(round(math.log(max(value, 1.0), _STEP)) for value in memory),
        sum(count for part in served for count, _ in part.instances(gpus=gpus)),
        sum(part.max_batch_size for part in served),
        sum(work.load.value * work.load.batch_size for work in trial.workloads),
    )


def _noise(goal: Goal, repetitions: Mapping[T, Sequence[Measurement]]) -> float | None:
    """The standard deviation of a score, from everything that was repeated."""
    squares, free = 0.0, 0
    for found in repetitions.values():
        if len(found) > 1:
            mean = averaged(found)
            squares += sum(goal.score(one, mean) ** 2 for one in found)
            free += len(found) - 1
    return math.sqrt(squares / free) if free else None
