# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""GPUs in a checkpoint: the idle server's values, and whether a run uses the same ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from model_analyzer.domain.hardware import Device
from model_analyzer.state.checkpoint import load
from model_analyzer.state.profile_state import ProfileState
from tests.unit.state.samples import measurement, trial

IDLE = {"GPU-a": {"gpu_used_memory": 456.0, "gpu_power_usage": 70.5}, "GPU-b": {}}


def devices(*uuids: str) -> tuple[Device, ...]:
    return tuple(Device(uuid=uuid, name="H200", memory=1000.0) for uuid in uuids)


def run_on(directory: Path, *uuids: str, concurrency: int = 1, save: bool = True) -> None:
    """A run on these GPUs that measures one trial."""
    with ProfileState(directory) as state:
        state.describe(devices=devices(*uuids), host={})
        state.record(trial(concurrency), measurement())
        if save:
            state.save()


@pytest.mark.parametrize("save", [False, True])
def test_values_of_the_idle_server_come_back(tmp_path: Path, save: bool) -> None:
    with ProfileState(tmp_path) as state:
        state.record_server_only(IDLE)
        assert state.profile.server_only == IDLE
        state.record(trial(), measurement())
        if save:
            state.save()

    assert load(tmp_path).profile.server_only == IDLE
    with ProfileState(tmp_path) as state:
        assert state.profile.server_only == IDLE
        assert state.outcome_of(trial()) == measurement()


def test_they_are_kept_by_every_later_checkpoint(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record_server_only(IDLE)
        state.save()
    run_on(tmp_path)

    (tmp_path / "0.ckpt").unlink()
    assert load(tmp_path).profile.server_only == IDLE


def test_they_are_on_disk_before_anything_else_is_measured(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record_server_only(IDLE)
        assert load(tmp_path).profile.server_only == IDLE


def test_newer_ones_replace_older_ones(tmp_path: Path) -> None:
    newer = {"GPU-c": {"gpu_used_memory": 1.0}}
    with ProfileState(tmp_path) as state:
        state.record_server_only(IDLE)
        state.record_server_only(newer)

    assert load(tmp_path).profile.server_only == newer


def test_a_checkpoint_without_them_is_as_good(tmp_path: Path) -> None:
    run_on(tmp_path)

    lines = (tmp_path / "0.ckpt").read_text().splitlines()
    assert "server-only" not in [json.loads(line)["entry"] for line in lines]
    assert load(tmp_path).profile.server_only == {}
