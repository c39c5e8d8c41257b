# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a run was for is what one sees first, wherever its results are shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.metrics import METRICS
from model_analyzer.reports.build import build_detail
from model_analyzer.reports.fleet import FleetModel, fleet_page, sparkline
from model_analyzer.reports.headline import headline
from model_analyzer.reports.kubernetes import manifest
from model_analyzer.reports.tables import answer_table, hardware_table, summary_table
from model_analyzer.results.answer import ModelAnswer, answer_of
from model_analyzer.results.flat_rows import columns_of
from model_analyzer.results.ranking import Ranking
from tests.unit.builders import (
    at_most,
    goal,
    objectives,
    one_round,
    origin,
    ranking,
    record,
    resolved,
    summary_page,
    variant,
)


class Case(NamedTuple):
    """A goal, the metric that is its first wish, and the axes of its first chart."""

    by: Goal
    tag: str
    x: str
    y: str


LIMIT = at_most(perf_latency_p99=40)
P99 = "p99 Latency (ms)"
CASES: Mapping[str, Case] = {
    "goodput": Case(
        goal(*LIMIT, wished=objectives(perf_goodput=1)),
        "perf_goodput", P99, "Goodput (infer/sec)",
    ),
    "tokens": Case(
        goal(wished=objectives(output_token_throughput=1)),
        "output_token_throughput", "p99 Time To First Token (ms)",
        "Output Token Throughput (tokens/sec)",
    ),
    "first token": Case(
        goal(wished=objectives(time_to_first_token_avg=1)),
        "time_to_first_token_avg", "Avg Time To First Token (ms)",
        "Output Token Throughput (tokens/sec)",
    ),
    "latency": Case(
        goal(wished=objectives(perf_latency_avg=1)),
        "perf_latency_avg", "Avg Latency (ms)", "Throughput (infer/sec)",
    ),
    "latency within a limit of another": Case(
        goal(*LIMIT, wished=objectives(perf_latency_avg=1)),
        "perf_latency_avg", P99, "Avg Latency (ms)",
    ),
    "memory": Case(
        goal(wished=objectives(cpu_used_ram=1)),
        "cpu_used_ram", P99, "RAM Usage (MB)",
    ),
    "mostly energy": Case(
        goal(wished=objectives(perf_throughput=1, energy_per_inference=3)),
        "energy_per_inference", P99, "GPU Energy Per Inference (J)",
    ),
}  # fmt: skip
TOKENS = {"output_token_throughput", "time_to_first_token_avg"}


def ranked(case: Case) -> Ranking:
    """The default and a configuration that is better in everything."""
    made = []
    for name, better in (("m_config_default", 1.0), ("m_config_0", 2.0)):
        of_case = variant(name, max_batch_size=8 if better > 1 else 1)
        for load in (1, 2):
            times = [10 * load / better, 15 * load / better] * round(100 * better * load)
            more: dict[str, Any] = {
                "energy_per_inference": (2 + load) / better,
                "cpu_used_ram": 400 * load / better,
            }
            if case.tag in TOKENS:
                more |= {"output_token_throughput": 160 * load * better}
                for each in ("avg", "p99"):
                    more[f"time_to_first_token_{each}"] = 25 * load / better
            made.append(record(of_case, one_round(times, **more), concurrency=load))
    return ranking(*made, by=case.by)


@pytest.fixture(params=[*CASES])
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


def axes_of(spec: Mapping[str, Any]) -> tuple[str, str]:
    (titles,) = {
        tuple(layer["encoding"][axis]["title"] for axis in ("x", "y"))
        for layer in spec["layer"]
        if all(layer["encoding"].get(axis, {}).get("title") for axis in ("x", "y"))
    }
    return titles[0], titles[1]


def is_about(text: str, tag: str) -> bool:
    """Whether a header or a value is that of the metric, in short or in full."""
    short = {"output_token_throughput": "tokens/s", "cpu_used_ram": "RAM MB",
             "perf_latency_avg": "average latency", "energy_per_inference": "J/infer"}  # fmt: skip
    names = (METRICS[tag].name, short.get(tag, METRICS[tag].name))
    return any(name.lower() in text.lower() for name in names)


