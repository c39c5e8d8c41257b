# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which of two measurements is better, and which meet the constraints; unknown is unknown: what was
not measured meets no constraint, and misses none.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_analyzer.domain.goals import Constraint, Goal, GoalOverride, ModelGoal, are_met
from model_analyzer.domain.measurements import Columns, Measurement
from model_analyzer.domain.metrics import Source
from model_analyzer.reports.tables import answer_table
from model_analyzer.results.answer import answer_of
from tests.unit.builders import (
    at_least,
    at_most,
    goal,
    measurement,
    objectives,
    ranking,
    record,
    together,
    variant,
)


def two_models(first: int, second: int) -> Goal:
    """Throughput is wished of the first model and p99 of the second, with these weightings."""
    return Goal(
        models=(
            ModelGoal(objectives=objectives(perf_throughput=1), weighting=first),
            ModelGoal(objectives=objectives(perf_latency_p99=1), weighting=second),
        )
    )


# ---------------------------------------------------------------------------------------- score


def test_more_throughput_scores_by_its_share_of_the_mean() -> None:
    assert goal().score(measurement(1000), measurement(2000)) == pytest.approx(-1000 / 1500)
    assert goal().score(measurement(105), measurement(100)) == pytest.approx(0.0488, abs=1e-4)


def test_less_latency_scores_by_its_share_of_the_mean() -> None:
    least = goal(wished=objectives(perf_latency_p99=10))
    assert least.score(measurement(p99=20), measurement(p99=40)) == pytest.approx(20 / 30)


def test_twice_the_throughput_at_twice_the_latency_is_equal_until_weights_differ() -> None:
    slow, fast = measurement(1000, 20), measurement(2000, 40)
    alike = goal(wished=objectives(perf_throughput=1, perf_latency_p99=1))
    latency = goal(wished=objectives(perf_throughput=1, perf_latency_p99=3))
    throughput = goal(wished=objectives(perf_throughput=3, perf_latency_p99=1))
    assert alike.score(slow, fast) == 0
    assert latency.score(slow, fast) > 0
    assert throughput.score(slow, fast) < 0


def test_only_the_ratio_of_weights_counts() -> None:
    slow, fast = measurement(1000, 20), measurement(1500, 45)
    small = goal(wished=objectives(perf_throughput=1, perf_latency_p99=2))
    large = goal(wished=objectives(perf_throughput=10, perf_latency_p99=20))
    assert small.score(slow, fast) == pytest.approx(large.score(slow, fast))


def test_an_objective_without_weight_does_not_count() -> None:
    weighted = goal(wished=objectives(perf_throughput=1, perf_latency_p99=0))
    assert weighted.score(measurement(2, 100), measurement(1, 1)) == pytest.approx(1 / 1.5)


def test_two_zeros_are_equal() -> None:
    assert goal().score(measurement(0), measurement(0)) == 0
    assert goal().score(measurement(1), measurement(0)) == 2


@pytest.mark.parametrize(
    ("weightings", "first_is_better"), [((1, 3), False), ((2, 3), True)], ids=["1:3", "2:3"]
)
def test_scores_of_several_models_add_up_by_weighting(
    weightings: tuple[int, int], first_is_better: bool
) -> None:
    a = together({"perf_throughput": 1000}, {"perf_latency_p99": 40})
    b = together({"perf_throughput": 500}, {"perf_latency_p99": 30})
    assert (two_models(*weightings).score(a, b) > 0) is first_is_better


def test_equal_models_are_balanced() -> None:
    both = Goal(models=(ModelGoal(), ModelGoal()))
    a = together({"perf_throughput": 336}, {"perf_throughput": 223})
    b = together({"perf_throughput": 270}, {"perf_throughput": 272})
    assert both.score(a, b) == pytest.approx((66 / 303 - 49 / 247.5) / 2)
    assert both.score(a, b) > 0


