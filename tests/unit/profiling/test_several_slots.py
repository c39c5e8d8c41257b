# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The loop with several trials under way: every search, losses, stops, and resuming; several kinds
of hardware: each search runs once on each kind, all kinds at the same time.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace

import pytest

from benchmarks.simulated_executor import SimulatedExecutor
from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.protocols import Search
from model_analyzer.domain.slots import Lane, Lost, Slot
from model_analyzer.domain.trials import Failure, FailureReason, ServerSetup, Trial
from model_analyzer.errors import ClusterError
from model_analyzer.profiling.loop import (
    MOST_LOSSES,
    Event,
    GivenUp,
    TrialFinished,
    TrialLost,
    TrialStarted,
)
from model_analyzer.profiling.loop import profile as measure_all
from model_analyzer.runner.executors.several_slots import ClusterExecutor, SlotLostError
from tests.contract.memory_state import Kept, MemoryState
from tests.fakes.cluster import Answer, FakeCluster
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
from tests.unit.search.surfaces import Respond, growing, load, search
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
            {LANE: ListedSearch([first, fourth, second])}, simulated(2, respond), MemoryState(kept)
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


H100, L4 = "1 x H100", "1 x L4"
GPUS = {H100: ("H100",), L4: ("L4",)}
ON_H100, ON_L4 = Lane("m", H100), Lane("m", L4)

# Searches that learn in different ways.
LEARNING = ("automatic", "quick", "optuna", "adaptive")


def placed(scenario: Scenario, kind: str) -> Scenario:
    """The scenario on a kind of hardware."""
    target, where, respond = scenario
    return replace(target, setup=ServerSetup(devices=GPUS[kind])), where, respond


def searches(scenario: Scenario, state: MemoryState) -> Mapping[Lane, Search]:
    """Its searches, as a new process would build them."""
    names = VariantNames.known(state.profile.variants)
    made = {}
    for kind in GPUS:
        target, where, _ = placed(scenario, kind)
        made[target.lane] = search(target, where, names=names)
    return made


def slots_of(
    kinds: Sequence[str],
    respond: Callable[[Trial], Outcome],
    seconds: Callable[[Trial, Slot], float] | None = None,
) -> SimulatedExecutor:
    return SimulatedExecutor(
        len(kinds), lambda trial, _: respond(trial), seconds or lognormal(0), kinds
    )


def listed(kind: str, count: int) -> list[Trial]:
    setup = ServerSetup(devices=GPUS[kind])
    return [replace(trial, setup=setup) for trial in several(count)]


def keys_of(trials: Sequence[Trial]) -> list[str]:
    return [trial.key for trial in trials]


def of_kind(events: Sequence[Event], kind: str) -> list[Trial]:
    """The finished trials on a kind."""
    return [trial for trial in finished(events) if trial.setup.kind == kind]


# -- every search ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LEARNING)
def test_each_kind_is_searched_as_if_it_were_alone(name: str) -> None:
    target, where, _ = SCENARIOS[name]
    scenario = target, where, odd_content  # names depend on the other kind, contents do not
    state = MemoryState()
    executor = slots_of((H100, L4, H100), odd_content)

    events = list(measure_all(searches(scenario, state), executor, state))

    for kind, slots in ((H100, 2), (L4, 1)):
        target, where, _ = placed(scenario, kind)
        expected = measure_all(
            {target.lane: search(target, where)},
            slots_of((kind,) * slots, odd_content),
            MemoryState(),
        )
        assert keys_of(of_kind(events, kind)) == keys_of(finished(list(expected)))


def test_trials_go_to_slots_of_their_kind_only() -> None:
    scenario = SCENARIOS["automatic"]
    state = MemoryState()

    events = list(
        measure_all(searches(scenario, state), slots_of((L4, H100, L4), scenario[2]), state)
    )

    places = [
        (event.trial.setup.kind, event.slot.kind)
        for event in events
        if isinstance(event, TrialStarted)
    ]
    assert {kind for kind, _ in places} == {H100, L4}
    assert all(kind == own for kind, own in places)


def test_all_kinds_are_measured_at_the_same_time() -> None:
    both = slots_of((H100, L4), growing, lambda *_: 1.0)
    lanes = {ON_H100: ListedSearch(listed(H100, 5)), ON_L4: ListedSearch(listed(L4, 7))}

    list(measure_all(lanes, both, MemoryState()))

    assert both.now_s == 1.0 + 7.0


@pytest.mark.parametrize("name", LEARNING)
@small_and_full("seed", 1, 2)
def test_each_kind_goes_on_where_it_was(name: str, seed: int) -> None:
    """Each repeats its own questions, and what was told between them."""
    draw = random.Random(f"{name} {seed}")
    scenario = SCENARIOS[name]
    respond, kept = CountingRespond(scenario[2]), Kept()
    lanes = [placed(scenario, kind)[0].lane for kind in GPUS]
    for _ in range(100):
        state = MemoryState(kept)
        asked = {lane: [each.key for each in state.asked(lane)] for lane in lanes}
        executor = slots_of((H100, L4, H100, L4, L4), respond, lognormal(seed))
        before = list(
            until(draw.randint(1, 20), measure_all(searches(scenario, state), executor, state))
        )
        for lane in lanes:
            repeated = [each.key for each in state.asked(lane)][: len(asked[lane])]
            assert repeated == asked[lane], "the search asked something else"
        if not started(before):
            break
    assert set(respond.measured.values()) == {1}


def test_only_kinds_with_several_slots_record_questions() -> None:
    scenario, kept = SCENARIOS["quick"], Kept()
    state = MemoryState(kept)

    list(measure_all(searches(scenario, state), slots_of((H100, L4, L4), scenario[2]), state))

    assert set(kept.asked) == {placed(scenario, L4)[0].lane}