def test_it_is_an_axis_of_the_first_chart(case: Case) -> None:
    (part,) = summary_page(ranked(case)).parts
    assert axes_of(part.charts[0].spec) == (case.x, case.y)
    is_high = METRICS[case.tag].gain(1, 0) > 0 or METRICS[case.tag].name not in case.y
    side = "higher" if is_high else "lower"
    assert f"; {side} and further left is better." in part.charts[0].caption
    if part.budget is not None:  # the handle of the limit is in the same chart
        assert part.budget.chart == part.charts[0].key
    result = ranked(case).results[0]
    detail = build_detail(result, goal=case.by, origin=origin(), configuration="")
    over_latency = [chart for chart in detail.charts if chart.name != "latency_breakdown"]
    assert axes_of(over_latency[0].spec) == (case.x, case.y)
    drawn = sparkline(ranked(case))
    assert drawn is not None
    assert case.y.partition(" (")[0] in drawn.label


def test_it_is_first_in_sentence_figures_and_manifest(case: Case) -> None:
    answer = answer_of(ranked(case))
    texts = "".join(headline(answer))
    assert is_about(texts.partition(" gives ")[2].partition(", ")[0], case.tag)
    (part,) = summary_page(ranked(case)).parts
    figures = [figure.label for figure in part.figures if "Gain" not in figure.label]
    assert figures[0] == METRICS[case.tag].name
    if len(case.by.wishes) == 1:
        assert f"% better by {METRICS[case.tag].name} than the default" in texts
    written = manifest(answer, origin(), {"m": ""})
    assert is_about(written.splitlines()[0].partition(",")[0], case.tag)


def test_it_is_the_first_metric_of_every_table(case: Case) -> None:
    of_case = ranked(case)
    answer = answer_of(of_case)
    assert is_about(summary_table(of_case.results, of_case).headers[1], case.tag)
    assert is_about(answer_table(of_case.results, case.by).headers[4], case.tag)
    assert is_about(hardware_table([answer]).headers[5], case.tag)
    explorer = summary_page(of_case).explorer
    assert next(key for key in explorer.order if key in METRICS) == case.tag
    columns = columns_of([{"model": "m", **dict.fromkeys(METRICS, 1.0)}], case.by.wishes)
    assert columns[1] == case.tag


def test_it_is_the_first_number_of_the_fleet(case: Case) -> None:
    answer = answer_of(ranked(case))
    model = FleetModel(answer=ModelAnswer(model="m", answers=(answer,)), link="")
    page = fleet_page([model], written="", tool="")
    names = [column.name for column in page.columns]
    assert names[names.index("Answer") + 1] == METRICS[case.tag].name
    assert answer.best is not None
    shown = page.rows[0].cells[names.index("Answer") + 1]
    assert shown.value == answer.best.best.measurement.value(case.tag)
    values = [cell.value for cell in page.rows[0].cells if cell.value is not None]
    assert len(values) == len(set(values))  # each in one column


def test_the_columns_that_scripts_know_stay_in_their_places() -> None:
    usual = resolved("").settings.export.inference_fields
    wished = resolved("objectives: {perf_goodput: 1}\nlatency_budget: 5")
    assert wished.settings.export.inference_fields == (*usual, "perf_goodput")
    known = resolved("objectives: {perf_latency_p99: 1}")
    assert known.settings.export.inference_fields == usual


def test_models_with_different_goals_have_one_column_of_them() -> None:
    models = [
        FleetModel(
            answer=ModelAnswer(model=name, answers=(answer_of(ranked(CASES[name])),)), link=""
        )
        for name in ("goodput", "memory")
    ]
    page = fleet_page(models, written="", tool="")
    (place,) = (place for place, column in enumerate(page.columns) if column.key == "goal")
    texts = [row.cells[place].text for row in page.rows]
    assert texts == ["Goodput 800 infer/sec", "RAM Usage 200 MB"]


@pytest.mark.parametrize(("limit", "times"), [(40.0, 1), (25.0, 2)])
def test_throughput_is_not_repeated_where_every_request_was_in_time(
    limit: float, times: int
) -> None:
    by = goal(*at_most(perf_latency_p50=limit), wished=objectives(perf_goodput=1))
    measured = record(variant("m_config_0"), one_round([20.0] * 30 + [30.0] * 20, 1.0))

    sentence = "".join(headline(answer_of(ranking(measured, by=by))))

    assert sentence.count("infer/sec") == times
    assert "Goodput" in sentence
