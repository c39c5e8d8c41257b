# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The column catalogue: header, unit and value of what tables, pages and files show."""

from __future__ import annotations

from model_analyzer.domain.metrics import METRICS, Better, Unit
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.results.columns import (
    MAX_BATCH_SIZE,
    SETTINGS,
    Column,
    metric_over_all,
    with_data,
)
from tests.unit.builders import measurement, trial, variant

ITEM = MeasuredTrial(trial=trial(), measurement=measurement(100, 5))


def test_the_column_of_a_metric_has_its_header_unit_and_value() -> None:
    for tag, metric in METRICS.items():
        column = metric_over_all(tag)
        assert (column.header, column.unit) == (metric.header, metric.unit)
        assert column.value(ITEM) == ITEM.measurement.value(tag)


def test_a_column_under_another_name_keeps_its_unit() -> None:
    column = metric_over_all("perf_latency_p99").renamed("Slowest")

    assert column.header == "Slowest (ms)"
    assert (column.unit, column.better) == (Unit.MILLISECONDS, Better.LOWER)


def test_a_column_of_another_subject_reads_that_subject() -> None:
    column: Column[dict[str, MeasuredTrial]] = metric_over_all("perf_throughput").adapted(
        lambda trials: trials["best"]
    )

    assert column.value({"best": ITEM}) == 100


def test_columns_without_data_are_left_out() -> None:
    columns = [metric_over_all(tag) for tag in ("perf_throughput", "gpu_utilization")]

    assert with_data(columns, [ITEM]) == columns[:1]
    assert with_data(columns, []) == []


def test_settings_that_a_server_with_openais_api_does_not_tell_are_unknown() -> None:
    there = MeasuredTrial(trial=trial(variant(platform="openai")), measurement=measurement(100, 5))

    assert MAX_BATCH_SIZE.value(ITEM) == 0
    assert [column.value(there) for column in SETTINGS] == ["unknown", None, None]
