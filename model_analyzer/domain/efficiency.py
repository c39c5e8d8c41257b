# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Metrics that follow from measured ones: what an inference costs, and the energy of idle GPUs.

They are not stored: prices change, and the idle server may be observed later.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal

from model_analyzer.domain.energy import ENERGY_PER_INFERENCE, METERED_POWER, total_power
from model_analyzer.domain.measurements import Measurement, Values
from model_analyzer.domain.prices import COSTS, Prices, Resources, cost_per_million, hourly_cost
from model_analyzer.domain.settings import LaunchMode
from model_analyzer.domain.trials import Trial

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
