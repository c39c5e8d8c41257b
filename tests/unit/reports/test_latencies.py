# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The latencies of a measurement: their distribution and their average over time, where known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.domain.trials import LoadKind
from model_analyzer.reports.breakdown import averages_of, distribution_of
from tests.unit.builders import measurement, one_round, trial, variant

VARIANT = variant("m_config_0", max_batch_size=4)


def measured(
    *runs: Measurement, concurrency: int = 8, batch_size: int = 1, kind: LoadKind | None = None
) -> MeasuredTrial:
    made = trial(VARIANT, concurrency=concurrency, batch_size=batch_size)
    if kind is not None:
        (work,) = made.workloads
        made = replace(made, workloads=(replace(work, load=replace(work.load, kind=kind)),))
    return MeasuredTrial(trial=made, measurement=runs[0], repetitions=runs)


def in_windows(*windows: float, seconds: float) -> Measurement:
    made = one_round([10.0, 20.0] * 50)
    (model,) = made.models
    return replace(made, models=(replace(model, windows=windows, seconds=seconds),))


def test_the_distribution_is_that_of_the_histogram() -> None:
    points = distribution_of(measured(one_round([float(ms) for ms in range(1, 101)])))
    shares = {share: latency for latency, share in points}
    assert shares[50] == pytest.approx(50.5, rel=0.02)
    assert shares[99] == pytest.approx(99, rel=0.02)
    latencies = [latency for latency, _ in points]
    assert latencies == sorted(latencies)


def test_averages_over_time_follow_from_what_is_in_flight() -> None:
    first, second = in_windows(100, 200, seconds=2), in_windows(400, 400, seconds=1)
    assert averages_of(measured(first, second, batch_size=2)) == [
        [(0.5, 160), (1.5, 80)],
        [(2.25, 40), (2.75, 40)],
    ]


@pytest.mark.parametrize(
    "item",
    [
        pytest.param(measured(measurement(100, 5)), id="without histograms and seconds"),
        pytest.param(
            measured(in_windows(0, 100, seconds=1), kind=LoadKind.REQUEST_RATE), id="an open load"
        ),
    ],
)
def test_what_is_unknown_is_not_drawn(item: MeasuredTrial) -> None:
    assert not averages_of(item)


def test_percentiles_alone_are_no_distribution() -> None:
    assert distribution_of(measured(measurement(100, 5))) == ()
