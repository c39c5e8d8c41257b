# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The loop with several trials under way: every search, losses, stops, and resuming."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest

from benchmarks.simulated_executor import SimulatedExecutor
from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.slots import Lane, Lost, Slot
from model_analyzer.domain.trials import Failure, FailureReason, Trial
from model_analyzer.profiling.failures import MOST_LOSSES
from model_analyzer.profiling.loop import profile as measure_all
from model_analyzer.profiling.loop_events import (
    Event,
    GivenUp,
    TrialFinished,
    TrialLost,
    TrialStarted,
)
from tests.contract.memory_state import Kept, MemoryState
from tests.sizes import small_and_full
from tests.unit.profiling.test_loop import (
    SCENARIOS,
    ListedSearch,
    Scenario,
    failing_at,
    failure,
    finished,
    new_search,
    succeeding,
    uninterrupted,
)
from tests.unit.search.surfaces import Respond, growing, load
from tests.unit.state.samples import several

Seconds = Callable[[Trial, Slot], float]

LANE = Lane("m")

# Searches whose trials depend on no outcome of another part: any number of slots measures the same.
INDEPENDENT = {
    "automatic",
    "client batches",
    "a variant that equals the default",
    "manual",
    "request rates",
}


def lognormal(seed: int) -> Seconds:
    """Seconds that differ from trial to trial, the same each time."""

    def seconds(trial: Trial, _slot: Slot) -> float:
        return random.Random(f"{seed} {trial.key}").lognormvariate(0, 0.5)

    return seconds


def simulated(slots: int, respond: Respond, seconds: Seconds | None = None) -> SimulatedExecutor:
    return SimulatedExecutor(slots, lambda trial, _: respond(trial), seconds or lognormal(0))


def keys(trials: Sequence[Trial]) -> Counter[str]:
    return Counter(trial.key for trial in trials)


def run(scenario: Scenario, executor: SimulatedExecutor, state: MemoryState) -> list[Event]:
    return list(measure_all({LANE: new_search(scenario, state)}, executor, state))


def started(events: Sequence[Event]) -> list[Trial]:
    return [event.trial for event in events if isinstance(event, TrialStarted)]


def until(steps: int, events: Iterator[Event]) -> Iterator[Event]:
    """Events up to that number of them that are no replay."""
    for event in events:
        yield event
        steps -= not isinstance(event, TrialFinished) or event.slot is not None
        if not steps:
            return


def odd_content(trial: Trial) -> Outcome:
    """Every fifth variant fails, whatever its name."""
    return failure() if int(trial.content[:8], 16) % 5 == 0 else growing(trial)


class CountingRespond:
    """Answers from a function, and counts how often each trial was measured."""

    def __init__(self, respond: Respond) -> None:
        self._respond = respond
        self.measured: Counter[str] = Counter()

    def __call__(self, trial: Trial) -> Outcome:
        self.measured[trial.key] += 1
        return self._respond(trial)


@pytest.fixture(params=list(SCENARIOS))
def name(request: pytest.FixtureRequest) -> str:
    chosen: str = request.param
    return chosen


# -- every search ------------------------------------------------------------------------------


@pytest.mark.parametrize("slots", [2, 5])
def test_no_content_is_measured_twice(name: str, slots: int) -> None:
    respond = CountingRespond(SCENARIOS[name][2])

    run(SCENARIOS[name], simulated(slots, respond), MemoryState())

    assert set(respond.measured.values()) == {1}


@pytest.mark.parametrize("slots", [1, 3, 8])
@pytest.mark.parametrize("name", sorted(INDEPENDENT))
def test_the_number_of_slots_does_not_change_what_is_measured(name: str, slots: int) -> None:
    target, where, _ = SCENARIOS[name]
    scenario = target, where, odd_content

    events = run(scenario, simulated(slots, odd_content), MemoryState())

    assert set(keys(finished(events))) == set(keys(uninterrupted(scenario)))


def test_several_slots_take_less_time(name: str) -> None:
    single, four = simulated(1, SCENARIOS[name][2]), simulated(4, SCENARIOS[name][2])

    run(SCENARIOS[name], single, MemoryState())
    run(SCENARIOS[name], four, MemoryState())

    assert four.now_s < single.now_s


def test_one_slot_records_no_questions(name: str) -> None:
    kept = Kept()

    run(SCENARIOS[name], simulated(1, SCENARIOS[name][2]), MemoryState(kept))

    assert kept.asked == {}


# -- resuming ----------------------------------------------------------------------------------


@small_and_full("seed", 1, 2, 3)
def test_a_resumed_run_goes_on_where_the_first_one_was(name: str, seed: int) -> None:
    """It repeats the questions and what was told between them, and sends first what was asked and
    never answered; nothing is measured twice.
    """
    draw = random.Random(f"{name} {seed}")
    scenario = SCENARIOS[name]
    respond, kept = CountingRespond(scenario[2]), Kept()
    for _ in range(200):
        state = MemoryState(kept)
        asked = [question.key for question in state.asked(LANE) if question.key]
        answered = {record.trial.key for record in state.profile.records}
        executor = simulated(3, respond, lognormal(seed))
        loop = measure_all({LANE: new_search(scenario, state)}, executor, state)
        before = list(until(draw.randint(1, 20), loop))
        repeated = [question.key for question in state.asked(LANE) if question.key][: len(asked)]
        assert repeated == asked, "the search asked something else"
        unanswered = [key for key in dict.fromkeys(asked) if key not in answered]
        sent = [trial.key for trial in started(before)]
        assert sent[: len(unanswered)] == unanswered[: len(sent)]
        if next(loop, None) is None:
            break
    else:
        pytest.fail("the run never ended")

    assert set(respond.measured.values()) == {1}