def test_a_gpu_metric_is_an_objective_like_any_other() -> None:
    small = measurement(100, gpus={"GPU-a": {"gpu_used_memory": 1000.0}})
    large = measurement(100, gpus={"GPU-a": {"gpu_used_memory": 3000.0}})
    assert goal(wished=objectives(gpu_used_memory=1)).score(small, large) == pytest.approx(1)
    both = goal(wished=objectives(gpu_used_memory=1, perf_throughput=1))
    assert both.score(small, large) == pytest.approx(0.5)


@pytest.mark.parametrize("tag", ["gpu_used_memory", "cpu_used_ram", "output_token_throughput"])
def test_an_objective_without_data_on_either_side_is_left_out(tag: str) -> None:
    wished = goal(wished=objectives(**{tag: 30, "perf_throughput": 10}))
    assert wished.score(measurement(200), measurement(100)) == pytest.approx(100 / 150)
    assert goal(wished=objectives(**{tag: 10})).score(measurement(2), measurement(1)) == 0


def test_a_measurement_with_the_metric_of_the_objective_beats_one_without() -> None:
    wished = goal(wished=objectives(gpu_used_memory=1, perf_throughput=1))
    seen = measurement(1, gpus={"GPU-a": {"gpu_used_memory": 1000.0}})
    assert wished.score(seen, measurement(1000)) == 1
    assert wished.score(measurement(1000), seen) == -1


def test_the_old_name_of_latency_is_an_objective_too() -> None:
    assert goal(wished=objectives(perf_latency=1)).score(measurement(p99=1), measurement(p99=2)) > 0


NUMBERS = st.none() | st.floats(0, 1e6)
MEASUREMENTS = st.builds(measurement, NUMBERS, NUMBERS)
WEIGHTS = st.floats(0.1, 100)


@given(MEASUREMENTS, MEASUREMENTS, WEIGHTS)
def test_the_score_of_the_reverse_comparison_has_the_opposite_sign(
    a: Measurement, b: Measurement, weight: float
) -> None:
    wished = goal(wished=objectives(perf_throughput=weight, perf_latency_p99=1))
    assert wished.score(a, b) == pytest.approx(-wished.score(b, a))
    assert wished.score(a, a) == 0
    assert abs(wished.score(a, b)) <= 2 + 1e-9  # rounded


# ------------------------------------------------------------------------------- percentage gain


@pytest.mark.parametrize(
    ("new", "old", "percent"),
    [(200, 100, 100), (100, 200, -50), (100, 100, 0), (150, 100, 50), (0, 0, 0)],
)
def test_gain_in_throughput_is_relative_to_the_old_value(
    new: float, old: float, percent: float
) -> None:
    assert goal().gain_percent(measurement(new), measurement(old)) == pytest.approx(percent)


@pytest.mark.parametrize(("new", "old", "percent"), [(100, 200, 100), (40, 30, -25), (10, 10, 0)])
def test_half_the_latency_is_a_gain_of_100_percent(new: float, old: float, percent: float) -> None:
    least = goal(wished=objectives(perf_latency_p99=10))
    gain = least.gain_percent(measurement(p99=new), measurement(p99=old))
    assert gain == pytest.approx(percent)


def test_gains_are_weighted_like_scores() -> None:
    wished = goal(wished=objectives(perf_throughput=3, perf_latency_p99=1))
    gain = wished.gain_percent(measurement(200, 40), measurement(100, 30))
    score = (3 * 2 / 3 - 2 / 7) / 4
    assert gain == pytest.approx(100 * ((2 + score) / (2 - score) - 1))


@given(MEASUREMENTS, MEASUREMENTS, WEIGHTS)
def test_a_gain_one_way_is_the_loss_the_other_way(
    a: Measurement, b: Measurement, weight: float
) -> None:
    wished = goal(wished=objectives(perf_throughput=weight, perf_latency_p99=1))
    gain, loss = wished.gain_percent(a, b), wished.gain_percent(b, a)
    assert gain * wished.score(a, b) >= 0
    if abs(wished.score(a, b)) < 1.99:
        assert (1 + gain / 100) * (1 + loss / 100) == pytest.approx(1)


