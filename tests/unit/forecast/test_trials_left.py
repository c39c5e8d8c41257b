# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What is expected of a running search, held against what it then asks for.

The estimate of the time left, told outcomes of runs as long as real ones were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from benchmarks.simulated_executor import SimulatedExecutor
from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.settings import AdaptiveSettings, Budget, SearchMode, SearchSettings
from model_analyzer.domain.slots import Lane
from model_analyzer.domain.traffic import Arrivals, Traffic
from model_analyzer.domain.trials import Failure, FailureReason, Trial
from model_analyzer.forecast.run_plan import AROUND_S
from model_analyzer.forecast.time_left import (
    Durations,
    LanePart,
    Remaining,
    TimeLeft,
    TrialsLeft,
    TrialStage,
    stage_of,
)
from model_analyzer.noise.first_look import FIRST_LOOK_S, first_look_s
from model_analyzer.profiling.loop import TrialFinished, TrialStarted, profile
from model_analyzer.search.plan import Subject
from model_analyzer.search.refine import FINALISTS
from tests.contract.memory_state import MemoryState
from tests.sizes import small_and_full
from tests.unit import builders
from tests.unit.search.surfaces import (
    Respond,
    batch_limit,
    counts,
    growing,
    instances,
    latency_within,
    limits,
    load,
    measurement,
    saturating,
    search,
    sequence,
    subject,
    together,
)

BRUTE = limits(mode=SearchMode.BRUTE)
SMALL = limits(instances=(1, 4), batch=(1, 16), concurrency=(1, 64))


def filling(trial: Trial) -> Measurement:
    """Throughput grows with the load until all instances have full batches."""
    busy = min(load(trial) / (instances(trial) * max(batch_limit(trial), 1)), 1.0)
    (full,) = saturating(trial).models
    throughput = full.values["perf_throughput"] * busy
    return measurement(throughput, latency=1000 * load(trial) / throughput)


def expectation(target: Subject, settings: SearchSettings, **limit: Any) -> TrialsLeft:
    return TrialsLeft(target, replace(settings, adaptive=AdaptiveSettings(**limit)))


def left_after(
    share: float, target: Subject, settings: SearchSettings, respond: Respond, **limit: Any
) -> tuple[float, int]:
    """Trials left, as expected after that share of them, and in truth."""
    trials = sequence(search(target, settings, adaptive=AdaptiveSettings(**limit)), respond)
    expected = expectation(target, settings, **limit)
    count = round(len(trials) * share)
    for trial in trials[:count]:
        expected.record(trial, respond(trial))
    assert expected.outcomes == count
    return expected.remaining().trials, len(trials) - count


@pytest.mark.parametrize("respond", [growing, filling, saturating])
@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
def test_a_brute_search_is_expected_to_continue_as_before(respond: Respond, share: float) -> None:
    expected, actual = left_after(share, subject(), SMALL, respond)

    assert expected == pytest.approx(actual, rel=0.25)


@dataclass
class Observed:
    """What was expected after each outcome of a run with several slots, and the stage of each trial
    when it started.
    """

    left: list[float]
    stages: list[TrialStage]


def observed(
    slots: int, target: Subject, settings: SearchSettings, respond: Respond, *, resumed: int = 0
) -> Observed:
    """A whole run; its first `resumed` outcomes are from an earlier run."""
    executor = SimulatedExecutor(
        slots, lambda trial, _: respond(trial), lambda trial, _: 1 + int(trial.key[:4], 16) % 7
    )
    expected = TrialsLeft(target, settings, slots=slots)
    seen = Observed([], [])
    count = 0
    for event in profile({target.lane: search(target, settings)}, executor, MemoryState()):
        if isinstance(event, TrialStarted) and count >= resumed:
            seen.stages.append(stage_of(event.trial))
        elif isinstance(event, TrialFinished):
            count += 1
            assert event.slot is not None
            expected.record(event.trial, event.outcome)
            seen.left.append(expected.remaining().trials)
    return seen


@pytest.mark.parametrize("resumed", [0, 9])
@small_and_full("respond", filling, growing, saturating)
@small_and_full("slots", 4, 2, 8)
def test_with_several_slots_a_brute_search_is_expected_to_continue_as_before(
    slots: int, respond: Respond, resumed: int
) -> None:
    seen = observed(slots, subject(), SMALL, respond, resumed=resumed)

    assert set(seen.stages) == {TrialStage.SEARCH}
    for share in (0.25, 0.5, 0.75):
        count = round(len(seen.left) * share)
        left = len(seen.left) - count - 1
        within = 0.9 if respond is saturating else 0.35  # several stop early before any tells
        assert seen.left[count] == pytest.approx(left, rel=within, abs=slots)
    assert seen.left[-1] < 2 * slots + 1