def test_a_kind_that_comes_later_is_searched_from_its_start() -> None:
    scenario, kept = SCENARIOS["quick"], Kept()
    alone = placed(scenario, H100)
    state = MemoryState(kept)
    run_alone = measure_all(
        {alone[0].lane: search(alone[0], alone[1])}, slots_of((H100,) * 2, scenario[2]), state
    )
    first = list(run_alone)

    state = MemoryState(kept)
    events = list(
        measure_all(searches(scenario, state), slots_of((H100, H100, L4), scenario[2]), state)
    )

    assert {trial.setup.kind for trial in started(events)} == {L4}
    assert set(keys_of(of_kind(events, H100))) == set(keys_of(finished(first)))


# -- failures --------------------------------------------------------------------------------------


def test_a_kind_on_which_nothing_works_is_given_up_alone() -> None:
    def respond(trial: Trial) -> Outcome:
        if trial.setup.kind == L4:
            return Failure(reason=FailureReason.REQUEST_FAILED, message="requests failed")
        return growing(trial)

    lanes = {ON_H100: ListedSearch(listed(H100, 6)), ON_L4: ListedSearch(listed(L4, 6))}

    events = list(measure_all(lanes, slots_of((H100, L4), respond), MemoryState()))

    assert len(of_kind(events, H100)) == 6
    assert len(of_kind(events, L4)) == 2
    (given_up,) = (event for event in events if isinstance(event, GivenUp))
    assert given_up.kind == L4


def test_a_lost_trial_goes_to_another_host_of_its_kind() -> None:
    hosts: list[str] = []

    def measure(trial: Trial, slot: Slot) -> Outcome | Lost:
        if trial.setup.kind == L4:
            hosts.append(slot.host)
            return Lost("gone") if len(hosts) < 3 else growing(trial)
        return growing(trial)

    executor = SimulatedExecutor(4, measure, lambda *_: 1.0, (H100, L4, H100, L4))
    lanes = {ON_H100: ListedSearch(listed(H100, 3)), ON_L4: ListedSearch(listed(L4, 1))}

    events = list(measure_all(lanes, executor, MemoryState()))

    assert hosts[:2] in (["host 2", "host 4"], ["host 4", "host 2"])
    assert len(of_kind(events, L4)) == 1
    assert [type(event) for event in events].count(TrialLost) == 2


def cluster_of(script: dict[str, list[tuple[Answer, float]]]) -> FakeCluster:
    def measure(slot: str, trial: Trial) -> tuple[Answer, float]:
        return script[slot].pop(0) if script.get(slot) else (growing(trial), 1.0)

    return FakeCluster(measure)


def executor_of(cluster: FakeCluster, **kinds: str) -> ClusterExecutor:
    slots = [Slot(name=name, host=name, kind=kind) for name, kind in kinds.items()]
    return ClusterExecutor(cluster, slots, interruptible=nullcontext, clock=cluster.clock)


def test_a_kind_waits_for_its_only_slot_although_the_others_have_ended() -> None:
    cluster = cluster_of({"b": [(SlotLostError("it died"), 1.0)]})
    cluster.restarts["b"] = [(None, 60.0)]
    lanes = {ON_H100: ListedSearch(listed(H100, 2)), ON_L4: ListedSearch(listed(L4, 2))}

    events = list(measure_all(lanes, executor_of(cluster, a=H100, b=L4), MemoryState()))

    assert len(of_kind(events, H100)) == len(of_kind(events, L4)) == 2
    assert cluster.now_s > 60


def test_a_kind_without_slots_ends_the_run_after_the_others() -> None:
    cluster = cluster_of({"b": [(SlotLostError("it died"), 1.0)]})
    cluster.restarts["b"] = [(ClusterError("the disk is full"), 1.0)]
    lanes = {ON_H100: ListedSearch(listed(H100, 5)), ON_L4: ListedSearch(listed(L4, 2))}
    state = MemoryState()

    with pytest.raises(ClusterError, match="all slots with 1 x L4 were lost: .* run again"):
        list(measure_all(lanes, executor_of(cluster, a=H100, b=L4), state))

    assert [record.trial.setup.kind for record in state.profile.records] == [H100] * 5


def test_without_any_slot_the_run_ends_and_says_how_to_continue() -> None:
    cluster = cluster_of({"a": [(SlotLostError("it died"), 1.0)]})
    cluster.restarts["a"] = [(ClusterError("the disk is full"), 1.0)]
    lanes = {ON_H100: ListedSearch(listed(H100, 5))}

    with pytest.raises(ClusterError, match="all slots were lost: .* run again to continue"):
        list(measure_all(lanes, executor_of(cluster, a=H100), MemoryState()))


def test_the_third_loss_of_a_trial_is_recorded_before_its_last_slot_is_missed() -> None:
    cluster = cluster_of({"a": [(SlotLostError("it died"), 1.0)] * 3})
    lanes, state = {ON_H100: ListedSearch(listed(H100, 1))}, MemoryState()

    with pytest.raises(ClusterError, match="all slots were lost"):
        list(measure_all(lanes, executor_of(cluster, a=H100), state))

    (record,) = state.profile.records
    assert isinstance(record.outcome, Failure)
    assert record.outcome.reason is FailureReason.LOST


def test_a_run_that_stops_does_not_wait_for_slots() -> None:
    cluster = cluster_of({"a": [(SlotLostError("it died"), 1.0)]})
    cluster.restarts["a"] = [(None, 60.0)]
    events: list[Event] = []

    for event in measure_all(
        {ON_H100: ListedSearch(listed(H100, 3))},
        executor_of(cluster, a=H100),
        MemoryState(),
        is_stopping=lambda: bool(events),
    ):
        events.append(event)

    assert cluster.now_s < 60
