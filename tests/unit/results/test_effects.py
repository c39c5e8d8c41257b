# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The best result with each value of each parameter."""

from __future__ import annotations

from typing import Any

from model_analyzer.results.effects import Effects, effects, in_order
from model_analyzer.results.ranking import rank_across
from tests.unit.builders import at_most, goal, measurement, objectives, ranking, record, variant

SMALL = variant("m_config_0", max_batch_size=1)
LARGE = variant("m_config_1", max_batch_size=8, dynamic_batching={})


def values(result: Effects | None, parameter: str) -> list[tuple[object, float | None, int]]:
    assert result is not None
    return [(each.value, each.best, each.measurements) for each in result.parameters[parameter]]


def test_each_value_has_the_best_result_with_it() -> None:
    result = effects(
        ranking(
            record(SMALL, measurement(100, 5)),
            record(SMALL, measurement(110, 9), concurrency=4),
            record(LARGE, measurement(330, 9), concurrency=4),
        )
    )
    assert values(result, "config.max_batch_size") == [(1, 110, 2), (8, 330, 1)]
    assert values(result, "config.dynamic_batching") == [("off", 110, 2), ("on", 330, 1)]
    assert result is not None
    batch, _ = result.parameters.values()  # the load is no parameter
    trials = [value.trial for value in batch]
    assert [trial and trial.workloads[0].load.value for trial in trials] == [4, 4]


def test_only_results_that_meet_the_constraints_count() -> None:
    result = effects(
        ranking(
            record(SMALL, measurement(100, 5)),
            record(LARGE, measurement(300, 50)),
            by=goal(*at_most(perf_latency_p99=10)),
        )
    )
    assert result is not None
    assert result.constrained
    assert values(result, "config.max_batch_size") == [(1, 100, 1), (8, None, 1)]
    assert result.parameters["config.max_batch_size"][1].trial is None


def test_if_nothing_meets_the_constraints_everything_counts() -> None:
    result = effects(
        ranking(
            record(SMALL, measurement(100, 50)),
            record(LARGE, measurement(300, 60)),
            by=goal(*at_most(perf_latency_p99=10)),
        )
    )
    assert result is not None
    assert not result.constrained
    assert values(result, "config.max_batch_size") == [(1, 100, 1), (8, 300, 1)]


def test_for_metrics_that_should_be_low_the_lowest_is_the_best() -> None:
    result = effects(
        ranking(
            record(SMALL, measurement(100, 5)),
            record(SMALL, measurement(100, 4), concurrency=2),
            record(LARGE, measurement(300, 8)),
            by=goal(wished=objectives(perf_latency_p99=1)),
        )
    )
    assert result is not None
    assert result.tag == "perf_latency_p99"
    assert values(result, "config.max_batch_size") == [(1, 4, 2), (8, 8, 1)]


def test_a_parameter_that_was_not_varied_has_no_effect() -> None:
    assert effects(ranking(record(SMALL, measurement(100, 5)))) is None
    assert effects(ranking()) is None


def test_across_models_there_are_no_effects() -> None:
    ranked = ranking(record(SMALL, measurement(100, 5)), record(LARGE, measurement(300, 8)))
    (across,) = rank_across([ranked], goal(), "best of all")
    assert effects(across) is None


def test_an_unset_value_comes_before_numbers_and_they_are_in_order() -> None:
    priorities: dict[int, dict[str, Any]] = {16: {"priority": 16}, 0: {}, 2: {"priority": 2}}
    variants = [
        variant(f"m_config_{size}", max_batch_size=size, **priority)
        for size, priority in priorities.items()
    ]
    result = effects(ranking(*(record(changed, measurement(5, 5)) for changed in variants)))
    assert [value for value, _, _ in values(result, "config.priority")] == [None, 2, 16]


def test_lists_of_numbers_are_in_the_order_of_numbers() -> None:
    assert sorted(["16", "4,8", "none", "2", None, 3], key=in_order) == [
        None, "2", 3, "4,8", "16", "none",
    ]  # fmt: skip
