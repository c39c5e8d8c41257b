# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The loop: ask, look up or run, record, tell; and resuming it by replay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import pytest

from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.profiles import Conclusion, Outlook
from model_analyzer.domain.protocols import Runner, Search, State
from model_analyzer.domain.settings import SearchMode, SearchSettings
from model_analyzer.domain.slots import Lane, Slot
from model_analyzer.domain.trials import Failure, FailureReason, LoadKind, Trial
from model_analyzer.profiling.loop import Event, GivenUp, TrialFinished, TrialStarted
from model_analyzer.profiling.loop import profile as measure_all
from model_analyzer.runner.trial_runner import LocalExecutor
from model_analyzer.search.plan import Subject
from model_analyzer.state.profile_state import ProfileState
from tests.contract.memory_state import Kept, MemoryState
from tests.sizes import small_and_full
from tests.unit.search.surfaces import (
    Respond,
    ensemble,
    latency_within,
    lawfully_growing,
    limits,
    load,
    measurement,
    model,
    saturating,
    search,
    short_name,
    subject,
    together,
)
from tests.unit.state.samples import several, trial


@dataclass
class ListedSearch:
    """Asks for the given trials in turn, and remembers the outcomes that it got."""

    trials: Sequence[Trial]
    answers: list[tuple[Trial, Outcome]] = field(default_factory=list)
    conclusion: Conclusion | None = None
    outlook: Outlook | None = None
    asked: int = 0

    @property
    def most_trials(self) -> int:
        return len(self.trials)

    def ask(self) -> Trial | None:
        if self.asked == len(self.trials):
            return None
        self.asked += 1
        return self.trials[self.asked - 1]

    def tell(self, trial: Trial, outcome: Outcome) -> None:
        self.answers.append((trial, outcome))


@dataclass
class PretendRunner:
    """Answers from a function, and remembers what it ran."""

    respond: Respond
    ran: list[Trial] = field(default_factory=list)

    def run(self, trial: Trial) -> Outcome:
        self.ran.append(trial)
        return self.respond(trial)


def failure() -> Failure:
    """A failure that says nothing about other loads."""
    return Failure(reason=FailureReason.REQUEST_FAILED, message="requests failed")


def refusing(_trial: Trial) -> Outcome:
    return Failure(reason=FailureReason.MODEL_NOT_LOADED, message="m did not load")


def succeeding(trial: Trial) -> Outcome:
    return measurement(float(load(trial)))


def failing(_trial: Trial) -> Outcome:
    return failure()


def failing_at(*values: int) -> Respond:
    return lambda trial: failure() if load(trial) in values else succeeding(trial)


def profile(search: Search, runner: Runner, state: State) -> Iterator[Event]:
    return measure_all({Lane("m"): search}, LocalExecutor(runner), state)


def used(trial: Trial) -> Slot:
    """The slot of this machine after a trial."""
    return Slot(loaded=trial.content)


def finished(events: Sequence[Event]) -> list[Trial]:
    return [event.trial for event in events if isinstance(event, TrialFinished)]


# -- the loop ----------------------------------------------------------------------------------


def test_each_trial_starts_and_finishes_in_the_order_asked() -> None:
    first, second = several(2)

    events = list(profile(ListedSearch([first, second]), PretendRunner(succeeding), MemoryState()))

    assert events == [
        TrialStarted(first, Slot()),
        TrialFinished(first, measurement(1.0), used(first)),
        TrialStarted(second, used(first)),
        TrialFinished(second, measurement(2.0), used(second)),
    ]


def test_a_trial_starts_with_what_its_search_expects() -> None:
    outlook = Outlook(chance=0.2, gain=0.01, margin=0.03, feasible=True)
    asked = ListedSearch(several(1), outlook=outlook)

    started, _ = profile(asked, PretendRunner(succeeding), MemoryState())

    assert isinstance(started, TrialStarted)
    assert started.outlook == outlook


def test_every_outcome_is_recorded_and_passed_to_the_search() -> None:
    trials = several(3)
    listed, state = ListedSearch(trials), MemoryState()

    list(profile(listed, PretendRunner(failing_at(2)), state))

    expected = [(asked, failing_at(2)(asked)) for asked in trials]
    assert listed.answers == expected
    assert [(record.trial, record.outcome) for record in state.profile.records] == expected


