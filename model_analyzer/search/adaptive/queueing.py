# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What is known about servers before anything is measured: throughput as a law with few unknowns.

Each model is a station: `instances` servers that work on batches. Batches form from the requests
that wait, a batch costs a fixed part and a part for each of its inferences, instances slow each
other down, and a fixed time passes outside. The slowest station limits a chain of them, and by
Little's law the requests in flight are throughput times latency.

A set of unknowns is a row of standard normal numbers; `_Unknowns` says what they mean. All
functions take many rows at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating[Any]]

# unknowns of the whole, and of each station
_GLOBAL, _STATION = 7, 8

# How close queueing comes to the limit that it cannot pass, at loads far above it.
_OVERLOAD = 0.02


@dataclass(frozen=True, slots=True)
class Settings:
    """Where throughput is asked for: one row for each trial, one column for each station.

    `flight` is the number of inferences in flight, or with an open loop those sent per second;
    `client` the client's batch size; `batch` the largest batch that a station forms.
    """

    instances: Floats
    batch: Floats
    flight: Floats
    client: Floats

    def __len__(self) -> int:
        return len(self.flight)

    def take(self, rows: npt.NDArray[np.intp]) -> Settings:
        return Settings(
            self.instances[rows], self.batch[rows], self.flight[rows], self.client[rows]
        )

    def rounded(self) -> Settings:
        """In single precision, which the law is worked out in: that is more than it is worth, and
        takes a third of the time.
        """
        values = (self.instances, self.batch, self.flight, self.client)
        return Settings(*(value.astype(np.float32) for value in values))


@dataclass(frozen=True, slots=True)
class Flow:
    """For each set of unknowns and each trial: the logarithms of throughput and of the average
    latency, both up to the same unknown factor, and how busy the slowest station is (0 to 1).
    """

    throughput: Floats
    latency: Floats
    utilisation: Floats


def unknowns(stations: int) -> int:
    """How many numbers make up one set."""
    return _GLOBAL + _STATION * stations


def closed_loop(sets: Floats, at: Settings) -> Flow:
    """With a constant number of inferences in flight."""
    whole = _Whole(sets)
    limit, time = _stations(sets, whole, at, at.flight[None, :], whole.waiting)
    offered = np.log(at.flight / (time + whole.outside))
    capacity = _least([limit, whole.ceiling], whole.sharpness)
    flow = _least([capacity, offered], whole.sharpness)
    crowded = np.log2(at.flight) - whole.crowd
    overloaded = (offered - capacity) / np.log(2) - whole.onset
    beyond = np.maximum(np.where(whole.is_crowd, crowded, overloaded), 0)
    throughput = flow - whole.thrashing * beyond
    return Flow(throughput, np.log(at.flight) - throughput, np.exp(flow - capacity))


def open_loop(sets: Floats, at: Settings, scale: Floats) -> Flow:
    """With a constant number of inferences sent per second, where a throughput of one stands for
    `scale` per second.
    """
    whole = _Whole(sets)
    sent = at.flight[None, :] / scale[:, None]
    # what waits is counted, and not what is in flight
    full, none = np.full_like(sent, np.inf), np.zeros_like(whole.waiting)
    limit, _ = _stations(sets, whole, at, full, none)
    capacity = _least([limit, whole.ceiling], whole.sharpness)
    load = np.minimum(sent / np.exp(capacity), 1e3)
    # what waits while a batch is worked on makes up the next one
    _, alone = _stations(sets, whole, at, at.client[None, :], none)
    waiting = np.minimum(sent * alone, 1e6) + at.client
    _, time = _stations(sets, whole, at, waiting, none)
    slower = 1 + load / (np.maximum(1 - load, 0) + _OVERLOAD)
    latency = np.log((time + whole.outside) * slower)
    flow = _least([capacity, np.log(sent)], 4 * whole.sharpness)
    return Flow(flow, latency, np.minimum(load, 1))


class _Whole:
    """The unknowns that are not a station's, as columns."""

    def __init__(self, sets: Floats) -> None:
        column = sets[:, :, None]
        # seconds outside the stations, in those that one inference takes alone
        self.outside = np.exp(-2.0 + 1.3 * column[:, 0])
        # how sharply one limit gives way to another
        self.sharpness = 1.0 + np.exp(1.1 + 0.7 * column[:, 1])
        # logarithm of a throughput that nothing exceeds
        self.ceiling = 5.0 + 2.5 * column[:, 2]
        # throughput lost with each doubling of a load that is too high: that is either so many
        # doublings of what the stations can take, or of one inference in flight, whoever serves it
        self.thrashing = 0.007 * np.exp(2.0 * column[:, 3])
        self.onset = 1.0 + 1.5 * column[:, 5]
        self.crowd = 6.5 + 2.0 * column[:, 5]
        self.is_crowd = column[:, 6] > 0
        # batches in flight beside those that are worked on
        self.waiting = 1.5 / (1 + np.exp(-0.7 - 1.5 * column[:, 4]))


def _stations(
    sets: Floats, whole: _Whole, at: Settings, flight: Floats, others: Floats
) -> tuple[Floats, Floats]:
    """The logarithm of the throughput that the stations allow, and an inference's time in them.

    `flight` inferences are shared between the batches that are worked on and so many `others`.
    """
    limits, times = [], []
    for station in range(at.instances.shape[1]):
        first = _GLOBAL + _STATION * station
        z = sets[:, first : first + _STATION, None]
        share = 1 / (1 + np.exp(2.0 - 2.0 * z[:, 0]))  # of an inference in the cost of a batch of 1
        cores = 1.0 + np.exp(1.2 + 1.2 * z[:, 1])
        contention = 0.05 * np.exp(1.5 * z[:, 2])
        coherence = 0.005 * np.exp(1.5 * z[:, 3])
        always = 1 / (1 + np.exp(-1.5 * z[:, 4]))  # of the slowing is there without load, too
        pace = np.exp(0.8 * z[:, 5]) if at.instances.shape[1] > 1 else 1.0
        # above the knee, an inference costs so many times as much more
        knee = 2 ** (5.5 + 2.0 * z[:, 6])
        steeper = np.exp(-1.0 + 1.2 * z[:, 7])
        instances = at.instances[:, station]
        most = np.maximum(at.batch[:, station], at.client)
        batch = np.clip(flight / (instances + others), at.client, most)
        busy = np.clip(flight / batch, 1, instances)
        log_busy = np.log(busy)
        together = np.exp(log_busy + always * (np.log(instances) - log_busy))
        slowing = 1 + contention * (together - 1) + coherence * together * (together - 1)
        crowded = np.square(together / cores)
        slowing = slowing * np.sqrt(np.sqrt(1 + np.square(crowded)))
        cost = 1 - share + share * (batch + steeper * np.maximum(batch - knee, 0))
        time = pace * cost * slowing
        limits.append(np.log(instances * batch / time))
        times.append(time)
    limit = limits[0] if len(limits) == 1 else _least(limits, whole.sharpness)
    return limit, np.asarray(sum(times))


def _least(logarithms: list[Floats], sharpness: Floats) -> Floats:
    """A smooth minimum, of logarithms and as one."""
    least = logarithms[0]
    for other in logarithms[1:]:
        apart = np.exp(-sharpness * np.abs(least - other))
        # one by one, and without logaddexp: this is most of the time that the law takes
        least = np.minimum(least, other) - np.log(1 + apart) / sharpness
    return np.asarray(least)
