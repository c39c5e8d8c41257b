# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What may be recommended, what ties with it, and which of that is cheapest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.domain.trials import LoadKind
from model_analyzer.noise.noise_model import NoiseModel
from model_analyzer.noise.ties import (
    Comparison,
    assurance,
    cheapest_first,
    needs_more_resources,
    surely_met,
    tie_text,
    tied,
    undecided,
    undefeated,
)
from model_analyzer.results.answer import near_misses
from tests.unit.builders import at_most, goal, measurement, trial, variant

Runs = Mapping[str, Sequence[Measurement]]


def windows(throughput: float, *, spread: float = 0.02, p99: float = 10.0) -> Measurement:
    """A measurement whose three windows differ by that standard deviation."""
    plain = measurement(throughput, p99)
    parts = tuple(throughput * (1 + off) for off in (-spread, 0.0, spread))
    return replace(plain, models=(replace(plain.models[0], windows=parts),))


def survivors(runs: Runs, by: Goal | None = None) -> list[str]:
    wish = by or goal()
    comparison = Comparison(wish, runs)
    ordered = wish.best_first(runs, comparison.mean)
    passing = [name for name in ordered if comparison.passes(name)]
    return undefeated(comparison, passing, surely_met(wish, runs, assurance(wish, runs)))


def test_windows_of_single_measurements_give_their_noise() -> None:
    assert NoiseModel([[measurement(100)]]).score_deviation(goal()) is None
    assert NoiseModel([[windows(100)]]).score_deviation(goal()) == pytest.approx(0.02)


def test_windows_count_for_little_beside_repetitions() -> None:
    steady = [windows(throughput, spread=0) for throughput in (100, 110, 90, 100)]
    many = [[windows(50, spread=0.03)] for _ in range(50)]

    noise = NoiseModel([steady, *many]).score_deviation(goal())

    assert noise is not None
    assert 0.04 < noise < 0.08


def test_a_trial_beaten_by_more_than_noise_does_not_survive() -> None:
    runs = {"once": [windows(870)], "twice": [windows(650), windows(651)], "near": [windows(850)]}
    assert survivors(runs) == ["once", "near"]


def test_the_best_mean_always_survives_and_no_survivor_is_beaten_by_another() -> None:
    runs = {
        str(index): [windows(100 + index / 2, spread=0.01)] * (1 + index % 3) for index in range(20)
    }
    comparison, left = Comparison(goal(), runs), survivors(runs)

    assert left[0] == "19"
    assert 1 < len(left) < 20
    assert not any(comparison.is_better(a, b) for a in runs for b in left)


def test_a_trial_that_broke_or_may_break_a_constraint_beats_no_other() -> None:
    bound = goal(*at_most(perf_latency_p99=10))
    safe = {"safe": [windows(100, p99=8), windows(101, p99=8.1)]}

    lucky = {**safe, "lucky": [windows(130, p99=9.99)]}
    assert survivors(lucky, bound) == ["lucky", "safe"]
    broke = {**safe, "broke": [windows(130, p99=9.5), windows(130, p99=10.1)]}
    assert survivors(broke, bound) == ["broke", "safe"]
    kept = {**safe, "kept": [windows(130, p99=9.9), windows(130, p99=9.9)]}
    assert survivors(kept, bound) == ["kept"]


@pytest.mark.parametrize(
    ("throughput", "p99", "expected"),
    [
        pytest.param(991, 20, True, id="as good"),
        pytest.param(985, 20, False, id="worse, and no faster"),
        pytest.param(985, 10, True, id="worse by less than it is faster"),
        pytest.param(960, 10, False, id="much worse"),
    ],
)
def test_a_gain_that_costs_more_than_it_gives_is_a_tie(
    throughput: float, p99: float, expected: bool
) -> None:
    runs = {"best": 2 * [windows(1000, p99=20)], "other": 2 * [windows(throughput, p99=p99)]}

    ties = tied(Comparison(goal(), runs), ["best", "other"], lambda _: 1.0)

    assert ("other" in ties) == expected


def test_single_measurements_tie_by_their_windows() -> None:
    runs = {"a": [windows(1000)], "b": [windows(995)]}
    assert tied(Comparison(goal(), runs), ["a", "b"], lambda _: 1.0) == ["a", "b"]
    unknown = {"a": [measurement(1000)], "b": [measurement(995)]}
    assert tied(Comparison(goal(), unknown), ["a", "b"], lambda _: 1.0) == ["a"]


def test_of_the_same_variant_the_lowest_load_is_cheapest_whatever_the_memory_was() -> None:
    of = variant("m_config_0")
    trials = {name: trial(of, concurrency=load) for name, load in [("low", 32), ("high", 1024)]}
    runs = {
        "low": [replace(windows(1000), host={"cpu_used_ram": 510.0})],
        "high": [replace(windows(1005), host={"cpu_used_ram": 480.0})],
    }
    order = cheapest_first(["high", "low"], trials.__getitem__, Comparison(goal(), runs))
    assert order == ["low", "high"]