@pytest.mark.parametrize("outcome", [measurement(77.0), failure()])
def test_a_resumed_outcome_is_passed_to_the_search_and_not_run_again(outcome: Outcome) -> None:
    first, second = several(2)
    state = MemoryState()
    state.record(first, outcome)
    listed, runner = ListedSearch([first, second]), PretendRunner(succeeding)

    events = list(profile(listed, runner, state))

    assert runner.ran == [second]
    assert listed.answers == [(first, outcome), (second, measurement(2.0))]
    assert events == [
        TrialFinished(first, outcome, None),
        TrialStarted(second, Slot()),
        TrialFinished(second, measurement(2.0), used(second)),
    ]


def test_a_trial_asked_twice_is_run_once() -> None:
    first, second = several(2)
    runner = PretendRunner(succeeding)

    events = list(profile(ListedSearch([first, second, first]), runner, MemoryState()))

    assert runner.ran == [first, second]
    assert events[-1] == TrialFinished(first, measurement(1.0), None)


def test_a_resumed_outcome_has_the_name_of_the_requested_variant() -> None:
    state = MemoryState()
    state.record(trial(1, name="m_config_default"), measurement(1.0))
    runner = PretendRunner(succeeding)

    list(profile(ListedSearch([trial(1, name="m_config_5")]), runner, state))

    assert runner.ran == []
    assert [(record.trial.variants, record.outcome) for record in state.profile.records] == [
        ("m_config_default", measurement(1.0)),
        ("m_config_5", measurement(1.0)),
    ]


def test_a_trial_has_not_run_when_its_start_is_seen() -> None:
    runner, state = PretendRunner(succeeding), MemoryState()

    for event in profile(ListedSearch(several(3)), runner, state):
        if isinstance(event, TrialStarted):
            assert event.trial not in runner.ran
            assert state.outcome_of(event.trial) is None


def test_an_outcome_is_recorded_when_its_finish_is_seen() -> None:
    state = MemoryState()

    for event in profile(ListedSearch(several(3)), PretendRunner(failing_at(2)), state):
        if isinstance(event, TrialFinished):
            assert state.outcome_of(event.trial) == event.outcome


