# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Energy from counters: exact, or unknown, and never 0 for something unknown; metrics that follow
from measured ones: costs, and the energy of idle GPUs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

import pytest

from model_analyzer.domain.efficiency import (
    Efficiency,
    energy_per_inference,
    metered_power,
    power_during,
    with_metered_power,
)
from model_analyzer.domain.hardware import Machine
from model_analyzer.domain.measurements import CounterReading, Measurement, ModelMeasurement, Values
from model_analyzer.domain.prices import Prices
from model_analyzer.domain.trials import ServerSetup
from tests.unit.builders import measurement, together, trial


@pytest.mark.parametrize(
    ("readings", "power"),
    [
        ([(0.0, {"a": 100.0}), (10.0, {"a": 1100.0})], {"a": 100.0}),
        ([(5.0, {"a": 1.0, "b": 0.0}), (7.0, {"a": 3.0, "b": 1.0})], {"a": 1.0, "b": 0.5}),
        # what happens in between does not matter: only the first and the last reading count
        ([(0.0, {"a": 0.0}), (1.0, {"a": 90.0}), (2.0, {"a": 100.0})], {"a": 50.0}),
        # unknown: the counter stood still, fell, is missing, or was read once
        ([(0.0, {"a": 7.0}), (2.0, {"a": 7.0})], {}),
        ([(0.0, {"a": 7.0}), (2.0, {"a": 6.0})], {}),
        ([(0.0, {"a": 7.0}), (1.0, {"a": 1.0}), (2.0, {"a": 9.0})], {}),
        ([(0.0, {"a": 7.0}), (1.0, {}), (2.0, {"a": 9.0})], {}),
        ([(0.0, {}), (2.0, {"a": 9.0})], {}),
        ([(0.0, {"a": 7.0})], {}),
        ([(3.0, {"a": 7.0}), (3.0, {"a": 9.0})], {}),
        ([], {}),
    ],
)
def test_metered_power(readings: Sequence[CounterReading], power: Mapping[str, float]) -> None:
    assert metered_power(readings) == power


def load(*, begin: float, end: float, until: float, phase: float) -> Sequence[CounterReading]:
    """Readings every 0.02 s of a GPU that takes 120 W, and 470 W from `begin` to `end`; it updates
    its counter every 0.1 s, first after `phase`.
    """

    def joules(time_s: float) -> float:
        loaded_s = min(max(time_s - begin, 0.0), end - begin)
        return 120 * time_s + 350 * loaded_s

    readings = []
    for number in range(round(until / 0.02) + 1):
        time_s = 0.02 * number
        updates = (time_s - phase) // 0.1
        readings.append((time_s, {"a": joules(phase + 0.1 * updates)}))
    return readings


@pytest.mark.parametrize("phase", [0.001, 0.02, 0.04, 0.06, 0.08, 0.099])
@pytest.mark.parametrize("seconds", [0.36, 1.2])
def test_a_short_load_has_its_power_whenever_the_counter_is_updated(
    phase: float, seconds: float
) -> None:
    """A first look: perf_analyzer takes 0.15 s to start, and some time to end."""
    end = 0.15 + seconds
    readings = load(begin=0.15, end=end, until=end + 0.1, phase=phase)

    # a reading every 0.02 s places an update to 0.01 s
    error = 0.02 / (seconds - 0.2)
    assert power_during(readings, (0.15, end))["a"] == pytest.approx(470, rel=error)
    assert metered_power(readings)["a"] < 0.9 * 470, "with the time before and after it"


def test_power_is_that_of_all_readings_if_the_time_is_too_short_or_another_one() -> None:
    readings = load(begin=0.2, end=1.2, until=1.4, phase=0.03)
    gpus = {"a": {"gpu_power_usage": 215.9}}
    whole = {"a": {"gpu_power_usage": 215.9, "gpu_metered_power": 370.0}}

    for during in (None, (0.5, 0.55), (1e9, 1e9 + 1)):
        observed = with_metered_power(gpus, readings, during)
        assert observed["a"] == pytest.approx(whole["a"], rel=0.06)
    exact = with_metered_power(gpus, readings, (0.2, 1.2))
    assert exact["a"] == pytest.approx(
        {"gpu_power_usage": 470.0, "gpu_metered_power": 470.0}, rel=0.06
    )


def test_a_gpu_without_a_counter_keeps_its_sampled_power() -> None:
    gpus = {"MIG-1": {"gpu_used_memory": 1.0}, "b": {"gpu_power_usage": 80.0}}
    assert with_metered_power(gpus, [(0.0, {}), (1.0, {})], (0.0, 1.0)) == gpus
    assert with_metered_power(gpus, (), (0.0, 1.0)) == gpus


@pytest.mark.parametrize(
    ("powers", "throughputs", "joules"),
    [
        ([300.0], [150.0], 2.0),
        ([300.0, 150.0], [150.0], 3.0),
        ([300.0], [100.0, 50.0], 2.0),  # of any of the models
        ([300.0, None], [150.0], None),  # one GPU is unknown
        ([], [150.0], None),
        ([300.0], [0.0], None),
    ],
)
def test_energy_per_inference(
    powers: Sequence[float | None], throughputs: Sequence[float], joules: float | None
) -> None:
    gpus = {
        str(index): {"gpu_power_usage": 1.0}
        | ({} if power is None else {"gpu_metered_power": power})
        for index, power in enumerate(powers)
    }
    models = [ModelMeasurement(values={"perf_throughput": value}) for value in throughputs]

    assert energy_per_inference(gpus, models) == joules


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
