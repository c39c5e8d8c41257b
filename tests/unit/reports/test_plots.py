# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Charts as data: what is drawn, in which order, and in which colour.

Labels inside the chart of all measurements, its axes, and memory without a chart.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from model_analyzer.domain.goals import Goal, ModelGoal
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.domain.trials import load_text
from model_analyzer.reports.breakdown import (
    breakdown_of_variants,
    latency_breakdown,
    missing_breakdown,
    phases,
)
from model_analyzer.reports.build import Summary
from model_analyzer.reports.front import front_charts
from model_analyzer.reports.plots import (
    THROUGHPUT_OVER_LATENCY,
    Chart,
    detailed_charts,
    draw,
    summary_charts,
)
from model_analyzer.results.ranking import Ranking
from tests.drawn import svg_of
from tests.features.capacity.replicas import capacity, closed_load
from tests.unit.builders import (
    at_least,
    at_most,
    goal,
    joint_record,
    measurement,
    ranking,
    record,
    summary_page,
    trial,
    variant,
)

DEFAULT = variant("m_config_default")
BEST = variant("m_config_0", max_batch_size=8)


def points(chart: Chart) -> list[dict[str, Any]]:
    values: list[dict[str, Any]] = chart.spec["data"]["values"]
    return values


def example(by: Goal | None = None) -> Chart:
    ranked = ranking(
        record(BEST, measurement(200, 8.5), concurrency=4),
        record(BEST, measurement(300, 9.5), concurrency=8),
        record(BEST, measurement(100, 5.5), concurrency=1),
        record(DEFAULT, measurement(50, 4.5)),
        by=by,
    )
    return draw(ranked.results, THROUGHPUT_OVER_LATENCY, ranked.goal)


def rules(chart: Chart) -> list[dict[str, Any]]:
    return [layer["encoding"] for layer in chart.spec["layer"] if layer["mark"] == {"type": "rule"}]


def scale_of_latency(slow: float) -> str:
    ranked = ranking(
        record(BEST, measurement(1, 2.0)), record(BEST, measurement(2, slow), concurrency=2)
    )
    chart = draw(ranked.results, THROUGHPUT_OVER_LATENCY, ranked.goal)
    scale: str = chart.spec["layer"][0]["encoding"]["x"]["scale"]["type"]
    return scale


def test_every_measurement_is_a_point_and_lines_follow_the_load() -> None:
    drawn = [
        (point["variant"], point["load"], point["x"], point["y"]) for point in points(example())
    ]
    assert drawn == [
        ("m_config_0", "concurrency 1", 5.5, 100),
        ("m_config_0", "concurrency 4", 8.5, 200),
        ("m_config_0", "concurrency 8", 9.5, 300),
        ("m_config_default", "concurrency 1", 4.5, 50),
    ]
    assert [point["order"] for point in points(example())] == [0, 1, 2, 3]


def test_only_the_recommended_load_is_ringed() -> None:
    (ringed,) = [point for point in points(example()) if point["best"]]
    assert (ringed["variant"], ringed["load"]) == ("m_config_0", "concurrency 8")


def test_the_default_is_grey_and_every_variant_has_a_colour() -> None:
    scale = example().spec["layer"][0]["encoding"]["color"]["scale"]
    assert scale["domain"] == ["m_config_0", "m_config_default"]
    assert scale["range"][1] == "#8a8a8a"
    assert scale["range"][0] != "#8a8a8a"


def test_more_variants_than_colours_are_drawn_too() -> None:
    ranked = ranking(
        *(
            record(variant(f"m_config_{index}", max_batch_size=index), measurement(index, 1.5))
            for index in range(20)
        )
    )
    scale = draw(ranked.results, THROUGHPUT_OVER_LATENCY, ranked.goal).spec["layer"][0]["encoding"][
        "color"
    ]
    assert len(scale["scale"]["range"]) == len(scale["scale"]["domain"]) == 20


