# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The parts of a page as data: verdict, figures, constraints, method, parameters, all rows."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from model_analyzer.domain.measurements import Measurement, Notice, NoticeKind
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.traffic import Arrivals, Traffic
from model_analyzer.domain.trials import Load, LoadKind
from model_analyzer.reports.explorer import Explorer, explorer_of
from model_analyzer.reports.front import front_charts, front_of
from model_analyzer.reports.headline import figures_of, headline, limits_of
from model_analyzer.reports.importance import importance_rows
from model_analyzer.reports.method import method_of
from model_analyzer.reports.parameters import parameter_name
from model_analyzer.reports.plots import Chart
from model_analyzer.results.answer import AnswerVerdict, answer_of
from model_analyzer.results.effects import effects
from model_analyzer.results.ranking import Ranking
from tests.unit.builders import (
    at_least,
    at_most,
    conclusion,
    failure,
    goal,
    known,
    measurement,
    one_round,
    ranking,
    record,
    variant,
)

DEFAULT = variant("m_config_default", max_batch_size=1)
BEST = variant("m_config_0", max_batch_size=8, dynamic_batching={})


def example(limit: float = 10) -> Ranking:
    return ranking(
        record(DEFAULT, measurement(100, 8.5, requests=500, windows=[99, 101]), concurrency=4),
        record(BEST, measurement(200, 9.5, requests=200, windows=[190, 210]), concurrency=4),
        record(BEST, measurement(250, 12.5, requests=900), concurrency=8),
        record(BEST, measurement(150, 12.6), concurrency=6),
        record(BEST, failure(), concurrency=64),
        by=goal(*at_most(perf_latency_p99=limit)),
    )


def points(chart: Chart, part: str) -> list[dict[str, Any]]:
    return [point for point in chart.spec["data"]["values"] if point["part"] == part]


def explorer(ranked: Ranking) -> Explorer:
    return explorer_of([ranked], front_of(ranked), always_gpus=False)


# ------------------------------------------------------------------------------------ verdict


def test_a_configuration_is_recommended_only_if_it_meets_the_constraints() -> None:
    assert answer_of(example()).verdict is AnswerVerdict.RECOMMENDED
    assert answer_of(example(limit=1)).verdict is AnswerVerdict.NEAREST
    assert answer_of(ranking(record(BEST, failure()))).verdict is AnswerVerdict.NOTHING
    assert answer_of(ranking(record(DEFAULT, measurement(5, 5)))).verdict is AnswerVerdict.KEEP


@pytest.mark.parametrize(
    ("limit", "verdict"),
    [(10, AnswerVerdict.EQUAL), (9, AnswerVerdict.RECOMMENDED)],
    ids=["passes", "fails"],
)
def test_a_configuration_without_a_clear_gain_is_recommended_only_over_a_failing_default(
    limit: float, verdict: AnswerVerdict
) -> None:
    ranked = ranking(
        record(DEFAULT, measurement(100, 9.5, windows=[80, 120])),
        record(BEST, measurement(103, 8.5, windows=[83, 123])),
        by=goal(*at_most(perf_latency_p99=limit)),
    )
    assert answer_of(ranked).verdict is verdict


def test_figures_show_what_got_better_and_worse() -> None:
    default = variant("m_config_default")
    ranked = ranking(
        record(default, measurement(100, 10, requests=900, host={"cpu_used_ram": 200.0})),
        record(variant(), measurement(300, 20.5, requests=900, host={"cpu_used_ram": 100.0})),
    )
    shown = [(each.label, each.change, each.is_worse) for each in figures_of(answer_of(ranked))]
    assert shown == [
        ("Gain over the default", "", False),
        ("Throughput", "", False),  # the gain says it
        ("p99 Latency", "▲ 105 %", True),
        ("RAM Usage", "▼ 50 %", False),
    ]


def test_a_lopsided_interval_stands_beside_the_value_as_in_the_sentence() -> None:
    ranked = ranking(
        record(DEFAULT, one_round([20.0] * 300, 3.0, windows=(99, 101))),
        record(BEST, one_round([10.0] * 57 + [200.0] * 3, 0.2, windows=(280, 300, 320))),
    )
    answer = answer_of(ranked)
    _, throughput, p99 = figures_of(answer)
    assert (throughput.value, throughput.interval) == ("300 ± 60", "")
    assert (p99.value, p99.unit) == ("200", "ms")
    assert f"p99 {p99.value} ({p99.interval}) ms" in "".join(headline(answer))
    low, high = (float(each) for each in p99.interval.replace(",", "").split(" to "))
    assert high - 200 > 1.5 * (200 - low)