def test_with_several_slots_an_adaptive_search_is_expected_to_take_its_higher_limit() -> None:
    settings = limits(mode=SearchMode.ADAPTIVE)

    expected = [TrialsLeft(subject(), settings, slots=slots) for slots in (1, 4)]

    assert [each.most_trials for each in expected] == [27, 30]
    assert [each.remaining().trials for each in expected] == [27, 30]


@pytest.mark.parametrize("slots", [1, 4])
def test_of_a_list_all_is_expected_at_any_time(slots: int) -> None:
    target = subject(loads=(1, 2, 4, 8), parameters=counts(1, 2, 3, 4, 5))

    seen = observed(slots, target, SMALL, growing)

    assert seen.left == [*range(6 * 4 - 1, -1, -1)]


def test_a_refinement_begins_when_all_sweeps_are_over() -> None:
    seen = observed(4, subject(constraints=[latency_within(300)]), SMALL, growing)

    turn = seen.stages.index(TrialStage.REFINEMENT)
    assert set(seen.stages[:turn]) == {TrialStage.SEARCH}
    assert set(seen.stages[turn:]) == {TrialStage.REFINEMENT}


def test_with_constraints_the_refinement_is_expected_too() -> None:
    target = subject(constraints=[latency_within(300)])

    expected, actual = left_after(0.25, target, SMALL, growing)

    assert expected == pytest.approx(actual, rel=0.25)


def test_of_a_list_all_is_expected() -> None:
    target = subject(loads=(1, 2, 4), parameters=counts(1, 2, 3))

    expected = expectation(target, SMALL)

    assert expected.remaining().trials == 4 * 3
    assert expected.remaining().loads == 4


def test_a_list_too_long_to_be_made_is_expected_whole() -> None:
    settings = limits(instances=(1, 10**6))
    expected = expectation(subject(), settings)
    chosen = search(subject(), settings)
    assert expected.remaining().trials == expected.most_trials == (10**6 * 8 + 1) * 11

    trial = chosen.ask()
    assert trial is not None
    assert stage_of(trial) is TrialStage.SEARCH
    expected.record(trial, growing(trial))

    assert expected.remaining().trials == (10**6 * 8 + 1) * 11 - 1


