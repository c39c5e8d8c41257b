# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of times."""

from __future__ import annotations

from model_analyzer.domain.laws.catalogue import judged
from model_analyzer.domain.trials import Failure, FailureReason
from tests.unit.builders import measurement, trial
from tests.unit.domain.laws.cases import doubt_of


def test_percentiles_that_rise_are_believed() -> None:
    rising = measurement(100, 9, perf_latency_p50=5, perf_latency_p90=9.05)
    assert doubt_of(trial(), rising) is None


def test_a_percentile_below_a_lower_one_is_doubtful() -> None:
    doubt = doubt_of(trial(), measurement(100, 9, perf_latency_p90=10))
    assert doubt is not None
    assert not doubt.gross
    assert doubt.sentence == (
        "Doubtful: m_config_0 with 1 concurrent request: p99 latency 9.00 ms is below a lower"
        " percentile, 10.0 ms; measure it again."
    )


def test_an_answer_before_its_request_is_a_failure() -> None:
    outcome = judged(trial(), measurement(100, -1))
    assert isinstance(outcome, Failure)
    assert outcome.reason is FailureReason.IMPOSSIBLE_VALUES
    assert "p99 latency is -1 ms" in outcome.message
    assert outcome.hint
