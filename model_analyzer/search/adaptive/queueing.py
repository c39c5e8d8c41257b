# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What is known about servers before anything is measured: throughput as a law with few unknowns.

Each model is a station: `instances` servers that work on batches. Batches form from the requests
that wait, a batch costs a fixed part and a part for each of its inferences, instances slow each
other down, and a fixed time passes outside. Where batches may wait until they are full, they do,
for as long as that takes or for the queue delay. The slowest station limits a chain of them, and
by Little's law the requests in flight are throughput times latency.

A set of unknowns is a row of standard normal numbers; `_Whole` and `_stations` say what they mean.
All functions take many rows at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating[Any]]

# unknowns of the whole, and of each station
_GLOBAL, _STATION = 7, 8

_NEARLY_NONE = 1e-9

# How close queueing comes to the limit that it cannot pass, at loads far above it.
_OVERLOAD = 0.02


@dataclass(frozen=True, slots=True)
class Settings:
    """Where throughput is asked for: one row for each trial, one column for each station.

    `flight` is the number of inferences in flight, or with an open loop those sent per second;
    `client` the client's batch size; `batch` the largest batch that a station forms, and `delay`
    the seconds that it may wait for one to fill.
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
        """In single precision, which the law is worked out in: that is more than it is worth, and
        takes a third of the time.
        """
        values = (self.instances, self.batch, self.flight, self.client, self.delay)
        return Settings(*(value.astype(np.float32) for value in values))


@dataclass(frozen=True, slots=True)
class Flow:
    """For each set of unknowns and each trial: the logarithms of throughput and of the average
    latency, both up to the same unknown factor; how busy the slowest station is (0 to 1); and, with
    a closed loop, the logarithm of the throughput that each station allows.
    """

    throughput: Floats
    latency: Floats
    utilisation: Floats
    limits: Sequence[Floats] = ()


def unknowns(stations: int) -> int:
    """How many numbers make up one set."""
    return _GLOBAL + _STATION * stations


def closed_loop(sets: Floats, at: Settings, scale: Floats) -> Flow:
    """With a constant number of inferences in flight, where a throughput of one stands for `scale`
    per second.
    """
    whole = _Whole(sets)
    patience = _Patience(scale[:, None], arriving=None)
    limits, time, _ = _stations(sets, whole, at, at.flight[None, :], whole.waiting, patience)
    offered = np.log(at.flight / (time + whole.outside))
    capacity = _least([*limits, whole.ceiling], whole.sharpness)
    flow = _least([capacity, offered], whole.sharpness)
    crowded = np.log2(at.flight) - whole.crowd
    overloaded = (offered - capacity) / np.log(2) - whole.onset
    beyond = np.maximum(np.where(whole.is_crowd, crowded, overloaded), 0)
    throughput = flow - whole.thrashing * beyond
    utilisation = np.exp(flow - capacity)
    return Flow(throughput, np.log(at.flight) - throughput, utilisation, limits)


def open_loop(sets: Floats, at: Settings, scale: Floats) -> Flow:
    """With a constant number of inferences sent per second, where a throughput of one stands for
    `scale` per second.
    """
    whole = _Whole(sets)
    sent = at.flight[None, :] / scale[:, None]
    # what waits is counted, and not what is in flight
    full, none = np.full_like(sent, np.inf), np.zeros_like(whole.waiting)
    limits, _, _ = _stations(sets, whole, at, full, none, None)
    capacity = _least([*limits, whole.ceiling], whole.sharpness)
    load = np.minimum(sent / np.exp(capacity), 1e3)
    # what waits while a batch is worked on makes up the next one
    _, alone, _ = _stations(sets, whole, at, at.client[None, :], none, None)
    waiting = np.minimum(sent * alone, 1e6) + at.client
    patience = _Patience(scale[:, None], arriving=sent)
    _, time, idle = _stations(sets, whole, at, waiting, none, patience)
    slower = 1 + load / (np.maximum(1 - load, 0) + _OVERLOAD)
    latency = np.log((time - idle + whole.outside) * slower + idle)
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


@dataclass(frozen=True, slots=True)
class _Patience:
    """What queue delays are held against: the throughput per second that one stands for, and the
    inferences that arrive, where they do not depend on the answers.
    """

    scale: Floats
    arriving: Floats | None


def _stations(
    sets: Floats,
    whole: _Whole,
    at: Settings,
    flight: Floats,
    others: Floats,
    patience: _Patience | None,
) -> tuple[list[Floats], Floats, Floats]:
    """The logarithm of the throughput that each station allows, an inference's time in them, and
    how much of that batches wait for more.

    `flight` inferences are shared between the batches that are worked on and so many `others`.
    Without `patience` no batch waits for more.
    """
    limits, times, waits = [], [], []
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
        # a batch takes whole requests
        most = at.client * np.maximum(np.floor(at.batch[:, station] / at.client), 1)
        batch = np.clip(flight / (instances + others), at.client, most)
        busy = np.clip(flight / batch, 1, instances)
        log_busy = np.log(busy)
        together = np.exp(log_busy + always * (np.log(instances) - log_busy))
        slowing = 1 + contention * (together - 1) + coherence * together * (together - 1)
        crowded = np.square(together / cores)
        slowing = slowing * np.sqrt(np.sqrt(1 + np.square(crowded)))
        work = partial(_work, pace * slowing, share, knee, steeper)
        time = work(batch)
        formed = _Formed(batch, time, time, np.zeros_like(time))
        delay = at.delay[:, station]
        if patience is not None and delay.any():
            waiting = delay * patience.scale
            if patience.arriving is None:
                formed = _gathered(formed, waiting, flight, most, instances, at.client, work)
            else:
                formed = _filled_by_chance(
                    formed, waiting, patience.arriving, most, at.client, work
                )
        limits.append(np.log(instances * formed.size / formed.cycle))
        times.append(formed.time)
        waits.append(formed.waits)
    return limits, np.asarray(sum(times)), np.asarray(sum(waits))


def _work(slowness: Floats, share: Floats, knee: Floats, steeper: Floats, batch: Floats) -> Floats:
    """How long a batch is worked on."""
    cost = 1 - share + share * (batch + steeper * np.maximum(batch - knee, 0))
    return np.asarray(slowness * cost)


@dataclass(frozen=True, slots=True)
class _Formed:
    """Batches: their size, the time from one to the next of an instance that always has one, that
    of an inference in the station, and how much of it its batch waits for more.
    """

    size: Floats
    cycle: Floats
    time: Floats
    waits: Floats


# How long a batch of some size is worked on.
Work = Callable[[Floats], Floats]


def _filled(
    formed: _Formed, delay: Floats, arriving: Floats, there: Floats, most: Floats, work: Work
) -> _Formed:
    """What becomes of batches that wait for a `delay`, or until they are full, when so many arrive
    and are `there` at most.
    """
    # what will never be there is waited for in vain
    until_full = np.where(most > there, np.inf, (most - formed.size) / arriving)
    waits = np.minimum(delay, until_full)
    room = np.maximum(np.minimum(most, there), formed.size)
    size = np.minimum(formed.size + arriving * waits, room)
    time = work(size) + waits
    return _Formed(size, time, time, waits)


def _filled_by_chance(
    formed: _Formed, delay: Floats, arriving: Floats, most: Floats, client: Floats, work: Work
) -> _Formed:
    """The same when requests arrive one by one, whatever is answered: the first waits longest, and
    the others half of that in the mean.
    """
    filled = _filled(formed, delay, arriving, most, most, work)
    first = filled.waits
    waits = first * (1 + client / (client + arriving * first)) / 2
    return _Formed(filled.size, filled.cycle, filled.time - first + waits, waits)


def _gathered(
    formed: _Formed,
    delay: Floats,
    flight: Floats,
    most: Floats,
    instances: Floats,
    client: Floats,
    work: Work,
) -> _Formed:
    """The same when so many are in flight: with a long delay all batches become full. Those that
    are answered at the same time are sent again at the same time, and fill the next.
    """
    busy = np.clip(flight / formed.size, 1, instances)
    arriving = busy * formed.size / formed.cycle
    there = flight - (busy - 1) * formed.size
    short = _filled(formed, delay, arriving, there, most, work)
    full = work(most)
    count = np.floor(flight / most)
    # the rest waits for answers, or goes as it is
    rest = flight - count * most
    alone = np.where(delay < full, rest / (work(np.maximum(rest, client)) + delay), 0)
    flow = count * most / full + alone
    time = np.where(count < instances, flight / np.maximum(flow, _NEARLY_NONE), full)
    is_long = (count >= 1) & (formed.size < most) & (delay * arriving > most - formed.size)
    return _Formed(
        np.where(is_long, most, short.size),
        np.where(is_long, full, short.cycle),
        np.where(is_long, time, short.time),
        np.where(is_long, time - full, short.waits),
    )


def _least(logarithms: list[Floats], sharpness: Floats) -> Floats:
    """A smooth minimum, of logarithms and as one."""
    least = logarithms[0]
    for other in logarithms[1:]:
        apart = np.exp(-sharpness * np.abs(least - other))
        # one by one, and without logaddexp: this is most of the time that the law takes
        least = np.minimum(least, other) - np.log(1 + apart) / sharpness
    return np.asarray(least)
