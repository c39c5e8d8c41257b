# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What inferences cost and use: energy of GPUs, from counters that grow as they use it; and metrics
that follow from measured ones, which are not stored: prices change, and the idle server may be
observed later. What is unknown has no value, never 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

from model_analyzer.domain.measurements import CounterReading, Measurement, ModelMeasurement, Values
from model_analyzer.domain.metrics import METRICS
from model_analyzer.domain.prices import COSTS, Prices, Resources, cost_per_million, hourly_cost
from model_analyzer.domain.settings import LaunchMode
from model_analyzer.domain.trials import Trial

METERED_POWER, ENERGY_PER_INFERENCE = "gpu_metered_power", "energy_per_inference"
_POWER = "gpu_power_usage"

# The time (s) and the value (J) of an energy counter.
_Point = tuple[float, float]


def with_metered_power(
    gpus: Mapping[str, Values],
    readings: Sequence[CounterReading],
    during: tuple[float, float] | None = None,
) -> Mapping[str, Values]:
    """The values of GPUs, with their metered power as far as it is known: that between the times
    `during`; if these are unknown or too close to each other, that of all readings.

    Between the times, it also replaces the sampled power: drivers report a mean of the last second,
    which is too low shortly after the load has begun.
    """
    exact = {} if during is None else power_during(readings, during)
    metered = {
        uuid: {METERED_POWER: round(watts, 3)}
        for uuid, watts in {**metered_power(readings), **exact}.items()
    }
    sampled = {uuid: {_POWER: round(watts, 1)} for uuid, watts in exact.items()}
    return {
        uuid: {**values, **metered.get(uuid, {}), **sampled.get(uuid, {})}
        for uuid, values in gpus.items()
    }


def metered_power(readings: Sequence[CounterReading]) -> Mapping[str, float]:
    """The mean power of each GPU in watts, by UUID, from readings in order of time.

    A GPU is left out if it has no counter (MIG, GPUs before Volta), if a reading lacks it, if its
    counter fell (the driver was loaded again, or the counter wrapped around), or if it stood still:
    no GPU uses nothing.
    """
    return _growth([(uuid, points[0], points[-1]) for uuid, points in _counters(readings)])


def power_during(
    readings: Sequence[CounterReading], during: tuple[float, float]
) -> Mapping[str, float]:
    """As `metered_power`, but between two times, in seconds.

    A GPU updates its counter only every 0.1 seconds or so. Reading it at a random moment misses up
    to an update at each end, a quarter of the energy of a short load: power is that from the first
    to the last update between the times. A GPU with fewer than two is left out.
    """
    begin, end = during
    updates = [
        (uuid, [point for point in _updates(points) if begin <= point[0] <= end])
        for uuid, points in _counters(readings)
    ]
    return _growth([(uuid, points[0], points[-1]) for uuid, points in updates if points])


def _counters(readings: Sequence[CounterReading]) -> Sequence[tuple[str, Sequence[_Point]]]:
    """The counters that are usable: known at each reading, never falling, and grown."""
    uuids = readings[0][1] if readings else ()
    return [
        (uuid, [(time_s, counters[uuid]) for time_s, counters in readings])
        for uuid in uuids
        if _grows([counters.get(uuid) for _, counters in readings])
    ]


def _updates(points: Sequence[_Point]) -> Sequence[_Point]:
    """The counter where it has grown: at an unknown time between two readings, so in the middle."""
    return [
        ((before_s + time_s) / 2, joules)
        for (before_s, before), (time_s, joules) in pairwise(points)
        if joules > before
    ]


def _growth(spans: Sequence[tuple[str, _Point, _Point]]) -> Mapping[str, float]:
    """The growth per second from a first to a last point, if the last one is later."""
    return {
        uuid: (last - first) / (last_s - first_s)
        for uuid, (first_s, first), (last_s, last) in spans
        if last_s > first_s
    }


def _grows(counter: Sequence[float | None]) -> bool:
    """Whether the counter is known at each reading, never falls, and has grown."""
    known = [value for value in counter if value is not None]
    is_known = len(known) == len(counter) and all(a <= b for a, b in pairwise(known))
    return is_known and known[0] < known[-1]


def energy_per_inference(
    gpus: Mapping[str, Values], models: Sequence[ModelMeasurement]
) -> float | None:
    """The energy of all GPUs for an inference of any model, in joules; None if it is unknown for
    one of the GPUs, or without a GPU.
    """
    power = total_power(gpus)
    throughput = sum(model.values.get("perf_throughput", 0.0) for model in models)
    return None if power is None or throughput <= 0 else power / throughput


def total_power(gpus: Mapping[str, Values]) -> float | None:
    """The metered power of all GPUs together; None if it is unknown for one, or without a GPU."""
    powers = [values.get(METERED_POWER) for values in gpus.values()]
    known = [power for power in powers if power is not None]
    if not known or len(known) < len(powers):
        return None
    return METRICS[METERED_POWER].over_gpus.apply(known)


IDLE_ENERGY_PER_INFERENCE = "idle_energy_per_inference"

# What reports show beside throughput and latency, where it is known.
EFFICIENCY = (*COSTS, ENERGY_PER_INFERENCE)

_MB_OF_A_GB = 1000


class Efficiency:
    """Completes measurements. `prices` are None if they are unknown. `cores` are those of the
    machine that measured what does not name its machine (None: unknown). `server_only` has the
    values of each GPU, by UUID, while the server has no models.
    """

    def __init__(
        self,
        prices: Prices | None,
        *,
        cores: int | None,
        server_only: Mapping[str, Values],
    ) -> None:
        self._prices = prices
        self._cores = cores
        self._server_only = server_only
        self._is_metered = any(METERED_POWER in values for values in server_only.values())

    def resources(self, trial: Trial, measurement: Measurement) -> Resources:
        """What the server used."""
        memory_mb = measurement.host.get("cpu_used_ram")
        return Resources(
            gpus=trial.setup.devices,
            cores=self._cores_of(trial, measurement),
            memory_gb=None if memory_mb is None else Decimal(repr(memory_mb)) / _MB_OF_A_GB,
        )

    def _cores_of(self, trial: Trial, measurement: Measurement) -> int | None:
        if measurement.machine is not None:
            return measurement.machine.cores
        return None if trial.setup.launch == LaunchMode.REMOTE.value else self._cores

    def completed(self, trial: Trial, measurement: Measurement) -> Measurement:
        """The measurement with these metrics, as far as they are known."""
        if self._prices is None and not self._is_metered:
            return measurement
        values = {**self._costs(trial, measurement), **self._idle_energy(measurement)}
        return replace(measurement, host={**measurement.host, **values}) if values else measurement

    def _costs(self, trial: Trial, measurement: Measurement) -> Values:
        if self._prices is None:
            return {}
        hourly = hourly_cost(self._prices, self.resources(trial, measurement)).amount
        if hourly is None:
            return {}
        costs = {
            tag: cost_per_million(hourly, per_second)
            for tag, throughput in COSTS.items()
            if (per_second := measurement.value(throughput)) is not None
        }
        return {tag: float(cost) for tag, cost in costs.items() if cost is not None}

    def _idle_energy(self, measurement: Measurement) -> Values:
        throughput = measurement.value("perf_throughput")
        if not throughput or not all(uuid in self._server_only for uuid in measurement.gpus):
            return {}
        power = total_power({uuid: self._server_only[uuid] for uuid in measurement.gpus})
        return {} if power is None else {IDLE_ENERGY_PER_INFERENCE: power / throughput}
