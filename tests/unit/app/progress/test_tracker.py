# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a tracker makes of a run."""

from __future__ import annotations

import pytest

from model_analyzer.app.progress.events import (
    BestChanged,
    ModelFinished,
    Phase,
    PhaseStarted,
    TrialEnded,
    TrialStarted,
)
from model_analyzer.domain.trials import Failure
from tests.unit.cli.progress.runs import Kept, in_windows, listed, play_run
from tests.unit.search.surfaces import measurement


def test_each_change_of_the_best_is_an_event_with_its_gain() -> None:
    kept = Kept()
    play_run(kept)

    best = [event for event in kept.events if isinstance(event, BestChanged)]

    values = [event.measurement.value("perf_throughput") for event in best]
    assert values == [100.0, 140.0, 210.0]
    assert [event.gain and event.gain.percent for event in best] == [None, None, 50.0]
    assert best[-1].shortfall_percent == 0


@pytest.mark.parametrize(("spread", "is_clear"), [(0.01, True), (0.3, False)])
def test_a_gain_is_clear_only_if_it_is_larger_than_its_noise(spread: float, is_clear: bool) -> None:
    kept = Kept()
    play_run(kept, outcomes=[in_windows(100.0, spread)] * 3 + [in_windows(125.0, spread)])

    *_, last = (event for event in kept.events if isinstance(event, BestChanged))
    assert last.gain is not None
    assert last.gain.percent == pytest.approx(25)
    assert last.gain.is_clear == is_clear


def test_a_trial_that_misses_the_constraints_has_its_shortfall() -> None:
    kept = Kept()
    play_run(kept, outcomes=[measurement(100.0, latency=120.0)])

    (best,) = (event for event in kept.events if isinstance(event, BestChanged))
    assert best.shortfall_percent == 50.0


def test_phases_numbers_and_failures() -> None:
    kept = Kept()
    play_run(kept)

    phases = [event.phase for event in kept.events if isinstance(event, PhaseStarted)]
    assert phases == [Phase.STARTING_SERVER, Phase.MEASURING, Phase.REPORTS]
    started = [event for event in kept.events if isinstance(event, TrialStarted)]
    assert [event.number for event in started] == [1, 2, 3, 4, 5]
    assert {event.expected_trials for event in started} == {6}
    ended = [event.outcome for event in kept.events if isinstance(event, TrialEnded)]
    (failed,) = (outcome for outcome in ended if isinstance(outcome, Failure))
    assert failed.message == "m did not load"
    (finished,) = (event for event in kept.events if isinstance(event, ModelFinished))
    assert (finished.trials, finished.failures, finished.given_up) == (5, 1, False)


def test_events_have_the_time_left() -> None:
    kept = Kept()
    play_run(kept)

    left = [event.time_left_s for event in kept.events if isinstance(event, TrialEnded)]
    # of six trials of two seconds
    assert left[:4] == pytest.approx([10.0, 8.0, 6.0, 4.0], rel=0.25)


def test_resumed_trials_count_and_are_not_started() -> None:
    kept = Kept()
    play_run(kept, resumed=2)

    started = [event.number for event in kept.events if isinstance(event, TrialStarted)]
    assert started == [3, 4, 5]
    resumed = [event.resumed for event in kept.events if isinstance(event, TrialEnded)]
    assert resumed == [True, True, False, False, False]


def test_an_objective_other_than_throughput_decides() -> None:
    kept = Kept()
    target = listed(objective="perf_latency_p99", constraints=())
    play_run(kept, target, [measurement(100.0, latency=9.0), measurement(900.0, latency=12.0)])

    best = [event for event in kept.events if isinstance(event, BestChanged)]
    assert [event.measurement.value("perf_latency_p99") for event in best] == [9.0]
