# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What every search promises: one question at a time, and the same ones for the same answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.settings import SearchSettings
from model_analyzer.domain.trials import Trial
from model_analyzer.search.plan import (
    PartialPlan,
    Plan,
    PlannedSearch,
    Subject,
    doubling,
    recorded,
    side_by_side,
)
from tests.unit.search.surfaces import (
    client_batch,
    failure,
    growing,
    latency_within,
    limits,
    load,
    measurement,
    model,
    search,
    sequence,
    subject,
)

# Throughput and latency, or nothing: the trial failed.
Answer = tuple[float, float] | None

ANSWERS = st.lists(
    st.one_of(st.tuples(st.floats(0.5, 1000), st.floats(0.5, 100)), st.none()),
    min_size=1,
    max_size=30,
)
SUBJECTS = st.builds(
    subject,
    st.builds(model, max_batch_size=st.sampled_from([0, 1, 4, 64])),
    batch_sizes=st.sampled_from([(1,), (1, 2, 4), (1, 2, 3, 4, 5, 6)]),
    loads=st.sampled_from([(), (), (1, 3, 5, 7, 9)]),
    parameters=st.sampled_from(
        [{}, {"max_batch_size": [2, 4, 2], "instance_group": [[{"count": 1}], [{"count": 2}]]}]
    ),
    constraints=st.sampled_from([(), (latency_within(30),)]),
)
BOUNDS = st.builds(
    limits,
    concurrency=st.tuples(st.integers(1, 5), st.integers(5, 64)),
    instances=st.tuples(st.integers(1, 2), st.integers(2, 3)),
    batch=st.tuples(st.integers(1, 3), st.integers(3, 16)),
    steps=st.integers(0, 5),
    disable=st.booleans(),
    early_exit=st.booleans(),
)


def in_turn(answers: Sequence[Answer]) -> Iterator[Outcome]:
    """The answers one after another, again and again."""
    while True:
        for answer in answers:
            yield measurement(answer[0], latency=answer[1]) if answer else failure()


def by_question(answers: Sequence[Answer], trial: Trial) -> Outcome:
    """An answer that follows from the content of the trial alone."""
    answer = answers[int(trial.key, 16) % len(answers)]
    return measurement(answer[0], latency=answer[1]) if answer else failure()


def test_asking_again_before_the_answer_gives_another_trial() -> None:
    asked = search(subject(), limits())

    first, second = asked.ask(), asked.ask()

    assert first is not None
    assert second is not None
    assert first.key != second.key


def test_a_chain_has_nothing_to_ask_until_its_outcome_is_told() -> None:
    asked = search(subject(), limits(disable=True))  # the loads of one variant

    first = asked.ask()

    assert first is not None
    assert asked.ask() is None
    asked.tell(first, growing(first))
    assert asked.ask() is not None


def test_outcomes_are_told_in_any_order() -> None:
    asked = search(subject(), limits(instances=(1, 3), concurrency=(1, 2), batch=(1, 1)))
    open_trials = [trial for trial in (asked.ask() for _ in range(4)) if trial is not None]
    keys = {trial.key for trial in open_trials}

    while open_trials:
        trial = open_trials.pop()  # the youngest first
        asked.tell(trial, growing(trial))
        while (further := asked.ask()) is not None:
            keys.add(further.key)
            open_trials.append(further)

    in_order = sequence(
        search(subject(), limits(instances=(1, 3), concurrency=(1, 2), batch=(1, 1))), growing
    )
    assert keys == {trial.key for trial in in_order}


def test_a_fork_returns_the_results_of_its_branches_in_order() -> None:
    trials = sequence(search(subject(), limits(disable=True)), growing)[:3]
    results: list[TrialRecord] = []

    def plan() -> Plan:
        results.extend((yield from side_by_side(map(recorded, trials))))
        return results

    asked = PlannedSearch(plan(), 3)
    first, second, third = asked.ask(), asked.ask(), asked.ask()
    assert first is not None
    assert second is not None
    assert third is not None
    assert asked.ask() is None
    for trial in (third, first, second):
        asked.tell(trial, growing(trial))

    assert asked.ask() is None
    assert [record.trial for record in results] == trials


