# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How long a trial takes, as a multiple of a usual one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model_analyzer.domain.measurements import Measurement, ModelMeasurement
from model_analyzer.domain.traffic import Arrivals, Stage, Traffic
from model_analyzer.domain.trials import LoadKind
from model_analyzer.forecast.expectation.expectation import Sizes
from tests.unit.builders import trial

STAGES = Traffic(arrivals=Arrivals.STAGES, stages=(Stage(rate=2, seconds=30),))


def size_again(traffic: Traffic | None, kind: LoadKind, value: int) -> float:
    """The size of the second round of a trial, as long as the first one, which took 30 s."""
    usual = trial(kind=kind, concurrency=value)
    work = replace(usual.workloads[0], traffic=traffic)
    first = replace(usual, workloads=(work,), round_s=0.0)
    sizes = Sizes()
    model = ModelMeasurement(values={"perf_throughput": 2.0}, requests=60, seconds=30.0)
    sizes.learn(first, Measurement(models=(model,)))
    return sizes.of(replace(first, repetition=1, round_s=30.0))


def test_every_measurement_of_a_load_with_its_own_times_takes_the_same_time() -> None:
    assert size_again(STAGES, LoadKind.REQUEST_INTERVALS, 0) == 1.0


def test_a_round_that_is_longer_than_the_first_look_counts_for_more() -> None:
    assert size_again(None, LoadKind.CONCURRENCY, 1) == pytest.approx(31 / 1.58)