def test_changed_settings_end_the_replay() -> None:
    first, second, third, fourth = several(4)
    kept = Kept()
    executor = simulated(2, succeeding)
    list(measure_all({LANE: ListedSearch([first, second, third])}, executor, MemoryState(kept)))
    respond = CountingRespond(succeeding)

    events = list(
        measure_all(
            {LANE: ListedSearch([first, fourth, second])},
            simulated(2, respond),
            MemoryState(kept),
        )
    )

    assert {load(trial) for trial in finished(events)} == {1, 2, 4}
    assert respond.measured == {fourth.key: 1}


# -- losses ------------------------------------------------------------------------------------


def losing(
    times: int, trial: Trial, *, hosts: list[str]
) -> Callable[[Trial, Slot], Outcome | Lost]:
    """Loses `trial` so often; `hosts` gets the hosts that had it."""

    def measure(asked: Trial, slot: Slot) -> Outcome | Lost:
        if asked.key != trial.key:
            return succeeding(asked)
        hosts.append(slot.host)
        return Lost("its host is gone") if len(hosts) <= times else succeeding(asked)

    return measure


def test_a_lost_trial_goes_to_another_host() -> None:
    first, second, third = several(3)
    hosts: list[str] = []
    executor = SimulatedExecutor(3, losing(2, second, hosts=hosts), lambda *_: 1.0)
    state = MemoryState()

    events = list(measure_all({LANE: ListedSearch([first, second, third])}, executor, state))

    assert len(set(hosts)) == 3
    assert [type(event) for event in events].count(TrialLost) == 2
    assert state.outcome_of(second) is not None
    assert keys(finished(events)) == keys([first, second, third])


def test_a_trial_that_is_always_lost_is_a_failure() -> None:
    first, second = several(2)
    hosts: list[str] = []
    executor = SimulatedExecutor(2, losing(99, second, hosts=hosts), lambda *_: 1.0)
    state = MemoryState()

    list(measure_all({LANE: ListedSearch([first, second])}, executor, state))

    outcome = state.outcome_of(second)
    assert isinstance(outcome, Failure)
    assert outcome.reason is FailureReason.LOST
    assert outcome.message == "its host is gone"
    assert len(hosts) == MOST_LOSSES


# -- stopping ----------------------------------------------------------------------------------


def test_a_stop_waits_for_what_is_under_way_and_starts_nothing_more() -> None:
    trials = several(9)
    events: list[Event] = []
    executor = simulated(3, succeeding, lambda *_: 1.0)
    state = MemoryState()

    for event in measure_all(
        {LANE: ListedSearch(trials)}, executor, state, is_stopping=lambda: len(events) >= 4
    ):
        events.append(event)

    assert len(started(events)) == len(finished(events)) == 3
    assert len(state.profile.records) == 3


def test_a_model_that_never_works_is_given_up_once_nothing_is_under_way() -> None:
    executor = simulated(3, lambda _: failure())

    events = list(measure_all({LANE: ListedSearch(several(9))}, executor, MemoryState()))

    assert len(started(events)) == len(finished(events)) <= 4
    assert isinstance(events[-1], GivenUp)


def test_a_success_under_way_saves_a_model_whose_first_trials_failed() -> None:
    slow = {3: 9.0}
    executor = simulated(3, failing_at(1, 2), lambda trial, _: slow.get(load(trial), 1.0))

    events = list(measure_all({LANE: ListedSearch(several(6))}, executor, MemoryState()))

    assert len(finished(events)) == 6
    assert not any(isinstance(event, GivenUp) for event in events)


def test_the_same_content_under_two_names_is_measured_once() -> None:
    first, second = several(2)
    (work,) = first.workloads
    variant = replace(work.variant, name="m_config_7")
    alias = replace(first, workloads=(replace(work, variant=variant),))
    assert alias.key == first.key
    respond = CountingRespond(succeeding)
    state = MemoryState()

    events = list(
        measure_all({LANE: ListedSearch([first, alias, second])}, simulated(3, respond), state)
    )

    assert respond.measured[first.key] == 1
    assert keys(finished(events)) == keys([first, alias, second])
    assert {record.trial.variants for record in state.profile.records} >= {"m_config_7"}


def test_failures_are_outcomes_like_others() -> None:
    state = MemoryState()

    list(measure_all({LANE: ListedSearch(several(5))}, simulated(2, failing_at(2, 4)), state))

    outcomes = {load(record.trial): record.outcome for record in state.profile.records}
    assert {value for value, outcome in outcomes.items() if isinstance(outcome, Failure)} == {2, 4}
    assert replace(outcomes[2], started=0.0, duration_s=0.0) == failure()


def test_content_under_two_names_is_measured_once_and_known_then() -> None:
    scenario = SCENARIOS["a variant that equals the default"]

    events = run(scenario, simulated(4, growing), MemoryState())

    measured = [
        event.trial
        for event in events
        if isinstance(event, TrialFinished) and event.slot is not None
    ]
    assert set(keys(measured).values()) == {1}
    assert len(measured) < len(finished(events))
