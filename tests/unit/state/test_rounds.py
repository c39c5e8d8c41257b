# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Rounds and measurements in perf_analyzer's own windows of the same trial."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.trials import Trial
from model_analyzer.state.checkpoint import load
from model_analyzer.state.node import NodeJournal
from model_analyzer.state.profile_state import ProfileState
from tests.unit.state.samples import failure, rich_measurement, rich_round, rich_trial

CAREFUL = rich_trial()
SHORT = replace(CAREFUL, round_s=0.0)
AGAIN = replace(SHORT, repetition=1, round_s=2.0)


def at(second: float, measured: Measurement) -> Measurement:
    return replace(measured, started=second)


FIRST, SECOND = at(1.0, rich_round()), at(2.0, rich_round())
OWN_WINDOWS = at(3.0, rich_measurement())


def outcomes(directory: Path) -> list[tuple[int, Outcome]]:
    """What a checkpoint directory has, by repetition."""
    records = load(directory).profile.records
    return sorted(
        ((each.trial.repetition, each.outcome) for each in records), key=lambda pair: pair[0]
    )


@pytest.mark.parametrize("later", [OWN_WINDOWS, failure()])
@pytest.mark.parametrize("saves", [True, False])
def test_a_round_becomes_a_later_repetition(tmp_path: Path, later: Outcome, saves: bool) -> None:
    with ProfileState(tmp_path) as state:
        state.record(SHORT, FIRST)
        state.record(AGAIN, SECOND)
        state.record(CAREFUL, later)
        if saves:
            state.save()
    assert outcomes(tmp_path) == [(0, later), (1, SECOND), (2, FIRST)]


def test_a_run_that_was_killed_before_the_replacement_keeps_no_second_copy(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(SHORT, FIRST)
        state.record(AGAIN, FIRST)  # set aside, and killed before the other outcome was stored
    with ProfileState(tmp_path) as state:
        assert state.outcome_of(CAREFUL) is None
        state.record(CAREFUL, OWN_WINDOWS)
    assert outcomes(tmp_path) == [(0, OWN_WINDOWS), (1, FIRST)]


def test_rounds_from_before_own_windows_answer_no_more(tmp_path: Path) -> None:
    third = at(4.0, rich_round())
    with ProfileState(tmp_path) as state:
        state.record(SHORT, FIRST)
        state.record(AGAIN, SECOND)
        state.record(CAREFUL, OWN_WINDOWS)
        assert state.outcome_of(SHORT) == OWN_WINDOWS
        assert state.outcome_of(AGAIN) is None
        state.record(AGAIN, third)
    with ProfileState(tmp_path) as state:
        assert state.outcome_of(AGAIN) == third
        assert state.outcome_of(replace(AGAIN, repetition=2)) is None
    assert [outcome for _, outcome in outcomes(tmp_path)] == [OWN_WINDOWS, third, FIRST, SECOND]


@pytest.mark.parametrize("late", [OWN_WINDOWS, at(0.5, rich_measurement()), SECOND])
def test_a_late_outcome_of_a_node_replaces_a_round_like_a_new_one(
    tmp_path: Path, late: Measurement
) -> None:
    with ProfileState(tmp_path) as state:
        state.record(SHORT, FIRST)
        stored_by_node(tmp_path, CAREFUL, late)
        state.fold()
    expected = [(0, OWN_WINDOWS), (1, FIRST)] if late is OWN_WINDOWS else [(0, FIRST)]
    assert outcomes(tmp_path) == expected


def stored_by_node(directory: Path, trial: Trial, outcome: Outcome) -> None:
    """A slot of a cluster node stores an outcome that its run does not get."""
    with NodeJournal(directory, "node-1") as journal:
        journal.record(trial, outcome)
