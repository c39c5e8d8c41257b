# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of times and of loads."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.traffic import Arrivals, Traffic
from model_analyzer.domain.trials import Failure, FailureReason, LoadKind, Trial
from model_analyzer.noise.laws import ANSWERED, DUE, IMPOSSIBLE, SENT, judged
from tests.unit.builders import measurement, one_round, trial, variant
from tests.unit.noise.laws.cases import doubt_of, with_evidence


def test_latencies_that_rise_are_believed() -> None:
    rising = measurement(100, 9, perf_latency_p50=5, perf_latency_p90=9.05)
    assert doubt_of(trial(), rising) is None


def test_a_percentile_below_a_lower_one_is_doubtful() -> None:
    doubt = doubt_of(trial(), measurement(100, 9, perf_latency_p90=10))
    assert doubt is not None
    assert not doubt.gross
    assert doubt.sentence == (
        "Doubtful: m_config_0 at concurrency 1: p99 Latency is 9.00 ms, less than p90"
        " Latency, 10.0 ms; measure it again (--measurement auto takes the times of single"
        " requests)."
    )


@pytest.mark.parametrize("p99", [-1.0, 0.0])
def test_a_latency_that_is_not_positive_is_a_failure(p99: float) -> None:
    outcome = judged(trial(), measurement(100, p99))
    assert isinstance(outcome, Failure)
    assert outcome.reason is FailureReason.IMPOSSIBLE_VALUES
    assert f"p99 Latency is {p99:g} ms" in outcome.message
    assert outcome.hint


def test_tokens_may_come_together_but_not_backwards() -> None:
    tokens: dict[str, Any] = {"time_to_first_token_avg": 5, "inter_token_latency_min": 0}
    assert doubt_of(trial(), measurement(100, 9, **tokens)) is None
    tokens |= {"inter_token_latency_min": -2, "inter_token_latency_max": 3}
    doubt = doubt_of(trial(), measurement(100, 9, **tokens))
    assert doubt is not None
    assert "Min Inter Token Latency is -2 ms" in doubt.text


def test_the_smallest_time_is_not_above_the_largest() -> None:
    times: dict[str, Any] = {"time_to_first_token_avg": 5, "time_to_first_token_min": 7}
    doubt = doubt_of(trial(), measurement(100, 9, **times, time_to_first_token_max=6))
    assert doubt is not None
    assert "less than Min Time To First Token" in doubt.text


def test_an_average_has_to_fit_the_percentiles() -> None:
    low = measurement(50, perf_latency_p50=50, perf_latency_avg=20, requests=1000)
    doubt = doubt_of(trial(), low)
    assert doubt is not None
    assert doubt.law == "averages fit"
    fitting = one_round([1.0] * 60 + [99.0] * 40, 4.02)
    assert doubt_of(trial(), fitting) is None


def test_a_single_impossible_request_is_a_doubt_and_many_are_a_failure() -> None:
    clean = one_round([10.0] * 100)
    doubt = doubt_of(trial(), with_evidence(clean, IMPOSSIBLE, 0.002))
    assert doubt is not None
    assert "0.2 % of the requests were answered before they were sent" in doubt.text
    assert isinstance(judged(trial(), with_evidence(clean, IMPOSSIBLE, 0.5)), Failure)


def test_no_latency_is_longer_than_the_measurement() -> None:
    slow = replace(one_round([900.0] * 100, 90.0), duration_s=0.9, loading_s=0.2)
    outcome = judged(trial(), slow)
    assert isinstance(outcome, Failure)
    assert "p99 latency is 900 ms, but measuring took only 0.700 s" in outcome.message
    assert doubt_of(trial(), replace(slow, duration_s=1.5)) is None


DECOUPLED = variant(model_transaction_policy={"decoupled": True})


def closed(in_flight: float, *, requests: int | None = 1000) -> Measurement:
    """A measurement of 10 ms latency with so many requests in flight."""
    return measurement(100 * in_flight, perf_latency_avg=10, requests=requests)


@pytest.mark.parametrize("in_flight", [6.2, 8.0, 8.7])
def test_the_concurrency_is_in_flight(in_flight: float) -> None:
    assert doubt_of(trial(concurrency=8), closed(in_flight)) is None