def test_constraints_on_an_axis_are_lines_across_it() -> None:
    limits = goal(*at_most(perf_latency_p99=10, gpu_used_memory=5), *at_least(perf_throughput=100))
    assert rules(example(limits)) == [{"x": {"datum": 10}}, {"y": {"datum": 100}}]
    assert rules(example()) == []


def test_latencies_far_apart_are_drawn_on_a_logarithmic_axis() -> None:
    assert scale_of_latency(15.0) == "linear"
    assert scale_of_latency(25.0) == "log"


def test_the_breakdown_has_a_bar_for_each_load_in_order() -> None:
    ranked = ranking(
        record(BEST, measurement(2, perf_server_queue=4.5), concurrency=10),
        record(BEST, measurement(1, perf_server_queue=1.5), concurrency=2),
    )
    chart = latency_breakdown(ranked.results[0])
    queue = [(point["bar"], point["time"]) for point in points(chart) if point["phase"] == "Queue"]
    assert queue == [("concurrency 2", 1.5), ("concurrency 10", 4.5)]
    assert {point["phase"] for point in points(chart)} == {"Queue"}
    (layer,) = chart.spec["layer"]
    assert layer["encoding"]["x"]["sort"] == ["concurrency 2", "concurrency 10"]
    assert layer["encoding"]["x"]["title"] == "Concurrency"
    assert ">10<" in svg_of(chart)  # below the bar: what is concurrent, the axis says
    assert "m_config_0" in chart.caption


def test_charts_are_plain_data() -> None:
    assert json.loads(json.dumps(example().spec, allow_nan=False)) == example().spec


def test_charts_without_measurements_can_be_drawn() -> None:
    assert points(draw([], THROUGHPUT_OVER_LATENCY, goal())) == []


def test_variants_are_drawn_over_the_load_at_the_batch_size_of_the_best() -> None:
    ranked = ranking(
        record(BEST, measurement(300, 9.5), concurrency=8),
        record(BEST, measurement(100, 5.5), concurrency=1),
        record(BEST, measurement(200, 9.9), concurrency=8, batch_size=4),
    )
    charts = {chart.name: chart for chart in summary_charts(ranked.results, goal(), offline=False)}
    assert list(charts) == ["throughput_v_concurrency", "latency_v_concurrency"]
    drawn = [(point["x"], point["y"]) for point in points(charts["throughput_v_concurrency"])]
    assert drawn == [(1, 100), (8, 300)]


def test_variants_are_drawn_over_the_batch_size_at_the_load_of_the_best() -> None:
    loads = [(1, 1), (1, 4), (8, 1), (8, 4)]
    ranked = ranking(
        *(
            record(BEST, measurement(100 * size + at, size), batch_size=size, concurrency=at)
            for size, at in loads
        )
    )
    (chart,) = summary_charts(ranked.results, goal(), offline=True)
    assert [(point["x"], point["y"]) for point in points(chart)] == [(1, 104), (8, 804)]
    assert "with the load value of the best measurement" in chart.caption


def test_a_line_over_latency_joins_loads_of_one_batch_size_only() -> None:
    ranked = ranking(*(record(BEST, measurement(size, 1.5), batch_size=size) for size in (1, 8)))
    chart = draw(ranked.results, THROUGHPUT_OVER_LATENCY, ranked.goal)
    assert [point["line"] for point in points(chart)] == [1, 8]
    assert chart.spec["layer"][0]["encoding"]["detail"] == {"field": "line"}


def of_two_models(*loads: tuple[int, int]) -> Ranking:
    """Two models measured together, with the concurrency of each; the more, the better."""
    records = [
        joint_record(
            [
                trial(
                    variant(f"{model}_config_0", model=model, max_batch_size=8), concurrency=value
                )
                for model, value in zip(("a", "b"), load, strict=True)
            ],
            *({"perf_throughput": 10.0 * value, "perf_latency_p99": 5.5} for value in load),
        )
        for load in loads
    ]
    return ranking(*records, by=Goal(models=(ModelGoal(), ModelGoal())), model="a,b")