def test_what_noise_does_not_let_tell_from_the_best_is_no_tie() -> None:
    runs = {
        "best": [windows(100, spread=0.03)],
        "equal": [windows(99.5, spread=0.03)],
        "lower": [windows(92, spread=0.1)],
        "higher": [windows(108, spread=0.1)],
        "far": [windows(60, spread=0.1)],
        "slow": [windows(95, spread=0.1, p99=20)],
    }
    comparison = Comparison(goal(*at_most(perf_latency_p99=12)), runs)
    first, *ties = tied(comparison, ["best", "equal", "lower", "higher"], lambda _: 1.0)

    lower, higher = undecided(comparison, first, [*runs][1:], ties)

    assert ties == ["equal"]
    assert (lower.item, higher.item) == ("lower", "higher")
    assert lower.gain_percent == pytest.approx(-8)
    assert 8 < lower.noise_percent < 40
    assert lower.text == f"measured 8 % worse (± {lower.noise_percent:.0f} %)"
    assert higher.text == f"measured 8 % better (± {higher.noise_percent:.0f} %)"


def test_without_noise_everything_can_be_told_apart() -> None:
    runs = {"a": [measurement(100)], "b": [measurement(99)]}
    assert not [*undecided(Comparison(goal(), runs), "a", ["b"], ())]


# -- near misses -------------------------------------------------------------------------------

BOUND = goal(*at_most(perf_latency_p99=9))
ANSWER = [windows(100, p99=7), windows(101, p99=7.1)]


def test_a_near_miss_has_its_gain_and_chance() -> None:
    runs = {"answer": ANSWER, "near": [windows(137, p99=9.1)], "far": [windows(200, p99=12)]}

    (miss,) = near_misses(BOUND, "answer", runs)

    assert miss.item == "near"
    assert miss.gain_percent == pytest.approx(36.3, abs=0.1)
    assert 0.05 < miss.chance < 0.5
    (bound,) = miss.misses
    assert (bound.model, bound.constraint.tag, bound.value) == (0, "perf_latency_p99", 9.1)
    assert bound.excess == pytest.approx(0.1 / 9)
    assert (bound.broken, bound.times) == (1, 1)


def test_a_trial_that_broke_a_bound_once_is_a_near_miss_even_if_its_mean_meets_it() -> None:
    runs = {"answer": ANSWER, "wobbly": [windows(120, p99=7.8), windows(120, p99=9.5)]}

    (miss,) = near_misses(BOUND, "answer", runs)

    assert (miss.misses[0].excess, miss.misses[0].broken, miss.misses[0].times) == (0, 1, 2)


def test_trials_that_are_not_better_or_that_others_surpass_are_no_near_misses() -> None:
    runs = {
        "answer": ANSWER,
        "no better": [windows(102, p99=9.1)],
        "most": [windows(150, p99=9.05)],
        "less, and no nearer": [windows(140, p99=9.1)],
        "less, but nearer": [windows(130, p99=8.98)],
    }
    misses = near_misses(BOUND, "answer", runs)
    assert [miss.item for miss in misses] == ["most", "less, but nearer"]


def test_without_constraints_nothing_misses() -> None:
    assert near_misses(goal(), "answer", {"answer": ANSWER, "more": [windows(200)]}) == []


def measured(of: ModelVariant, ram: float = 100, **load: Any) -> MeasuredTrial:
    return MeasuredTrial(trial(of, **load), measurement(100, host={"cpu_used_ram": ram}))


def test_a_tie_is_introduced_by_the_resource_it_needs_more_of() -> None:
    small = variant("m_config_0", max_batch_size=1)
    best = measured(small, concurrency=2)
    double = variant("m_config_2", max_batch_size=1, instance_group=[{"count": 2}])
    dearer, heavier = "Within noise of it, but needs more resources", {"ram": 200}
    busier, equal = "Within noise of it, but at a higher load", "Ties with it"
    for item, text in (
        (measured(double, concurrency=2), dearer),
        (measured(variant("m_config_1", max_batch_size=8), **heavier), dearer),
        (measured(small, concurrency=4), busier),
        (measured(small, concurrency=4, **heavier), busier),  # memory differs by chance
        (measured(small, concurrency=1, batch_size=8), busier),
        (measured(variant("m_config_1", max_batch_size=8), concurrency=4), busier),
        (measured(variant("m_config_1", max_batch_size=8), concurrency=2), equal),
        (measured(small, concurrency=1), equal),
        (measured(small, concurrency=100, kind=LoadKind.REQUEST_RATE), equal),
    ):
        assert tie_text(item, best) == text
        assert needs_more_resources(item, best) == (text == dearer)
