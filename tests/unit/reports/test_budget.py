# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The data with which a page ranks again; what the page makes of it is tested in a browser."""

from __future__ import annotations

import pytest

from model_analyzer.domain.goals import Goal, ModelGoal
from model_analyzer.reports.alternatives import OtherLimits
from model_analyzer.results.ranking import Ranking, rank_across
from tests.budget_cases import CASES, answer_at, limits_of
from tests.unit.builders import (
    at_least,
    at_most,
    goal,
    known,
    measurement,
    objectives,
    one_round,
    ranking,
    record,
    summary_page,
    variant,
)


@pytest.mark.parametrize("name", CASES)
def test_the_golden_answers_are_those_of_the_ranking(name: str) -> None:
    case = CASES[name]
    assert [answer_at(case, limit) for limit in limits_of(case)] == case["answers"]


def budget(ranked: Ranking) -> OtherLimits | None:
    return summary_page(ranked).parts[0].budget


def two(by: Goal | None = None) -> Ranking:
    default = variant("m_config_default", max_batch_size=1)
    return ranking(
        record(default, measurement(100, 10, cost_per_million_inferences=3.0), concurrency=1),
        record(variant(max_batch_size=8), measurement(300, 20), concurrency=4),
        by=by,
    )


def test_the_limit_of_the_run_is_the_one_that_moves_and_others_stay() -> None:
    made = known(budget(two(goal(*at_most(perf_latency_p99=25), *at_least(perf_throughput=50)))))
    assert (made.limit, made.maximum, made.unit) == ("perf_latency_p99", 25, "ms")
    assert made.constraints == (("perf_throughput", 50, None),)
    assert made.chart == "throughput_v_latency"


def test_without_a_limit_there_is_none_to_begin_with() -> None:
    made = known(budget(two()))
    assert (made.maximum, made.constraints) == (None, ())


def test_measured_metrics_can_be_chosen_as_objectives() -> None:
    made = known(budget(two()))
    assert [choice.name for choice in made.choices] == ["Throughput", "Cost Per Million Inferences"]
    assert [choice.better for choice in made.choices] == [(1,), (-1,)]


def test_what_the_rules_need_of_variants_and_rows() -> None:
    made = known(budget(two()))
    assert (made.counts, made.defaults) == ((1, 1), (False, True))
    assert (made.loads, made.shown) == ([4, 1], (0, 1))


def test_of_very_many_rounds_only_the_best_at_some_limit_have_noise() -> None:
    every = [
        record(variant(), one_round([5.0, 6.0], perf_latency_p99=100 - n / 50), concurrency=n)
        for n in range(1, 2100)
    ]
    slow = record(variant("m_config_1"), one_round([5.0] * 3, perf_latency_p99=100))
    made = known(budget(ranking(slow, *every)))
    errors = made.errors["perf_latency_p99"]
    assert len(errors) == 2000
    assert {0, 2098, 2099} <= set(errors)  # the best without a limit, and with the shortest ones


def test_a_page_of_several_models_keeps_its_limits() -> None:
    across = rank_across([two()], Goal(models=(ModelGoal(),)), "all")[0]
    assert budget(across) is None


def test_a_limit_on_hidden_gpus_cannot_be_judged_on_the_page() -> None:
    assert budget(two(goal(*at_most(gpu_used_memory=100)))) is None


def test_goodput_has_no_limit_to_move() -> None:
    """It counts what is within the limit: at another one, every value is another."""
    by = goal(*at_most(perf_latency_p99=40), wished=objectives(perf_goodput=10))
    records = [record(variant(), one_round([8.0, 9.0, 30.0] * 20), concurrency=n) for n in (1, 2)]

    page = summary_page(ranking(*records, by=by))

    assert page.parts[0].budget is None
    assert "--latency-budget" in page.parts[0].limit_note
