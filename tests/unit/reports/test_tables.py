# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Tables: which rows and columns there are, and what is in the cells."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import pytest

from model_analyzer.config.rules import OUTPUT_FIELDS
from model_analyzer.domain.goals import Goal, ModelGoal
from model_analyzer.domain.measurements import Measurement, ModelMeasurement
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.trials import Load, LoadKind, ServerSetup, load_words, under
from model_analyzer.reports.explorer import explorer_of
from model_analyzer.reports.markdown import markdown_table
from model_analyzer.reports.tables import (
    Table,
    _columns,
    answer_table,
    composing_table,
    detailed_table,
    gpu_table,
    inference_table,
    server_table,
    summary_table,
)
from model_analyzer.results.columns import Mark, data_text, instances_text
from model_analyzer.results.ranking import Ranking
from tests.unit.builders import (
    at_most,
    goal,
    joint,
    joint_record,
    measurement,
    objectives,
    one_round,
    ranking,
    record,
    trial,
    variant,
)

FIELDS = (
    "model_name", "batch_size", "concurrency", "model_config_path", "instance_group",
    "max_batch_size", "satisfies_constraints", "perf_throughput", "perf_latency_p99",
)  # fmt: skip

DEFAULT = variant("m_config_default", instance_group=[{"kind": "KIND_CPU", "count": 1}])
LARGE = variant(
    "m_config_0",
    max_batch_size=8,
    dynamic_batching={},
    instance_group=[{"kind": "KIND_GPU", "count": 3}, {"kind": "KIND_CPU", "count": 2}],
    parameters={"THREADS": {"string_value": "4"}},
)


def example() -> Ranking:
    """Two variants; the default passes at one load and fails at another."""
    return ranking(
        record(DEFAULT, measurement(110.5, 9.25)),
        record(DEFAULT, measurement(180.5, 12.5), concurrency=4),
        record(LARGE, measurement(4022.65, 5.125), concurrency=2, batch_size=8),
        by=goal(*at_most(perf_latency_p99=10)),
    )


# ------------------------------------------------------------------------------ inference table


def test_columns_are_in_the_order_of_the_fields() -> None:
    table = inference_table([example()], ["perf_throughput", "model_name"])
    assert table.headers == ("Throughput (infer/sec)", "Model")
    assert table.rows[0] == (4022.65, "m")


def test_instances_count_on_every_gpu() -> None:
    table = inference_table([on_gpus()], ["instance_group"])
    assert table.rows[0] == ("6:GPU + 2:CPU",)
    assert instances_text(LARGE, gpus=2) == "6:GPU + 2:CPU"


RATE = record(DEFAULT, measurement(9), concurrency=100, kind=LoadKind.REQUEST_RATE)


@pytest.mark.parametrize("asked", ["concurrency", "request_rate", "concurrency,request_rate"])
def test_under_a_request_rate_there_is_no_concurrency(asked: str) -> None:
    fields = ["batch_size", *asked.split(","), "model_config_path"]
    table = inference_table([ranking(RATE)], fields)
    assert table.headers == ("Batch", "Request Rate", "Model Config Path")
    assert table.rows == ((1, 100, "m_config_default"),)


@pytest.mark.parametrize(
    ("fields", "headers"),
    [
        (["concurrency", "perf_throughput"], ["Concurrency", "Request Rate"]),
        (["request_rate", "perf_throughput"], ["Concurrency", "Request Rate"]),
        (["request_rate", "concurrency", "perf_throughput"], ["Request Rate", "Concurrency"]),
    ],
)
def test_both_measured_kinds_of_load_have_a_column(fields: list[str], headers: list[str]) -> None:
    ranked = ranking(record(DEFAULT, measurement(5), concurrency=3), RATE)
    table = inference_table([ranked], fields)
    assert table.headers == (*headers, "Throughput (infer/sec)")
    cells = [dict(zip(table.headers, row, strict=True)) for row in table.rows]
    assert [(row["Concurrency"], row["Request Rate"]) for row in cells] == [(None, 100), (3, None)]


def test_a_table_without_loads_gets_none() -> None:
    assert inference_table([ranking(RATE)], ["model_name"]).headers == ("Model",)