@pytest.mark.parametrize("events", range(7))
def test_stopping_early_measures_no_further_trials(events: int) -> None:
    trials = several(3)
    runner, state = PretendRunner(succeeding), MemoryState()

    seen = list(islice(profile(ListedSearch(trials), runner, state), events))

    assert runner.ran == finished(seen) == list(trials[: events // 2])
    assert [record.trial for record in state.profile.records] == runner.ran


def test_a_search_without_questions_gives_no_events() -> None:
    assert list(profile(ListedSearch([]), PretendRunner(succeeding), MemoryState())) == []


def test_an_error_of_the_runner_ends_the_run_and_keeps_the_measurements() -> None:
    def broken_at_three(trial: Trial) -> Outcome:
        if load(trial) == 3:
            raise RuntimeError("no further trial makes sense")
        return succeeding(trial)

    listed, state = ListedSearch(several(4)), MemoryState()

    with pytest.raises(RuntimeError, match="no further trial"):
        list(profile(listed, PretendRunner(broken_at_three), state))

    assert [load(record.trial) for record in state.profile.records] == [1, 2]
    assert [load(trial) for trial, _ in listed.answers] == [1, 2]


# -- giving up ---------------------------------------------------------------------------------


def test_two_failures_without_a_success_end_the_run() -> None:
    first, second, third = several(3)
    runner = PretendRunner(failing)

    events = list(profile(ListedSearch([first, second, third]), runner, MemoryState()))

    assert runner.ran == [first, second]
    assert events[-2:] == [
        TrialFinished(second, failure(), used(second)),
        GivenUp(2, failure(), resumed=False),
    ]


def test_the_failure_that_ends_the_run_is_recorded_and_passed_to_the_search() -> None:
    listed, state = ListedSearch(several(3)), MemoryState()

    list(profile(listed, PretendRunner(failing), state))

    assert [load(trial) for trial, _ in listed.answers] == [1, 2]
    assert [load(record.trial) for record in state.profile.records] == [1, 2]


def test_a_variant_that_did_not_load_is_not_loaded_for_another_load() -> None:
    asked = several(3)
    runner, state, search = PretendRunner(refusing), MemoryState(), ListedSearch(asked)

    events = list(profile(search, runner, state))

    refused = refusing(asked[0])
    assert runner.ran == asked[:1]
    assert search.answers == [(each, refused) for each in asked]
    assert [state.outcome_of(each) for each in asked] == [refused] * 3
    assert finished(events) == asked
    assert not any(isinstance(event, GivenUp) for event in events)


@pytest.mark.parametrize("successful", [1, 2])
def test_after_one_success_failures_never_end_the_run(successful: int) -> None:
    trials = several(9)
    failed = [load(asked) for asked in trials if load(asked) != successful]

    events = list(profile(ListedSearch(trials), PretendRunner(failing_at(*failed)), MemoryState()))

    assert finished(events) == trials
    assert not any(isinstance(event, GivenUp) for event in events)


def test_a_single_failure_does_not_give_up_the_model() -> None:
    events = list(profile(ListedSearch(several(1)), PretendRunner(failing), MemoryState()))

    assert [type(event) for event in events] == [TrialStarted, TrialFinished]


def test_the_same_trial_asked_twice_fails_once() -> None:
    first, second, third = several(3)
    runner = PretendRunner(failing_at(1))

    events = list(profile(ListedSearch([first, first, second, third]), runner, MemoryState()))

    assert runner.ran == [first, second, third]
    assert not any(isinstance(event, GivenUp) for event in events)


def test_a_success_of_an_earlier_run_counts() -> None:
    trials = several(4)
    state = MemoryState()
    state.record(trials[0], measurement(1.0))

    events = list(profile(ListedSearch(trials), PretendRunner(failing), state))

    assert finished(events) == trials


def test_failures_of_an_earlier_run_end_a_run_as_they_ended_that_one() -> None:
    trials = several(3)
    state = MemoryState()
    first = list(profile(ListedSearch(trials), PretendRunner(failing), state))
    runner = PretendRunner(succeeding)

    second = list(profile(ListedSearch(trials), runner, state))

    assert runner.ran == []
    assert finished(second) == finished(first) == trials[:2]
    assert second[-1] == GivenUp(2, failure(), resumed=True)


# -- resume is replay --------------------------------------------------------------------------


def odd_surface(trial: Trial) -> Outcome:
    """Some variants fail, some loads fail, and constraints are met at low loads only."""
    if short_name(trial) == "2" or (short_name(trial) == "3" and load(trial) > 4):
        return failure()
    return lawfully_growing(trial)


def odd_plateau(trial: Trial) -> Outcome:
    """The same with a throughput that ends to grow."""
    return failure() if "_config_2" in trial.variants else saturating(trial)


Scenario = tuple[Subject, SearchSettings, Respond]

SCENARIOS: dict[str, Scenario] = {
    "automatic": (
        subject(constraints=[latency_within(55)]),
        limits(instances=(1, 2), batch=(1, 4), concurrency=(1, 8)),
        odd_surface,
    ),
    "client batches": (
        subject(batch_sizes=(1, 2, 4), constraints=[latency_within(35)]),
        limits(instances=(1, 2), batch=(2, 4), concurrency=(1, 4)),
        odd_surface,
    ),
    "a variant that equals the default": (
        subject(
            model(
                max_batch_size=2,
                instance_group=[{"count": 1, "kind": "KIND_GPU"}],
                dynamic_batching={},
            )
        ),
        limits(instances=(1, 2), batch=(1, 4), concurrency=(1, 2)),
        odd_surface,
    ),
    "manual": (
        subject(
            parameters={"max_batch_size": [8, 4, 2], "instance_group": [None, [{"count": 2}]]},
            loads=(1, 2, 8),
        ),
        limits(),
        odd_surface,
    ),
    "quick": (
        subject(constraints=[latency_within(12)]),
        limits(mode=SearchMode.QUICK),
        odd_plateau,
    ),
    "optuna": (
        subject(constraints=[latency_within(25)]),
        limits(mode=SearchMode.OPTUNA, instances=(1, 3), batch=(1, 8), concurrency=(1, 8)),
        odd_plateau,
    ),
    "request rates": (
        subject(load_kind=LoadKind.REQUEST_RATE),
        limits(instances=(1, 2), batch=(1, 2), request_rate=(16, 64)),
        odd_plateau,
    ),
    "an ensemble": (subject(ensemble(model("a"), model("b"))), limits(), odd_plateau),
    "a BLS model": (
        subject(model("m", ensemble(model("a"), model("b"), name="e"), model("c"))),
        limits(concurrency=(1, 8)),
        odd_plateau,
    ),
    "adaptive": (
        subject(constraints=[latency_within(12)]),
        limits(mode=SearchMode.ADAPTIVE, instances=(1, 2), batch=(1, 8), concurrency=(1, 16)),
        odd_plateau,
    ),
    "several models": (
        together(
            subject(model("m"), constraints=[latency_within(15)]),
            subject(model("n", max_batch_size=0)),
        ),
        limits(concurrency=(1, 16)),
        odd_plateau,
    ),
}


for search_mode in SearchMode:
    where = limits(mode=search_mode, instances=(1, 2), batch=(1, 4), concurrency=(1, 8))
    SCENARIOS.setdefault(search_mode.value, (subject(), where, odd_plateau))


@pytest.fixture(params=list(SCENARIOS.values()), ids=list(SCENARIOS))
def scenario(request: pytest.FixtureRequest) -> Scenario:
    chosen: Scenario = request.param
    return chosen


def new_search(scenario: Scenario, state: MemoryState | ProfileState) -> Search:
    """The search as a new process would build it from the configuration and the state."""
    target, where, _ = scenario
    return search(target, where, names=VariantNames.known(state.profile.variants))


def uninterrupted(scenario: Scenario) -> list[Trial]:
    state = MemoryState()
    events = list(profile(new_search(scenario, state), PretendRunner(scenario[2]), state))
    return finished(events)


@small_and_full("every", 7, 1)
def test_a_resumed_run_continues_as_the_uninterrupted_one_would_have(
    scenario: Scenario, every: int
) -> None:
    whole = uninterrupted(scenario)
    distinct = list({trial.key: trial for trial in whole}.values())

    for measured in range(1, len(distinct), every):
        kept = Kept()
        runner = PretendRunner(scenario[2])
        interrupted = MemoryState(kept)
        for event in profile(new_search(scenario, interrupted), runner, interrupted):
            if isinstance(event, TrialFinished) and len(runner.ran) == measured:
                break
        resumed = MemoryState(kept)

        events = list(profile(new_search(scenario, resumed), runner, resumed))

        assert finished(events) == whole, f"interrupted after {measured} trials"
        assert len(runner.ran) == len(distinct), f"interrupted after {measured} trials"


@small_and_full("at_a_time", 5, 1, 2)
@pytest.mark.parametrize("saved", [False, True])
def test_a_run_in_small_pieces_measures_what_a_run_in_one_piece_does(
    scenario: Scenario, at_a_time: int, saved: bool, tmp_path: Path
) -> None:
    whole = uninterrupted(scenario)
    runner = PretendRunner(scenario[2])

    @contextmanager
    def piece() -> Iterator[ProfileState]:
        with ProfileState(tmp_path) as state:
            yield state
            if saved:
                state.save()

    events: list[Event] = []
    pieces = 0
    while finished(events) != whole:
        pieces += 1
        assert pieces <= len(whole), "the pieces do not add up"
        with piece() as state:
            before, events = len(runner.ran), []
            for event in profile(new_search(scenario, state), runner, state):
                events.append(event)
                if len(runner.ran) == before + at_a_time:
                    break

    assert len(runner.ran) == len({trial.key for trial in whole})


@pytest.mark.parametrize("retry_failed", [False, True])
def test_failures_are_run_again_on_resume_only_when_asked(retry_failed: bool) -> None:
    kept = Kept()
    trials = several(4)
    list(profile(ListedSearch(trials), PretendRunner(failing_at(2, 3)), MemoryState(kept)))
    runner = PretendRunner(succeeding)

    list(profile(ListedSearch(trials), runner, MemoryState(kept, retry_failed=retry_failed)))

    assert [load(trial) for trial in runner.ran] == ([2, 3] if retry_failed else [])