def test_the_load_of_several_models_is_drawn_as_its_sum() -> None:
    """The load of one of them says nothing: (8, 1) and (8, 8) are not the same."""
    ranked = of_two_models((8, 8), (2, 1), (1, 4), (1, 1))
    chart = summary_charts(ranked.results, goal(), offline=False)[0]
    assert chart.name == "throughput_v_concurrency"
    drawn = [(point["x"], point["y"]) for point in points(chart)]
    assert drawn == [(2, 20), (3, 30), (5, 50), (16, 160)]
    axis = chart.spec["layer"][0]["encoding"]["x"]["title"]
    assert axis == "Concurrency (all models together)"


def test_loads_that_differ_between_models_are_distinguished() -> None:
    texts = [load_text(item.trial) for item in of_two_models((8, 8), (1, 4)).measured]
    assert texts == ["concurrency 8", "concurrency 1,4"]


def test_a_single_load_has_no_curve() -> None:
    ranked = ranking(record(BEST, measurement(2, 1.5)), record(DEFAULT, measurement(1, 1.5)))
    assert summary_charts(ranked.results, goal(), offline=False) == []


def test_a_curve_that_is_flat_is_left_out() -> None:
    flat = [
        record(each, measurement(rate, n), concurrency=n)
        for each, rate in ((BEST, 5), (DEFAULT, 4))
        for n in (1, 2, 4)
    ]
    names = [chart.name for chart in summary_charts(ranking(*flat).results, goal(), offline=False)]
    assert names == ["latency_v_concurrency"]


def test_a_ring_around_a_configuration_that_misses_the_constraints_says_so() -> None:
    assert "recommended load" in example().caption
    missed = example(goal(*at_most(perf_latency_p99=1))).caption
    assert "load that misses the constraints least" in missed


def test_lines_join_only_loads_that_are_the_same_for_each_model() -> None:
    ranked = of_two_models((1, 1), (8, 1), (1, 8), (8, 8))
    over_load = summary_charts(ranked.results, goal(), offline=False)[0]
    for chart in (over_load, draw(ranked.results, THROUGHPUT_OVER_LATENCY, ranked.goal)):
        same, apart, other, also_same = (point["line"] for point in points(chart))
        assert same == also_same
        assert len({same, apart, other}) == 3
        assert "lines join loads that are equal for all models" in chart.caption
    assert "lines join" not in example().caption


def test_long_names_beside_bars_are_wrapped_and_not_cut() -> None:
    """With room for fonts that are wider than the one that the drawing was made with."""
    name = "a_model_with_a_name_that_is_long_indeed"
    named = variant(f"{name}_config_12", model="m")
    ranked = ranking(record(named, measurement(100, 5.5, perf_server_queue=1.5)))
    (chart,) = breakdown_of_variants(ranked.results)
    assert points(chart)[0]["bar"].split("\n") == [name, "_config_12"]
    assert chart.spec["padding"]["left"] > len(name)
    assert name in svg_of(chart)


def measured(measurement: Measurement) -> MeasuredTrial:
    return MeasuredTrial(trial(), measurement)


def test_times_outside_the_server_are_distinguished_from_those_inside() -> None:
    parts = phases(
        measured(
            measurement(
                1,
                perf_server_queue=1.0,
                perf_server_compute_infer=2.0,
                perf_client_send_recv=0.5,
                perf_client_response_wait=4.0,
            )
        )
    )
    assert parts == {
        "Queue": 1.0,
        "Compute infer": 2.0,
        "Client send/receive": 0.5,
        "Network and other": 1.0,
    }


@pytest.mark.parametrize(
    "config",
    [
        {"ensemble_scheduling": {"step": [{"model_name": "a"}, {"model_name": "b"}]}},
        {"response_cache": {"enable": True}},
        {"model_transaction_policy": {"decoupled": True}},
    ],
)
def test_times_that_are_no_parts_of_a_request_are_not_shown(config: dict[str, Any]) -> None:
    item = measured(measurement(1, perf_server_queue=1.0, perf_client_response_wait=4.0))
    assert missing_breakdown([item]) == ""
    summed = item._replace(trial=trial(variant(**config)))
    assert phases(summed) == {}
    reason = missing_breakdown([item, summed])
    assert reason.startswith("not shown: the server's times are no parts")