def test_intervals_are_reported_by_their_file() -> None:
    (work,) = RATE.trial.workloads
    load = Load(kind=LoadKind.REQUEST_INTERVALS, value=0)
    work = replace(work, load=load, flags={"request-intervals": "times.txt"})
    timed = RATE._replace(trial=replace(RATE.trial, workloads=(work,)))
    table = inference_table([ranking(timed)], ["concurrency"])
    assert table.headers == ("Request Intervals",)
    assert table.rows == (("times.txt",),)


def test_the_gpu_table_says_the_load_that_was_measured() -> None:
    ranked = ranking(
        record(
            LARGE,
            measurement(9, gpus={"a": {"gpu_used_memory": 10.0}}),
            concurrency=100,
            kind=LoadKind.REQUEST_RATE,
        )
    )
    table = gpu_table([ranked], ["concurrency", "gpu_uuid"], always=False)
    assert (table.headers, table.rows) == (("Request Rate", "GPU UUID"), ((100, "a"),))


def test_any_measured_metric_is_a_column() -> None:
    ranked = ranking(
        record(
            DEFAULT,
            measurement(
                1,
                gpus={"a": {"gpu_used_memory": 10.0}, "b": {"gpu_used_memory": 5.0}},
                host={"cpu_used_ram": 7.0},
            ),
        )
    )
    table = inference_table([ranked], ["gpu_used_memory", "cpu_used_ram"])
    assert table.headers == ("GPU Memory Usage (MB)", "RAM Usage (MB)")
    assert table.rows == ((15.0, 7.0),)


def test_a_metric_that_some_rows_lack_is_a_column_with_gaps() -> None:
    ranked = ranking(
        record(DEFAULT, measurement(2, perf_latency_avg=1.5)),
        record(DEFAULT, measurement(1), concurrency=2),
    )
    assert inference_table([ranked], ["perf_latency_avg"]).rows == ((1.5,), (None,))


@pytest.mark.parametrize(
    ("field", "warning"),
    [
        ("gpu_used_memory", 'Inference output field "gpu_used_memory", has no data'),
        ("perf_latency_avg", 'Inference output field "perf_latency_avg", has no data'),
        ("backend_parameter/NOPE", 'Inference output field "backend_parameter/NOPE", has no data'),
        (
            "no_such_field",
            'Inference output field "no_such_field" is neither a metric nor a column',
        ),
    ],
)
def test_a_field_without_data_is_left_out_with_a_warning(caplog, field: str, warning: str) -> None:
    with caplog.at_level(logging.WARNING):
        table = inference_table([example()], ["model_name", field, "batch_size"])
    assert table.headers == ("Model", "Batch")
    assert [len(row) for row in table.rows] == [2, 2, 2]
    assert caplog.messages == [warning]


def test_a_backend_parameter_is_a_column_named_like_its_field() -> None:
    table = inference_table([example()], ["backend_parameter/THREADS"])
    assert table.headers == ("backend_parameter/THREADS",)
    assert table.rows == (("4",), (None,), (None,))


def test_the_old_name_of_latency_is_the_p99_column() -> None:
    table = inference_table([example()], ["perf_latency"])
    assert table.headers == ("p99 Latency (ms)",)
    assert table.rows[0] == (5.125,)


@pytest.mark.parametrize("rankings", [[], [ranking()]])
def test_without_measurements_there_are_no_rows(rankings: list[Ranking]) -> None:
    assert inference_table(rankings, FIELDS).rows == ()


def test_a_table_without_rows_gives_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    assert inference_table([], ["model_name", "gpu_used_memory"]).rows == ()
    assert gpu_table([example()], ["gpu_uuid", "gpu_used_memory"], always=True).rows == ()
    assert server_table({}, ["gpu_uuid", "gpu_used_memory"]).rows == ()
    assert caplog.text == ""


# ------------------------------------------------------------------------------------ GPU table

SERVER_FIELDS = (
    "model_name", "gpu_uuid", "gpu_used_memory", "gpu_utilization", "gpu_power_usage",
)  # fmt: skip


def of_gpus(used: float, **more: float) -> dict[str, dict[str, float]]:
    """Values of two GPUs; the second has twice as much memory in use, and no power reading."""
    return {
        "GPU-a": {"gpu_used_memory": used, "gpu_utilization": 50.0, "gpu_power_usage": 70.5},
        "GPU-b": {"gpu_used_memory": 2 * used, "gpu_utilization": 25.0, **more},
    }