@pytest.mark.parametrize("weightings", [(1, 3), (2, 3)])
def test_gains_of_several_models_add_up_by_weighting(weightings: tuple[int, int]) -> None:
    new = together({"perf_throughput": 1000}, {"perf_latency_p99": 40})
    old = together({"perf_throughput": 500}, {"perf_latency_p99": 30})
    wished = two_models(*weightings)
    score = (weightings[0] * 2 / 3 - weightings[1] * 2 / 7) / sum(weightings)
    assert wished.score(new, old) == pytest.approx(score)
    assert wished.gain_percent(new, old) == pytest.approx(100 * ((2 + score) / (2 - score) - 1))


def test_a_metric_on_one_side_only_is_a_gain_or_loss() -> None:
    assert goal().gain_percent(measurement(5), measurement()) > 0
    assert goal().gain_percent(measurement(), measurement(5)) < 0
    assert goal().gain_percent(measurement(), measurement()) == 0


def test_a_gain_over_zero_is_a_number() -> None:
    assert goal().gain_percent(measurement(5), measurement(0)) > 0


# ----------------------------------------------------------------------------------- constraints


@pytest.mark.parametrize(
    ("constraints", "measured", "percent"),
    [
        (at_most(perf_latency_p99=100), measurement(p99=225), 125),
        (at_least(perf_throughput=100), measurement(25), 75),
        (at_most(perf_latency_p99=100), measurement(p99=100), 0),
        (at_least(perf_throughput=100), measurement(100), 0),
        (at_most(perf_latency_p99=100), measurement(p99=1), 0),
        (
            (*at_most(perf_latency_p99=100), *at_least(perf_throughput=100)),
            measurement(50, 110),
            60,
        ),
        (at_most(perf_latency_p99=0.5), measurement(p99=0.75), 50),
    ],
)
def test_a_missed_bound_counts_by_its_share_in_percent(
    constraints: tuple[Constraint, ...], measured: Measurement, percent: float
) -> None:
    assert goal(*constraints).shortfall(measured) == pytest.approx(percent)
    assert goal(*constraints).passes(measured) is (percent == 0)


@pytest.mark.parametrize(
    "by",
    [
        goal(*at_most(perf_latency_p99=10), *at_least(perf_throughput=100)),
        goal(*at_most(gpu_used_memory=5)),
        goal(),
        Goal(models=()),
    ],
)
def test_shortfalls_of_many_are_those_of_each(by: Goal) -> None:
    many = [measurement(100, 10), measurement(90, 12), measurement(), measurement(99.9, 10.1)]
    assert by.shortfalls(Columns(many), many) == [by.shortfall(run) for run in many]


def test_shortfalls_of_several_models_add_up() -> None:
    limited = ModelGoal(constraints=at_most(perf_latency_p99=10))
    both = together({"perf_latency_p99": 12}, {"perf_latency_p99": 12})
    assert Goal(models=(limited, limited)).shortfall(both) == pytest.approx(40)


def test_every_model_must_meet_its_own_constraints() -> None:
    strict = ModelGoal(constraints=at_most(perf_latency_p99=10))
    both = together({"perf_latency_p99": 5}, {"perf_latency_p99": 50})
    assert Goal(models=(strict, ModelGoal())).passes(both)
    assert not Goal(models=(ModelGoal(), strict)).passes(both)


def test_a_limit_of_zero_can_be_met_and_missed() -> None:
    nothing = goal(*at_most(perf_server_queue=0))
    assert nothing.passes(measurement(perf_server_queue=0))
    near, far = (nothing.shortfall(measurement(perf_server_queue=ms)) for ms in (0.1, 5.0))
    assert 0 < near < far


def test_gpu_memory_is_limited_over_all_gpus() -> None:
    gpus = {"GPU-a": {"gpu_used_memory": 700.0}, "GPU-b": {"gpu_used_memory": 500.0}}
    assert goal(*at_most(gpu_used_memory=1000)).shortfall(measurement(gpus=gpus)) == (
        pytest.approx(20)
    )


