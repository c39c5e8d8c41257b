# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Energy from counters: exact, or unknown, and never 0 for something unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from model_analyzer.domain.energy import Reading, energy_per_inference, metered_power
from model_analyzer.domain.measurements import ModelMeasurement


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
def test_metered_power(readings: Sequence[Reading], power: Mapping[str, float]) -> None:
    assert metered_power(readings) == power


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
