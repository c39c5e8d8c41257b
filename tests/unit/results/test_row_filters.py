# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Filters of rows as people write them."""

from __future__ import annotations

import pytest

from model_analyzer.results.flat_rows import Row, RowFilter, column_named

ROW: Row = {"model": "m", "variant": "m_config_3", "concurrency": 8, "perf_latency_p99": 20.0}


@pytest.mark.parametrize(
    ("text", "is_match"),
    [
        ("perf_latency_p99<20", False),
        ("perf_latency_p99<=20", True),
        ("perf_latency_p99>19.5", True),
        ("perf_latency_p99 >= 2e1", True),
        ("perf_latency_p99=20", True),
        ("perf_latency_p99==20", True),
        ("perf_latency_p99!=20", False),
        ("perf_latency<21", True),  # an older name of the same
        ("concurrency=8", True),
        (" concurrency > 8 ", False),
        ("model=m", True),
        ("model==m", True),
        ("model!=m", False),
        ("variant=m_config_3", True),
        ("variant = m_config", False),
    ],
)
def test_a_row_matches_a_filter_or_not(text: str, is_match: bool) -> None:
    assert RowFilter.parse(text).matches(ROW) is is_match


@pytest.mark.parametrize("operator", ["<", "<=", ">", ">=", "=", "!="])
def test_an_unmeasured_value_matches_no_filter(operator: str) -> None:
    assert not RowFilter.parse(f"perf_throughput{operator}1").matches(ROW)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is not a filter"),
        ("perf_throughput", "is not a filter"),
        ("perf_throughput<", "is not a filter"),
        ("perf_throughput<nan", "'nan' is not a number"),
        ("perf_throughput<fast", "'fast' is not a number"),
        ("perf_troughput<5", "did you mean 'perf_throughput'?"),
        ("x<5", "one of model, variant, hardware, host, concurrency, request_rate, batch_size"),
        ("model<m", "compare it with = or !="),
    ],
)
def test_invalid_filters_are_reported(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=".") as raised:
        RowFilter.parse(text)
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)


def test_old_names_of_metrics_are_accepted() -> None:
    assert column_named("perf_latency") == "perf_latency_p99"
    assert column_named("model") == "model"