def test_server_times_longer_than_the_wait_leave_no_rest() -> None:
    parts = phases(measured(measurement(1, perf_server_queue=9.0, perf_client_response_wait=4.0)))
    assert parts == {"Queue": 4.0}


def test_without_times_inside_the_server_there_is_no_breakdown() -> None:
    ranked = ranking(
        record(BEST, measurement(100, 5.5)),
        record(BEST, measurement(90, 5.5, perf_server_queue=1.5), concurrency=2),
        record(DEFAULT, measurement(80, 5.5)),
    )
    with_some, without = (latency_breakdown(result) for result in ranked.results)
    assert [point["bar"] for point in points(with_some)] == ["concurrency 2"]
    assert with_some.has_data
    assert not without.has_data
    assert breakdown_of_variants(ranked.results) == ()


def test_a_streamed_answer_with_unknown_server_times_has_no_breakdown() -> None:
    def streamed(inside: float) -> MeasuredTrial:
        times = measurement(
            5, 500, perf_latency_avg=400.0, perf_client_response_wait=399.0,
            perf_server_queue=0.0,
            perf_server_compute_infer=inside, time_to_first_token_p99=30.0,
        )  # fmt: skip
        return measured(times)

    assert phases(streamed(4.0)) == {}
    assert missing_breakdown([streamed(300.0), streamed(4.0)]) == (
        "not shown: server times cover only 1 % of the average latency of a streamed response"
    )
    assert phases(streamed(300.0))["Network and other"] == 100
    assert missing_breakdown([streamed(300.0)]) == ""
    # what is not streamed is on the way for the rest of the time
    on_the_way = measured(
        measurement(
            5,
            500,
            perf_client_response_wait=399.0,
            perf_server_queue=0.0,
            perf_server_compute_infer=4.0,
        )
    )
    assert phases(on_the_way)["Network and other"] == 395
    assert missing_breakdown([on_the_way]) == missing_breakdown([]) == ""


@pytest.mark.parametrize(
    ("queue", "expected"),
    [
        (4.0, {"Queue": 4, "To the first token": 26, "Further tokens": 370}),
        (50.0, {"Queue": 30, "Further tokens": 370}),
        (0.0, {"To the first token": 30, "Further tokens": 370}),
    ],
)
def test_the_time_of_a_language_model_is_that_of_its_tokens(
    queue: float, expected: dict[str, float]
) -> None:
    times = measurement(
        5, 500, perf_latency_avg=400.0, time_to_first_token_avg=30.0, perf_server_queue=queue,
        perf_client_response_wait=399.0, perf_server_compute_infer=1.0,
    )  # fmt: skip
    answer = measured(times)
    assert phases(answer) == expected
    assert missing_breakdown([answer]) == ""


# ------------------------------------------------------------------- what a goal bounds


def of_percentiles(by: Goal) -> Ranking:
    """Each p90 is half the p99, and each average a quarter; so are times to the first token."""
    return ranking(
        *(
            record(
                BEST,
                measurement(
                    100.0 * load, 8.0 * load,
                    perf_latency_p90=4.0 * load, perf_latency_avg=2.0 * load,
                    output_token_throughput=10.0 * load, time_to_first_token_p99=0.8 * load,
                    time_to_first_token_p90=0.4 * load, inter_token_latency_p95=0.2 * load,
                    cpu_used_ram=5.0,
                ),
                concurrency=load,
            )
            for load in (1, 2, 3)
        ),
        by=by,
    )  # fmt: skip


def axis_titles(chart: Chart) -> tuple[str, str]:
    encoding = chart.spec["layer"][0]["encoding"]
    return encoding["x"]["title"], encoding["y"]["title"]


