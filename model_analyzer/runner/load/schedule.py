# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The times at which the requests of an open load are due. Pure, and reproducible by its seed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from model_analyzer.domain.traffic import Arrivals, Stage, Traffic

# Nanoseconds from the beginning of the load, ascending.
Times = npt.NDArray[np.int64]

_NS_PER_S = 1e9


def due_times(
    traffic: Traffic,
    *,
    rate: float,
    seconds: float,
    part: int = 0,
    log: Sequence[int] | Times = (),
    stratum_s: float = math.inf,
) -> Times:
    """When requests are due that arrive at `rate` per second on average, for so many seconds.

    In each stratum of so many seconds, and in each stage, that is the rate exactly: a short part of
    a random load would have a load by chance. Each `part` of a load (a round, for example)
    has other times, unless they are those of a log. Stages and a `log` (its times in nanoseconds,
    ascending, from 0) have their own rates and length.
    """
    random = np.random.default_rng([traffic.seed, part])
    match traffic.arrivals:
        case Arrivals.REPLAY:
            return np.round(np.asarray(log, dtype=np.int64) / traffic.speed).astype(np.int64)
        case Arrivals.STAGES:
            return _in_stages(traffic.stages, random)
        case Arrivals.CONSTANT:
            gaps = np.full(_count(rate * seconds), 1 / rate)
        case _:
            cv = traffic.cv if traffic.arrivals is Arrivals.GAMMA else 1.0
            # with this shape, a gamma distribution has this coefficient of variation
            shape = 1 / cv**2
            gaps = random.gamma(shape, 1 / (rate * shape), _count(rate * seconds))
            gaps = _stratified(gaps, 1 / rate, _count(rate * min(stratum_s, seconds)))
    return _nanoseconds(np.cumsum(gaps))


def _stratified(gaps: npt.NDArray[np.float64], mean: float, size: int) -> npt.NDArray[np.float64]:
    """The gaps, with this mean in each group of `size`; a last group that is smaller stays."""
    whole = len(gaps) // size * size
    groups = gaps[:whole].reshape(-1, size)
    scaled = groups * (mean / groups.mean(axis=1, keepdims=True))
    return np.concatenate([scaled.ravel(), gaps[whole:]])


def _count(expected: float) -> int:
    return max(round(expected), 2)


def _in_stages(stages: Sequence[Stage], random: np.random.Generator) -> Times:
    """Poisson arrivals: given their number, they are independent and uniform in their stage."""
    ends = np.cumsum([stage.seconds for stage in stages])
    due = np.rint(np.cumsum([stage.rate * stage.seconds for stage in stages]))
    counts = np.diff(due, prepend=0).astype(int)
    times = [
        np.sort(random.uniform(end - stage.seconds, end, count))
        for stage, end, count in zip(stages, ends, counts, strict=True)
    ]
    return _nanoseconds(np.concatenate(times))


def _nanoseconds(seconds: npt.NDArray[np.float64]) -> Times:
    return np.round(seconds * _NS_PER_S).astype(np.int64)
