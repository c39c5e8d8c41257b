# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Objectives and constraints as somebody writes them."""

from __future__ import annotations

import pytest

from model_analyzer.config.goal_kinds import Constraints, Objectives, goal_override
from model_analyzer.domain.metrics import METRICS, Better, Metric
from model_analyzer.errors import ConfigError
from tests.phrases import wrong_limit
from tests.unit.builders import at_least, at_most, objectives, parse_problem, parse_problems, yaml

# ---------------------------------------------------------------------------------- objectives


def test_a_mapping_gives_each_metric_its_weight() -> None:
    node = yaml("{perf_throughput: 3, gpu_used_memory: 0.5, cpu_used_ram: 0}")
    assert Objectives().parse(node) == objectives(
        perf_throughput=3, gpu_used_memory=0.5, cpu_used_ram=0
    )


@pytest.mark.parametrize(
    "written", ["[perf_throughput, perf_latency_p99]", "'perf_throughput, perf_latency_p99'"]
)
def test_metrics_without_weights_all_count_ten(written: str) -> None:
    expected = objectives(perf_throughput=10, perf_latency_p99=10)
    assert Objectives().parse(yaml(written)) == expected


@pytest.mark.parametrize("tag", [*METRICS])
def test_every_metric_may_be_wished_for(tag: str) -> None:
    assert Objectives().parse(yaml(f"{{{tag}: 1}}")) == objectives(**{tag: 1})


def test_the_old_name_of_a_metric_means_the_metric() -> None:
    assert Objectives().parse(yaml("[perf_latency]")) == objectives(perf_latency_p99=10)
    assert Objectives().parse(yaml("{perf_latency: 2}")) == objectives(perf_latency_p99=2)
    assert Constraints().parse(yaml("{perf_latency: {max: 3}}")) == at_most(perf_latency_p99=3)


def test_an_unknown_metric_names_the_nearest() -> None:
    problem = parse_problem(Objectives(), yaml("{perf_trougput: 1}"))
    assert problem.where == "f.yaml:1:2"
    assert problem.message == "unknown metric 'perf_trougput'"
    assert problem.hint == "did you mean 'perf_throughput'?"


def test_a_weight_is_written_with_a_colon_on_the_command_line() -> None:
    assert goal_override("perf_throughput:2", (), None, None).objectives == objectives(
        perf_throughput=2
    )
    with pytest.raises(ConfigError) as raised:
        goal_override("perf_throughput = 2", (), None, None)
    (problem,) = raised.value.problems
    assert (problem.message, problem.hint) == (
        "'perf_throughput = 2' is not METRIC:WEIGHT",
        "write perf_throughput:2",
    )


def test_an_unknown_metric_in_a_list_is_refused_too() -> None:
    assert parse_problem(Objectives(), yaml("[perf_througput]")).hint == (
        "did you mean 'perf_throughput'?"
    )


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("{perf_throughput: -1}", "must be at least 0, found -1"),
        ("{perf_throughput: much}", "expected a number, found 'much'"),
        ("{perf_throughput: {max: 1}}", "expected a number, found a mapping"),
        ("{perf_throughput: 0}", "at least one objective needs a weight above 0"),
        ("[perf_throughput: 1]", "expected names of metrics, or a mapping with their weights"),
        ("{gpu_used_memory: 0, cpu_used_ram: 0}", "at least one objective needs a weight above 0"),
    ],
)
def test_wrong_weights(written: str, message: str) -> None:
    assert parse_problem(Objectives(), yaml(written)).message == message


def test_no_objectives_are_none() -> None:
    assert Objectives().parse(yaml("{}")) == ()
    assert Objectives().parse(yaml("[]")) == ()


# --------------------------------------------------------------------------------- constraints


def test_a_constraint_is_a_bound_in_the_direction_of_its_metric() -> None:
    node = yaml("{perf_throughput: {min: 100}, perf_latency_p99: {max: 0.5}}")
    assert Constraints().parse(node) == (
        *at_least(perf_throughput=100),
        *at_most(perf_latency_p99=0.5),
    )


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS.keys())
def test_every_metric_has_one_kind_of_limit(metric: Metric) -> None:
    right, wrong = ("min", "max") if metric.better is Better.HIGHER else ("max", "min")
    (constraint,) = Constraints().parse(yaml(f"{{{metric.tag}: {{{right}: 2}}}}"))
    bounds = {"min": constraint.minimum, "max": constraint.maximum}
    assert (bounds[right], bounds[wrong]) == (2, None)
    problem = parse_problem(Constraints(), yaml(f"{{{metric.tag}: {{{wrong}: 2}}}}"))
    assert problem.message == wrong_limit(metric.tag, right=right, wrong=wrong)


def test_fractions_are_bounds_and_zero_is_the_least_minimum() -> None:
    assert Constraints().parse(yaml("{perf_latency_p99: {max: 1.9}}"))[0].maximum == 1.9
    assert Constraints().parse(yaml("{perf_throughput: {min: 0}}"))[0].minimum == 0
    for text in ("{perf_latency_p99: {max: 0}}", "{cpu_used_ram: {max: 0}}"):
        assert parse_problem(Constraints(), yaml(text)).message == "must be above 0, found 0"


@pytest.mark.parametrize(
    ("written", "where", "message"),
    [
        ("{perf_latency_p99: 5}", "f.yaml:1:20", "expected a limit, found 5"),
        ("{perf_latency_p99: {}}", "f.yaml:1:20", "perf_latency_p99 has no limit"),
        ("{perf_latency_p99: }", "f.yaml:1:20", "expected a limit, found nothing"),
        ("{perf_latency_p99: {max: x}}", "f.yaml:1:26", "expected a number, found 'x'"),
        ("{perf_latency_p99: {max: -1}}", "f.yaml:1:26", "must be above 0, found -1"),
        ("{gpu_memory: {max: 1}}", "f.yaml:1:2", "unknown metric 'gpu_memory'"),
        ("[perf_latency_p99]", "f.yaml:1:1", "expected a mapping of metrics, found a list"),
    ],
)
def test_wrong_constraints(written: str, where: str, message: str) -> None:
    problem = parse_problem(Constraints(), yaml(written))
    assert (problem.where, problem.message) == (where, message)


@pytest.mark.parametrize("written", ["perf_latency_p99<5", "[perf_latency_p99]"])
def test_constraints_in_another_form_are_shown_how_to_write_them(written: str) -> None:
    hint = parse_problem(Constraints(), yaml(written)).hint
    assert Constraints().parse(yaml(hint.removeprefix("write, for example, ")))


def test_a_metric_like_no_other_is_told_where_they_are() -> None:
    hint = parse_problem(Constraints(), yaml("{p999: {max: 5}}")).hint
    assert hint == "docs/metrics.md has all metrics"


def test_a_missing_bound_is_shown_how_to_write_it() -> None:
    assert parse_problem(Constraints(), yaml("{perf_throughput: 5}")).hint == "write {min: NUMBER}"


def test_every_wrong_constraint_is_reported() -> None:
    problems = parse_problems(
        Constraints(), yaml("perf_throughput: {max: 1}\nperf_latency_p99: 5\nx: {min: 1}")
    )
    assert [problem.where for problem in problems] == ["f.yaml:1:19", "f.yaml:2:19", "f.yaml:3:1"]