def test_an_unmeasured_metric_counts_as_met_and_is_named() -> None:
    wanted = goal(*at_most(gpu_used_memory=1, perf_latency_p99=10))
    assert wanted.passes(measurement(p99=5))
    assert wanted.unchecked(measurement(p99=5)) == ("gpu_used_memory",)
    assert wanted.unchecked(measurement()) == ("gpu_used_memory", "perf_latency_p99")


@pytest.mark.parametrize(
    ("constraint", "text"),
    [
        (at_most(perf_latency_p99=99)[0], "Max p99 Latency: 99 ms"),
        (at_least(perf_throughput=100)[0], "Min Throughput: 100 infer/sec"),
        (at_most(perf_latency_p99=12000)[0], "Max p99 Latency: 12,000 ms"),
        (at_least(perf_throughput=1234567.5)[0], "Min Throughput: 1,234,567.5 infer/sec"),
        (at_most(gpu_used_memory=0.5)[0], "Max GPU Memory Usage: 0.5 MB over all GPUs"),
    ],
)
def test_a_constraint_in_words(constraint: Constraint, text: str) -> None:
    assert str(constraint) == text


# ---------------------------------------------------------------------------------- best first


def best_first(by: Goal, *items: Measurement) -> list[int]:
    """The positions of `items` in order of merit."""
    return by.best_first(range(len(items)), lambda index: items[index])


def test_measurements_that_meet_the_constraints_come_first_then_the_nearest() -> None:
    order = best_first(
        goal(*at_most(perf_latency_p99=10)),
        measurement(900, 30),  # far off
        measurement(100, 5),
        measurement(500, 12),  # near
        measurement(300, 10),  # on the bound
        measurement(400, 20),
    )
    assert order == [3, 1, 2, 4, 0]


def test_a_default_that_misses_its_constraints_never_leads() -> None:
    wished = goal(*at_least(perf_throughput=3900), wished=objectives(perf_latency_p99=10))
    assert best_first(wished, measurement(2663, 1), measurement(4000, 8)) == [1, 0]


def test_equals_stay_in_the_order_in_which_they_came() -> None:
    alike = measurement(100, 5)
    assert best_first(goal(), alike, replace(alike, started=1.0), alike) == [0, 1, 2]
    tied = goal(*at_most(perf_latency_p99=1))
    assert best_first(tied, measurement(7, 2), measurement(7, 2)) == [0, 1]


def test_equal_shortfalls_are_ordered_by_score() -> None:
    wished = goal(*at_most(perf_latency_p99=10))
    assert best_first(wished, measurement(100, 20), measurement(200, 20)) == [1, 0]


def test_an_empty_list_stays_empty() -> None:
    assert best_first(goal()) == []


# ----------------------------------------------------------------------------------------- GPUs


def using(*memory: float, throughput: float = 100, utilization: float = 50) -> Measurement:
    """A measurement with so much memory in use on each GPU."""
    gpus = {
        f"GPU-{index}": {"gpu_used_memory": used, "gpu_utilization": utilization}
        for index, used in enumerate(memory)
    }
    return measurement(throughput, gpus=gpus)


def test_less_gpu_memory_is_better_whatever_gpu_it_is_on() -> None:
    least = goal(wished=objectives(gpu_used_memory=1))
    assert least.score(using(100, 200), using(300, 300)) == pytest.approx(300 / 450)
    assert least.score(using(300), using(100, 200)) == 0


def test_a_gpu_objective_weighs_with_the_others() -> None:
    both = goal(wished=objectives(perf_throughput=1, gpu_used_memory=3))
    frugal, fast = using(100, throughput=100), using(200, throughput=200)
    assert both.score(frugal, fast) == pytest.approx((-1 + 3) / 4 / 1.5)
    busy = goal(wished=objectives(gpu_utilization=1))
    assert busy.score(using(1, utilization=90), using(1, utilization=60)) > 0


