# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The queueing law: a prior model of the throughput of servers, with few parameters.

Each model is a station with `instances` servers that process batches. Batches form from the waiting
requests; a batch costs a fixed part and a part for each of its inferences; instances slow each
other down; and each request spends a fixed time outside the stations. A station with a queue delay
holds a batch until it is full or the delay has passed. The slowest station limits a chain of them.
By Little's law, requests in flight are throughput times latency.

A particle is a row of standard normal parameters; `_System` and `_station_limits` define their
meaning. All functions process many particles at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating[Any]]

# number of parameters of the system, and of each station
_GLOBAL, _STATION = 7, 8

_TINY = 1e-9

# Bounds the queueing time at loads far above the capacity.
_OVERLOAD = 0.02


@dataclass(frozen=True, slots=True)
class Settings:
    """The inputs of the queueing law: one row for each trial, one column for each station.

    `flight` is the number of inferences in flight (open loop: inferences sent per second), `client`
    the batch size of the client, `batch` the largest batch that a station forms, and `delay` its
    queue delay in seconds.
    """

    instances: Floats
    batch: Floats
    flight: Floats
    client: Floats
    delay: Floats

    def __len__(self) -> int:
        return len(self.flight)

    def take(self, rows: npt.NDArray[np.intp]) -> Settings:
        return Settings(
            self.instances[rows],
            self.batch[rows],
            self.flight[rows],
            self.client[rows],
            self.delay[rows],
        )

    def rounded(self) -> Settings:
        """The same in single precision: precise enough for the law, and three times as fast."""
        values = (self.instances, self.batch, self.flight, self.client, self.delay)
        return Settings(*(value.astype(np.float32) for value in values))


@dataclass(frozen=True, slots=True)
class Flow:
    """The predictions of the queueing law, by particle (rows) and trial (columns).

    `throughput` and `latency` (average) are logarithms, both up to the same unknown factor.
    `utilisation` is that of the slowest station (0 to 1). `limits` are the logarithms of the
    throughput that each station allows; closed loop only.
    """

    throughput: Floats
    latency: Floats
    utilisation: Floats
    limits: Sequence[Floats] = ()


def parameter_count(stations: int) -> int:
    """The number of parameters of one particle."""
    return _GLOBAL + _STATION * stations


def closed_loop(particles: Floats, settings: Settings, scale: Floats) -> Flow:
    """Predictions for a constant number of inferences in flight.

    `scale`: the inferences per second that a throughput of 1 stands for, by particle.
    """
    system = _System(particles)
    queue_delay = _QueueDelay(scale[:, None], arriving=None)
    limits, time, _ = _station_limits(
        particles, system, settings, settings.flight[None, :], system.waiting, queue_delay
    )
    offered = np.log(settings.flight / (time + system.outside))
    capacity = _soft_minimum([*limits, system.ceiling], system.sharpness)
    flow = _soft_minimum([capacity, offered], system.sharpness)
    crowded = np.log2(settings.flight) - system.crowd
    overloaded = (offered - capacity) / np.log(2) - system.onset
    beyond = np.maximum(np.where(system.is_crowd, crowded, overloaded), 0)
    throughput = flow - system.thrashing * beyond
    utilisation = np.exp(flow - capacity)
    return Flow(throughput, np.log(settings.flight) - throughput, utilisation, limits)


def open_loop(particles: Floats, settings: Settings, scale: Floats) -> Flow:
    """Predictions for a constant number of inferences sent per second.

    `scale`: the inferences per second that a throughput of 1 stands for, by particle.
    """
    system = _System(particles)
    sent = settings.flight[None, :] / scale[:, None]
    # an open loop has no fixed number in flight: capacity assumes full batches
    full, none = np.full_like(sent, np.inf), np.zeros_like(system.waiting)
    limits, _, _ = _station_limits(particles, system, settings, full, none, None)
    capacity = _soft_minimum([*limits, system.ceiling], system.sharpness)
    load = np.minimum(sent / np.exp(capacity), 1e3)
    # requests that arrive while a batch is processed form the next batch
    _, alone, _ = _station_limits(particles, system, settings, settings.client[None, :], none, None)
    waiting = np.minimum(sent * alone, 1e6) + settings.client
    queue_delay = _QueueDelay(scale[:, None], arriving=sent)
    _, time, idle = _station_limits(particles, system, settings, waiting, none, queue_delay)
    slower = 1 + load / (np.maximum(1 - load, 0) + _OVERLOAD)
    latency = np.log((time - idle + system.outside) * slower + idle)
    flow = _soft_minimum([capacity, np.log(sent)], 4 * system.sharpness)
    return Flow(flow, latency, np.minimum(load, 1))


