# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What measurements tell of their noise, on simulated normal noise with fixed seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from model_analyzer.domain.goals import Goal, ModelGoal
from model_analyzer.domain.measurements import Measurement, ModelMeasurement
from model_analyzer.noise.noise import Noise, around, combined, pooled, ratio_noise, spread, widest
from model_analyzer.noise.noise_model import NoiseModel
from tests.unit.builders import goal, known, measurement, objectives

TRUE = 100.0
DRAWS = 2000
THROUGHPUT, P99 = "perf_throughput", "perf_latency_p99"

Runs = Sequence[Sequence[Measurement]]


def measured(random: Random, noise: float = 0.03, windows: int = 3) -> Measurement:
    """Something that gives `TRUE`, whose windows share as much of what disturbs them as real ones
    do: their mean is no surer than one of them (see docs/decisions/0009-noise.md).
    """
    shared = random.gauss(0, noise * math.sqrt(1 - 1 / windows))
    values = [TRUE * math.exp(shared + random.gauss(0, noise)) for _ in range(windows)]
    p99 = 5 * math.exp(random.gauss(0, noise))
    return measurement(sum(values) / windows, p99, windows=values)


def holds(value: float | None, noise: Noise | None, true: float = TRUE) -> bool:
    """Whether the interval holds the true value."""
    assert value is not None
    interval = known(around(value, noise))
    return interval.low <= true <= interval.high


def mean(runs: Sequence[Measurement], tag: str) -> float:
    return sum(run.value(tag) or 0.0 for run in runs) / len(runs)


# --------------------------------------------------------------------------- values alone


@pytest.mark.parametrize("count", [2, 3, 10])
def test_the_interval_of_a_mean_holds_the_true_value(count: int) -> None:
    random, held = Random(3), 0
    for _ in range(DRAWS):
        values = [TRUE * math.exp(random.gauss(0, 0.03)) for _ in range(count)]
        noise = known(spread(values))
        held += holds(sum(values) / count, noise.of_mean(count))
    assert 0.92 <= held / DRAWS <= 0.98


def test_the_interval_of_a_ratio_holds_the_true_ratio() -> None:
    random, held = Random(5), 0
    for _ in range(DRAWS):
        noises = [
            Noise(error=0.02 * math.sqrt(random.gammavariate(5, 1 / 5)), freedom=10)
            for _ in range(2)
        ]
        ratio = math.exp(random.gauss(0, 0.02) - random.gauss(0, 0.02))
        held += holds(ratio, ratio_noise(*noises), true=1)
    assert 0.92 <= held / DRAWS <= 0.98


def test_the_interval_of_a_share_ends_at_all_of_it() -> None:
    runs = [measurement(cache_hit_rate=rate) for rate in (70.0, 99.0)]
    interval = NoiseModel([runs]).interval(runs, "cache_hit_rate")
    assert interval is not None
    assert interval.low < 70
    assert interval.high == 100


def test_half_the_interval_is_in_percent_of_the_value() -> None:
    noise = Noise(error=0.02, freedom=math.inf)
    interval = known(around(TRUE, noise))
    assert noise.percent == pytest.approx((interval.high - interval.low) / 2)
    assert noise.percent == pytest.approx(1.96 * 2, rel=0.01)


@pytest.mark.parametrize("values", [(), (100.0,), (0.0, 0.0), (1.0, -1.0)])
def test_fewer_than_two_values_have_no_spread(values: tuple[float, ...]) -> None:
    assert spread(values) is None


def test_pooled_noises_are_weighted_by_degrees_of_freedom() -> None:
    noise = known(pooled([Noise(error=0.1, freedom=1), None, Noise(error=0.2, freedom=3)]))
    assert noise.error == pytest.approx(math.sqrt(0.13 / 4))
    assert noise.freedom == 4
    assert pooled([None]) is pooled([]) is None
    few = Noise(error=0.2, freedom=30).worth(4)
    assert (few.error, few.freedom) == (0.2, 4)
    assert few.worth(9) == few


def test_independent_noises_add_up() -> None:
    first, other = Noise(error=0.03, freedom=4), Noise(error=0.04, freedom=4)
    noise = known(ratio_noise(first, other))
    assert noise.error == pytest.approx(0.05)
    assert 4 < noise.freedom < 8
    assert ratio_noise(first, None) is ratio_noise(None, first) is None
    certain = Noise(error=0, freedom=2)
    assert ratio_noise(certain, certain) == Noise(error=0, freedom=2)
    assert combined([]) is None
    half = known(combined([(0.5, first), (0.5, certain)]))
    assert half.error == pytest.approx(0.015)
    assert widest(None, first, other) is other
    assert widest(None) is None


# --------------------------------------------------------------------------- measurements


@pytest.mark.parametrize(("trials", "windows"), [(1, 3), (2, 2), (8, 3), (30, 2), (30, 3)])
def test_the_interval_of_a_throughput_holds_the_true_one(trials: int, windows: int) -> None:
    random, held = Random(7), 0
    for _ in range(DRAWS):
        runs = [[measured(random, windows=windows)] for _ in range(trials)]
        noise = NoiseModel(runs).of(runs[0], THROUGHPUT)
        held += holds(mean(runs[0], THROUGHPUT), noise)
    assert 0.92 <= held / DRAWS <= 0.98