def test_a_gpu_objective_counts_for_every_model_of_a_trial() -> None:
    less = ModelGoal(objectives=objectives(gpu_used_memory=1))
    first, other = (
        replace(together({}, {}), gpus={"GPU-0": {"gpu_used_memory": used}})
        for used in (100.0, 300.0)
    )
    assert Goal(models=(less, less)).score(first, other) == pytest.approx(1.0)


def test_where_no_gpu_was_observed_the_other_objectives_decide() -> None:
    both = goal(wished=objectives(gpu_used_memory=9, perf_throughput=1))
    assert both.score(measurement(300), measurement(100)) == pytest.approx(1.0)


def test_a_goal_tells_whether_it_needs_gpus() -> None:
    assert not ModelGoal().needs(Source.GPU)
    assert ModelGoal(objectives=objectives(perf_latency=1, gpu_used_memory=1)).needs(Source.GPU)
    assert ModelGoal(constraints=at_most(gpu_used_memory=1)).needs(Source.GPU)


def test_a_constraint_on_gpu_memory_holds_for_the_sum_over_gpus() -> None:
    bounded = goal(*at_most(gpu_used_memory=300))
    assert bounded.passes(using(100, 200))
    assert not bounded.passes(using(200, 200))
    assert bounded.shortfall(using(200, 250)) == pytest.approx(50)
    assert bounded.unchecked(measurement(1)) == ("gpu_used_memory",)


def test_the_smallest_number_is_better_than_nothing() -> None:
    """Half of it is 0, by which nothing can be divided."""
    assert goal().score(measurement(5e-324), measurement(0)) == 2


def test_a_goal_is_shown_in_words() -> None:
    both = objectives(perf_throughput=10, perf_latency_p99=2.5)
    assert str(ModelGoal(objectives=objectives(perf_throughput=10))) == "perf_throughput: 10"
    assert str(
        ModelGoal(objectives=both, constraints=at_most(perf_latency_p99=40), weighting=2)
    ) == ("perf_throughput: 10, perf_latency_p99: 2.5; Max p99 Latency: 40 ms; weighting 2")
    # as in the checkpoints of all versions
    assert str(ModelGoal(constraints=at_most(perf_latency_p99=12000))).endswith(": 12000 ms")


# ------------------------------------------------------------------------------------ overrides


def test_parts_without_an_override_stay() -> None:
    run = ModelGoal(
        objectives=objectives(perf_latency_p99=1), constraints=at_most(cpu_used_ram=9), weighting=2
    )
    assert GoalOverride().over(run) == run
    assert GoalOverride(constraints=()).over(run) == replace(run, constraints=())
    wished = objectives(perf_throughput=1)
    assert GoalOverride(objectives=wished).over(run) == replace(run, objectives=wished)
    assert GoalOverride(weighting=3.0).over(run) == replace(run, weighting=3)


def test_a_bound_replaces_only_those_on_its_metric() -> None:
    run = ModelGoal(constraints=at_most(perf_latency_p99=10, cpu_used_ram=9))
    asked = GoalOverride(bounds=at_most(perf_latency_p99=30))
    assert asked.over(run).constraints == at_most(cpu_used_ram=9, perf_latency_p99=30)


TWO = goal(*at_most(perf_latency_p99=30, gpu_used_memory=100))


@pytest.mark.parametrize(
    ("p99", "memory", "expected"),
    [(20, 50, True), (20, 150, False), (20, None, None), (40, None, False)],
)
def test_a_constraint_without_data_is_neither_met_nor_missed(
    p99: float, memory: float | None, expected: bool | None
) -> None:
    values: dict[str, Any] = {} if memory is None else {"gpu_used_memory": memory}

    assert are_met(TWO, measurement(100, p99, **values)) is expected


def test_an_answer_that_could_not_be_checked_is_unsure() -> None:
    ranked = ranking(record(variant(), measurement(100, 20)), by=TWO)

    answer = answer_of(ranked)

    assert answer.is_unchecked
    assert answer.is_unsure
    assert answer_table(ranked.results, TWO).rows[0][-1] == "not measured"