@pytest.mark.parametrize(
    ("reason", "fails_at", "asked"),
    [("MODEL_NOT_LOADED", 1, 4), ("REQUEST_FAILED", 1, 4), ("REQUEST_FAILED", 2, 12)],
)
def test_a_failure_ends_its_sweep(reason: str, fails_at: int, asked: int) -> None:
    def respond(trial: Trial) -> Outcome:
        failed = Failure(reason=FailureReason[reason], message="")
        return failed if load(trial) == fails_at else growing(trial)

    target = subject(loads=(1, 2, 4), parameters=counts(1, 2, 3))
    trials = sequence(search(target, SMALL), respond)
    expected, left = expectation(target, SMALL), []
    for trial in trials:
        expected.record(trial, respond(trial))
        left.append(expected.remaining().trials)

    assert len(trials) == asked
    rest = asked - asked // 4  # after the first of four sweeps
    assert rest <= left[asked // 4 - 1] <= 3 * 3
    assert left[-1] == pytest.approx(0)


def test_products_of_several_models_are_listed() -> None:
    target = together(subject(loads=(1, 2)), subject(loads=(4,)))

    assert expectation(target, SMALL).remaining().trials == len(
        sequence(search(target, SMALL), saturating)
    )


@pytest.mark.parametrize("share", [0.25, 0.6])
def test_a_quick_search_is_expected_to_climb_and_sweep(share: float) -> None:
    quick = limits(mode=SearchMode.QUICK, concurrency=(1, 64))

    expected, actual = left_after(share, subject(), quick, filling)

    assert expected == pytest.approx(actual, rel=0.3)


def test_the_sweep_behind_a_quick_search_is_a_refinement() -> None:
    quick = limits(mode=SearchMode.QUICK, concurrency=(1, 64))
    trials = sequence(search(subject(), quick), saturating)
    expected = expectation(subject(), quick)
    stages = []
    for trial in trials:
        stages.append(stage_of(trial))
        expected.record(trial, saturating(trial))

    turn = stages.index(TrialStage.REFINEMENT)
    assert set(stages[:turn]) == {TrialStage.SEARCH}
    assert set(stages[turn:]) == {TrialStage.REFINEMENT}
    assert expected.remaining().trials < 1


def test_an_adaptive_search_stays_within_its_limit() -> None:
    settings = limits(mode=SearchMode.ADAPTIVE, concurrency=(1, 64))

    expected, actual = left_after(0.25, subject(), settings, saturating, max_trials=8)

    assert 0 < expected <= 6
    assert expected == pytest.approx(actual, abs=2)


def test_a_search_at_its_limit_has_no_trials_left() -> None:
    settings = limits(mode=SearchMode.ADAPTIVE, concurrency=(1, 64))
    trials = sequence(
        search(subject(), settings, adaptive=AdaptiveSettings(max_trials=4)), saturating
    )
    expected = expectation(subject(), settings, max_trials=4)
    for trial in trials:
        expected.record(trial, saturating(trial))

    assert expected.remaining().trials == 0
    assert expected.remaining().loads == 0


def test_an_optuna_search_is_expected_to_wait_for_a_better_one() -> None:
    settings = limits(mode=SearchMode.OPTUNA, sweeps=False, concurrency=(1, 64))
    trials = sequence(search(subject(), settings), filling)
    expected = expectation(subject(), settings)

    assert expected.most_trials is not None
    assert len(trials) / 2 <= expected.remaining().trials <= expected.most_trials
    for trial in trials:
        expected.record(trial, filling(trial))
    assert expected.remaining().trials <= 6  # it might have gone on


def test_the_best_measured_again_are_finalists() -> None:
    settings = limits(mode=SearchMode.ADAPTIVE, concurrency=(1, 64))
    trials = sequence(
        search(subject(), settings, adaptive=AdaptiveSettings(max_trials=24)), saturating
    )

    repeated = [trial for trial in trials if trial.repetition]

    assert repeated
    assert {stage_of(trial) for trial in repeated} == {TrialStage.FINALISTS}


def one_round(trial: Trial) -> Measurement:
    """A second of a variant that is clearly better with each further request in flight, and with
    a configuration of its own.
    """
    (work,) = trial.workloads
    rate = 100.0 * load(trial) / (3 if work.variant.name.endswith("default") else 1)
    return builders.one_round([10.0] * int(rate), 1.0, windows=[rate] * 8)


def test_rivals_of_the_best_are_expected_while_others_are_not_measured() -> None:
    target = subject(loads=(1, 2, 4, 8, 16), parameters=counts(1), in_rounds=True)
    trials = sequence(search(target, BRUTE), one_round)
    expected = TrialsLeft(target, BRUTE)

    assert expected.remaining().trials == len(trials) + 2 * 3
    assert expected.remaining().longer_s > 2 * 3  # they take longer
    for trial in trials[:4]:
        expected.record(trial, one_round(trial))
    assert expected.remaining().trials == len(trials) - 4 + 2 * 3


def equal(trial: Trial) -> Measurement:
    """A round of a variant that is as good as any other one."""
    seconds = trial.round_s or 1.0
    random = Random(trial.key)
    rates = [100.0 * random.uniform(0.99, 1.01) for _ in range(8)]
    return builders.one_round([10.0] * round(100 * seconds), seconds, windows=rates)


def test_once_they_are_measured_again_the_rounds_of_the_finalists_are_known() -> None:
    target = subject(loads=(1, 2, 4, 8), parameters=counts(1), in_rounds=True)
    trials = sequence(search(target, BRUTE), equal)
    expected = TrialsLeft(target, BRUTE)
    left = []
    for trial in trials:
        expected.record(trial, equal(trial))
        left.append(expected.remaining().trials)

    again = len([trial for trial in trials if trial.repetition])
    assert again == 3 * FINALISTS
    first, others = left[-again:][: FINALISTS - 1], left[-2 * FINALISTS :]
    assert left[-again - 1] == 2 * FINALISTS
    assert first == [6, 4, 2]  # this round, and as much once more
    assert others == [3, 2, 1, 4, 3, 2, 1, 0]


def test_no_more_rivals_are_expected_than_there_are_trials() -> None:
    alone = subject(loads=(4,), parameters=counts(1), in_rounds=True)
    listed = subject(loads=(1, 2, 4, 8, 16), parameters=counts(1))

    assert expectation(alone, BRUTE).remaining().trials == 2 + 2 * 2
    assert expectation(listed, BRUTE).remaining().trials == 10  # it has no rounds


def test_nothing_is_left_once_all_are_measured_and_the_best_is_clear() -> None:
    target = subject(loads=(1, 2, 4, 8), parameters=counts(1), in_rounds=True)
    trials = sequence(search(target, BRUTE), one_round)
    expected = TrialsLeft(target, BRUTE)
    for trial in trials:
        expected.record(trial, one_round(trial))

    assert not any(trial.repetition for trial in trials)
    assert expected.remaining().trials == 0


def test_more_and_longer_rounds_are_expected_under_random_arrivals() -> None:
    plain = subject(loads=(1, 2, 4, 8), parameters=counts(1), in_rounds=True)
    expected = []
    for arrivals in (Arrivals.CONSTANT, Arrivals.POISSON):
        (model,) = plain.models
        settings = replace(model.settings, traffic=Traffic(arrivals=arrivals))
        target = replace(plain, models=(replace(model, settings=settings),))
        expected.append(expectation(target, BRUTE).remaining())

    steady, random = expected
    assert random.trials == steady.trials + 3
    assert random.longer_s > 2 * steady.longer_s


def test_the_rest_is_estimated_even_if_a_metric_is_missing() -> None:
    target = subject(constraints=[latency_within(300)])
    expected = expectation(target, SMALL)
    for trial in sequence(search(target, SMALL), growing)[:8]:
        expected.record(trial, measurement(100.0 * load(trial), latency=5.0 * load(trial)))

    assert expected.remaining().trials > 8


BOUNDED = limits(instances=(1, 3), batch=(1, 16), concurrency=(8, 64))
QUICK = limits(mode=SearchMode.QUICK, concurrency=(8, 64))
ADAPTIVE = limits(mode=SearchMode.ADAPTIVE, instances=(1, 5), concurrency=(1, 256))

# Seconds for a trial, more for each load, and how both vary: a quiet machine, windows that are
# extended every fifth time, and a machine that is three times slower than assumed.
MACHINES: dict[str, Callable[[Random, float], float]] = {
    "quiet": lambda _, load: 1.4 + load,
    "extends windows": lambda random, load: 1.5 * random.choice((1, 1, 1, 1, 3)) + 1.2 * load,
    "slow": lambda random, load: 3 * (1.4 + load) * random.uniform(0.8, 1.2),
}


def part(
    target: Subject,
    settings: SearchSettings,
    *,
    trial_s: float = 1.4,
    budget_s: float | None = None,
) -> LanePart:
    expectation = TrialsLeft(
        target, replace(settings, adaptive=AdaptiveSettings(budget_s=budget_s))
    )
    return LanePart(expectation, Durations(trial_s, 1.0), budget=Budget(budget_s))


def lasting(trials: Sequence[Trial], machine: Callable[[Random, float], float]) -> Iterator[float]:
    """How long each takes there."""
    random = Random(7)
    for before, trial in pairwise([None, *trials]):
        assert trial is not None
        changes = before is None or before.content != trial.content
        yield machine(random, 1.0 if changes else 0.0)


def error_after_a_quarter(
    target: Subject, settings: SearchSettings, machine: Callable[[Random, float], float]
) -> float:
    trials = sequence(search(target, settings), saturating)
    seconds = [*lasting(trials, machine)]
    estimate = TimeLeft([part(target, settings)])
    estimate.begin(0)
    count = 0
    while sum(seconds[: count + 1]) < sum(seconds) / 4:
        estimate.record(trials[count], saturating(trials[count]), seconds[count])
        count += 1
    return estimate.seconds() / sum(seconds[count:]) - 1


@small_and_full("machine", *MACHINES.values())
@pytest.mark.parametrize(
    ("target", "settings", "within"),
    [
        (subject(), BOUNDED, 0.25),
        (subject(constraints=[latency_within(20)]), BOUNDED, 0.3),
        (subject(loads=(1, 4, 16)), BOUNDED, 0.25),
        # few trials, and the search does not know itself where it will go
        (subject(), QUICK, 0.5),
        (subject(), ADAPTIVE, 0.4),
    ],
    ids=["brute", "constraints", "listed loads", "quick", "adaptive"],
)
def test_after_a_quarter_of_the_run_it_is_about_right(
    target: Subject,
    settings: SearchSettings,
    within: float,
    machine: Callable[[Random, float], float],
) -> None:
    assert abs(error_after_a_quarter(target, settings, machine)) <= within


def slow_server(trial: Trial) -> Measurement:
    """Each instance needs 0.3 s for a request."""
    flight, seconds = load(trial), trial.round_s
    rate = min(flight, instances(trial)) / 0.3
    seconds = seconds or first_look_s(rate, flight)
    random = Random(trial.key)
    measured = builders.one_round(
        [1000 * flight / rate * random.uniform(0.98, 1.02) for _ in range(round(rate * seconds))],
        seconds,
        windows=[rate * random.uniform(0.98, 1.02) for _ in range(8)],
    )
    return replace(measured, duration_s=seconds + flight / rate + 0.5)


def test_a_slow_model_needs_longer_at_higher_loads_and_for_its_finalists() -> None:
    """Of the 236 s of the run, the first trial takes 5, and the finalists 109."""
    target = subject(loads=(1, 4, 16, 32), parameters=counts(2, 3), in_rounds=True)
    trials = sequence(search(target, BOUNDED), slow_server)
    seconds = [slow_server(trial).duration_s for trial in trials]
    assert any(trial.repetition for trial in trials)
    estimate = TimeLeft([part(target, BOUNDED, trial_s=FIRST_LOOK_S + AROUND_S)])
    estimate.begin(0)

    for count, trial in enumerate(trials, 1):
        estimate.record(trial, slow_server(trial), seconds[count - 1])
        left = sum(seconds[count:])
        assert 0.2 * left <= estimate.seconds() <= 1.7 * left + 3


def test_at_the_end_only_the_time_for_reports_is_left() -> None:
    target = subject(loads=(1, 2))
    estimate = TimeLeft([part(target, BOUNDED)], after_s=2.0)
    estimate.begin(0)
    for trial in sequence(search(target, BOUNDED), saturating):
        estimate.record(trial, saturating(trial), 1.0)

    assert estimate.seconds() == pytest.approx(2.0)


def test_a_budget_bounds_it() -> None:
    bounded = TimeLeft([part(subject(), ADAPTIVE, trial_s=10.0, budget_s=30.0)])
    bounded.begin(0)

    assert bounded.seconds() == 30.0


def test_a_budget_bounds_the_number_of_trials() -> None:
    target = subject()
    bounded = TimeLeft([part(target, ADAPTIVE, trial_s=2.0, budget_s=30.0)])
    bounded.begin(0)
    assert 30 / (2 + 1) <= bounded.trials() <= 30 / 2

    *measured, last = sequence(search(target, ADAPTIVE), saturating)[:4]
    for trial in measured:
        bounded.record(trial, replace(saturating(trial), duration_s=9.0), 9.0)
    assert 3 < bounded.trials() < 4

    bounded.record(last, replace(saturating(last), duration_s=9.0), 9.0)
    assert bounded.trials() == 4


def test_later_models_are_as_slow_as_this_one() -> None:
    first, second = subject(loads=(1, 2, 4, 8)), subject(loads=(1, 2))
    estimate = TimeLeft(
        [
            replace(part(each, BOUNDED), lane=Lane(name))
            for name, each in (("first", first), ("second", second))
        ]
    )
    estimate.begin(0)
    before = estimate.seconds()
    for trial in sequence(search(first, BOUNDED), saturating)[:3]:
        estimate.record(trial, saturating(trial), 14.0)

    assert estimate.seconds() > 3 * before


def test_resumed_outcomes_have_no_durations() -> None:
    target = subject(loads=(1, 2, 4, 8))
    trials = sequence(search(target, BOUNDED), saturating)
    estimate = TimeLeft([part(target, BOUNDED)])
    estimate.begin(0)

    estimate.record(trials[0], saturating(trials[0]), None)

    # the variant is still to be loaded for the next one
    rest = len(trials) - 1
    assert estimate.trials() == len(trials)
    assert estimate.seconds() >= rest * 1.4


def test_durations_start_with_assumptions() -> None:
    durations = Durations(2.0, 1.0)

    assert durations.of(Remaining(10, 3)) == pytest.approx(23.0)
    assert durations.pace == 1.0


def test_durations_separate_loads_from_trials() -> None:
    durations = Durations(2.0, 1.0)
    for _ in range(30):
        durations.add(3.0, is_loaded=True)
        durations.add(8.0, is_loaded=False)

    assert durations.of(Remaining(10, 3)) == pytest.approx(7 * 3 + 3 * 8, rel=0.05)
    assert durations.of(Remaining(10, 3, 20)) - durations.of(Remaining(10, 3)) == 20


def test_what_was_never_loaded_is_as_slow_as_the_rest() -> None:
    durations = Durations(2.0, 1.0)
    for _ in range(30):
        durations.add(6.0, is_loaded=True)

    assert durations.of(Remaining(10, 10)) == pytest.approx(90.0, rel=0.05)