@pytest.mark.parametrize("tag", [THROUGHPUT, P99])
def test_the_interval_of_repetitions_holds_the_true_value(tag: str) -> None:
    random, held = Random(11), 0
    for _ in range(DRAWS):
        runs = [[measured(random) for _ in range(count)] for count in (3, 2, 2, 1, 1, 1)]
        noise = NoiseModel(runs).of(runs[0], tag)
        held += holds(mean(runs[0], tag), noise, TRUE if tag == THROUGHPUT else 5)
    assert 0.92 <= held / DRAWS <= 0.98


def test_many_measurements_make_the_interval_of_few_windows_narrower() -> None:
    random = Random(13)
    runs = [[measured(random)] for _ in range(40)]
    alone, among = NoiseModel(runs[:1]).of(runs[0], THROUGHPUT), NoiseModel(runs)
    widths = [among.of(group, THROUGHPUT) for group in runs]
    assert alone is not None
    assert alone.freedom == 2
    assert {noise.freedom for noise in widths if noise is not None} == {10}


def test_an_unsteady_measurement_keeps_a_wider_interval_than_its_neighbours() -> None:
    steady = [[measurement(100, windows=(99, 100, 101))] for _ in range(20)]
    unsteady = [measurement(100, windows=(70, 100, 130))]
    model = NoiseModel([*steady, unsteady])
    wide, narrow = model.of(unsteady, THROUGHPUT), model.of(steady[0], THROUGHPUT)
    assert wide is not None
    assert narrow is not None
    assert wide.percent > 1.5 * narrow.percent


def test_repetitions_count_more_than_windows() -> None:
    """Windows that agree to a thousandth, and runs that are apart by a tenth."""
    random, runs = Random(17), []
    for _ in range(5):
        rates = [100 * math.exp(random.gauss(0, 0.1)) for _ in range(3)]
        runs.append([measurement(rate, windows=(rate, rate * 1.001)) for rate in rates])
    deviation = known(NoiseModel(runs).deviation(THROUGHPUT))
    assert deviation.error > 0.05


def test_windows_give_the_noise_of_throughput_only() -> None:
    runs = [[measurement(100, 5, windows=(99, 101))]]
    model = NoiseModel(runs)
    assert model.of(runs[0], THROUGHPUT) is not None
    assert model.of(runs[0], P99) is model.deviation(P99) is None
    assert model.deviation("perf_latency") is None
    assert model.of(runs[0], THROUGHPUT, 0) == model.of(runs[0], THROUGHPUT)


def test_the_usual_noise_counts_like_one_repetition() -> None:
    assert NoiseModel([]).expected_deviation(P99).error == 0.03
    assert NoiseModel([]).expected_deviation("gpu_used_memory").error == 0
    random = Random(19)
    model = NoiseModel([[measured(random, 0.2) for _ in range(30)]])
    assert model.expected_deviation(P99).error == pytest.approx(0.2, rel=0.2)
    assert model.expected_deviation(P99).freedom == 30


def test_models_measured_together_have_the_noise_of_their_sum() -> None:
    def run(*windows: tuple[float, ...]) -> Measurement:
        return Measurement(
            models=tuple(
                ModelMeasurement(values={THROUGHPUT: 100.0}, windows=part) for part in windows
            )
        )

    shaky, still = (90.0, 100.0, 110.0), (100.0, 100.0, 100.0)
    both = [run(shaky, shaky)]
    alone = NoiseModel([[run(shaky)]]).of([run(shaky)], THROUGHPUT)
    together = NoiseModel([both]).of(both, THROUGHPUT)
    assert alone is not None
    assert together is not None
    assert together.error == pytest.approx(alone.error / math.sqrt(2))
    assert NoiseModel([[run(still, ())]]).of([run(still, ())], THROUGHPUT) is None
    nothing = [replace(both[0], models=2 * (ModelMeasurement(values={}, windows=still),))]
    assert NoiseModel([nothing]).of(nothing, THROUGHPUT) is None


@pytest.mark.parametrize(
    ("by", "is_told_once"),
    [(goal(), True), (goal(wished=objectives(perf_latency_p99=1)), False)],
    ids=["throughput", "latency"],
)
def test_the_deviation_of_a_score(by: Goal, is_told_once: bool) -> None:
    random = Random(23)
    once = NoiseModel([[measured(random)] for _ in range(200)]).score_deviation(by)
    assert (once is not None) is is_told_once
    again = NoiseModel([[measured(random) for _ in range(4)] for _ in range(50)])
    repeated = again.score_deviation(by)
    for deviation in filter(None, (once, repeated)):
        assert deviation == pytest.approx(0.03, rel=0.15)


def test_the_deviation_of_a_score_over_models_is_that_of_their_mean() -> None:
    windows = (97.0, 100.0, 103.0)
    part = ModelMeasurement(values={THROUGHPUT: 100.0}, windows=windows)
    runs = [[Measurement(models=(part, part))]]
    noise = NoiseModel(runs).score_deviation(Goal(models=(ModelGoal(), ModelGoal(weighting=3))))
    assert noise == pytest.approx(0.03 * math.hypot(0.25, 0.75))