@pytest.mark.parametrize(
    ("tag", "factor", "title"),
    [
        ("perf_latency_p90", 4, "p90 Latency (ms)"),
        ("perf_latency_avg", 2, "Avg Latency (ms)"),
        ("perf_latency", 8, "p99 Latency (ms)"),
        ("perf_latency_p50", 8, "p99 Latency (ms)"),  # was not measured
    ],
)
def test_charts_of_latency_show_the_constrained_latency(tag: str, factor: int, title: str) -> None:
    ranked = of_percentiles(goal(*at_most(**{tag: 9})))
    chart = draw(ranked.results, THROUGHPUT_OVER_LATENCY, ranked.goal)
    assert axis_titles(chart) == (title, "Throughput (infer/sec)")
    assert [point["x"] for point in points(chart)] == [factor, 2 * factor, 3 * factor]
    is_measured = factor != 8 or tag == "perf_latency"
    assert rules(chart) == ([{"x": {"datum": 9}}] if is_measured else [])
    (ringed,) = [point for point in points(chart) if point["best"]]
    assert ringed["load"] == load_text(ranked.results[0].best.trial)

    (over_load,) = [
        plotted
        for plotted in summary_charts(ranked.results, ranked.goal, offline=False)
        if plotted.name == "latency_v_concurrency"
    ]
    assert axis_titles(over_load)[1] == title
    assert over_load.caption.startswith(f"{title.partition(' (')[0]} vs. Concurrency")


def test_a_detailed_report_shows_the_constrained_latency_unless_the_user_chose_axes() -> None:
    ranked = of_percentiles(goal(*at_most(perf_latency_p90=9)))
    own = [THROUGHPUT_OVER_LATENCY]
    for plots, title, limits in (([], "p90 Latency (ms)", 1), (own, "p99 Latency (ms)", 0)):
        charts = detailed_charts(ranked.results[0], plots, offline=False, goal=ranked.goal)
        (chart,) = [chart for chart in charts if chart.name == "throughput_v_latency"]
        assert axis_titles(chart)[0] == title
        assert len(rules(chart)) == limits


@pytest.mark.parametrize(
    ("tag", "title"),
    [
        ("time_to_first_token_p90", "p90 Time To First Token (ms)"),
        ("inter_token_latency_p95", "p95 Inter Token Latency (ms)"),
        ("perf_latency_p90", "p99 Time To First Token (ms)"),
    ],
)
def test_the_front_of_tokens_uses_the_constrained_latency(tag: str, title: str) -> None:
    ranked = of_percentiles(goal(*at_most(**{tag: 0.5})))
    of_tokens, _ = front_charts(ranked, ranked.results, {})
    assert axis_titles(of_tokens)[0] == title
    name = title.partition(" (")[0]
    assert tag == "perf_latency_p90" or f"Token Throughput vs. {name} of 3" in of_tokens.caption
    assert len(rules(of_tokens)) == (tag != "perf_latency_p90")


def test_a_point_that_misses_a_constraint_is_hollow() -> None:
    ranked = of_percentiles(goal(*at_most(perf_latency_p90=9)))
    (_, chart) = front_charts(ranked, ranked.results, {})
    drawn = [point for point in points(chart) if point["part"] == "line"]
    assert [(point["x"], point["misses"]) for point in drawn] == [
        (4, False), (8, False), (12, True),
    ]  # fmt: skip
    assert "hollow points miss a constraint" in chart.caption
    (kept, _) = front_charts(of_percentiles(goal()), ranked.results, {})
    assert "hollow" not in kept.caption


def test_a_bound_on_one_of_several_models_is_drawn_over_that_model() -> None:
    ranked = of_two_models((8, 8), (2, 1), (1, 4))
    by = Goal(models=(ModelGoal(), ModelGoal(constraints=at_most(perf_latency_p99=5))))
    chart = draw(ranked.results, THROUGHPUT_OVER_LATENCY, by)
    assert axis_titles(chart)[0] == "p99 Latency of b (ms)"
    assert rules(chart) == [{"x": {"datum": 5}}]
    # throughput is that of both: a bound on one of them has no place there
    by = Goal(models=(ModelGoal(), ModelGoal(constraints=at_least(perf_throughput=50))))
    chart = draw(ranked.results, THROUGHPUT_OVER_LATENCY, by)
    assert axis_titles(chart) == ("p99 Latency (ms)", "Throughput (infer/sec)")
    assert rules(chart) == []
    assert [point["misses"] for point in points(chart)] == [True, True, False]