def test_more_requests_in_flight_than_there_are_is_doubtful() -> None:
    doubt = doubt_of(trial(concurrency=8), closed(12))
    assert doubt is not None
    assert not doubt.gross
    assert doubt.text == (
        "m_config_0 at concurrency 8: 1,200 infer/sec with an average latency of 10.0 ms"
        " mean 12.0 requests in flight, but there were 8"
    )
    gross = doubt_of(trial(concurrency=8), closed(20))
    assert gross is not None
    assert gross.gross


def test_fewer_requests_in_flight_name_the_client() -> None:
    doubt = doubt_of(trial(concurrency=8), closed(4))
    assert doubt is not None
    assert not doubt.gross
    assert "on average only 4.00 of 8 requests in flight" in doubt.text
    assert doubt_of(trial(DECOUPLED, concurrency=8), closed(4)) is None


def test_a_request_counts_as_one_whatever_its_batch() -> None:
    batches = measurement(3200, perf_latency_avg=10, requests=1000)
    assert doubt_of(trial(concurrency=8, batch_size=4), batches) is None


def test_few_requests_may_deviate_by_those_in_flight() -> None:
    assert doubt_of(trial(concurrency=8), closed(7.2 * 0.8, requests=36)) is None
    assert doubt_of(trial(concurrency=8), closed(7.2 * 0.8, requests=3600)) is not None


@pytest.mark.parametrize(("seconds", "is_doubtful"), [(1.5, False), (150.0, True)])
def test_long_waits_may_count_at_one_end_only(seconds: float, is_doubtful: bool) -> None:
    """Of 8 sequences, some wait a second for a slot."""
    (model,) = closed(11, requests=round(100 * seconds)).models
    values = {**model.values, "perf_latency_p99": 1000.0}
    uneven = Measurement(models=(replace(model, values=values, seconds=seconds),))
    assert (doubt_of(trial(concurrency=8), uneven) is not None) is is_doubtful


def open_load(
    answered: float, p99: float, *, requests: int = 400, seconds: float = 10.0
) -> Measurement:
    made = one_round([p99] * requests, seconds)
    (model,) = made.models
    values = {**model.values, "perf_throughput": answered}
    return replace(made, models=(replace(model, values=values),))


def at_rate(rate: int, arrivals: Arrivals = Arrivals.CONSTANT) -> Trial:
    made = trial(concurrency=rate, kind=LoadKind.REQUEST_RATE)
    (work,) = made.workloads
    return replace(made, workloads=(replace(work, traffic=Traffic(arrivals=arrivals)),))


@pytest.mark.parametrize(
    ("answered", "p99"),
    [(40.0, 20.0), (38.5, 20.0), (30.0, 2500.0)],  # an overloaded server has long latencies
)
def test_an_open_load_is_answered(answered: float, p99: float) -> None:
    assert doubt_of(at_rate(40), open_load(answered, p99)) is None


def test_requests_that_neither_wait_nor_were_answered_were_not_sent() -> None:
    lost = with_evidence(open_load(30.0, 20.0), DUE, 40.0)
    lost = with_evidence(with_evidence(lost, SENT, 31.0), ANSWERED, 30.0)
    doubt = doubt_of(at_rate(40), lost)
    assert doubt is not None
    assert doubt.text == (
        "m_config_0 at 40 requests/sec with constant arrivals: 40.0 requests/sec were due, 31.0"
        " were sent and 30.0 were answered, although p99 latency is only 20.0 ms"
    )


def test_no_more_is_answered_than_was_due() -> None:
    doubt = doubt_of(at_rate(40), open_load(50.0, 20.0))
    assert doubt is not None
    assert "more than there were" in doubt.text


def test_random_arrivals_deviate_unless_their_number_is_known() -> None:
    by_chance = open_load(35.9, 20.0, requests=194, seconds=5.4)
    poisson = at_rate(40, Arrivals.POISSON)
    assert doubt_of(poisson, by_chance) is None
    assert doubt_of(poisson, with_evidence(by_chance, DUE, 40.0)) is not None


def test_a_replayed_log_has_the_rate_of_its_times() -> None:
    """Found by requests too large to be exported: their rate was that of whole seconds."""
    log = trial(concurrency=0, kind=LoadKind.REQUEST_INTERVALS)
    (work,) = log.workloads
    log = replace(log, workloads=(replace(work, traffic=Traffic(arrivals=Arrivals.REPLAY)),))
    rounded = with_evidence(open_load(78.5, 40.0, requests=550, seconds=6.0), DUE, 91.8)
    doubt = doubt_of(log, rounded)
    assert doubt is not None
    assert "91.8 requests/sec were due and 78.5 were answered" in doubt.text
