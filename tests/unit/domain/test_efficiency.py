# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Metrics that follow from measured ones: costs, and the energy of idle GPUs."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from model_analyzer.domain.efficiency import Efficiency
from model_analyzer.domain.hardware import Machine
from model_analyzer.domain.measurements import Measurement, Values
from model_analyzer.domain.prices import Prices
from model_analyzer.domain.trials import ServerSetup
from tests.unit.builders import measurement, together, trial

PRICES = Prices(
    currency="EUR",
    date="2026-11-25",
    gpus={"NVIDIA L4": Decimal("0.60")},
    cpu_core=Decimal("0.05"),
    memory_gb=Decimal("0.01"),
)
ON_GPU = trial(setup=ServerSetup(devices=("NVIDIA L4",)))
IDLE: Values = {"gpu_metered_power": 30.0}


def efficiency(prices: Prices | None = PRICES, **server_only: Values) -> Efficiency:
    return Efficiency(prices, cores=8, server_only=server_only)


def values(measured: Measurement, by: Efficiency) -> Values:
    """What is added."""
    completed = by.completed(ON_GPU, measured)
    assert replace(completed, host=measured.host) == measured
    return {tag: value for tag, value in completed.host.items() if tag not in measured.host}


def test_costs_follow_from_gpus_cores_and_memory() -> None:
    measured = measurement(250, host={"cpu_used_ram": 10_000.0}, output_token_throughput=5000.0)

    costs = values(measured, efficiency())

    hourly = 0.60 + 8 * 0.05 + 10 * 0.01
    assert costs == {
        "cost_per_million_inferences": pytest.approx(hourly / 3600 / 250 * 1e6),
        "cost_per_million_tokens": pytest.approx(hourly / 3600 / 5000 * 1e6),
    }


def test_the_cores_are_those_of_the_machine_that_measured() -> None:
    measured = measurement(250, host={"cpu_used_ram": 10_000.0})
    by = efficiency()

    assert by.resources(ON_GPU, measured).cores == 8
    elsewhere = replace(measured, machine=Machine(host="node-2", cores=16))
    assert by.resources(ON_GPU, elsewhere).cores == 16


def test_the_cores_of_a_remote_server_are_unknown() -> None:
    remote = trial(setup=ServerSetup(launch="remote"))
    measured = measurement(250)

    for each in (measured, replace(measured, machine=Machine(host="10.0.0.7:8001"))):
        assert efficiency().resources(remote, each).cores is None


def test_several_models_share_the_cost_of_their_server() -> None:
    measured = replace(
        together({"perf_throughput": 100.0}, {"perf_throughput": 150.0}),
        host={"cpu_used_ram": 10_000.0},
    )

    assert values(measured, efficiency())["cost_per_million_inferences"] == pytest.approx(
        1.1 / 3600 / 250 * 1e6
    )


@pytest.mark.parametrize(
    "measured",
    [
        pytest.param(measurement(250), id="memory has a price, but was not measured"),
        pytest.param(measurement(0.0, host={"cpu_used_ram": 1.0}), id="nothing was answered"),
        pytest.param(measurement(None, host={"cpu_used_ram": 1.0}), id="no throughput"),
    ],
)
def test_an_unknown_cost_has_no_value(measured: Measurement) -> None:
    assert values(measured, efficiency()) == {}


def test_without_prices_nothing_is_added() -> None:
    measured = measurement(250, host={"cpu_used_ram": 10_000.0})

    assert efficiency(None).completed(ON_GPU, measured) is measured


def test_the_idle_part_of_the_energy_is_that_of_the_gpus_in_use() -> None:
    measured = measurement(100, gpus={"GPU-1": {"gpu_metered_power": 75.0}})
    both = replace(measured, gpus={**measured.gpus, "GPU-2": {"gpu_metered_power": 75.0}})
    by = efficiency(None, **{"GPU-1": IDLE, "GPU-2": IDLE})

    assert values(measured, by) == {"idle_energy_per_inference": pytest.approx(0.3)}
    assert values(both, by) == {"idle_energy_per_inference": pytest.approx(0.6)}


def test_an_unknown_idle_part_has_no_value() -> None:
    measured = measurement(100, gpus={"GPU-1": {"gpu_metered_power": 75.0}})

    assert values(measured, efficiency(None, **{"GPU-2": IDLE})) == {}
    assert values(measured, efficiency(None, **{"GPU-1": {}, "GPU-2": IDLE})) == {}
    assert values(measurement(100), efficiency(None, **{"GPU-1": IDLE})) == {}
