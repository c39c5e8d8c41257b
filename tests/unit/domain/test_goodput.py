# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Goodput: what counts, what is unknown, and what changes with the constraints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from model_analyzer.domain.goals import Goal, ModelGoal
from model_analyzer.domain.goodput import GOODPUT, request_limits, with_goodput
from model_analyzer.domain.histograms import Histogram, JointHistogram, RequestTimes
from model_analyzer.domain.measurements import Measurement
from model_analyzer.noise.noise_model import NoiseModel
from model_analyzer.noise.pooling import pool
from tests.unit.builders import at_least, at_most, goal, measurement, one_round

# Ten requests in half a second: seven within 20 ms.
SEVEN = one_round([5.0] * 4 + [15.0] * 3 + [30.0] * 2 + [90.0], seconds=0.5)

TIMES = SEVEN.models[0].histograms["perf_latency"]

# Four requests in a second: one meets all three limits, each other one misses another.
TOKENS = replace(
    one_round([90, 120, 90, 90]).models[0],
    joint=JointHistogram.of(
        [
            RequestTimes(90, 10, 5),
            RequestTimes(120, 10, 5),
            RequestTimes(90, 40, 5),
            RequestTimes(90, 10, 15),
        ]
    ),
)


def goodput(measured: Measurement, by: Goal) -> float | None:
    return with_goodput(measured, by).value(GOODPUT)


@pytest.mark.parametrize(
    ("limit", "expected"), [(1, 0), (10, 8), (20, 14), (50, 18), (89, 18), (100, 20)]
)
def test_it_is_the_rate_of_the_requests_within_the_limit(limit: float, expected: float) -> None:
    assert goodput(SEVEN, goal(*at_most(perf_latency_p99=limit))) == pytest.approx(expected)


def test_it_is_the_throughput_if_all_requests_meet_the_limit() -> None:
    measured = one_round([4.0, 5.0, 6.0], seconds=0.7)
    assert goodput(measured, goal(*at_most(perf_latency_p99=7))) == measured.value(
        "perf_throughput"
    )


def test_the_bin_of_the_limit_counts_in_part() -> None:
    """Bins are 1 % wide: with all requests in one, the limit may be anywhere in it."""
    measured = one_round([20.0] * 100)
    values = [
        goodput(measured, goal(*at_most(perf_latency_p99=limit))) for limit in (19.7, 20.0, 20.3)
    ]
    assert values[0] == 0
    assert 0 <= (values[1] or 0) <= 100
    assert values[2] == 100


def test_it_counts_inferences_as_throughput_does() -> None:
    model = replace(SEVEN.models[0], values={"perf_throughput": 80.0})
    measured = Measurement(models=(model,))
    assert goodput(measured, goal(*at_most(perf_latency_p99=20))) == pytest.approx(0.7 * 80)


@pytest.mark.parametrize(
    "statistic", ["perf_latency", "perf_latency_avg", "perf_latency_p50", "perf_latency_p95"]
)
def test_any_statistic_of_the_latency_is_a_limit_of_each_request(statistic: str) -> None:
    assert goodput(SEVEN, goal(*at_most(**{statistic: 20}))) == pytest.approx(14)


def test_the_tightest_of_several_limits_counts() -> None:
    by = goal(*at_most(perf_latency_p99=100, perf_latency_avg=20, perf_latency_p90=50))
    assert request_limits(by.models[0]) == {"perf_latency": 20}
    assert goodput(SEVEN, by) == pytest.approx(14)


def test_other_constraints_are_no_limits_of_requests() -> None:
    others = at_most(perf_server_queue=5, perf_send_lag_p99=1, perf_sent_latency_p99=5)
    others += at_least(perf_throughput=10)
    assert goodput(SEVEN, goal(*others)) is None
    assert goodput(SEVEN, goal(*others, *at_most(perf_latency_p99=20))) == pytest.approx(14)


def test_there_is_none_without_a_latency_constraint() -> None:
    assert with_goodput(SEVEN, goal()) is SEVEN


def test_it_follows_the_constraints_of_each_ranking() -> None:
    first = with_goodput(SEVEN, goal(*at_most(perf_latency_p99=20)))
    assert goodput(first, goal(*at_most(perf_latency_p99=50))) == pytest.approx(18)
    assert goodput(first, goal()) is None