class _System:
    """The parameters of the whole system, as columns."""

    def __init__(self, particles: Floats) -> None:
        column = particles[:, :, None]
        # time outside the stations, relative to that of a single inference
        self.outside = np.exp(-2.0 + 1.3 * column[:, 0])
        # how sharp the transition from one limit to the next is
        self.sharpness = 1.0 + np.exp(1.1 + 0.7 * column[:, 1])
        # logarithm of the maximum throughput of the system
        self.ceiling = 5.0 + 2.5 * column[:, 2]
        # throughput lost with each doubling of an excessive load. The threshold is either `onset`
        # doublings above the capacity of the stations, or `crowd` doublings of one inference
        self.thrashing = 0.007 * np.exp(2.0 * column[:, 3])
        self.onset = 1.0 + 1.5 * column[:, 5]
        self.crowd = 6.5 + 2.0 * column[:, 5]
        self.is_crowd = column[:, 6] > 0
        # batches that wait in addition to those that are processed
        self.waiting = 1.5 / (1 + np.exp(-0.7 - 1.5 * column[:, 4]))


@dataclass(frozen=True, slots=True)
class _QueueDelay:
    """What the effect of a queue delay depends on.

    `scale` is the inferences per second that a throughput of 1 stands for; `arriving` the arrival
    rate of an open loop, None for a closed loop.
    """

    scale: Floats
    arriving: Floats | None


def _station_limits(
    particles: Floats,
    system: _System,
    settings: Settings,
    flight: Floats,
    waiting_batches: Floats,
    queue_delay: _QueueDelay | None,
) -> tuple[list[Floats], Floats, Floats]:
    """For all stations: the logarithms of the throughput that each allows, the total time of an
    inference in them, and the part of it that its batch waits to fill.

    The `flight` inferences belong to the batches in process and to the `waiting_batches`. Without
    `queue_delay` no batch waits to fill.
    """
    limits, times, waits = [], [], []
    for station in range(settings.instances.shape[1]):
        first = _GLOBAL + _STATION * station
        z = particles[:, first : first + _STATION, None]
        share = 1 / (1 + np.exp(2.0 - 2.0 * z[:, 0]))  # of one inference in the cost of its batch
        cores = 1.0 + np.exp(1.2 + 1.2 * z[:, 1])
        contention = 0.05 * np.exp(1.5 * z[:, 2])
        coherence = 0.005 * np.exp(1.5 * z[:, 3])
        constant_part = 1 / (1 + np.exp(-1.5 * z[:, 4]))  # of the slowdown: does not depend on load
        pace = np.exp(0.8 * z[:, 5]) if settings.instances.shape[1] > 1 else 1.0
        # each inference above the knee costs more, by this factor
        knee = 2 ** (5.5 + 2.0 * z[:, 6])
        steeper = np.exp(-1.0 + 1.2 * z[:, 7])
        instances = settings.instances[:, station]
        # a batch contains whole requests only
        limit = settings.client * np.maximum(
            np.floor(settings.batch[:, station] / settings.client), 1
        )
        batch = np.clip(flight / (instances + waiting_batches), settings.client, limit)
        busy = np.clip(flight / batch, 1, instances)
        log_busy = np.log(busy)
        concurrent = np.exp(log_busy + constant_part * (np.log(instances) - log_busy))
        slowing = 1 + contention * (concurrent - 1) + coherence * concurrent * (concurrent - 1)
        crowded = np.square(concurrent / cores)
        slowing = slowing * np.sqrt(np.sqrt(1 + np.square(crowded)))
        work = partial(_work, pace * slowing, share, knee, steeper)
        time = work(batch)
        formed = _Batches(batch, time, time, np.zeros_like(time))
        delay = settings.delay[:, station]
        if queue_delay is not None and delay.any():
            delay_scaled = delay * queue_delay.scale
            if queue_delay.arriving is None:
                formed = _filled_in_closed_loop(
                    formed, delay_scaled, flight, limit, instances, settings.client, work
                )
            else:
                formed = _filled_at_random(
                    formed, delay_scaled, queue_delay.arriving, limit, settings.client, work
                )
        limits.append(np.log(instances * formed.size / formed.cycle))
        times.append(formed.time)
        waits.append(formed.waits)
    return limits, np.asarray(sum(times)), np.asarray(sum(waits))


