# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of times."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from model_analyzer.domain.trials import Failure, FailureReason
from model_analyzer.noise.laws.case import IMPOSSIBLE
from model_analyzer.noise.laws.catalogue import judged
from tests.unit.builders import measurement, one_round, trial
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
