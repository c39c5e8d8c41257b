# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What breaks a law is said of every checkpoint that is read, whoever wrote it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.trials import Failure, FailureReason
from model_analyzer.noise.laws.case import DUE
from model_analyzer.results.flat_rows import pooled_rows
from model_analyzer.state.checkpoint import Checkpoint, read_file
from model_analyzer.state.format.codec import Encoder
from model_analyzer.state.format.header import Header
from model_analyzer.state.format.lines import encode
from model_analyzer.state.records import Records
from tests.unit.builders import measurement, one_round, trial
from tests.unit.noise.laws.cases import with_evidence


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
