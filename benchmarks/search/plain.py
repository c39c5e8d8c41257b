# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Simple models of servers, and surfaces drawn from them.

They differ from the law of the adaptive search: instances share all requests in flight, so no
request waits, and each instance slows the others, even if it is idle. Where few requests meet a
latency limit, one more may break it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from zlib import crc32

import numpy as np

from benchmarks.search.draws import Random, log_uniform
from benchmarks.search.families import SurfaceSet, each_way, one_model
from benchmarks.search.machine import Bump, Client, Floats, Response, Setting, Tail
from benchmarks.search.surface import Noise, Surface

_NUMBERS = {SurfaceSet.TUNING: range(6), SurfaceSet.REPORTING: range(10, 13)}
_NAME = "plain"
_NOISES = (0.01, 0.02, 0.03, 0.05)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainServer:
    """One model under a constant number of requests in flight.

    A batch of k takes base + item * k^`growth` milliseconds, padded to multiples of `tile`, and
    `over_ms` more for each item above the knee. Each further instance slows all by a share, those
    above the `cores` in proportion. Throughput has a `ceiling` (1/s), and above `crowd` requests
    in flight it falls. What needs more than `memory_mb` does not load.
    """

    base_ms: float
    item_ms: float
    growth: float = 1.0
    tile: int = 1
    knee: float = 1e9
    over_ms: float = 0.0
    bumps: tuple[Bump, ...] = ()
    slowing: float = 0.0
    slowing_power: float = 1.0
    cores: float = 1e9
    overhead_ms: float = 0.5
    sharpness: float = 4.0
    ceiling: float = 1e12
    crowd: float = 1e12
    decline: float = 0.0
    tail: Tail = field(default_factory=Tail)
    weights_mb: float = 1000.0
    item_mb: float = 5.0
    memory_mb: float = 1e12

    def respond(
        self, settings: Mapping[str, Setting], clients: Sequence[Client]
    ) -> Response | None:
        """The response to the client; None if the server cannot load this setting."""
        (setting,), (client,) = settings.values(), clients
        memory = setting.instances * (self.weights_mb + self.item_mb * setting.batch_limit)
        if memory > self.memory_mb:
            return None
        flight = client.values * client.batch_size
        most = setting.batch_limit if setting.forms_batches else client.batch_size
        batch = np.clip(flight / setting.instances, 1, most)
        batch_ms = self._batch_ms(batch, setting.instances)
        limit = np.minimum(setting.instances * batch / batch_ms * 1000, self.ceiling)
        offered = flight / (batch_ms + self.overhead_ms) * 1000
        throughput = (limit**-self.sharpness + offered**-self.sharpness) ** (-1 / self.sharpness)
        busy = throughput / limit
        throughput /= 1 + self.decline * np.maximum(flight / self.crowd - 1, 0) ** 0.8
        average = flight / throughput * 1000
        return Response(
            throughput=(throughput,),
            latency_avg=(average,),
            latency_p99=(self.tail.p99(average, busy),),
            memory=memory,
            fails=np.zeros(flight.shape, dtype=bool),
        )

    def _batch_ms(self, batch: Floats, instances: int) -> Floats:
        padded = np.ceil(batch / self.tile) * self.tile if self.tile > 1 else batch
        alone = self.base_ms + self.item_ms * padded**self.growth
        alone = alone + self.over_ms * np.maximum(padded - self.knee, 0)
        alone = alone / (1 + sum(bump.at(batch) for bump in self.bumps))
        pace = 1 + self.slowing * (instances - 1) ** self.slowing_power
        return np.asarray(alone * pace * max(1.0, instances / self.cores))


def plain_surfaces(which: SurfaceSet) -> Iterator[Surface]:
    """The surfaces of a set, always the same: each draw without constraints, and with constraints
    that 5 to 10 % of its points meet.
    """
    for name, family in _FAMILIES.items():
        for number in _NUMBERS[which]:
            random = np.random.default_rng([crc32(f"plain {which.value} {name}".encode()), number])
            surface = replace(
                one_model(random, _NAME, family(random)),
                name=f"{name}-{number}",
                family=name,
                noise=Noise(sigma=float(random.choice(_NOISES))),
            )
            yield from each_way(surface, number, random)


