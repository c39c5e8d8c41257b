# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Flat rows: what was measured, in what variants differ, and filters as people write them.

The column catalogue: header, unit and value of what tables, pages and files show.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from model_analyzer.domain.hardware import Machine
from model_analyzer.domain.measurements import Measurement, ModelStatistics
from model_analyzer.domain.metrics import METRICS, Better, Unit, is_best_high
from model_analyzer.domain.profiles import MeasuredTrial, TrialRecord
from model_analyzer.domain.trials import LoadKind, ServerSetup
from model_analyzer.noise.pooling import pool
from model_analyzer.results.columns import (
    MAX_BATCH_SIZE,
    SETTINGS,
    Column,
    Row,
    RowFilter,
    Rows,
    best_of_variants,
    column_named,
    columns_of,
    metric_over_all,
    pooled_rows,
    rows_of,
    sort_rows,
    with_data,
)
from tests.unit.builders import failure, measurement, one_round, record, trial, variant
from tests.unit.state.samples import rich_failure, rich_measurement, rich_trial


def rows(*records: TrialRecord) -> Sequence[Row]:
    return rows_of(enumerate_keys(records))


def trials(*records: TrialRecord) -> Sequence[Row]:
    return pooled_rows(enumerate_keys(records))


def test_rows_can_be_read_again_with_the_same_columns_and_parameters() -> None:
    records = [
        record(variant("m_config_0", max_batch_size=8), measurement(100, 5)),
        record(variant("m_config_1", max_batch_size=4), failure()),
    ]
    packed = Rows(enumerate_keys(records))

    assert [*packed] == [*packed] == rows(*records)
    assert len(packed) == 2
    assert columns_of(packed) == columns_of(rows(*records))
    assert "config.max_batch_size" in columns_of(packed)


def enumerate_keys(records: Sequence[TrialRecord]) -> Iterator[tuple[str, TrialRecord]]:
    return ((f"key {number}", item) for number, item in enumerate(records))


def test_a_measurement_is_a_row_with_all_its_values() -> None:
    outcome = replace(
        measurement(
            100,
            5,
            gpus={"a": {"gpu_used_memory": 10.0}, "b": {"gpu_used_memory": 20.0}},
            host={"cpu_used_ram": 7.0},
            requests=42,
            of_a_later_version=1.5,
        ),
        started=1.5,
        duration_s=2.5,
        machine=Machine(host="gpu1"),
    )
    setup = ServerSetup(devices=("A100", "A100"))

    (row,) = rows(record(variant("m_config_0"), outcome, concurrency=8, batch_size=2, setup=setup))

    assert row == {
        "trial": "key 0",
        "model": "m",
        "variant": "m_config_0",
        "load": "concurrency",
        "concurrency": 8,
        "batch_size": 2,
        "perf_throughput": 100,
        "perf_latency_p99": 5,
        "gpu_used_memory": 30.0,  # that of all GPUs
        "cpu_used_ram": 7.0,
        "of_a_later_version": 1.5,
        "requests": 42,
        "hardware": "2 x A100",
        "host": "gpu1",
        "started": "1970-01-01T00:00:01.500+00:00",
        "duration_s": 2.5,
    }


def test_the_mean_batch_of_the_server_is_a_column_but_of_an_ensemble() -> None:
    counts = ModelStatistics(inferences=100, executions=30)
    outcome = replace(measurement(100, 5), statistics={"m": counts})
    (row,) = rows(record(variant("m_config_0"), outcome))
    ensemble, plain = rows(TrialRecord(rich_trial(), rich_measurement()))

    assert row["server_batch_size"] == 3.333
    assert columns_of([row])[-3:] == ["server_batch_size", "hardware", "duration_s"]
    assert "server_batch_size" not in ensemble
    assert "server_batch_size" not in plain  # of which nothing was counted


