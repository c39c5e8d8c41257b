# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""One writer at a time: a second one is told who the first is, and the dead hold no lock."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from model_analyzer.errors import CheckpointError
from model_analyzer.state.profile_state import ProfileState, load
from tests.unit.state.processes import acknowledged, kill, writer
from tests.unit.state.samples import failure, measurement, trial


def refusal(directory: Path) -> str:
    """What a second writer is told."""
    with pytest.raises(CheckpointError) as caught:
        ProfileState(directory)
    return str(caught.value)


def test_a_second_writer_is_refused_in_one_line_that_names_the_first(tmp_path: Path) -> None:
    with ProfileState(tmp_path):
        message = refusal(tmp_path)

    assert message == (
        f"{tmp_path}: in use by another run (process {os.getpid()} on {socket.gethostname()});"
        " wait for it, or choose another --checkpoint-directory"
    )


def test_the_directory_is_free_after_the_run(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(), measurement())
    with ProfileState(tmp_path) as state:
        assert state.outcome_of(trial()) == measurement()


def test_the_directory_is_free_after_a_run_that_broke_off(tmp_path: Path) -> None:
    def broken_off() -> None:
        with ProfileState(tmp_path) as state:
            state.record(trial(), measurement())
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        broken_off()

    with ProfileState(tmp_path) as state:
        assert state.outcome_of(trial()) == measurement()


def test_a_refused_writer_does_not_disturb_the_first(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement())
        first = refusal(tmp_path)
        state.record(trial(2), measurement())
        second = refusal(tmp_path)
        state.save()

    assert first == second
    assert len(load(tmp_path).profile.records) == 2


def test_a_refused_writer_leaves_nothing_open(tmp_path: Path) -> None:
    with ProfileState(tmp_path):
        before = os.listdir("/proc/self/fd")
        refusal(tmp_path)
        assert os.listdir("/proc/self/fd") == before


def test_of_a_dead_owner_nothing_is_left_in_the_message(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text(f"process 4194304 on {'long-name-' * 12}\n")

    with ProfileState(tmp_path):
        message = refusal(tmp_path)

    assert f"(process {os.getpid()} on {socket.gethostname()})" in message
    assert "long-name" not in message


def test_readers_are_never_blocked(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement())
        assert len(load(tmp_path).profile.records) == 1
        state.save()
        assert len(load(tmp_path).profile.records) == 1
        state.record(trial(2), failure())
        assert len(load(tmp_path).profile.records) == 2


def test_other_directories_are_not_locked(tmp_path: Path) -> None:
    with ProfileState(tmp_path / "a"), ProfileState(tmp_path / "b") as state:
        state.record(trial(), measurement())

    assert len(load(tmp_path / "b").profile.records) == 1


def test_a_writer_in_another_process_is_named_and_a_killed_one_holds_no_lock(
    tmp_path: Path,
) -> None:
    with writer(tmp_path, first=1) as process:
        assert process.stdout is not None
        process.stdout.readline()  # it has recorded a trial, so it holds the lock

        message = refusal(tmp_path)

        assert f"(process {process.pid} on {socket.gethostname()})" in message
        assert "\n" not in message
        kill(process)

    with ProfileState(tmp_path) as state:
        assert state.outcome_of(trial(1)) == measurement(1)
        assert str(os.getpid()) in refusal(tmp_path)


def test_a_writer_in_another_process_is_refused_while_this_one_writes(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement(1))
        with writer(tmp_path, first=100) as process:
            assert acknowledged(process) == []
            assert process.wait(timeout=30) == 1

    assert len(load(tmp_path).profile.records) == 1
