# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Energy from counters: exact, or unknown, and never 0 for something unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from model_analyzer.domain.energy import (
    energy_per_inference,
    metered_power,
    power_during,
    with_metered_power,
)
from model_analyzer.domain.measurements import CounterReading, ModelMeasurement


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