def test_a_change_within_noise_is_none() -> None:
    default = variant("m_config_default")
    ranked = ranking(
        *(record(default, measurement(100, p99), repetition=n) for n, p99 in enumerate((8, 12))),
        *(record(variant(), measurement(300, p99), repetition=n) for n, p99 in enumerate((9, 13))),
    )
    assert [each.change for each in figures_of(answer_of(ranked))] == ["", "", ""]


def test_each_constraint_is_met_missed_or_unknown() -> None:
    ranked = ranking(
        record(BEST, measurement(50, 12)),
        by=goal(*at_most(perf_latency_p99=10, gpu_used_memory=100), *at_least(perf_throughput=50)),
    )
    assert [(limit.value, limit.missed_by) for limit in limits_of(answer_of(ranked))] == [
        ("12.0", pytest.approx(20)),
        ("not measured", None),
        ("50.0", 0),
    ]
    assert limits_of(answer_of(ranking())) == ()


# ------------------------------------------------------------------------------------- method


def test_the_method_says_why_a_search_ended_and_what_it_may_have_missed() -> None:
    best = record(variant("m_config_0"), measurement(100))
    method = dict(method_of(ranking(best).measured, (), conclusion(best.trial, trials=1)))
    assert method["End of the search"] == (
        "after 1 trial: no further measurement is expected to improve the answer"
    )
    assert method["Possibly missed"] == (
        "a configuration more than 3 % better, with a chance of 20 %;"
        " continuing would gain about 1.3 %"
    )
    sure = replace(conclusion(best.trial, trials=1), chance=0.001, gain=0.0001)
    assert dict(method_of(ranking(best).measured, (), sure))["Possibly missed"] == (
        "a configuration more than 3 % better, with a chance of less than 1 %;"
        " continuing would gain less than 0.1 %"
    )
    none = replace(conclusion(best.trial, trials=1), feasible=False)
    assert dict(method_of(ranking(best).measured, (), none))["Possibly missed"] == (
        "a configuration that meets the constraints, with a chance of 20 %"
    )


def test_the_method_has_the_evidence_behind_the_numbers() -> None:
    ranked = example()
    method = dict(method_of(ranked.measured, ranked.failed))
    assert method["Trials"] == "4 measured, 1 failed"
    assert method["Requests per p99 value"] == (
        "median 500, fewest 200 (m_config_0 at concurrency 4); 1 of 3 have fewer than the"
        " 299 needed for 95 % confidence in a p99"
    )
    assert method["Throughput noise"] == (
        "median ± 21.5 % (95 % interval), largest ± 26.8 %, recommended load ± 26.8 %"
    )
    assert method["Stability"] == "all measurements became stable"


def test_unstable_measurements_are_counted() -> None:
    notice = Notice(kind=NoticeKind.UNSTABLE, text="it swings")
    ranked = ranking(record(BEST, measurement(5, 5, notices=[notice])))
    method = dict(method_of(ranked.measured))
    assert method["Stability"] == "1 of 1 measurements did not become stable"
    assert method_of(()) == ()


def test_the_stability_of_imported_measurements_is_unknown() -> None:
    imported = measurement(5, 5, notices=[Notice(kind=NoticeKind.UNVERIFIED, text="from there")])
    unstable = measurement(5, 5, notices=[Notice(kind=NoticeKind.UNSTABLE, text="it swings")])

    def stability(*outcomes: Measurement) -> str:
        records = [
            record(BEST, outcome, concurrency=number) for number, outcome in enumerate(outcomes)
        ]
        return dict(method_of(ranking(*records).measured))["Stability"]

    assert stability(imported, imported) == "unknown for 2 imported measurements"
    assert stability(imported, measurement(7)) == (
        "all other measurements became stable; unknown for 1 imported measurement"
    )
    assert stability(imported, unstable, measurement(7)) == (
        "1 of 2 measurements did not become stable; unknown for 1 imported measurement"
    )