def on_gpus() -> Ranking:
    """The example, measured on two GPUs; the default only uses CPUs."""
    setup = ServerSetup(devices=("L4", "L4"))
    return ranking(
        record(DEFAULT, measurement(110.5, 9.25, gpus=of_gpus(100.0)), setup=setup),
        record(LARGE, measurement(300.5, 12.5, gpus=of_gpus(200.0)), concurrency=4, setup=setup),
        record(LARGE, measurement(200.5, 5.125, gpus=of_gpus(300.0)), concurrency=2, setup=setup),
        by=goal(*at_most(perf_latency_p99=10)),
    )


def test_variants_that_only_use_cpus_have_gpu_rows_when_asked_for() -> None:
    table = gpu_table([on_gpus()], ["model_config_path", "gpu_uuid"], always=True)
    assert table.rows[4:] == (("m_config_default", "GPU-a"), ("m_config_default", "GPU-b"))


def test_an_ensemble_uses_the_gpus_of_its_parts() -> None:
    part = variant("p_config_0", model="p", instance_group=[{"kind": "KIND_GPU"}])
    whole = variant("m_config_0", ensemble_scheduling={}, composing=[part])
    ranked = ranking(record(whole, measurement(1, gpus=of_gpus(1.0))))
    assert len(gpu_table([ranked], ["gpu_uuid"], always=False).rows) == 2


def test_the_table_of_the_idle_server_has_a_row_for_each_gpu() -> None:
    table = server_table(of_gpus(10.0), SERVER_FIELDS)
    assert table.headers == (
        "Model",
        "GPU UUID",
        "GPU Memory Usage (MB)",
        "GPU Utilization (%)",
        "GPU Power Usage (W)",
    )
    assert table.rows == (
        ("triton-server", "GPU-a", 10.0, 50.0, 70.5),
        ("triton-server", "GPU-b", 20.0, 25.0, None),
    )


def test_the_columns_that_an_option_may_name_are_those_of_the_table(
    caplog: pytest.LogCaptureFixture,
) -> None:
    of_rows = OUTPUT_FIELDS["inference_output_fields"]

    assert set(of_rows) == set(_columns())
    inference_table([], of_rows)
    gpu_table([], OUTPUT_FIELDS["gpu_output_fields"], always=False)
    server_table({}, OUTPUT_FIELDS["server_output_fields"])
    assert caplog.messages == []


def test_fields_without_data_are_left_out_of_each_table(caplog: pytest.LogCaptureFixture) -> None:
    ranked = ranking(record(LARGE, measurement(1, gpus={"MIG-a": {"gpu_used_memory": 1.0}})))
    with caplog.at_level(logging.WARNING):
        table = gpu_table([ranked], ["gpu_uuid", "gpu_power_usage", "nonsense"], always=False)
        server = server_table({"MIG-a": {"gpu_used_memory": 1.0}}, [*SERVER_FIELDS, "batch_size"])
    assert table.headers == ("GPU UUID",)
    assert server.headers == ("Model", "GPU UUID", "GPU Memory Usage (MB)")
    assert caplog.messages == [
        'GPU output field "gpu_power_usage", has no data',
        'GPU output field "nonsense" is neither a metric nor a column',
        'Server output field "gpu_utilization", has no data',
        'Server output field "gpu_power_usage", has no data',
        'Server output field "batch_size" is neither a metric nor a column',
    ]


def test_reports_show_gpu_memory_summed_and_utilization_as_a_mean() -> None:
    ranked = on_gpus()
    table = summary_table(ranked.results, ranked)
    at = table.headers.index("Max GPU Memory Usage (MB)")
    assert table.headers[at + 1] == "Average GPU Utilization (%)"
    assert [row[at : at + 2] for row in table.rows] == [(900, 37.5), (None, None)]
    detail = detailed_table(ranked.results[0])
    assert detail.headers[-3:] == (
        "Max GPU Memory Usage (MB)",
        "Average GPU Utilization (%)",
        "Requests",
    )
    assert [row[-3:-1] for row in detail.rows] == [(600, 37.5), (900, 37.5)]