def test_a_failure_is_a_row_with_its_reason() -> None:
    (row,) = rows(record(variant(), failure("it did not load")))

    assert (row["failure"], row["message"]) == ("MODEL_NOT_LOADED", "it did not load")
    assert "perf_throughput" not in row


def test_the_kind_of_load_is_a_column() -> None:
    rate, intervals = rows(
        record(variant(), measurement(1), concurrency=50, kind=LoadKind.REQUEST_RATE),
        record(variant(), measurement(1), concurrency=0, kind=LoadKind.REQUEST_INTERVALS),
    )

    assert (rate["request_rate"], rate.get("concurrency")) == (50, None)
    assert (intervals["load"], intervals.get("request_rate")) == ("request_intervals", None)


def test_models_measured_together_have_a_row_each() -> None:
    first, second = rows(TrialRecord(trial=rich_trial(), outcome=rich_measurement(), node="n1"))

    assert first["trial"] == second["trial"]
    assert (first["model"], second["model"]) == ("ensemble", "plain")
    assert (first["perf_throughput"], second["perf_throughput"]) == (1234.5678, 0.0)
    assert first["composing"] == "größe_config_0, 模型_config_3"
    assert "composing" not in second
    assert first["node"] == second["node"] == "n1"
    assert len(rows(TrialRecord(trial=rich_trial(), outcome=rich_failure()))) == 2


def test_only_parameters_that_differ_are_columns() -> None:
    first = variant(
        "m_config_0",
        max_batch_size=4,
        instance_group=[{"count": 1, "kind": "KIND_CPU"}],
        dynamic_batching={"preferred_batch_size": [2, 4]},
    )
    second = variant(
        "m_config_1",
        max_batch_size=4,
        instance_group=[{"count": 2, "kind": "KIND_CPU"}],
        dynamic_batching={},
    )

    table = rows(record(first, measurement(1)), record(second, measurement(2)))

    assert [{name: row[name] for name in row if name.startswith("config.")} for row in table] == [
        {"config.instance_group.0.count": 1, "config.dynamic_batching.preferred_batch_size": "2,4"},
        {"config.instance_group.0.count": 2, "config.dynamic_batching": "{}"},
    ]


def test_models_are_not_compared_with_one_another() -> None:
    table = rows(
        record(variant("a_config_0", model="a", max_batch_size=1), measurement(1)),
        record(variant("b_config_0", model="b", max_batch_size=2), measurement(1)),
    )

    assert not [name for name in columns_of(table) if name.startswith("config.")]


def test_parameters_of_composing_variants_have_the_name_of_their_model() -> None:
    parts = [variant(f"p_config_{n}", model="p", max_batch_size=n) for n in (1, 2)]
    table = rows(
        *(
            record(variant(f"m_config_{n}", composing=[part]), measurement(1))
            for n, part in enumerate(parts)
        )
    )

    assert [row["config.p.max_batch_size"] for row in table] == [1, 2]


def test_columns_are_in_the_order_in_which_people_read() -> None:
    table = rows(
        record(variant("m_config_0", max_batch_size=1), measurement(1, 2, odd=3.0, requests=1)),
        record(variant("m_config_1", max_batch_size=2), failure()),
    )

    assert columns_of(table) == [
        "trial", "model", "variant", "config.max_batch_size", "load", "concurrency", "batch_size",
        "perf_throughput", "perf_latency_p99", "odd",
        "requests", "failure", "message", "hardware", "duration_s",
    ]  # fmt: skip
    assert columns_of([]) == []


def test_rows_without_the_column_are_last_in_both_directions() -> None:
    table = rows(
        record(variant("m_config_0"), measurement(1)),
        record(variant("m_config_1"), failure()),
        record(variant("m_config_2"), measurement(3)),
    )

    def names(*, descending: bool) -> list[object]:
        ordered = sort_rows(table, "perf_throughput", descending=descending)
        return [row["variant"] for row in ordered]

    assert names(descending=True) == ["m_config_2", "m_config_0", "m_config_1"]
    assert names(descending=False) == ["m_config_0", "m_config_2", "m_config_1"]


