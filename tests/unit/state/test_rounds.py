# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Rounds and measurements in perf_analyzer's own windows of the same trial; what breaks a law is
said of every checkpoint that is read, whoever wrote it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.trials import Failure, FailureReason, Trial
from model_analyzer.noise.laws import DUE
from model_analyzer.results.columns import pooled_rows
from model_analyzer.state.checkpoint import Checkpoint, load, read_file
from model_analyzer.state.format.codec import Encoder, encode
from model_analyzer.state.format.header import Header
from model_analyzer.state.node import NodeJournal
from model_analyzer.state.profile_state import ProfileState
from model_analyzer.state.records import Records
from tests.unit.builders import measurement, one_round, trial
from tests.unit.noise.laws.cases import with_evidence
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


def stored(tmp_path: Path, *outcomes: Measurement) -> Checkpoint:
    """A checkpoint with these measurements of the same trial, as an earlier version wrote it."""
    records, encoder = Records(), Encoder()
    for number, outcome in enumerate(outcomes):
        record = TrialRecord(trial=trial(repetition=number), outcome=outcome)
        for entry in encoder.record(record.trial.key, record):
            records.take(entry, encode(entry))
    path = tmp_path / "0.ckpt"
    path.write_bytes(Checkpoint(records=records, header=Header(uuid="u")).to_bytes())
    return read_file(path)


def test_a_doubt_is_told_of_a_stored_measurement(tmp_path: Path) -> None:
    read = stored(tmp_path, measurement(150, perf_latency_avg=10, requests=1000))
    (item,) = read.profile.measured
    (doubt,) = item.measurement.doubts
    assert doubt.law == "requests in flight"
    assert item.measurement.remarks == (doubt.sentence,)
    (row,) = pooled_rows(read.records.items())
    assert row["doubts"] == doubt.sentence


def test_a_stored_measurement_with_impossible_values_is_a_failure(tmp_path: Path) -> None:
    read = stored(tmp_path, measurement(150, -1.0))
    (failed,) = read.profile.failed
    assert failed.failure.reason is FailureReason.IMPOSSIBLE_VALUES
    assert "p99 Latency is -1 ms" in failed.failure.message
    # the file keeps what was measured: a law may change
    assert b'"perf_latency_p99":-1' in read.to_bytes()


def test_evidence_is_stored(tmp_path: Path) -> None:
    (item,) = stored(tmp_path, with_evidence(measurement(100, 5), DUE, 91.8)).profile.measured
    assert item.measurement.models[0].evidence == {DUE: 91.8}


def test_pooled_rounds_keep_the_doubts_about_each(tmp_path: Path) -> None:
    sound = one_round([10.0] * 1000, 10.0)
    (model,) = sound.models
    odd = replace(
        sound, models=(replace(model, values={**model.values, "perf_throughput": 130.0}),)
    )
    read = stored(tmp_path, sound, odd, sound, sound)
    assert not any(isinstance(record.outcome, Failure) for record in read.records)
    (row,) = pooled_rows(read.records.items())
    assert row["measurements"] == 4
    assert "130 infer/sec with an average latency of 10.0 ms" in str(row["doubts"])