def many(loads: int) -> Ranking:
    """A variant under very many loads, where the curve bends among the first few."""
    return ranking(
        *(
            record(
                BEST,
                measurement(1000 * load / (load + 5), 5 + load, perf_server_queue=1.5),
                concurrency=load,
            )
            for load in range(1, loads + 1)
        )
    )


def test_very_many_loads_are_thinned_out_on_lines_and_the_caption_says_so() -> None:
    (chart,) = detailed_charts(many(5000).results[0], (THROUGHPUT_OVER_LATENCY,), offline=False)
    loads = [point["load"] for point in points(chart)]
    assert len(loads) <= 1000
    assert loads[:8] == [f"concurrency {load}" for load in range(1, 9)]  # where it is steep
    assert [point for point in points(chart) if point["best"]]
    assert f"{len(loads)} of 5000 points on lines are shown" in chart.caption


def test_noise_is_thinned_out_as_well() -> None:
    noisy = ranking(
        *(
            record(BEST, measurement(load * 7919 % 1009, 5 + load * 104729 % 997), concurrency=load)
            for load in range(1, 5001)
        )
    )
    (chart,) = detailed_charts(noisy.results[0], (THROUGHPUT_OVER_LATENCY,), offline=False)
    assert len(points(chart)) <= 1000
    assert [point for point in points(chart) if point["best"]]


def test_as_many_loads_as_a_search_has_are_all_drawn() -> None:
    ranked = many(40)
    (chart,) = detailed_charts(ranked.results[0], (THROUGHPUT_OVER_LATENCY,), offline=False)
    assert len(points(chart)) == 40
    breakdown = latency_breakdown(ranked.results[0])
    assert len(points(breakdown)) == 40
    assert "drawn" not in chart.caption + breakdown.caption


def test_the_breakdown_of_very_many_loads_has_bars_from_the_first_to_the_last() -> None:
    chart = latency_breakdown(many(3000).results[0])
    bars = [point["bar"] for point in points(chart)]
    assert (len(bars), bars[0], bars[-1]) == (40, "concurrency 1", "concurrency 3000")
    assert chart.caption.endswith(" 40 of 3000 loads are shown.")


def test_the_front_of_very_many_loads_is_bounded_and_none_of_them_is_grey() -> None:
    ranked = many(5000)
    places = {id(item): place for place, item in enumerate(ranked.measured)}
    (chart,) = front_charts(ranked, ranked.results, places)
    parts = [point["part"] for point in points(chart)]
    assert parts.count("front") <= 1000
    assert parts.count("line") <= 1000
    assert parts.count("other") == 0


def test_the_front_has_whiskers_where_the_noise_is_known() -> None:
    windows = [99.0, 100.0, 101.0]
    known = ranking(record(BEST, measurement(100, 10, windows=windows)))
    places = {id(item): place for place, item in enumerate(known.measured)}
    (chart,) = front_charts(known, known.results, places)
    (noise,) = [point for point in chart.spec["data"]["values"] if point["part"] == "noise"]
    assert noise["low"] < 100 < noise["high"]
    assert "left" not in noise  # one measurement says nothing about the noise of its p99
    assert "Whiskers" in chart.caption
    unknown = ranking(record(BEST, measurement(100, 10)))
    (chart,) = front_charts(unknown, unknown.results, {})
    assert not [point for point in chart.spec["data"]["values"] if point["part"] == "noise"]
    assert "Whiskers" not in chart.caption


LARGE = variant("m_config_0", max_batch_size=8)


def summary(ranked: Ranking) -> Summary:
    (part,) = summary_page(ranked).parts
    return part