def test_reports_of_variants_on_cpus_have_no_gpu_columns_unless_asked_for() -> None:
    ranked = ranking(record(DEFAULT, measurement(110.5, 9.25, gpus=of_gpus(100.0))))
    assert "GPU" not in " ".join(summary_table(ranked.results, ranked).headers)
    assert "GPU" not in " ".join(detailed_table(ranked.results[0]).headers)
    asked = summary_table(ranked.results, ranked, always_gpus=True)
    assert "Max GPU Memory Usage (MB)" in asked.headers
    asked = detailed_table(ranked.results[0], always_gpus=True)
    assert "Max GPU Memory Usage (MB)" in asked.headers


def test_a_report_leaves_out_the_unknown_utilization_of_a_mig_device() -> None:
    ranked = ranking(record(LARGE, measurement(1, gpus={"MIG-a": {"gpu_used_memory": 1.0}})))
    headers = summary_table(ranked.results, ranked).headers
    assert "Max GPU Memory Usage (MB)" in headers
    assert "Average GPU Utilization (%)" not in headers


# ------------------------------------------------------------------------------------- as text


def test_a_text_in_a_csv_is_no_formula_and_a_number_stays_one() -> None:
    table = Table(headers=("a", "b"), rows=(("=1+1", -1.5), ("m=1+1", -3)))
    assert table.to_csv() == "a,b\n'=1+1,-1.5\nm=1+1,-3\n\n"


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (4022.65, "4022.7"), (1234.56, "1234.6"), (100.0, "100.0"), (99.9996, "100.0"),
        (99.94, "99.94"), (50.0, "50.0"), (12.5, "12.5"), (10.0, "10.0"), (9.254, "9.254"),
        (5.0, "5.0"), (-5.0, "-5.0"), (1.23456, "1.235"), (0.5, "0.5"), (0.123456, "0.1235"),
        (0.0042137, "0.004214"), (-0.0042, "-0.0042"), (0.99999, "1.0"), (1e-12, "0.0"),
        (-1e-12, "0.0"), (0.0, "0.0"), (3, "3"), (None, ""), ("text", "text"),
    ],
)  # fmt: skip
def test_numbers_in_files_are_off_by_a_two_thousandth_at_most(
    cell: str | int | float | None, text: str
) -> None:
    assert data_text(cell) == text


# ---------------------------------------------------------------------------- tables of reports


def test_the_summary_marks_missed_constraints_and_by_how_much() -> None:
    ranked = ranking(record(DEFAULT, measurement(1, 22.5)), by=goal(*at_most(perf_latency_p99=10)))
    table = summary_table(ranked.results, ranked)
    place = table.headers.index("Constraints")
    assert table.rows[0][place] == "missed by 125 %"
    assert table.marks == {(0, place): Mark.MISSED}
    assert answer_table(ranked.results, ranked.goal).rows[0][-1] == "NO"


def test_the_summary_shows_memory_only_where_it_was_measured() -> None:
    ranked = ranking(record(DEFAULT, measurement(1, host={"cpu_used_ram": 512.0})))
    table = summary_table(ranked.results, ranked)
    assert dict(zip(table.headers, table.rows[0], strict=True))["Max CPU Memory Usage (MB)"] == 512
    assert "Max CPU Memory Usage (MB)" not in summary_table([], ranked).headers
    assert answer_table(ranked.results, ranked.goal).headers[-1] == "RAM MB"


def test_the_answer_is_a_short_summary() -> None:
    ranked = example()
    table = answer_table(ranked.results, ranked.goal)
    assert all(len(row) == len(table.headers) for row in table.rows)
    assert table.rows == (
        ("m_config_0", "3:GPU + 2:CPU", 8, "4", "2 x 8", 4022.65, 5.125, "yes"),
        ("m_config_default", "1:CPU", 0, "not set", 1, 110.5, 9.25, "yes"),
    )