def test_secrets_in_flags_are_masked() -> None:
    ranked = ranking(
        record(BEST, measurement(5, 5), flags={"api-key": "sesame", "streaming": True})
    )
    method = dict(method_of(ranked.measured))
    assert "sesame" not in method["perf_analyzer flags"]
    assert "--streaming=True" in method["perf_analyzer flags"]


# --------------------------------------------------------------------------------- parameters


def test_parameters_have_names_for_people() -> None:
    assert parameter_name("concurrency") == "Concurrency"
    assert parameter_name("config.instance_group.0.count") == "Instances"
    assert parameter_name("config.encoder.instance_group.0.count") == "Instances of encoder"
    assert parameter_name("config.parameters.x.string_value") == "x"
    assert parameter_name("config.part.parameters.x.string_value") == "x of part"
    assert parameter_name("config.parameters.x.string_value.y.z") == "x.y.z"


def test_bars_are_shares_of_the_best() -> None:
    importance = known(importance_rows(effects(example())))
    (row,) = [row for row in importance.rows if row.name == "Max batch size"]
    assert [(bar.value, bar.best, bar.load, bar.share) for bar in row.bars] == [
        ("1", "100", "concurrency 4", 0.5),
        ("8", "200", "concurrency 4", 1.0),
    ]
    assert "%" not in importance.method  # of results under different loads
    assert "meet the constraints" in importance.method
    assert importance_rows(None) is None


def test_some_of_many_values_are_shown_from_the_first_to_the_last() -> None:
    records = [
        record(variant(f"m_config_{n}", max_batch_size=n), measurement(n, 5)) for n in range(1, 101)
    ]
    importance = known(importance_rows(effects(ranking(*records))))
    (row,) = importance.rows
    assert (row.bars[0].value, row.bars[-1].value) == ("1", "100")
    assert len(row.bars) + row.left_out == 100


def test_the_best_of_many_values_is_shown() -> None:
    records = [
        record(variant(f"m_config_{n}", max_batch_size=n), measurement(n if n != 25 else 900, 5))
        for n in range(1, 101)
    ]
    importance = known(importance_rows(effects(ranking(*records))))
    (row,) = importance.rows
    assert "25" in [bar.value for bar in row.bars]
    assert max(bar.share for bar in row.bars) == 1.0
    assert [int(bar.value) for bar in row.bars] == sorted(int(bar.value) for bar in row.bars)


# ----------------------------------------------------------------------------------- all rows


def test_the_explorer_has_every_measurement_best_first() -> None:
    table = explorer(example()).first(3)
    assert table.headers[:8] == (
        "Configuration", "Throughput (infer/sec)", "p99 Latency (ms)", "Meets constraints",
        "Concurrency", "Instances", "Max batch size", "Dynamic batching",
    )  # fmt: skip
    assert [(row[0], row[1], row[3], row[4]) for row in table.rows] == [
        ("m_config_0", 200, "yes", 4), ("m_config_default", 100, "yes", 4),
        ("m_config_0", 250, "no", 8),
    ]  # fmt: skip


def test_the_first_rows_have_the_precision_of_the_whole_column() -> None:
    ranked = ranking(
        record(BEST, measurement(1500.25, 0.125)),
        *(record(BEST, measurement(900.5 - n, 20.5 + n), concurrency=n) for n in range(2, 9)),
    )
    table = explorer(ranked)
    document: dict[str, Any] = json.loads(table.to_json())
    decimals = {column["key"]: column["decimals"] for column in document["columns"]}
    assert (decimals["perf_throughput"], decimals["perf_latency_p99"]) == (0, 2)
    assert decimals["concurrency"] == 0
    assert {"1,500", "0.12"} <= set(table.first(1).texts()[0])


def test_columns_with_equal_values_are_not_shown_first() -> None:
    first, other = (
        variant(f"m_config_{count}", instance_group=[{"count": count, "kind": "KIND_CPU"}])
        for count in (1, 2)
    )
    table = explorer(ranking(record(first, measurement(1)), record(other, measurement(2))))
    headers = table.first(1).headers[:4]
    assert headers == (
        "Configuration", "Throughput (infer/sec)", "Concurrency", "Instances",
    )  # fmt: skip
    assert "max_batch_size" in {column.key for column in table.own}


