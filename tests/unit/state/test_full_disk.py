# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A disk that is full: the run ends with one line, and what was recorded before is kept.

A limit on the size of files stands in for the full disk: writing beyond it fails half-way.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from model_analyzer.errors import CheckpointError
from model_analyzer.state.profile_state import ProfileState
from tests.unit.state.samples import (
    concurrencies,
    failure,
    measurement,
    rich_measurement,
    rich_trial,
    trial,
)


@contextmanager
def files_limited_to(size: int) -> Iterator[None]:
    """No file can grow beyond `size` bytes. Python ignores the signal that comes with it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("room", [0, 1, 100, 300])
def test_an_outcome_that_does_not_fit_leaves_the_journal_as_it_was(
    tmp_path: Path, room: int
) -> None:
    journal = tmp_path / "journal"
    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement())
        state.record(trial(2), failure())
        before = journal.read_bytes()

        with files_limited_to(len(before) + room), pytest.raises(CheckpointError) as caught:
            state.record(rich_trial(3), rich_measurement())

        assert journal.read_bytes() == before
        assert state.outcome_of(rich_trial(3)) is None
        assert state.outcome_of(trial(1)) == measurement()
        assert len(state.profile.records) == 2
    assert concurrencies(tmp_path) == [1, 2]
    message = str(caught.value)
    assert message.startswith(f"{journal}: cannot be written: File too large; ")
    assert "make room" in message
    assert "\n" not in message


def test_the_very_first_outcome_may_not_fit(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        with files_limited_to(50), pytest.raises(CheckpointError):
            state.record(trial(1), measurement())
        assert state.save() is None
        assert (tmp_path / "journal").read_bytes() == b""

    assert concurrencies(tmp_path) == []


def test_after_room_was_made_the_next_run_goes_on(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement())
        room = (tmp_path / "journal").stat().st_size + 10
        with files_limited_to(room), pytest.raises(CheckpointError):
            state.record(trial(2), measurement())

    with ProfileState(tmp_path) as state:
        state.record(trial(2), measurement())

    assert concurrencies(tmp_path) == [1, 2]


@pytest.mark.parametrize("room", [0, 1, 200, 500])
def test_a_checkpoint_that_does_not_fit_leaves_the_journal(tmp_path: Path, room: int) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement())
        state.record(trial(2), failure())
        journal = (tmp_path / "journal").read_bytes()

        with files_limited_to(room), pytest.raises(CheckpointError) as caught:
            state.save()

        assert (tmp_path / "journal").read_bytes() == journal
        assert {path.name for path in tmp_path.iterdir()} == {"journal", "lock"}
        assert state.newest is None
    assert concurrencies(tmp_path) == [1, 2]
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / '0.ckpt'}: cannot be written: File too large; ")
    assert str(tmp_path / "journal") in message
    assert "\n" not in message


def test_saving_works_again_after_making_room(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement())
        with files_limited_to(10), pytest.raises(CheckpointError):
            state.save()
        state.record(trial(2), measurement())

        assert state.save() == tmp_path / "0.ckpt"
        assert (tmp_path / "journal").read_bytes() == b""

    assert concurrencies(tmp_path) == [1, 2]


def test_earlier_checkpoints_survive_a_failed_save(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement())
        state.save()
        first = (tmp_path / "0.ckpt").read_bytes()
        state.record(trial(2), measurement())
        with files_limited_to(10), pytest.raises(CheckpointError):
            state.save()

    assert (tmp_path / "0.ckpt").read_bytes() == first
    assert not (tmp_path / "1.ckpt").exists()
    assert concurrencies(tmp_path) == [1, 2]


def test_no_space_left_is_said_in_the_words_of_the_system(tmp_path: Path, monkeypatch) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement())
        with monkeypatch.context() as patched:
            full = partial(open, "/dev/full", "wb")
            patched.setattr("model_analyzer.writing.open", lambda *_: full(), raising=False)

            with pytest.raises(CheckpointError, match="No space left on device"):
                state.save()

        assert concurrencies(tmp_path) == [1]
        assert state.save() == tmp_path / "0.ckpt"
    assert concurrencies(tmp_path) == [1]


def test_after_room_was_made_the_same_run_may_go_on(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        with files_limited_to(50), pytest.raises(CheckpointError):
            state.record(trial(1), measurement())
        state.record(trial(1), measurement())
        state.record(trial(2), measurement())

    assert concurrencies(tmp_path) == [1, 2]


def test_a_full_disk_at_the_start_is_reported_in_one_line_and_leaves_no_lock(
    tmp_path: Path,
) -> None:
    with files_limited_to(0), pytest.raises(CheckpointError, match="cannot be written"):
        ProfileState(tmp_path)

    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement())
    assert concurrencies(tmp_path) == [1]
