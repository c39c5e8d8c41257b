# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What chance, the arrivals and the load would give, so that a rule speaks only beyond it. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heapreplace
from statistics import fmean, pstdev

from model_analyzer.domain.arrivals import variation
from model_analyzer.noise.noise import ratio_noise
from model_analyzer.noise.pooling import histogram_of
from model_analyzer.noise.round_noise import RoundNoise
from model_analyzer.results.change import Change, change
from model_analyzer.results.explain.situation import Situation, Station

# Parts of a distribution of latencies, each with its middle.
_PARTS = 200

# Simulated measurements, and the fewest and most requests of each.
_RUNS, _FEWEST, _MOST = 20, 50, 2000


def change_between(before: Situation, after: Situation, tag: str) -> Change:
    """The change of a metric, with the 95 % interval that the noise of both allows: the windows of
    a throughput, the number of requests behind a percentile.
    """
    noise = RoundNoise([before.runs, after.runs])
    both = ratio_noise(noise.of(before.runs, tag), noise.of(after.runs, tag))
    return change(before.measurement.value(tag), after.measurement.value(tag), both)


def rose(change: Change) -> bool:
    """Whether a value rose by more than chance."""
    return change.interval is not None and change.interval.low > 0


def fell(change: Change) -> bool:
    """Whether a value fell by more than chance."""
    return change.interval is not None and change.interval.high < 0


def window_noise(situation: Situation) -> float:
    """The standard deviation of the throughput of a window, as a fraction: the spread of the
    latencies, divided by the root of the number of requests. 0 if it is unknown.
    """
    (model,) = situation.measurement.models
    histogram = histogram_of(model, "perf_latency")
    windows = max(len(model.windows), 1)
    if histogram is None or histogram.total < _FEWEST:
        return 0.0
    latencies = [histogram.quantile((place + 0.5) / _PARTS) for place in range(_PARTS)]
    return pstdev(latencies) / fmean(latencies) / math.sqrt(histogram.total / windows)


@dataclass(frozen=True, slots=True)
class Wait:
    """The average time (ms) in a queue that random arrivals explain: `usual` in many measurements
    of this length, and the longest in 20 of them.
    """

    usual: float
    longest: float


def explained_wait(situation: Situation, station: Station) -> Wait | None:
    """The wait for a station under the rate and the arrivals of a situation, simulated: executions
    take their average time, and take what waits as a batch. None if the arrivals are unknown.
    """
    cv = variation(situation.work)
    rate = situation.requests_per_s * max(station.calls, 1.0)
    if cv is None or not rate:
        return None
    count = min(max(situation.requests, _FEWEST), _MOST)
    limit = station.largest_batch // situation.work.load.batch_size
    waits = [
        fmean(_waits(_times(rate, cv, count, seed), station, max(limit, 1)))
        for seed in range(_RUNS)
    ]
    return Wait(usual=fmean(waits), longest=max(waits))


def _times(rate: float, cv: float, count: int, seed: int) -> Sequence[float]:
    """When requests arrive, in ms."""
    import numpy as np  # slow to import

    gap = 1000 / rate
    if not cv:
        return [gap * place for place in range(count)]
    shape = 1 / cv**2
    times: list[float] = (
        np.random.default_rng(seed).gamma(shape, gap / shape, count).cumsum().tolist()
    )
    return times


def _waits(times: Sequence[float], station: Station, limit: int) -> Iterator[float]:
    """How long each request waits for one of the instances."""
    free = [0.0] * max(station.instances, 1)
    heapify(free)
    place = 0
    while place < len(times):
        begin = max(times[place], free[0])
        batch = [time for time in times[place : place + limit] if time <= begin]
        yield from (begin - time for time in batch)
        place += len(batch)
        heapreplace(free, begin + station.execution_ms)