def test_a_branch_that_is_not_known_yet_waits_for_an_outcome() -> None:
    first, second = sequence(search(subject(), limits(disable=True)), growing)[:2]
    outcomes: list[Outcome] = []

    def branch() -> PartialPlan[None]:
        outcomes.append((yield from recorded(first)).outcome)

    def branches() -> Iterator[PartialPlan[object] | None]:
        yield branch()
        while not outcomes:
            yield None
        yield recorded(second)

    def plan() -> Plan:
        yield from side_by_side(branches())
        return []

    asked = PlannedSearch(plan(), 2)
    assert asked.ask() == first
    assert asked.ask() is None
    assert asked.ask() is None
    asked.tell(first, growing(first))
    assert asked.ask() == second


def test_a_search_that_ended_has_no_more_questions() -> None:
    asked = search(subject(loads=(1,)), limits(disable=True))

    sequence(asked, growing)

    assert asked.ask() is None
    assert asked.ask() is None


def test_a_plan_without_questions_ends_at_once() -> None:
    def empty() -> Plan:
        return []
        yield

    assert PlannedSearch(empty(), 0).ask() is None


def test_a_plan_is_sent_the_outcome_of_each_trial_in_turn() -> None:
    target = subject(model(max_batch_size=2))
    trials = sequence(search(target, limits(disable=True, concurrency=(1, 2))), growing)
    received: list[Outcome] = []

    def plan() -> Plan:
        for trial in trials:
            received.append((yield trial))
        return []

    sequence(
        PlannedSearch(plan(), 2), lambda trial: growing(trial) if load(trial) == 1 else failure()
    )

    assert received == [growing(trials[0]), failure()]


@pytest.mark.parametrize(
    ("low", "high", "values"),
    [
        (0, 2, [1, 2]),
        (1, 1, [1]),
        (1, 8, [1, 2, 4, 8]),
        (1, 9, [1, 2, 4, 8]),
        (3, 15, [3, 6, 12]),
        (5, 16, [5, 10]),
        (2, 1, []),
    ],
)
def test_doubling_stays_between_its_bounds(low: int, high: int, values: list[int]) -> None:
    assert doubling(low, high) == values


@given(target=SUBJECTS, where=BOUNDS, answers=ANSWERS)
def test_the_same_answers_bring_the_same_questions(
    target: Subject, where: SearchSettings, answers: Sequence[Answer]
) -> None:
    def asked() -> list[Trial]:
        outcomes = in_turn(answers)
        return sequence(search(target, where), lambda _: next(outcomes))

    assert asked() == asked()


@given(target=SUBJECTS, where=BOUNDS, answers=ANSWERS)
def test_the_questions_stay_within_the_bounds_for_all_answers(
    target: Subject, where: SearchSettings, answers: Sequence[Answer]
) -> None:
    answer = in_turn(answers)

    trials = sequence(search(target, where), lambda _: next(answer))

    assert trials[0].variants == "m_config_default"
    for trial in trials:
        assert trial.is_legal
        assert client_batch(trial) in target.models[0].settings.batch_sizes
        if target.models[0].settings.loads:
            assert load(trial) in target.models[0].settings.loads
        else:
            assert where.min_concurrency <= load(trial) <= where.max_concurrency


@given(target=SUBJECTS, where=BOUNDS, answers=ANSWERS)
def test_without_failures_there_are_no_more_trials_than_announced(
    target: Subject, where: SearchSettings, answers: Sequence[Answer]
) -> None:
    asked = search(target, where)

    def never_failing(trial: Trial) -> Outcome:
        outcome = by_question(answers, trial)
        return outcome if outcome != failure() else measurement(1.0)

    assert asked.most_trials is not None
    assert len(sequence(asked, never_failing)) <= asked.most_trials


@given(where=BOUNDS, answers=ANSWERS)
def test_without_failures_nothing_is_asked_twice(
    where: SearchSettings, answers: Sequence[Answer]
) -> None:
    target = subject(constraints=[latency_within(30)])

    def never_failing(trial: Trial) -> Outcome:
        outcome = by_question(answers, trial)
        return outcome if outcome != failure() else measurement(1.0)

    trials = sequence(search(target, where), never_failing)

    assert len({trial.key for trial in trials}) == len(trials)
