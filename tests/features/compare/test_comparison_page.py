# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The page of a comparison, as data: what changed, and its charts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.features.compare.comparison_page import (
    ComparedModel,
    ComparisonPage,
    comparison_page,
    render_comparison,
)
from model_analyzer.features.compare.comparison_report import ComparisonReport, Side
from model_analyzer.features.compare.facts.comparison import Rule, compare, judge
from model_analyzer.results.ranking import Ranking
from tests.drawn import NOT_DRAWN, svg_of
from tests.unit.builders import failure, measurement, ranking, record, variant

TAGS = ("perf_throughput", "perf_latency_p99")


def records(factor: float = 1, *, instances: int = 1, loads: int = 8) -> list[TrialRecord]:
    """A configuration with different loads, measured `factor` times as fast."""
    config: dict[str, Any] = {
        "instance_group": [{"count": instances, "kind": "KIND_CPU"}],
        "max_batch_size": 4 * instances,
    }
    if instances > 1:
        config["dynamic_batching"] = {}
    of = variant(f"m_config_{instances}", **config)
    return [
        record(
            of,
            measurement(100 * load * factor, 5 / factor, windows=[100 * load * factor] * 3),
            concurrency=load,
        )
        for load in range(1, loads + 1)
    ]


def page_of(*pairs: tuple[Ranking, Ranking], rule: str = "") -> ComparisonPage:
    comparisons = [compare(base, new, TAGS) for base, new in pairs]
    rules = [Rule.parse(rule)] if rule else []
    return comparison_page(
        ComparisonReport(
            base=Side(name="old", uuid="", time=""),
            new=Side(name="<new>", uuid="", time=""),
            differences=(("processor", "A", "B"),),
            remarks=("a remark",),
            comparisons=tuple(comparisons),
            rankings=pairs,
            judgements=tuple(
                judge(each, comparison, strict=False)
                for comparison in comparisons
                for each in rules
            ),
        )
    )


def model_of(base: Sequence[TrialRecord], new: Sequence[TrialRecord]) -> ComparedModel:
    (model,) = page_of((ranking(*base), ranking(*new))).models
    return model


def test_changes_of_the_best_configuration_are_in_the_words_of_a_configuration() -> None:
    changes = model_of(records(), [*records(), *records(1.5, instances=2)]).changes
    assert changes == (
        ("variant", "m_config_1", "m_config_2"),
        ("instances", "1:CPU", "2:CPU"),
        ("dynamic_batching", "off", "on"),
        ("max_batch_size", "4", "8"),
    )


def test_the_same_best_configuration_has_no_changes() -> None:
    assert model_of(records(), records(0.9)).changes == ()


def test_another_load_is_a_change() -> None:
    assert model_of(records(loads=4), records(loads=8)).changes == (
        ("load", "concurrency 4", "concurrency 8"),
    )


def test_each_metric_has_a_dumbbell_for_each_common_trial() -> None:
    charts = model_of(records(), records(0.9)).charts
    assert [chart.name for chart in charts] == [
        "change_of_perf_throughput",
        "change_of_perf_latency_p99",
        "fronts_of_throughput_v_latency",
    ]
    dumbbells = charts[0].spec["data"]["values"]
    assert len(dumbbells) == 8
    assert {point["verdict"] for point in dumbbells} == {"worse"}
    assert all(point["low"] <= point["percent"] <= point["high"] for point in dumbbells)
    assert " of 8 trials" not in charts[0].caption


def test_the_largest_regressions_are_drawn_if_there_are_many_trials() -> None:
    chart = model_of(records(loads=50), records(0.9, loads=50)).charts[0]
    assert len(chart.spec["data"]["values"]) == 40
    assert "40 of 50 trials: the largest regressions" in chart.caption


def test_wide_intervals_do_not_hide_the_changes() -> None:
    base, new = (
        [
            record(variant(), measurement(rate, 5, windows=[1, rate, 300]), concurrency=load)
            for load in range(1, 9)
        ]
        for rate in (100, 102)
    )
    chart = model_of(base, new).charts[0]
    assert "cut at the edge of the chart" in chart.caption
    low, high = chart.spec["layer"][0]["encoding"]["x"]["scale"]["domain"]
    assert high - low < 100


def test_both_fronts_are_in_one_chart() -> None:
    points = model_of(records(), records(0.9)).charts[-1].spec["data"]["values"]
    assert {(point["side"], point["part"]) for point in points} == {
        (side, part) for side in ("BASE", "NEW") for part in ("front", "point")
    }
    assert sum(point["best"] for point in points) == 2


def test_charts_can_be_drawn() -> None:
    for chart in model_of(records(), records(0.9)).charts:
        assert svg_of(chart).startswith("<svg")


def test_rules_give_the_result() -> None:
    pair = ranking(*records()), ranking(*records(0.8))
    assert page_of(pair, rule="perf_throughput<-3%").state == "bad"
    assert page_of(pair, rule="perf_throughput<-50%").state == "good"
    page = page_of(pair)
    assert (page.state, page.result) == ("open", "No rules were checked; worse: m")
    assert page.rules is None


def test_several_models_have_an_overview() -> None:
    pair = ranking(*records()), ranking(*records(0.9))
    dead = ranking(record(variant("m_config_1"), failure(), concurrency=1))
    overview = page_of(pair, (pair[0], dead)).overview
    assert overview is not None
    assert [row[2] for row in overview.rows] == ["worse", "only failures"]


def test_texts_are_never_markup() -> None:
    page = page_of((ranking(*records()), ranking(*records(0.9))))
    html = render_comparison(page, NOT_DRAWN)
    assert "<new>" not in html
    assert "&lt;new&gt;" in html
    assert "default-src" in html


def test_a_rule_that_is_not_certain_is_no_success() -> None:
    def noisy(throughput: float) -> Ranking:
        windows = [0.7 * throughput, throughput, 1.3 * throughput]
        return ranking(record(variant(), measurement(throughput, 5, windows=windows)))

    page = page_of((noisy(100), noisy(95)), rule="perf_throughput<-3%")
    assert (page.state, page.result) == ("open", "Not certain: 1 of 1 rule cannot be decided")