def test_measured_metrics_of_the_goal_have_columns() -> None:
    wished = goal(
        *at_most(perf_latency_p90=10, gpu_power_usage=300),
        wished=objectives(perf_throughput=1, perf_server_queue=1),
    )
    ranked = ranking(
        record(DEFAULT, measurement(1, 22.5, perf_latency_p90=8.5, perf_server_queue=2.5)),
        by=wished,
    )

    summary = summary_table(ranked.results, ranked)
    answer = answer_table(ranked.results, wished)

    queue, p90 = "Server Queue time (ms)", "p90 Latency (ms)"
    assert summary.headers[1:5] == ("Throughput (infer/sec)", queue, "p99 Latency (ms)", p90)
    assert summary.rows[0][1:5] == (1, 2.5, 22.5, 8.5)
    assert answer.headers[4:] == ("Infer/s", queue, "p99 ms", p90, "Meets")
    assert answer.rows[0][4:] == (1, 2.5, 22.5, 8.5, "not measured")


def test_a_request_rate_is_no_concurrency() -> None:
    ranked = ranking(
        record(DEFAULT, measurement(40), concurrency=40, kind=LoadKind.REQUEST_RATE),
        record(variant("m_config_0"), measurement(20), concurrency=40),
    )
    rows = answer_table(ranked.results, ranked.goal).rows
    assert [row[3] for row in rows] == ["40/s", 40]


def test_the_answer_has_the_constrained_metric_of_one_of_several_models() -> None:
    parts = [variant(f"{name}_config_default", model=name) for name in ("a", "b")]
    values = [{"perf_throughput": 5.0, "perf_latency_p99": p99} for p99 in (4.5, 8.5)]
    by = Goal(models=(ModelGoal(), ModelGoal(constraints=at_most(perf_latency_p99=10))))
    ranked = ranking(joint_record(map(trial, parts), *values), by=by, model="a,b")

    table = answer_table(ranked.results, by)

    assert table.headers[4:] == ("Infer/s", "p99 ms", "p99 Latency of b (ms)", "Meets")
    assert table.rows[0][4:] == (10, 6.5, 8.5, "yes")
    (column,) = [
        column
        for column in explorer_of([ranked], (), always_gpus=False).columns
        if column.key == "perf_latency_p99.b"
    ]
    assert (column.header, column.is_usual) == ("p99 Latency of b (ms)", True)


def test_the_answer_has_no_request_times_if_the_goal_is_about_tokens() -> None:
    wished = goal(
        *at_most(time_to_first_token_p90=50), wished=objectives(output_token_throughput=1)
    )
    tokens: dict[str, Any] = {"output_token_throughput": 640.5, "time_to_first_token_p90": 32.5}
    ranked = ranking(record(DEFAULT, measurement(80, 22.5, **tokens)), by=wished)

    table = answer_table(ranked.results, wished)

    assert table.headers[4:] == ("Tokens/s", "p90 Time To First Token (ms)", "Meets")
    assert table.rows[0][4:] == (640.5, 32.5, "yes")

    table = answer_table(ranked.results, goal(*at_most(time_to_first_token_p90=50)))
    assert table.headers[4:] == ("Infer/s", "p90 Time To First Token (ms)", "Meets")


def test_a_combination_with_a_shared_name_is_named_with_its_parts() -> None:
    def calling(part: str) -> ModelVariant:
        called = variant(part, model="p", files="", backend=part)
        return variant("m_config_0", files="", composing=[called])

    ranked = ranking(
        record(calling("p_config_0"), measurement(10)),
        record(calling("p_config_1"), measurement(20)),
    )
    rows = ["m_config_0: p_config_1", "m_config_0: p_config_0"]
    answer = answer_table(ranked.results, ranked.goal)
    summary = summary_table(ranked.results, ranked)
    assert [row[0] for row in answer.rows] == [row[0] for row in summary.rows] == rows
    assert [result.name for result in ranked.results] == ["m_config_0"] * 2
    assert [result.folder for result in ranked.results] == [
        "m_config_0,p_config_1",
        "m_config_0,p_config_0",
    ]


def test_uncounted_requests_are_an_empty_cell() -> None:
    together = measurement(1)
    two = replace(together, models=together.models * 2)
    trial = RATE.trial
    pair = replace(trial, workloads=trial.workloads * 2)
    ranked = ranking(RATE._replace(trial=pair, outcome=two), model="m,m")
    assert detailed_table(ranked.results[0]).rows[0][-1] is None


def test_a_measurement_without_latency_is_last_in_the_detail() -> None:
    ranked = ranking(
        record(DEFAULT, measurement(20)), record(DEFAULT, measurement(10, 5.5), concurrency=2)
    )
    table = detailed_table(ranked.results[0], offline=False)
    assert [row[0] for row in table.rows] == ["concurrency 2", "concurrency 1"]


