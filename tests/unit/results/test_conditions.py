# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Conditions as people write them."""

from __future__ import annotations

import pytest

from model_analyzer.results.flat_rows import Condition, Row, column_named

ROW: Row = {"model": "m", "variant": "m_config_3", "concurrency": 8, "perf_latency_p99": 20.0}


@pytest.mark.parametrize(
    ("text", "is_met"),
    [
        ("perf_latency_p99<20", False),
        ("perf_latency_p99<=20", True),
        ("perf_latency_p99>19.5", True),
        ("perf_latency_p99 >= 2e1", True),
        ("perf_latency_p99=20", True),
        ("perf_latency_p99!=20", False),
        ("perf_latency<21", True),  # an older name of the same
        ("concurrency=8", True),
        (" concurrency > 8 ", False),
        ("model=m", True),
        ("model!=m", False),
        ("variant=m_config_3", True),
        ("variant = m_config", False),
    ],
)
def test_a_row_meets_a_condition_or_not(text: str, is_met: bool) -> None:
    assert Condition.parse(text).is_met_by(ROW) is is_met


@pytest.mark.parametrize("operator", ["<", "<=", ">", ">=", "=", "!="])
def test_an_unmeasured_value_meets_no_condition(operator: str) -> None:
    assert not Condition.parse(f"perf_throughput{operator}1").is_met_by(ROW)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is not a condition"),
        ("perf_throughput", "is not a condition"),
        ("perf_throughput<", "is not a condition"),
        ("perf_throughput==5", "'=5' is not a number"),
        ("perf_throughput<nan", "'nan' is not a number"),
        ("perf_throughput<fast", "'fast' is not a number"),
        ("perf_troughput<5", "did you mean 'perf_throughput'?"),
        ("x<5", "one of model, variant, hardware, host, concurrency, request_rate, batch_size"),
        ("model<m", "compare it with = or !="),
    ],
)
def test_invalid_conditions_are_reported(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=".") as raised:
        Condition.parse(text)
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)


def test_old_names_of_metrics_are_accepted() -> None:
    assert column_named("perf_latency") == "perf_latency_p99"
    assert column_named("model") == "model"