# -- families ----------------------------------------------------------------------------------


def _server(random: Random, **changes: Any) -> PlainServer:
    drawn: Mapping[str, Any] = {
        "base_ms": log_uniform(random, 1, 6),
        "item_ms": log_uniform(random, 0.03, 0.5),
        "slowing": random.uniform(0.1, 0.6),
        "overhead_ms": log_uniform(random, 0.1, 2),
        "sharpness": random.uniform(2, 6),
        "tail": Tail(base=random.uniform(1.05, 1.3), loaded=random.uniform(0.1, 0.8), power=1.0),
    }
    return PlainServer(**{**drawn, **changes})


def _accelerator(random: Random) -> PlainServer:
    power = random.uniform(0.6, 1.2)
    return _server(random, slowing=random.uniform(0.1, 0.9), slowing_power=power)


def _cores(random: Random) -> PlainServer:
    """More instances than cores gain nothing, and batches gain little."""
    base, item = log_uniform(random, 0.2, 3), log_uniform(random, 0.5, 5)
    return _server(random, base_ms=base, item_ms=item, slowing=0.0, cores=random.uniform(1.5, 4.5))


def _no_gain(random: Random) -> PlainServer:
    """Larger batches cost more for each item."""
    base, item = log_uniform(random, 0.1, 1), log_uniform(random, 1, 6)
    return _server(
        random, base_ms=base, item_ms=item, growth=1 + random.uniform(0, 0.15), slowing=0.03,
        cores=random.uniform(1.5, 4),
    )  # fmt: skip


def _wall(random: Random) -> PlainServer:
    """The largest variants do not load."""
    return _server(
        random, slowing=random.uniform(0, 0.3), weights_mb=random.uniform(1000, 3000),
        item_mb=random.uniform(20, 100), memory_mb=random.uniform(10_000, 20_000),
    )  # fmt: skip


def _knee(random: Random) -> PlainServer:
    server = _server(random)
    over = server.item_ms * random.uniform(1, 10)
    return replace(server, knee=2 ** random.uniform(3, 6), over_ms=over)


def _crowd(random: Random) -> PlainServer:
    return _server(random, crowd=log_uniform(random, 30, 400), decline=random.uniform(0.2, 1))


def _two_peaks(random: Random) -> PlainServer:
    bumps = (
        Bump(centre=random.uniform(0, 2), width=1.0, gain=random.uniform(0.3, 1.2)),
        Bump(centre=random.uniform(5, 6.5), width=1.0, gain=random.uniform(0.3, 1)),
    )
    return _server(random, bumps=bumps)


def _ceiling(random: Random) -> PlainServer:
    """A limit outside the model makes many points equally good."""
    server = _server(random, slowing=random.uniform(0.05, 0.4))
    largest = 5 * 128 / (server.base_ms + server.item_ms * 128) / (1 + 4 * server.slowing) * 1000
    return replace(server, ceiling=largest * random.uniform(0.15, 0.6))


def _tails(random: Random) -> PlainServer:
    tail = Tail(base=1.1, loaded=random.uniform(2, 8), power=random.uniform(3, 10))
    return _server(random, tail=tail)


def _contention(random: Random) -> PlainServer:
    """More instances gain nothing, or cost throughput."""
    power = random.uniform(0.9, 1.4)
    return _server(random, slowing=random.uniform(0.7, 1.3), slowing_power=power)


def _steps(random: Random) -> PlainServer:
    """Batches are padded: one more item costs nothing, or as much as many."""
    tile = int(random.choice([8, 16, 32]))
    return _server(random, item_ms=log_uniform(random, 0.05, 0.4), tile=tile)


_FAMILIES: Mapping[str, Callable[[Random], PlainServer]] = {
    "accelerator": _accelerator,
    "cores": _cores,
    "no-gain": _no_gain,
    "wall": _wall,
    "knee": _knee,
    "crowd": _crowd,
    "two-peaks": _two_peaks,
    "ceiling": _ceiling,
    "tails": _tails,
    "contention": _contention,
    "steps": _steps,
}