def test_the_table_shows_how_often_a_load_was_measured_and_met_the_constraints() -> None:
    once = record(DEFAULT, measurement(100, 5))
    twice = [
        record(variant("m_config_1"), measurement(2020, p99), repetition=number)
        for number, p99 in enumerate((7.79, 10.75))
    ]
    ranked = ranking(once, *twice, by=goal(*at_most(perf_latency_p99=10)))

    answer = answer_table(ranked.results, ranked.goal)
    summary = summary_table(ranked.results, ranked)

    assert answer.headers[-2:] == ("Measured", "Meets")
    assert {row[0]: row[-2:] for row in answer.rows} == {
        "m_config_1": ("2 times", "1 of 2"),
        "m_config_default": ("once", "yes"),
    }
    rows = [dict(zip(summary.headers, row, strict=True)) for row in summary.rows]
    assert [
        (row["Measured"], row["Constraints"])
        for row in rows
        if row["Configuration"] == "m_config_1"
    ] == [("2 times", "met in 1 of 2")]


def test_models_that_were_measured_together_have_a_line_each() -> None:
    def measured(name: str, fast: float, slow: float, concurrency: int) -> TrialRecord:
        trials = [
            trial(
                variant(f"{model}_config_{name}", model=model, max_batch_size=batch),
                concurrency=concurrency,
            )
            for model, batch in (("a", 4), ("b", 8))
        ]
        values = [{"perf_throughput": rate, "perf_latency_p99": 5.0} for rate in (fast, slow)]
        return joint_record(trials, *values)

    by = Goal(models=(ModelGoal(), ModelGoal()))
    ranked = ranking(measured("default", 10, 20, 1), measured("0", 44, 16, 2), by=by, model="a,b")
    table = summary_table(ranked.results, ranked)
    best, default = (dict(zip(table.headers, row, strict=True)) for row in table.rows)
    assert (
        best["Total Throughput (infer/sec)"]
        == "60.0\na 44.0 (4.4 times the default)\nb 16.0 (-20 %)"
    )
    assert default["Total Throughput (infer/sec)"] == "30.0\na 10.0\nb 20.0"
    assert best["Max batch size"] == "4\n8"
    assert best["Load"] == "concurrency 2 for each model"
    assert "a 10.0<br>b 20.0" in markdown_table(table)[-1]


def test_the_load_of_each_of_several_models_has_its_name() -> None:
    both = joint(
        *(
            trial(variant(f"{name}_config_0", model=name), concurrency=load)
            for name, load in (("a", 16), ("b", 70))
        )
    )
    assert under(both) == "at concurrency 16 for a and at concurrency 70 for b"
    assert load_words(both) == "concurrency 16 for a, concurrency 70 for b"


def test_parts_have_the_order_in_which_they_are_called() -> None:
    parts = [variant(f"{name}_config_0", model=name) for name in ("pre", "middle", "after")]
    whole = variant("m_config_0", ensemble_scheduling={}, composing=parts)
    times = {part.model: {"perf_server_queue": 1.0} for part in reversed(parts)}
    measured = Measurement(models=(ModelMeasurement(values={}, composing=times),))
    table = composing_table(ranking(record(whole, measured)).results[0])
    assert table is not None
    assert [row[0] for row in table.rows] == ["pre", "middle", "after"]


def test_goodput_is_in_tables_if_it_is_a_goal_and_on_pages_if_it_is_known() -> None:
    measured = record(LARGE, one_round([10.0] * 30 + [40.0] * 20))
    limits = at_most(perf_latency_p50=20)
    wished = ranking(measured, by=goal(*limits, wished=objectives(perf_goodput=1)))
    known, unknown = ranking(measured, by=goal(*limits)), ranking(measured)

    for table in (summary_table(wished.results, wished), answer_table(wished.results, wished.goal)):
        assert table.rows[0][table.headers.index("Goodput (infer/sec)")] == 30
    assert "Goodput (infer/sec)" not in summary_table(known.results, known).headers
    of_page = [
        {column.key for column in explorer_of([each], (), always_gpus=False).columns}
        for each in (known, unknown)
    ]
    assert ["perf_goodput" in keys for keys in of_page] == [True, False]
