# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The times of open loads."""

from __future__ import annotations

import math

import numpy as np
import pytest

from model_analyzer.domain.traffic import Arrivals, Stage, Traffic
from model_analyzer.runner.load.schedule import due_times

POISSON = Traffic(arrivals=Arrivals.POISSON)


def distance(gaps: np.ndarray, cv: float) -> float:
    """The Kolmogorov-Smirnov distance of gaps from a gamma distribution with mean 1."""
    shape = 1 / cv**2
    ordered = np.sort(gaps)
    expected = np.array([lower_gamma(shape, shape * gap) for gap in ordered])
    count = len(ordered)
    above = np.arange(1, count + 1) / count - expected
    below = expected - np.arange(count) / count
    return float(max(above.max(), below.max()))


def lower_gamma(shape: float, x: float) -> float:
    """The regularized lower incomplete gamma function, as a series."""
    if x <= 0:
        return 0.0
    term = total = 1 / shape
    for step in range(1, 1000):
        term *= x / (shape + step)
        total += term
        if term < total * 1e-12:
            break
    return total * math.exp(-x + shape * math.log(x) - math.lgamma(shape))


@pytest.mark.parametrize(
    "traffic",
    [
        POISSON,
        Traffic(arrivals=Arrivals.GAMMA, cv=2),
        Traffic(arrivals=Arrivals.GAMMA, cv=0.5, seed=3),
    ],
    ids=str,
)
def test_the_gaps_have_their_distribution(traffic: Traffic) -> None:
    times = due_times(traffic, rate=200, seconds=20)
    gaps = np.diff(times) / 1e9 * 200
    cv = traffic.cv if traffic.arrivals is Arrivals.GAMMA else 1.0
    # the critical value at 5 %
    assert distance(gaps, cv) < 1.358 / math.sqrt(len(gaps))
    # and the test can fail
    assert distance(gaps, 3 * cv) > 1.358 / math.sqrt(len(gaps))


def test_equal_seeds_give_equal_times() -> None:
    again, other = Traffic(arrivals=Arrivals.POISSON), Traffic(arrivals=Arrivals.POISSON, seed=1)
    times = due_times(POISSON, rate=50, seconds=2)
    assert (due_times(again, rate=50, seconds=2) == times).all()
    assert (due_times(other, rate=50, seconds=2) != times).any()
    assert (due_times(POISSON, rate=50, seconds=2, part=1) != times).any()


def test_constant_arrivals() -> None:
    times = due_times(Traffic(arrivals=Arrivals.CONSTANT), rate=4, seconds=1)
    assert times.tolist() == [250_000_000, 500_000_000, 750_000_000, 1_000_000_000]


def test_stages_have_their_rates() -> None:
    stages = (Stage(100, 10), Stage(1000, 2))
    times = due_times(Traffic(arrivals=Arrivals.STAGES, stages=stages), rate=0, seconds=0)
    assert ((times < 10e9).sum(), len(times)) == (1000, 3000)  # exactly, however random they are
    assert (np.diff(times) >= 0).all()
    assert times[-1] < 12e9


def test_a_log_keeps_its_counts_at_another_speed() -> None:
    log = [0, 0, 1_000_000_000, 4_000_000_000]
    times = due_times(Traffic(arrivals=Arrivals.REPLAY, speed=2), rate=0, seconds=0, log=log)
    assert times.tolist() == [0, 0, 500_000_000, 2_000_000_000]


def test_each_stratum_has_the_rate_that_was_asked_for() -> None:
    gamma = Traffic(arrivals=Arrivals.GAMMA, cv=3)
    due = due_times(gamma, rate=100, seconds=7, stratum_s=2)
    assert due[199] == pytest.approx(2e9)
    assert due[599] == pytest.approx(6e9)
    # bursts stay
    gaps = np.diff(due) / 1e9
    assert gaps.std() / gaps.mean() > 2