def chart(ranked: Ranking, name: str = "throughput_v_latency") -> Chart:
    (drawn,) = [chart for chart in summary(ranked).charts if chart.name == name]
    return drawn


def labels(ranked: Ranking) -> list[list[str]]:
    """The texts of each layer of labels: loads, then names."""
    return [
        [value["text"] for value in layer["data"]["values"]]
        for layer in chart(ranked).spec["layer"]
        if layer.get("mark", {}).get("style") == "label"
    ]


def curve(*points: tuple[float, float]) -> Ranking:
    return ranking(
        *(
            record(LARGE, measurement(rate, p99), concurrency=2**number)
            for number, (rate, p99) in enumerate(points)
        )
    )


def test_the_best_line_has_its_loads_and_its_knee() -> None:
    bent = curve((100, 10), (200, 11), (390, 12), (400, 20), (410, 28))
    assert sorted(labels(bent)[0]) == ["1", "16", "2", "4 (knee)", "8"]
    assert "numbers along its line are loads" in chart(bent).caption


def test_the_knee_of_the_chart_is_that_of_capacity() -> None:
    points = ((100, 10), (200, 20), (300, 30), (400, 40))
    loads = [closed_load(2**number, *point) for number, point in enumerate(points)]
    known = capacity(*loads, constraints=()).replica.knee
    assert known is not None

    (knee,) = [text for text in labels(curve(*points))[0] if "knee" in text]
    assert knee == f"{known.concurrency} (knee)"


def test_a_line_that_grows_in_proportion_has_no_knee() -> None:
    straight = curve((100, 10), (200, 20), (380, 30), (700, 40))
    assert sorted(labels(straight)[0]) == ["1", "2", "4", "8"]


def test_labels_that_would_overlap_are_left_out() -> None:
    assert labels(curve((100, 10), (100.1, 10.01), (400, 20)))[0] == ["1 (knee)", "4"]


def test_lines_have_names_without_that_of_the_model() -> None:
    ranked = ranking(
        record(DEFAULT, measurement(100, 10)),
        record(LARGE, measurement(400, 50)),
        record(variant("m_config_1", max_batch_size=4), measurement(399, 50)),
    )
    assert labels(ranked)[1] == ["config_0", "config_default"]


def scale(ranked: Ranking, name: str) -> dict[str, Any]:
    drawn: dict[str, Any] = chart(ranked, name).spec["layer"][0]["encoding"]["y"]["scale"]
    return drawn


@pytest.mark.parametrize(("slow", "kind"), [(90, "log"), (70, "linear")])
def test_an_axis_is_logarithmic_if_the_default_squashes_the_others(slow: float, kind: str) -> None:
    ranked = ranking(
        *(record(DEFAULT, measurement(100, slow), concurrency=n) for n in (1, 2)),
        *(record(LARGE, measurement(400, 18 + n), concurrency=n) for n in (1, 2)),
    )
    assert scale(ranked, "latency_v_concurrency")["type"] == kind


@pytest.mark.parametrize(("other", "from_zero"), [(92, False), (80, True)])
def test_an_axis_begins_at_zero_unless_all_values_are_close(other: float, from_zero: bool) -> None:
    ranked = ranking(
        record(LARGE, measurement(100, 5)), record(LARGE, measurement(other, 6), concurrency=2)
    )
    assert scale(ranked, "throughput_v_concurrency")["zero"] is from_zero


def test_memory_that_is_the_same_everywhere_is_a_sentence() -> None:
    def with_memory(other: float) -> Summary:
        return summary(
            ranking(
                record(LARGE, measurement(100, 5, host={"cpu_used_ram": 512.4})),
                record(LARGE, measurement(90, 4, host={"cpu_used_ram": other}), concurrency=2),
            )
        )

    same, different = with_memory(500), with_memory(300)
    assert same.same_memory == "RAM Usage is the same in all these measurements: 512 MB."
    assert different.same_memory == ""
    assert "cpu_mem_v_latency" not in [each.name for each in same.charts]
    assert "cpu_mem_v_latency" in [each.name for each in different.charts]
