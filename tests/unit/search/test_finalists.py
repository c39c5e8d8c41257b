# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What is measured again before the answer is given."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from model_analyzer.domain.goals import Constraint
from model_analyzer.domain.measurements import Measurement, ModelMeasurement
from model_analyzer.search.adaptive.assessment import Assessment
from model_analyzer.search.adaptive.candidates import Prospect, Slack
from model_analyzer.search.adaptive.knowledge import Knowledge
from model_analyzer.search.adaptive.recommendation import MAX_ATTEMPTS
from model_analyzer.search.adaptive.stopping import contenders, repetitions
from model_analyzer.search.trial_map import Coordinate

LEADER, OTHER = (0,), (1,)


def knowledge(
    *, margin: float, other: float, times: int = 1, in_rounds: bool = False, own_chance: float = 1.0
) -> Knowledge:
    """Two trials that meet a constraint: the leader by about this `margin`, as a fraction of the
    bound, both as measured and as far as is known; and one whose score is `other`. The measurements
    alone give the leader its `own_chance` to meet the constraint.
    """
    predictions = np.random.default_rng(0).normal(margin, 0.02, 96)
    slack = Slack(
        0,
        Constraint(tag="perf_latency_p99", maximum=10.0),
        np.stack([predictions, np.full(96, 0.5)], axis=1),
        noise=0.04,
    )
    score = np.stack([np.zeros(96), np.full(96, other)], axis=1)
    of = Prospect(score, 100 * np.maximum(-slack.margin, 0), 0.03, (slack,))
    assessment = Assessment(
        rows={LEADER: 0, OTHER: 1},
        leader=LEADER,
        prospect=of,
        score=score.mean(axis=0),
        feasibility=of.passes.mean(axis=0),
        chance=np.ones(2),
        request_s=np.ones(2),
        cost=np.ones(2),
    )
    p99 = {LEADER: 10 * (1 - margin), OTHER: 5.0}
    means: dict[Coordinate, Measurement] = {
        at: Measurement(models=(ModelMeasurement(values={"perf_latency_p99": value}),))
        for at, value in p99.items()
    }
    asked: dict[Coordinate, int] = {LEADER: times, OTHER: 1}
    fake = SimpleNamespace(
        goal=SimpleNamespace(has_constraints=True),
        in_rounds=in_rounds,
        is_first_look=lambda at: in_rounds and asked[at] == 1,
        is_feasible=True,
        is_answered=True,
        feasible=[LEADER, OTHER],
        recommended=[LEADER],
        contenders=[],
        measured={at: count * [means[at]] for at, count in asked.items()},
        mean=means.__getitem__,
        attempts=asked.__getitem__,
        own_chance=lambda _: own_chance,
        assessment=lambda: assessment,
        expected_gains=lambda: {OTHER: 0.0},
    )
    return cast(Knowledge, fake)


def unconstrained(
    gain: float, *, times: int = 2, other_times: int = 1, seconds: float = 1.0
) -> Knowledge:
    """Two trials in rounds without constraints, measured so many times: the leader, and one that is
    expected to `gain` so much over it, and takes so many `seconds`.
    """
    fake = SimpleNamespace(
        goal=SimpleNamespace(has_constraints=False),
        in_rounds=True,
        is_first_look=lambda _: False,
        feasible=[],
        recommended=[LEADER],
        contenders=[],
        attempts={LEADER: times, OTHER: other_times}.__getitem__,
        rival_gains=lambda: {OTHER: gain},
        expected_s=lambda _: seconds,
    )
    return cast(Knowledge, fake)


@pytest.mark.parametrize(
    ("margin", "other", "expected"),
    [
        pytest.param(0.01, -0.05, LEADER, id="near to a bound, with something nearly as good"),
        pytest.param(0.01, -0.8, None, id="near to a bound, and all else is far behind"),
        pytest.param(0.3, -0.8, LEADER, id="far from the bound"),
    ],
)
def test_the_leader_is_measured_again_unless_that_risks_the_best_answer(
    margin: float, other: float, expected: Coordinate | None
) -> None:
    assert next(repetitions(knowledge(margin=margin, other=other)), None) == expected


def test_a_first_look_is_measured_again_even_near_to_a_bound() -> None:
    first, second = (
        knowledge(margin=0.01, other=-0.8, times=times, in_rounds=True) for times in (1, 2)
    )
    assert next(repetitions(first), None) == LEADER
    assert next(repetitions(second), None) is None


@pytest.mark.parametrize(
    ("own_chance", "times", "expected"),
    [(0.57, 2, LEADER), (0.57, MAX_ATTEMPTS, None), (0.9, 2, None)],
)
def test_what_its_own_rounds_leave_in_doubt_gets_more_although_that_risks_the_answer(
    own_chance: float, times: int, expected: Coordinate | None
) -> None:
    doubtful = knowledge(
        margin=0.01, other=-0.8, times=times, in_rounds=True, own_chance=own_chance
    )
    assert next(repetitions(doubtful), None) == expected


def test_an_unsafe_trial_gets_further_rounds() -> None:
    def asked(times: int, *, in_rounds: bool) -> Coordinate | None:
        near = knowledge(margin=0.01, other=-0.02, times=times, in_rounds=in_rounds)
        return next(repetitions(near), None)

    assert asked(3, in_rounds=False) is None
    assert asked(3, in_rounds=True) == LEADER
    assert asked(MAX_ATTEMPTS, in_rounds=True) is None


def test_a_safe_trial_measured_twice_is_clear() -> None:
    assert list(repetitions(knowledge(margin=0.3, other=-0.8, times=2))) == []


def test_a_best_trial_of_a_first_look_is_measured_again_before_anything_new() -> None:
    first, second = (
        knowledge(margin=0.3, other=-0.8, times=times, in_rounds=True) for times in (1, 2)
    )
    assert [*contenders(first, 0.0)] == [LEADER]
    assert [*contenders(second, 0.0)] == []


@pytest.mark.parametrize(
    ("times", "other_times", "expected"),
    [
        (2, 1, OTHER),
        (2, 2, OTHER),
        (2, 3, LEADER),
        (2, MAX_ATTEMPTS, None),
        (1, MAX_ATTEMPTS, LEADER),
    ],
)
def test_of_the_best_and_its_rival_the_less_measured_is_measured_again(
    times: int, other_times: int, expected: Coordinate | None
) -> None:
    both = unconstrained(0.02, times=times, other_times=other_times)
    assert next(repetitions(both), None) == expected


@pytest.mark.parametrize(
    ("gain", "seconds", "expected"),
    [(0.006, 1.0, OTHER), (0.004, 1.0, None), (0.006, 16.0, None), (0.011, 16.0, OTHER)],
)
def test_a_rival_is_measured_again_if_its_gain_is_worth_the_time(
    gain: float, seconds: float, expected: Coordinate | None
) -> None:
    both = unconstrained(gain, seconds=seconds)
    assert next(repetitions(both), None) == expected


def test_a_rival_comes_before_a_new_trial_that_is_expected_to_gain_less() -> None:
    both = unconstrained(0.02)
    assert [*contenders(both, 0.019)] == [OTHER]
    assert [*contenders(both, 0.021)] == []