def test_only_a_goodput_that_is_read_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkpoint may have 100 000 measurements: decoding the times of requests takes long."""
    fresh = one_round([5.0, 15.0, 30.0])
    read: list[float] = []
    within = Histogram.within

    def counted(self: Histogram, limit: float) -> float:
        read.append(limit)
        return within(self, limit)

    monkeypatch.setattr(Histogram, "within", counted)
    completed = with_goodput(fresh, goal(*at_most(perf_latency_p99=20)))
    assert completed.value("perf_throughput") == fresh.value("perf_throughput")
    assert GOODPUT in completed.models[0].values
    assert read == []
    assert completed.value(GOODPUT) == pytest.approx(2)
    assert completed.totals[GOODPUT] == pytest.approx(2)
    assert read == [20]


@pytest.mark.parametrize(
    "measured",
    [
        pytest.param(measurement(100, 10, requests=500), id="only percentiles"),
        pytest.param(
            Measurement(
                models=(
                    replace(
                        SEVEN.models[0],
                        histograms={"perf_latency": replace(TIMES, is_approximate=True)},
                    ),
                )
            ),
            id="an approximate histogram",
        ),
        pytest.param(
            Measurement(models=(replace(SEVEN.models[0], values={}),)), id="no throughput"
        ),
    ],
)
def test_it_is_unknown_without_the_times_of_requests(measured: Measurement) -> None:
    assert GOODPUT not in with_goodput(measured, goal(*at_most(perf_latency_p99=20))).totals


# ------------------------------------------------------------------------------ language models


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"time_to_first_token_p99": 20}, 3),
        ({"inter_token_latency_avg": 10}, 3),
        ({"time_to_first_token_p90": 20, "inter_token_latency_p50": 10}, 2),
        (
            {"time_to_first_token_p90": 20, "inter_token_latency_p50": 10, "perf_latency_p99": 100},
            1,
        ),
        ({"perf_latency_p99": 100}, 3),
    ],
)
def test_a_request_to_a_language_model_has_to_meet_all_limits(
    limits: dict[str, float], expected: float
) -> None:
    measured = Measurement(models=(TOKENS,))
    assert goodput(measured, goal(*at_most(**limits))) == pytest.approx(expected)


def test_separate_histograms_of_tokens_do_not_say_which_requests_met_both() -> None:
    measured = Measurement(models=(replace(TOKENS, joint=None),))
    assert goodput(measured, goal(*at_most(time_to_first_token_p99=20))) is None
    assert goodput(measured, goal(*at_most(perf_latency_p99=100))) == pytest.approx(3)


# ---------------------------------------------------------------------------- several of them


def of_models(*limits: float | None) -> Goal:
    return Goal(
        models=tuple(
            ModelGoal(constraints=() if limit is None else at_most(perf_latency_p99=limit))
            for limit in limits
        )
    )


def test_models_that_are_measured_together_have_their_own_limits() -> None:
    both = Measurement(models=SEVEN.models * 2)
    completed = with_goodput(both, of_models(20, 10))
    assert [completed.model_value(index, GOODPUT) for index in (0, 1)] == pytest.approx([14, 8])
    assert completed.value(GOODPUT) == pytest.approx(22)


def test_a_model_without_limits_beside_others_has_its_throughput() -> None:
    both = Measurement(models=SEVEN.models * 2)
    assert goodput(both, of_models(20, None)) == pytest.approx(14 + 20)


def test_a_part_of_the_models_is_no_sum() -> None:
    unknown = measurement(50, 10).models
    assert goodput(Measurement(models=(*SEVEN.models, *unknown)), of_models(20, 20)) is None


def test_rounds_are_pooled() -> None:
    """7 of 10 requests in half a second, and 3 of 6 in two: 10 in 2.5 seconds."""
    by = goal(*at_most(perf_latency_p99=20))
    runs = [SEVEN, one_round([10.0] * 3 + [40.0] * 3, seconds=2.0)]
    pooled = pool([with_goodput(run, by) for run in runs])
    assert pooled.value(GOODPUT) == pytest.approx(10 / 2.5)
    assert pooled.value("perf_throughput") == pytest.approx(16 / 2.5)


# ---------------------------------------------------------------------------------------- noise

BY = goal(*at_most(perf_latency_p99=20))


def runs_of(*shares: float, requests: int = 400) -> list[Measurement]:
    """Rounds of a trial, each with this share of its requests within 20 ms."""
    counts = [round(share * requests) for share in shares]
    return [
        with_goodput(
            one_round([10.0] * count + [40.0] * (requests - count), windows=[400.0, 404, 396, 400]),
            BY,
        )
        for count in counts
    ]


def errors(model: NoiseModel, runs: Sequence[Measurement]) -> Sequence[float]:
    """Of goodput and throughput."""
    return [model.expected_error(runs, tag) for tag in (GOODPUT, "perf_throughput")]


def test_goodput_is_as_exact_as_throughput_if_all_requests_meet_the_limits() -> None:
    unsteady, good = runs_of(0.2, 0.9, 0.5), runs_of(1, 1)
    own, throughput = errors(NoiseModel([unsteady, good]), good)
    assert own == pytest.approx(throughput)


def test_a_share_of_few_requests_is_noisy() -> None:
    """Half of 400 requests: 5 %, and another 5 % that may change until the next round."""
    runs = runs_of(0.5)
    own, throughput = errors(NoiseModel([runs]), runs)
    assert own == pytest.approx(math.hypot(throughput, 0.05, 0.05), rel=0.01)


def test_rounds_with_different_shares_make_goodput_noisy() -> None:
    steady, unsteady = runs_of(0.5, 0.5, 0.5), runs_of(0.3, 0.7, 0.5)
    for runs, low, high in ((steady, 0.025, 0.06), (unsteady, 0.1, 0.4)):
        assert low < errors(NoiseModel([runs]), runs)[0] < high


def test_the_interval_of_goodput_holds_its_value() -> None:
    runs = runs_of(0.5, 0.6)
    interval = NoiseModel([runs]).interval(runs, GOODPUT)
    value = pool(runs).value(GOODPUT)
    assert interval is not None
    assert value is not None
    assert interval.low < value < interval.high


def test_a_goodput_of_nothing_has_no_share_that_is_noisy() -> None:
    runs = runs_of(0.0)
    own, throughput = errors(NoiseModel([runs]), runs)
    assert own == throughput