def test_the_explorer_knows_the_front_and_the_evidence() -> None:
    table = explorer(example())
    document: dict[str, Any] = json.loads(table.to_json())
    keys = [column["key"] for column in document["columns"]]
    rows = zip(*document["cells"], strict=True)
    cells = [dict(zip(keys, row, strict=True)) for row in rows]
    assert document["counts"] == [3, 1]
    assert [row["pareto_front"] for row in cells] == ["yes", "yes", "no", "yes"]
    assert cells[0]["requests"] == 200
    assert cells[0]["noise"] == 26.8
    assert cells[2]["requests"] is None


def test_the_front_of_the_chart_is_that_of_all_measurements() -> None:
    ranked = example()
    places = {id(item): place for place, item in enumerate(ranked.measured)}
    (chart,) = front_charts(ranked, ranked.results, places)
    assert [(point["x"], point["y"]) for point in points(chart, "front")] == [
        (8.5, 100), (9.5, 200), (12.5, 250),
    ]  # fmt: skip


def test_a_chart_of_very_many_measurements_has_one_point_for_each_small_area() -> None:
    others = [
        record(BEST, measurement(100 + n % 50, 5 + n / 1000), concurrency=n) for n in range(1, 3000)
    ]
    ranked = ranking(*others, record(DEFAULT, measurement(500, 1)))
    places = {id(item): place for place, item in enumerate(ranked.measured)}
    default = [result for result in ranked.results if result.is_default]
    (chart,) = front_charts(ranked, default, places)
    drawn = points(chart, "other")
    assert len(drawn) < 3000
    assert f"{len(drawn)} of 2999 grey points are shown" in chart.caption
    assert max(point["y"] for point in drawn) == 149


@pytest.mark.parametrize(
    ("load", "expected"),
    [
        ({"concurrency": 8}, "8 requests at a time, each sent after an earlier answer"),
        ({"concurrency": 8}, "only these 8 wait and no more are sent: percentiles hide"),
        ({"concurrency": 1}, "1 request at a time"),
        ({"concurrency": 1}, "only this one waits"),
    ],
)
def test_a_closed_loop_says_what_a_stall_would_hide(load: dict[str, int], expected: str) -> None:
    measured = ranking(record(variant(), measurement(100, 5), **load)).measured
    assert expected in dict(method_of(measured))["Arrivals of requests"]


def test_an_open_load_hides_no_stall() -> None:
    measured = record(variant(), measurement(100, 5), kind=LoadKind.REQUEST_RATE, concurrency=50)
    assert arrivals(measured) == "constant arrivals; latencies count from the moment of sending"
    (work,) = measured.trial.workloads
    traffic = Traffic(arrivals=Arrivals.POISSON)
    trial = replace(measured.trial, workloads=(replace(work, traffic=traffic),))
    outcome = measurement(100, 5, perf_send_lag_p99=0.1)
    assert arrivals(measured._replace(trial=trial, outcome=outcome)) == (
        "Poisson arrivals; latencies count from the intended times"
    )
    file = replace(work, load=Load(kind=LoadKind.REQUEST_INTERVALS, value=0))
    trial = replace(measured.trial, workloads=(file,))
    assert arrivals(measured._replace(trial=trial)).startswith("the intervals of a file;")


def arrivals(measured: TrialRecord) -> str:
    return dict(method_of(ranking(measured).measured))["Arrivals of requests"]


def test_all_measurements_are_best_first_across_variants() -> None:
    by = goal(*at_most(perf_latency_p99=10))
    ranked = ranking(
        record(DEFAULT, measurement(50, 5)),
        record(DEFAULT, measurement(90, 5), concurrency=2),
        record(BEST, measurement(100, 5)),
        record(BEST, measurement(20, 5), concurrency=2),
        record(BEST, measurement(300, 11), concurrency=4),
        by=by,
    )
    explorer = explorer_of([ranked], [], always_gpus=False)
    table = explorer.first(10)
    place = table.headers.index("Throughput (infer/sec)")
    assert [row[place] for row in table.rows] == [100, 90, 50, 20, 300]
    assert json.loads(explorer.to_json())["best_first"] == list(explorer.best_first or ())
    assert [row[place] for row in explorer.first(2).rows] == [100, 90]
