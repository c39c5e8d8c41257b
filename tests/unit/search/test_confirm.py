# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which trials of a search get further rounds at its end."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import pytest

from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.settings import SearchMode, SearchSettings
from model_analyzer.domain.trials import LoadKind, Trial
from model_analyzer.search.confirm import FINALISTS, confirm, most_confirmed
from model_analyzer.search.plan import Fork, Plan, Subject, recorded
from model_analyzer.search.planned import PlannedSearch
from tests.unit import builders
from tests.unit.search.surfaces import (
    failure,
    latency_within,
    limits,
    load,
    search,
    sequence,
    subject,
)

SEARCHED, DISABLED = limits(), limits(disable=True)


class Server:
    """Answers with these throughputs by load, and latencies around `load` ms."""

    def __init__(self, rates: Mapping[int, float]) -> None:
        self._rates = rates

    def __call__(self, trial: Trial) -> Outcome:
        random = Random(trial.key)
        rate, seconds = self._rates[load(trial)], trial.round_s or 1.0
        latencies = [
            load(trial) * random.lognormvariate(0, 0.1) for _ in range(int(rate * seconds))
        ]
        windows = [rate * random.lognormvariate(0, 0.02) for _ in range(8)]
        return builders.one_round(latencies, seconds, windows=windows)


def asked(rates: Mapping[int, float], **of_subject: Any) -> list[tuple[int, int]]:
    """The load and the number of the round of each trial."""
    target = subject(in_rounds=True, **of_subject)
    trials = sequence(confirmed(target, *rates), Server(rates))
    return [(load(trial), trial.repetition) for trial in trials]


def confirmed(target: Subject, *loads: int, settings: SearchSettings = SEARCHED) -> PlannedSearch:
    """A search that measures each load once, then confirms the best."""
    (searched,) = target.models
    variant = builders.variant()

    def plan() -> Plan:
        records = []
        for value in loads:
            trial = target.trial(searched.workload(variant, value, 1))
            records.append((yield from recorded(trial)))
        return (yield from confirm(target, settings, records))

    return PlannedSearch(plan(), None)


def test_the_clear_winner_is_measured_once() -> None:
    assert asked({1: 100, 2: 200, 4: 400, 8: 800}) == [(1, 0), (2, 0), (4, 0), (8, 0)]


def test_those_that_may_be_the_best_are_measured_again_in_turn() -> None:
    trials = asked({1: 100, 2: 795, 4: 400, 8: 800})
    first, again = trials[:4], trials[4:]
    assert [repetition for _, repetition in first] == [0] * 4
    assert {value for value, _ in again} == {2, 8}
    assert [repetition for _, repetition in again] == sorted(r for _, r in again)
    assert max(repetition for _, repetition in again) <= 3


def test_there_are_few_finalists() -> None:
    rates = dict.fromkeys((1, 2, 3, 4, 5, 6, 7, 8), 500.0)
    again = [value for value, repetition in asked(rates) if repetition]
    assert len(again) <= most_confirmed(subject(in_rounds=True), SEARCHED)
    assert len(set(again)) <= FINALISTS + 2


def test_what_is_near_to_a_bound_is_measured_again() -> None:
    rates = {1: 100, 2: 200, 4: 400, 8: 800}
    far, near = (asked(rates, constraints=[latency_within(bound)]) for bound in (6.5, 5.1))
    assert [value for value, repetition in far if repetition] == []
    again = {value for value, repetition in near if repetition}
    assert 4 in again
    assert again <= {2, 4}


def test_nothing_is_measured_again_if_nothing_can_meet_the_constraints() -> None:
    rates = {1: 100, 2: 200, 4: 400, 8: 800}
    trials = asked(rates, constraints=[latency_within(0.1)])
    assert all(not repetition for _, repetition in trials)


def test_measurements_in_own_windows_are_not_repeated() -> None:
    trials = sequence(confirmed(subject(), 1, 2), Server({1: 500, 2: 500}))
    assert [trial.repetition for trial in trials] == [0, 0]


def test_nothing_is_measured_again_where_nothing_is_searched() -> None:
    asked_for = confirmed(subject(in_rounds=True), 1, 2, settings=DISABLED)
    trials = sequence(asked_for, Server({1: 500, 2: 500}))
    assert [trial.repetition for trial in trials] == [0, 0]


def test_failures_are_not_measured_again() -> None:
    asked_for = confirmed(subject(in_rounds=True), 1, 2)
    trials = sequence(asked_for, lambda trial: failure())
    assert all(trial.repetition == 0 for trial in trials)


def test_a_finalist_that_fails_is_no_longer_one() -> None:
    server = Server({1: 500, 2: 500})

    def answer(trial: Trial) -> Outcome:
        return failure() if trial.repetition and load(trial) == 2 else server(trial)

    trials = sequence(confirmed(subject(in_rounds=True), 1, 2), answer)
    assert [trial.repetition for trial in trials if load(trial) == 2] == [0, 1]


def test_a_trial_with_two_names_has_one_measurement() -> None:
    target = subject(in_rounds=True)
    server = Server({1: 500, 2: 500})
    trials = [builders.trial(concurrency=value) for value in (1, 1, 2)]
    records = [TrialRecord(trial=trial, outcome=server(trial)) for trial in trials]
    again = next(confirm(target, SEARCHED, records))
    assert isinstance(again, Fork)
    asked = [next(branch) for branch in again.branches if branch]
    assert [trial.repetition for trial in asked if isinstance(trial, Trial)] == [1, 1]


@pytest.mark.parametrize("mode", [SearchMode.QUICK, SearchMode.BRUTE])
def test_every_search_confirms_its_best(mode: SearchMode) -> None:
    where = limits(mode=mode, instances=(1, 2), batch=(1, 2), concurrency=(1, 4))

    def server(trial: Trial) -> Outcome:
        return Server({load(trial): 500.0})(trial)

    trials = sequence(search(subject(in_rounds=True), where), server)
    first = [trial for trial in trials if not trial.repetition]
    assert trials[: len(first)] == first
    assert len(trials) > len(first)


def test_a_single_configuration_under_a_rate_gets_more_than_a_first_look() -> None:
    def repetitions(kind: LoadKind, rate: int) -> list[int]:
        target = subject(in_rounds=True, load_kind=kind)
        trials = sequence(confirmed(target, rate, settings=DISABLED), Server({rate: rate}))
        return [trial.repetition for trial in trials]

    assert repetitions(LoadKind.REQUEST_RATE, 40) == [0, 1, 2, 3]
    assert repetitions(LoadKind.REQUEST_RATE, 400) == [0]
    assert repetitions(LoadKind.CONCURRENCY, 40) == [0]
