# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A machine made of formulas: the behaviour of models, without noise, for any setting and load.

With n inferences in flight, throughput has two bounds: n inferences without waiting, and the
maximum of the instances. Batches form from waiting requests, and instances share the slots of the
machine. Every effect that makes a search hard is a number that may be zero. All values are computed
for many loads at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from model_analyzer.domain.models import ModelVariant, queue_delay_us
from model_analyzer.domain.trials import LoadKind, Trial

Floats = NDArray[np.float64]

# The wait in milliseconds (half a window) of requests that come faster than they are answered.
_OVERLOAD_MS = 2500.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """The relevant part of a model's configuration: a batch limit of at least 1, whether it batches
    dynamically, and the queue delay.
    """

    instances: int
    batch_limit: int
    forms_batches: bool
    delay_us: int = 0

    @classmethod
    def of(cls, variant: ModelVariant) -> Setting:
        return cls(
            instances=sum(count for count, _ in variant.instances(gpus=0)),
            batch_limit=max(variant.max_batch_size, 1),
            forms_batches=variant.has_dynamic_batching,
            delay_us=queue_delay_us(variant.config),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """Loads of a client: requests in flight or per second, and their batch size."""

    kind: LoadKind
    values: Floats
    batch_size: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One thing to measure: the settings of all models that have instances, by name, and the
    single load of each client.
    """

    settings: Mapping[str, Setting]
    clients: Sequence[Client]

    @classmethod
    def of(cls, trial: Trial) -> Point:
        return cls(
            settings={
                variant.model: Setting.of(variant)
                for work in trial.workloads
                for variant in work.variant.served
            },
            clients=[
                Client(
                    kind=work.load.kind,
                    values=np.asarray([float(work.load.value)]),
                    batch_size=work.load.batch_size,
                )
                for work in trial.workloads
            ],
        )

    @property
    def text(self) -> str:
        """A text that identifies the point."""
        loads = [(float(client.values[0]), client.batch_size) for client in self.clients]
        return repr((sorted(self.settings.items()), loads))


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The work of a step of an ensemble, for every load: the mean batch, and its milliseconds."""

    batch: Floats
    batch_ms: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """The result for every load: throughput (1/s) and latencies (ms) of each client; the memory in
    use (MB); whether requests fail; and the work of each step of an ensemble.
    """

    throughput: tuple[Floats, ...]
    latency_avg: tuple[Floats, ...]
    latency_p99: tuple[Floats, ...]
    memory: float
    fails: NDArray[np.bool_]
    steps: Mapping[str, Work] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bump:
    """Sizes around 2^`centre` are faster by the share `gain`; `width` is in powers of two."""

    centre: float
    width: float
    gain: float

    def at(self, size: Floats) -> Floats:
        return self.gain * np.exp(-(((np.log2(size) - self.centre) / self.width) ** 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Station:
    """One model on the machine: a batch of k needs base + item * k, and `over_ms` more for each
    item above the knee. `bumps` apply to batch sizes, `instance_bumps` to instance counts. An eager
    batcher takes only a share of the waiting items, unless it has a queue delay.
    """

    base_ms: float
    item_ms: float
    knee: float = 1e9
    over_ms: float = 0.0
    bumps: tuple[Bump, ...] = ()
    instance_bumps: tuple[Bump, ...] = ()
    eager: float = 1.0
    weights_mb: float = 100.0
    item_mb: float = 1.0

    def service_ms(self, batch: Floats) -> Floats:
        plain = (
            self.base_ms + self.item_ms * batch + self.over_ms * np.maximum(batch - self.knee, 0)
        )
        return np.asarray(plain / (1 + sum(bump.at(batch) for bump in self.bumps)))

    def formed(self, waiting: Floats, least: int, setting: Setting) -> Floats:
        """The mean batch if `waiting` inferences wait for an instance."""
        if not setting.forms_batches:
            return np.full_like(waiting, least)
        patience = setting.delay_us / 1000 / self.base_ms
        share = self.eager + (1 - self.eager) * (1 - np.exp(-3 * patience))
        full = np.clip(waiting, least, max(setting.batch_limit, least))
        return np.asarray(least + (full - least) * share)

    def memory_mb(self, setting: Setting) -> float:
        return setting.instances * (self.weights_mb + self.item_mb * setting.batch_limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """p99 against the mean: `base` when idle, and up to `loaded` more when busy, late or early."""

    base: float = 1.15
    loaded: float = 0.5
    power: float = 2.0

    def p99(self, average: Floats, busy: Floats) -> Floats:
        return average * (self.base + self.loaded * np.clip(busy, 0, 1) ** self.power)


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Stations that share `slots`, and the `chains` of stations that each client's requests pass.

    `contention` is what each further busy instance costs the others; `blend` (below 1) is how
    sharp the knee of the throughput curve is. Nothing exceeds the `ceiling` (1/s); above `thrash`
    inferences in flight throughput falls; above `fades_above` each doubling takes the share `fades`
    of it; above `most_in_flight` requests fail. What needs more than `memory_mb` does not load.
    """

    stations: Mapping[str, Station]
    chains: tuple[tuple[str, ...], ...]
    slots: float = 2.0
    contention: float = 0.05
    client_ms: float = 0.3
    blend: float = 0.97
    ceiling: float = 1e12
    thrash: float = 1e12
    fades: float = 0.0
    fades_above: float = 1.0
    tail: Tail = field(default_factory=Tail)
    fixed_mb: float = 300.0
    memory_mb: float = 1e12
    most_in_flight: float = 1e12

    def respond(
        self, settings: Mapping[str, Setting], clients: Sequence[Client]
    ) -> Response | None:
        """The response to each client; None if the server cannot load these settings."""
        used = {name for chain in self.chains for name in chain}
        memory = self.fixed_mb + sum(self.stations[n].memory_mb(settings[n]) for n in sorted(used))
        if memory > self.memory_mb:
            return None
        pace = self._pace(settings, clients)
        seen = [
            self._chain(chain, settings, client, pace)
            for chain, client in zip(self.chains, clients, strict=True)
        ]
        fails = np.zeros(clients[0].values.shape, dtype=bool)
        for client in clients:
            fails |= client.values * client.batch_size > self.most_in_flight
        return Response(
            throughput=tuple(throughput for throughput, _, _ in seen),
            latency_avg=tuple(average for _, average, _ in seen),
            latency_p99=tuple(p99 for _, _, p99 in seen),
            memory=memory,
            fails=fails,
            steps=self._steps(settings, clients, pace),
        )

    def _steps(
        self, settings: Mapping[str, Setting], clients: Sequence[Client], pace: Floats
    ) -> Mapping[str, Work]:
        """The work of each step of a chain, for closed loads."""
        steps = {}
        for chain, client in zip(self.chains, clients, strict=True):
            if len(chain) > 1 and client.kind is LoadKind.CONCURRENCY:
                in_flight = client.values * client.batch_size
                for name in chain:
                    setting = settings[name]
                    busy_ms, capacity = self._station(name, setting, client, in_flight, pace)
                    batch = capacity * busy_ms / setting.instances / 1000
                    steps[name] = Work(batch=batch, batch_ms=busy_ms)
        return steps

    def _pace(self, settings: Mapping[str, Setting], clients: Sequence[Client]) -> Floats:
        """The factor by which busy instances slow each other down."""
        busy: dict[str, Floats] = {}
        for chain, client in zip(self.chains, clients, strict=True):
            # at a request rate, the number of busy instances is unknown: assume all
            most = client.values if client.kind is LoadKind.CONCURRENCY else np.float64(1e6)
            for name in chain:
                working = np.minimum(most, settings[name].instances)
                busy[name] = np.maximum(busy.get(name, working), working)
        in_use = sum(busy.values(), np.zeros_like(clients[0].values))
        return np.maximum(1, in_use / self.slots) * (1 + self.contention * (in_use - 1))

    def _chain(
        self, chain: Sequence[str], settings: Mapping[str, Setting], client: Client, pace: Floats
    ) -> tuple[Floats, Floats, Floats]:
        if client.kind is LoadKind.REQUEST_RATE:
            return self._open(chain, settings, client, pace)
        in_flight = client.values * client.batch_size
        alone = np.full_like(in_flight, self.client_ms)
        most = np.full_like(in_flight, self.ceiling)
        for name in chain:
            busy_ms, capacity = self._station(name, settings[name], client, in_flight, pace)
            alone += busy_ms
            most = np.minimum(most, capacity)
        throughput = self._blended(in_flight / alone * 1000, most)
        throughput /= 1 + np.maximum(in_flight / self.thrash - 1, 0) ** 0.7
        doublings = np.log2(np.maximum(in_flight / self.fades_above, 1))
        throughput *= (1 - self.fades) ** doublings
        average = in_flight / throughput * 1000
        return throughput, average, self.tail.p99(average, throughput / most)

    def _open(
        self, chain: Sequence[str], settings: Mapping[str, Setting], client: Client, pace: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Open load: requests come at a rate, also without responses to earlier ones."""
        offered = client.values * client.batch_size
        average = np.full_like(offered, self.client_ms)
        most = np.full_like(offered, self.ceiling)
        for name in chain:
            # requests that arrive during a batch form the next batch
            waiting = np.ones_like(offered)
            for _ in range(25):
                busy_ms, _ = self._station(name, settings[name], client, waiting, pace)
                waiting = 0.5 * waiting + 0.5 * np.minimum(offered * busy_ms / 1000, 1e6)
            full = np.full_like(offered, 1e6)
            _, capacity = self._station(name, settings[name], client, full, pace)
            busy = np.minimum(offered / capacity, 0.98)
            average += busy_ms * (1 + 0.5 * busy / (1 - busy))
            most = np.minimum(most, capacity)
        throughput = self._blended(offered, most)
        average = average + _OVERLOAD_MS * np.maximum(1 - most / offered, 0)
        return throughput, average, self.tail.p99(average, throughput / most)

    def _station(
        self, name: str, setting: Setting, client: Client, in_flight: Floats, pace: Floats
    ) -> tuple[Floats, Floats]:
        """Milliseconds of a batch for `in_flight` inferences, and the most inferences/s."""
        station = self.stations[name]
        batches = setting.instances
        if client.kind is LoadKind.CONCURRENCY:
            # besides the batches in execution, one batch waits for the next free instance
            batches += 1
        waiting = in_flight / batches
        batch = station.formed(waiting, client.batch_size, setting)
        count = np.asarray([float(setting.instances)])
        gain = 1 + sum(bump.at(count)[0] for bump in station.instance_bumps)
        busy_ms = station.service_ms(batch) * pace / gain
        busy_ms = busy_ms + setting.delay_us / 1000 * np.exp(-waiting / setting.batch_limit)
        return busy_ms, setting.instances * batch / busy_ms * 1000

    def _blended(self, a: Floats, b: Floats) -> Floats:
        """A little below the smaller of both: a hyperbola between two lines."""
        total = a + b
        root = np.sqrt(total * total - 4 * self.blend * a * b)
        return np.asarray((total - root) / (2 * self.blend))