def _work(slowness: Floats, share: Floats, knee: Floats, steeper: Floats, batch: Floats) -> Floats:
    """The processing time of a batch."""
    cost = 1 - share + share * (batch + steeper * np.maximum(batch - knee, 0))
    return np.asarray(slowness * cost)


@dataclass(frozen=True, slots=True)
class _Batches:
    """The batches of a station: their size, the time between two batches of a busy instance
    (`cycle`), the time of an inference in the station, and the part of it that its batch waits.
    """

    size: Floats
    cycle: Floats
    time: Floats
    waits: Floats


# The processing time of a batch, by its size.
Work = Callable[[Floats], Floats]


def _filled(
    batches: _Batches, delay: Floats, arriving: Floats, available: Floats, limit: Floats, work: Work
) -> _Batches:
    """The batches if each waits for `delay`, or until it is full.

    `arriving` is the arrival rate, `available` the most inferences that a batch can get, `limit`
    the size of a full batch.
    """
    # a batch that cannot become full waits for the whole delay
    until_full = np.where(limit > available, np.inf, (limit - batches.size) / arriving)
    waits = np.minimum(delay, until_full)
    room = np.maximum(np.minimum(limit, available), batches.size)
    size = np.minimum(batches.size + arriving * waits, room)
    time = work(size) + waits
    return _Batches(size, time, time, waits)


def _filled_at_random(
    batches: _Batches, delay: Floats, arriving: Floats, limit: Floats, client: Floats, work: Work
) -> _Batches:
    """`_filled` for an open loop: requests arrive one by one. The first request of a batch waits
    longest; the mean of all is about half of that.
    """
    filled = _filled(batches, delay, arriving, limit, limit, work)
    longest = filled.waits
    waits = longest * (1 + client / (client + arriving * longest)) / 2
    return _Batches(filled.size, filled.cycle, filled.time - longest + waits, waits)


def _filled_in_closed_loop(
    batches: _Batches,
    delay: Floats,
    flight: Floats,
    limit: Floats,
    instances: Floats,
    client: Floats,
    work: Work,
) -> _Batches:
    """`_filled` for a closed loop: with a long delay, all batches become full, because requests
    that are answered together are sent again together and fill the next batch.
    """
    busy = np.clip(flight / batches.size, 1, instances)
    arriving = busy * batches.size / batches.cycle
    available = flight - (busy - 1) * batches.size
    partial_batches = _filled(batches, delay, arriving, available, limit, work)
    full_time = work(limit)
    count = np.floor(flight / limit)
    # the remainder waits for answers, or is processed after the delay as a smaller batch
    remainder = flight - count * limit
    alone = np.where(
        delay < full_time, remainder / (work(np.maximum(remainder, client)) + delay), 0
    )
    flow = count * limit / full_time + alone
    time = np.where(count < instances, flight / np.maximum(flow, _TINY), full_time)
    becomes_full = (count >= 1) & (batches.size < limit) & (delay * arriving > limit - batches.size)
    return _Batches(
        np.where(becomes_full, limit, partial_batches.size),
        np.where(becomes_full, full_time, partial_batches.cycle),
        np.where(becomes_full, time, partial_batches.time),
        np.where(becomes_full, time - full_time, partial_batches.waits),
    )


def _soft_minimum(logarithms: list[Floats], sharpness: Floats) -> Floats:
    """A smooth minimum of values, given and returned as logarithms."""
    minimum = logarithms[0]
    for other in logarithms[1:]:
        ratio = np.exp(-sharpness * np.abs(minimum - other))
        # pairwise and without logaddexp: most of the time of the law is spent here
        minimum = np.minimum(minimum, other) - np.log(1 + ratio) / sharpness
    return np.asarray(minimum)
