# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the best trials can be told apart, and which is recommended if not: the cheapest.

Only repetitions tell how noisy the measurements are, so what was measured once never ties.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeVar

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.measurements import Measurement, averaged
from model_analyzer.domain.trials import Trial

# Means that are apart by less than so many standard deviations of their difference tie, as long as
# that is not more than this by the goal's score.
_DEVIATIONS = 2.0
_MOST = 0.01

# Repetitions that agree better than this do so by chance.
_LEAST_NOISE = 0.01

# Memory counts in steps of this factor.
_STEP = 1.02

T = TypeVar("T")


def tied(
    goal: Goal, ordered: Sequence[T], repetitions: Mapping[T, Sequence[Measurement]]
) -> list[T]:
    """Those that tie with the first of `ordered` (best first), itself included."""
    first = ordered[0]
    noise = _noise(goal, repetitions)
    if noise is None or len(repetitions[first]) < 2:
        return [first]
    best = averaged(repetitions[first])
    found = [first]
    for other in ordered[1:]:
        times = len(repetitions[other])
        mean = averaged(repetitions[other])
        if times < 2 or goal.passes(mean) != goal.passes(best):
            continue
        apart = noise * math.sqrt(1 / times + 1 / len(repetitions[first]))
        if goal.score(best, mean) <= min(_DEVIATIONS * apart, _MOST):
            found.append(other)
    return found


def confirmed_first(
    goal: Goal, ordered: Sequence[T], repetitions: Mapping[T, Sequence[Measurement]]
) -> list[T]:
    """The same, but what leads by a single measurement, which may be luck, comes after the best of
    those that were repeated: unless noise does not explain its lead, or only it keeps the
    constraints.
    """
    noise = _noise(goal, repetitions)
    leader = ordered[0]
    if noise is None or len(repetitions[leader]) > 1:
        return list(ordered)
    first = next(one for one in ordered if len(repetitions[one]) > 1)
    ahead, mean = averaged(repetitions[leader]), averaged(repetitions[first])
    apart = max(noise, _LEAST_NOISE) * math.sqrt(1 + 1 / len(repetitions[first]))
    if goal.passes(ahead) != goal.passes(mean) or goal.score(ahead, mean) > _DEVIATIONS * apart:
        return list(ordered)
    return [first, *(one for one in ordered if one != first)]


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
