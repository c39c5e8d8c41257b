# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Adaptive search with several trials under way: its start, its limit, and its repetitions."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import islice, product
from statistics import fmean

import pytest

from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.profiles import StopReason
from model_analyzer.domain.protocols import Search
from model_analyzer.domain.settings import AdaptiveSettings, SearchMode
from model_analyzer.domain.trials import Trial
from model_analyzer.search.choose import choose
from model_analyzer.search.modes.adaptive import spread
from model_analyzer.search.plan import PlannedSearch, Subject
from model_analyzer.search.trial_map import TrialMap
from tests.unit.search.surfaces import (
    Respond,
    batch_limit,
    failure,
    instances,
    latency_within,
    limits,
    load,
    model,
    search,
    subject,
)
from tests.unit.search.test_adaptive import compared_with_default, larger_is_faster, queue

ADAPTIVE = limits(mode=SearchMode.ADAPTIVE)
CONSTRAINED = subject(constraints=[latency_within(16)])

# Every trial of a search, with those that were under way when it began.
Begun = Sequence[tuple[Trial, Sequence[Trial]]]
Eight = tuple[PlannedSearch, Begun]

# The default limit of a search in this space, with one trial at a time.
LIMIT = 27


def asked_now(asked: Search) -> list[Trial]:
    """All trials that a search has without a further outcome."""
    trials = []
    while (trial := asked.ask()) is not None:
        trials.append(trial)
    return trials


def measured_at_once(asked: Search, respond: Respond, slots: int) -> Begun:
    """Every trial, with those that were under way when it began. Trials end in their order."""
    begun = []
    under_way: deque[Trial] = deque()
    while True:
        while len(under_way) < slots and (trial := asked.ask()) is not None:
            begun.append((trial, tuple(under_way)))
            under_way.append(trial)
        if not under_way:
            return begun
        first = under_way.popleft()
        asked.tell(first, respond(first))


@pytest.fixture(scope="module")
def eight() -> Eight:
    """A search within a latency budget with eight trials at once, and its trials."""
    asked = search(CONSTRAINED, ADAPTIVE)
    return asked, measured_at_once(asked, queue, slots=8)


# -- the start ---------------------------------------------------------------------------------


def test_beside_the_default_the_search_measures_a_spread_of_at_most_a_third_of_the_limit() -> None:
    default, smallest, *others = asked_now(search(subject(), ADAPTIVE))

    assert default.workloads[0].variant.is_default
    assert (instances(smallest), batch_limit(smallest), load(smallest)) == (1, 1, 1)
    assert len(others) == LIMIT // 3 - 2
    for value in (instances, batch_limit, load):
        assert len(set(map(value, others))) >= 4


def test_the_first_outcome_ends_the_spread() -> None:
    asked = search(subject(), ADAPTIVE)
    first = [asked.ask(), asked.ask(), asked.ask()]
    assert first[2] is not None
    asked.tell(first[2], queue(first[2]))

    proposed = asked.ask()

    fresh = search(subject(), ADAPTIVE)
    assert proposed is not None
    assert proposed.key not in {trial.key for trial in asked_now(fresh)}


def test_a_default_that_fails_waits_for_what_is_under_way() -> None:
    asked = search(subject(), ADAPTIVE)
    default, smallest, *others = asked_now(asked)

    for trial in (default, smallest, *others[:-1]):
        asked.tell(trial, failure())
        assert asked.ask() is None
    asked.tell(others[-1], queue(others[-1]))

    assert asked.ask() is not None


def test_the_search_ends_if_nothing_of_the_spread_can_be_measured() -> None:
    asked = search(subject(), ADAPTIVE)

    assert len(measured_at_once(asked, lambda _: failure(), slots=4)) == LIMIT // 3
    assert asked.conclusion is None


@pytest.mark.parametrize("most", [1, 2, 3, 7])
def test_a_spread_of_few_trials_leaves_some_for_the_search(most: int) -> None:
    asked = search(subject(), ADAPTIVE, adaptive=AdaptiveSettings(max_trials=most))

    assert len(asked_now(asked)) == {1: 1, 2: 2, 3: 2, 7: 3}[most]


def mapped(target: Subject) -> TrialMap:
    where = limits(mode=SearchMode.ADAPTIVE, instances=(1, 2), batch=(1, 8), concurrency=(1, 8))
    return TrialMap(target, where, use_formula=False)


def test_a_spread_has_every_legal_coordinate_once() -> None:
    trial_map = mapped(subject(batch_sizes=(1, 4)))
    sizes = [range(len(dimension.values)) for dimension in trial_map.space.dimensions]
    legal = [coordinate for coordinate in product(*sizes) if trial_map.is_legal(coordinate)]
    excluded = [legal[5], legal[8]]

    covered = list(spread(trial_map, excluded))

    assert covered[0] == trial_map.smallest
    assert sorted(covered) == sorted(set(legal) - {*excluded})


@pytest.mark.parametrize("count", [8, 16, 32])
def test_a_spread_is_even_however_many_are_taken(count: int) -> None:
    trial_map = TrialMap(subject(model(max_batch_size=8)), ADAPTIVE, use_formula=False)

    covered = list(islice(spread(trial_map, ()), 1, 1 + count))  # without the smallest

    for position, dimension in enumerate(trial_map.space.dimensions):
        middle = (len(dimension.values) - 1) / 2
        mean = fmean(coordinate[position] for coordinate in covered)
        assert mean == pytest.approx(middle, abs=0.1 * len(dimension.values))


# -- the limit ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("slots", "more"), [(1, 0), (2, 1), (5, 4), (8, 6), (20, 6)])
def test_each_further_trial_at_once_allows_one_more_up_to_a_quarter(slots: int, more: int) -> None:
    asked = choose(subject(), ADAPTIVE, VariantNames(), slots=slots)

    assert asked.most_trials == LIMIT + more


def test_the_limit_holds_with_several_trials_at_once_and_is_in_the_conclusion(eight: Eight) -> None:
    asked, begun = eight

    assert len(begun) <= LIMIT + 6
    assert asked.conclusion is not None
    assert asked.conclusion.limit == LIMIT + 6


@pytest.mark.parametrize("most", [1, 2, 9])
def test_the_limit_of_the_user_holds_with_several_trials_at_once(most: int) -> None:
    asked = search(CONSTRAINED, ADAPTIVE, adaptive=AdaptiveSettings(max_trials=most))

    assert len(measured_at_once(asked, queue, slots=8)) == most
    assert asked.conclusion is not None
    assert asked.conclusion.limit == most
    assert asked.conclusion.reason is StopReason.LIMIT


# -- repetitions -------------------------------------------------------------------------------


def test_repetitions_begin_while_new_trials_are_under_way(eight: Eight) -> None:
    _, begun = eight

    assert any(
        trial.repetition and any(other.repetition == 0 for other in others)
        for trial, others in begun
    )


def test_no_trial_is_repeated_twice_at_once(eight: Eight) -> None:
    _, begun = eight

    for trial, others in begun:
        assert trial.first.key not in {other.first.key for other in others}


def test_with_several_at_once_a_default_that_refuses_the_clients_is_compared_at_the_end() -> None:
    asked = search(subject(batch_sizes=[1, 64]), ADAPTIVE)

    trials = [trial for trial, _ in measured_at_once(asked, larger_is_faster, slots=3)]

    assert asked.conclusion is not None
    assert compared_with_default(trials, asked.conclusion)
