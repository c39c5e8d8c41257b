# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The estimate of the time left, told outcomes of runs as long as real ones were."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.settings import AdaptiveSettings, Budget, SearchMode, SearchSettings
from model_analyzer.domain.slots import Lane
from model_analyzer.domain.trials import Trial
from model_analyzer.forecast.run_plan import AROUND_S
from model_analyzer.forecast.time_left import Durations, LanePart, Remaining, TimeLeft, TrialsLeft
from model_analyzer.noise.first_look import FIRST_LOOK_S, first_look_s
from model_analyzer.search.plan import Subject
from tests.sizes import small_and_full
from tests.unit import builders
from tests.unit.search.surfaces import (
    counts,
    instances,
    latency_within,
    limits,
    load,
    saturating,
    search,
    sequence,
    subject,
)

BRUTE = limits(instances=(1, 3), batch=(1, 16), concurrency=(8, 64))
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
        (subject(), BRUTE, 0.25),
        (subject(constraints=[latency_within(20)]), BRUTE, 0.3),
        (subject(loads=(1, 4, 16)), BRUTE, 0.25),
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
    asked = search(target, BRUTE)
    trials = sequence(asked, slow_server)
    seconds = [slow_server(trial).duration_s for trial in trials]
    assert any(trial.repetition for trial in trials)
    estimate = TimeLeft([part(target, BRUTE, trial_s=FIRST_LOOK_S + AROUND_S)])
    estimate.begin(0)

    for count, trial in enumerate(trials, 1):
        estimate.record(trial, slow_server(trial), seconds[count - 1])
        left = sum(seconds[count:])
        assert 0.2 * left <= estimate.seconds() <= 1.7 * left + 3


def test_at_the_end_only_the_time_for_reports_is_left() -> None:
    target = subject(loads=(1, 2))
    estimate = TimeLeft([part(target, BRUTE)], after_s=2.0)
    estimate.begin(0)
    for trial in sequence(search(target, BRUTE), saturating):
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
            replace(part(each, BRUTE), lane=Lane(name))
            for name, each in (("first", first), ("second", second))
        ]
    )
    estimate.begin(0)
    before = estimate.seconds()
    for trial in sequence(search(first, BRUTE), saturating)[:3]:
        estimate.record(trial, saturating(trial), 14.0)

    assert estimate.seconds() > 3 * before


def test_resumed_outcomes_have_no_durations() -> None:
    target = subject(loads=(1, 2, 4, 8))
    trials = sequence(search(target, BRUTE), saturating)
    estimate = TimeLeft([part(target, BRUTE)])
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