def test_the_sort_direction_follows_the_metric() -> None:
    assert is_best_high("perf_throughput")
    assert not is_best_high("perf_latency_p99")
    assert not is_best_high("concurrency")


def test_each_variant_has_its_best_row_and_counts() -> None:
    table = trials(
        record(variant("m_config_0"), measurement(1, 9), concurrency=1),
        record(variant("m_config_0"), measurement(3, 5), concurrency=2),
        record(variant("m_config_0"), failure(), concurrency=4),
        record(variant("m_config_1"), failure()),
    )

    first, second = best_of_variants(table, "perf_latency_p99")

    assert (first["concurrency"], first["measurements"], first["failures"]) == (2, 2, 1)
    assert (second["variant"], second["measurements"], second["failures"]) == ("m_config_1", 0, 1)


def test_combinations_under_one_name_each_have_their_best() -> None:
    parts = [variant(f"p_config_{number}", model="p") for number in (0, 1)]
    table = trials(
        *(record(variant(composing=[part]), measurement(100, 5)) for part in parts),
        record(variant(composing=parts[:1]), measurement(200, 5), concurrency=2),
    )

    best = best_of_variants(table, "perf_throughput")

    assert [(row["composing"], row["measurements"]) for row in best] == [
        ("p_config_0", 2),
        ("p_config_1", 1),
    ]


def in_rounds(*latencies: float) -> list[TrialRecord]:
    """Rounds of one trial, of ten requests each; the first lasts a second, others longer."""
    return [
        TrialRecord(
            trial=replace(trial(variant("m_config_0")), repetition=number),
            outcome=replace(one_round([latency] * 10, seconds=1.0 + number), started=float(number)),
        )
        for number, latency in enumerate(latencies)
    ]


def test_rounds_of_a_trial_are_one_row_with_pooled_values() -> None:
    runs = in_rounds(10.0, 100.0)
    others = [record(variant("m_config_1"), failure()), record(variant("m_config_2"), failure())]

    table = trials(others[0], runs[0], others[1], runs[1])

    assert [(row["variant"], row["measurements"]) for row in table] == [
        ("m_config_1", 0),
        ("m_config_0", 2),
        ("m_config_2", 0),
    ]
    pooled = pool([run.outcome for run in runs if isinstance(run.outcome, Measurement)])
    assert table[1]["perf_throughput"] == pooled.value("perf_throughput") == 20 / 3
    assert table[1]["perf_latency_p99"] == pooled.value("perf_latency_p99")
    assert table[1]["requests"] == 20
    (best,) = best_of_variants([table[1]], "perf_throughput")
    assert (best["perf_throughput"], best["measurements"]) == (20 / 3, 2)


def test_a_round_that_own_windows_replace_does_not_count() -> None:
    early, late = in_rounds(10.0, 100.0)
    careful = late._replace(outcome=replace(measurement(3, 5), started=9.0))

    (row,) = trials(early, careful)

    assert (row["perf_throughput"], row["measurements"]) == (3, 1)


def test_single_measurements_say_which_belong_together() -> None:
    records = [*in_rounds(10.0, 100.0), record(variant("m_config_1"), failure())]
    keyed = [(item.trial.key, item) for item in records]

    table = [*Rows(keyed, repetitions=True)]

    first, other = keyed[0][0], keyed[2][0]
    assert [(row["trial"], row["first_trial"], row["repetition"]) for row in table] == [
        (first, first, 0),
        (keyed[1][0], first, 1),
        (other, other, 0),
    ]
    assert "first_trial" not in columns_of(rows(*records))


def test_rows_have_the_key_that_they_came_with() -> None:
    """A secret that is masked by now may have been part of it."""
    (row,) = rows_of([("the stored key", record(variant(), measurement(1)))])

    assert row["trial"] == "the stored key" != trial(variant()).key


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
