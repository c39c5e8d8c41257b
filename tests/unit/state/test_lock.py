# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""One writer at a time: a second one is told who the first is, and the dead hold no lock."""

from __future__ import annotations

import fcntl
import os
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from model_analyzer.errors import CheckpointError
from model_analyzer.state.checkpoint import load, load_existing
from model_analyzer.state.lock import Lock, living_owner
from model_analyzer.state.profile_state import ProfileState
from tests.unit.state.processes import acknowledged, kill, writer
from tests.unit.state.samples import failure, measurement, trial


def refusal(directory: Path) -> str:
    """The message for a second writer."""
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


def test_a_checkpoint_says_whether_a_run_writes_beside_it(tmp_path: Path) -> None:
    with writer(tmp_path, first=1) as process:
        assert process.stdout is not None
        process.stdout.readline()  # it has recorded a trial
        assert load_existing(tmp_path).profile.is_growing
        kill(process)
    assert not load_existing(tmp_path).profile.is_growing


def test_only_a_fresh_heartbeat_shows_an_owner_elsewhere(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    lock.write_text("process 1 on another-machine\n")
    assert living_owner(lock) == "process 1 on another-machine"
    os.utime(lock, (0, 0))
    assert living_owner(lock) == ""


def test_a_refused_writer_leaves_nothing_open(tmp_path: Path) -> None:
    with ProfileState(tmp_path):
        before = os.listdir("/proc/self/fd")
        refusal(tmp_path)
        assert os.listdir("/proc/self/fd") == before


def test_the_message_does_not_name_a_dead_owner(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    lock.write_text(f"process 4194304 on {'long-name-' * 12}\n")
    os.utime(lock, (0, 0))

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


def test_an_owner_on_another_machine_that_shows_life_is_respected(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text("process 17 on elsewhere\n")

    assert refusal(tmp_path) == (
        f"{tmp_path}: in use by another run (process 17 on elsewhere);"
        " wait for it, or choose another --checkpoint-directory"
    )


def test_an_owner_on_another_machine_that_shows_no_life_is_dead(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    lock.write_text("process 17 on elsewhere\n")
    a_while_ago = time.time() - 61
    os.utime(lock, (a_while_ago, a_while_ago))

    with ProfileState(tmp_path):
        assert lock.read_text() == f"process {os.getpid()} on {socket.gethostname()}\n"


def test_an_owner_updates_the_time_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    lock = Lock(path, heartbeat_s=0.01)
    os.utime(path, (0, 0))
    deadline = time.monotonic() + 30
    while path.stat().st_mtime == 0:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    lock.release()


# -- the file goes with its owner ----------------------------------------------------------------


def test_who_leaves_takes_the_file_along(tmp_path: Path) -> None:
    with ProfileState(tmp_path):
        assert {path.name for path in tmp_path.iterdir()} == {"journal", "lock"}

    assert [*tmp_path.iterdir()] == []


def test_a_killed_owner_leaves_files_that_are_no_obstacle(tmp_path: Path) -> None:
    with writer(tmp_path, first=1) as process:
        assert process.stdout is not None
        process.stdout.readline()
        kill(process)
    assert {path.name for path in tmp_path.iterdir()} == {"journal", "lock"}

    with ProfileState(tmp_path) as state:
        state.save()

    assert [path.name for path in tmp_path.iterdir()] == ["0.ckpt"]


def test_who_has_opened_a_file_that_is_removed_meanwhile_tries_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Lock(tmp_path / "lock")
    really_lock = fcntl.flock

    def locked_after_the_first_has_left(file: int, operation: int) -> None:
        first.release()
        really_lock(file, operation)

    monkeypatch.setattr(fcntl, "flock", locked_after_the_first_has_left)
    second = Lock(tmp_path / "lock")

    assert (tmp_path / "lock").read_text().startswith(f"process {os.getpid()} on ")
    with pytest.raises(CheckpointError, match="in use by another run"):
        Lock(tmp_path / "lock")
    second.release()
    assert not (tmp_path / "lock").exists()


def test_a_lock_that_is_somebody_elses_by_now_stays(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    taken_for_dead = Lock(path)
    path.write_text("process 17 on elsewhere\n")
    taken_for_dead.release()
    assert path.read_text() == "process 17 on elsewhere\n"
    path.unlink()

    removed = Lock(path)
    path.unlink()
    other = Lock(path)
    removed.release()
    with pytest.raises(CheckpointError, match="in use by another run"):
        Lock(path)
    other.release()
    assert not path.exists()


def test_only_one_of_many_writers_has_the_lock(tmp_path: Path) -> None:
    inside: list[int] = []
    most: list[int] = []

    def come_and_go(number: int) -> None:
        turns = 0
        while turns < 20:
            try:
                lock = Lock(tmp_path / "lock")
            except CheckpointError:
                continue
            inside.append(number)
            most.append(len(inside))
            inside.remove(number)
            lock.release()
            turns += 1

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(come_and_go, range(6)))

    assert len(most) == 6 * 20
    assert set(most) == {1}
    assert [*tmp_path.iterdir()] == []
