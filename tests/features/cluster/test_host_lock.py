# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Two runs never measure on one host; slots of one run do."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from model_analyzer.errors import ClusterError
from model_analyzer.features.cluster.slot_worker import HostLock

HOLDER = """
import sys
from pathlib import Path
from model_analyzer.errors import ClusterError
from model_analyzer.features.cluster.slot_worker import HostLock
run, directory, wait_s = sys.argv[1:]
try:
    with HostLock(run, directories=[Path(directory)], wait_s=float(wait_s)):
        print("held", flush=True)
        sys.stdin.read()
except ClusterError as error:
    print(error, flush=True)
"""

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "locks"


@pytest.fixture
def start(directory: Path) -> Iterator[Start]:
    """Starts a process that takes the lock for a run and keeps it until its input ends."""
    processes = []

    def start(run: str, wait_s: float = 60) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, run, str(directory), str(wait_s)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def answer(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_another_run_is_refused_and_told_who_measures(directory: Path, start: Start) -> None:
    holder = start("one")
    assert answer(holder) == "held"

    with (
        pytest.raises(ClusterError) as raised,
        HostLock("two", directories=[directory], wait_s=0),
    ):
        pass

    assert str(raised.value) == (
        f"{os.uname().nodename}: in use by another run, process {holder.pid}; wait for it, or"
        " leave this host out with --slot-label"
    )


def test_slots_of_the_same_run_share_the_host(directory: Path, start: Start) -> None:
    first, second = start("one"), start("one")
    assert answer(first) == answer(second) == "held"
    first.kill()
    first.wait()

    with pytest.raises(ClusterError), HostLock("two", directories=[directory], wait_s=0):
        pass


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_death_of_the_last_slot_frees_the_host(
    directory: Path, start: Start, number: signal.Signals
) -> None:
    holders = [start("one"), start("one")]
    assert [answer(holder) for holder in holders] == ["held", "held"]
    other = start("two")
    for holder in holders:
        holder.send_signal(number)

    assert answer(other) == "held"


def test_a_child_of_a_slot_does_not_keep_the_lock(directory: Path, tmp_path: Path) -> None:
    with HostLock("one", directories=[directory]):
        child = subprocess.Popen(["sleep", "300"], close_fds=False)
    try:
        with HostLock("two", directories=[directory], wait_s=0):
            assert child.poll() is None
    finally:
        child.kill()
        child.wait()


def test_of_many_runs_at_once_one_holds_the_host_at_a_time(directory: Path, start: Start) -> None:
    waiting = {name: start(name) for name in "abcdef"}
    order: list[str] = []
    while waiting:
        time.sleep(0.2)  # so that several wait together
        held = [name for name, process in waiting.items() if _has_answered(process)]
        assert len(held) <= 1
        for name in held:
            process = waiting.pop(name)
            assert answer(process) == "held"
            process.communicate("")
            order.append(name)
    assert sorted(order) == list("abcdef")


def _has_answered(process: subprocess.Popen[str]) -> bool:
    assert process.stdout is not None
    return bool(select.select([process.stdout], [], [], 0)[0])


def test_releasing_twice_is_fine(directory: Path) -> None:
    lock = HostLock("one", directories=[directory])
    with lock:
        lock.release()
    lock.release()


def test_a_removed_lock_file_is_made_again(directory: Path) -> None:
    with HostLock("one", directories=[directory]):
        pass
    [file] = directory.iterdir()
    file.unlink()
    with HostLock("two", directories=[directory]):
        assert [path.name for path in directory.iterdir()] == [file.name]


def test_a_directory_that_is_not_ours_is_refused(directory: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    directory.symlink_to(tmp_path / "elsewhere")

    with (
        pytest.raises(ClusterError, match="is not a directory of this user"),
        HostLock("one", directories=[directory]),
    ):
        pass


def test_a_name_that_somebody_has_taken_does_not_stop_runs(directory: Path, tmp_path: Path) -> None:
    """Each of them goes to the same other place."""
    taken = tmp_path / "taken"
    taken.symlink_to(tmp_path)
    places = [taken, directory]

    with (
        HostLock("one", directories=places),
        pytest.raises(ClusterError, match="in use by another run"),
        HostLock("two", directories=places, wait_s=0),
    ):
        pass


def test_a_lock_file_that_is_a_link_is_refused(directory: Path, tmp_path: Path) -> None:
    with HostLock("one", directories=[directory]):
        pass
    [file] = directory.iterdir()
    file.unlink()
    file.symlink_to(tmp_path / "victim")

    with (
        pytest.raises(ClusterError, match="cannot be opened: Is a symbolic link"),
        HostLock("one", directories=[directory]),
    ):
        pass
    assert not (tmp_path / "victim").exists()
