# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What killed guards leave behind is found by its mark, and removed; nothing else is."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from model_analyzer.errors import ServerError
from model_analyzer.runner import workspace
from model_analyzer.runner.process import Process
from model_analyzer.runner.server.endpoints import choose_endpoints
from model_analyzer.runner.workspace import (
    VARIABLE,
    Workspace,
    owner_of,
    remove_leftovers,
    shm_prefix,
    this_process,
)
from tests.adapter.test_local_server import SETTINGS
from tests.waiting import until

# a child that ignores SIGTERM, with a child of its own that nobody ends with it
STUB = "trap '' TERM; sleep 300 & sleep 300"

PARENT = """
import os, sys, time
from pathlib import Path
from model_analyzer.runner.workspace import shm_prefix
from model_analyzer.runner.process import Process
prefix = shm_prefix("0123abcd")
process = Process(["/bin/sh", "-c", {script!r} + " echo > /dev/shm/" + prefix + "region; wait"],
                  environment=dict(os.environ), output=Path({output!r}), shm_prefix=prefix)
print(process._guard.pid, prefix, flush=True)
time.sleep(300)
"""


def started(tmp_path: Path, mark) -> tuple[subprocess.Popen[str], int, int, Path]:
    """A run in a process of its own: that, the guard, a process behind it, its shared memory."""
    source = PARENT.format(script="sleep 300 &", output=str(tmp_path / "output.txt"))
    parent = subprocess.Popen(
        [sys.executable, "-c", source], env=mark.environment, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    guard, prefix = parent.stdout.readline().split()
    region = Path("/dev/shm", f"{prefix}region")
    until(region.exists)
    until(lambda: len(psutil.Process(int(guard)).children(recursive=True)) == 2)
    [stub] = psutil.Process(int(guard)).children(recursive=True)[1:]
    return parent, int(guard), stub.pid, region


def end(parent: subprocess.Popen[str]) -> None:
    assert parent.stdout is not None
    parent.kill()
    parent.wait()
    parent.stdout.close()


@pytest.fixture
def killed(tmp_path: Path, mark) -> tuple[int, Path]:
    """A run that was killed together with its guard: a process of it, and its shared memory."""
    parent, guard, stub, region = started(tmp_path, mark)
    os.kill(guard, 9)  # first: it would clean up if its parent were gone
    end(parent)
    until(lambda: not psutil.pid_exists(guard) or is_zombie(guard))
    return stub, region


def is_zombie(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_the_next_start_removes_leftovers_of_a_killed_run_and_guard(
    mark, killed: tuple[int, Path]
) -> None:
    stub, region = killed
    assert region.exists()
    assert not is_zombie(stub)

    with Workspace():
        pass

    until(lambda: is_zombie(stub))
    assert mark.gone()
    assert not region.exists()


def test_a_run_that_starts_meanwhile_does_not_remove_a_new_directory(monkeypatch) -> None:
    lock = fcntl.flock

    def after_a_sweep(file: int, operation: int) -> None:
        monkeypatch.setattr(fcntl, "flock", lock)
        workspace._sweep()
        lock(file, operation)

    monkeypatch.setattr(fcntl, "flock", after_a_sweep)
    with Workspace() as work:
        assert work.is_dir()


@pytest.mark.parametrize("name", ["a b", "$(touch it)", "a;b"])
def test_temporary_files_have_no_path_that_a_shell_would_interpret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / name).mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / name))

    with Workspace() as work:
        assert work.parent == Path("/tmp")


@pytest.mark.parametrize("has_ended", [False, True])
def test_a_guard_that_was_stopped_cleans_up_at_the_next_start(
    tmp_path: Path, mark, has_ended: bool
) -> None:
    parent, guard, stub, region = started(tmp_path, mark)
    os.kill(guard, signal.SIGSTOP)
    until(lambda: psutil.Process(guard).status() == psutil.STATUS_STOPPED)
    if has_ended:
        for child in psutil.Process(guard).children(recursive=True):
            child.kill()
    end(parent)
    until(lambda: is_zombie(stub) == has_ended)

    with Workspace():
        pass

    assert mark.gone()
    assert not region.exists()


def test_if_only_the_guard_is_killed_the_run_cleans_up(tmp_path: Path, mark) -> None:
    prefix = shm_prefix("0123abce")
    region = Path("/dev/shm", f"{prefix}region")
    with Process(
        ["/bin/sh", "-c", f"echo > {region}; {STUB}"],
        environment=mark.environment,
        output=tmp_path / "output.txt",
        shm_prefix=prefix,
    ) as process:
        until(lambda: len(process.tree()) == 3)
        until(region.exists)
        os.kill(process._guard.pid, 9)
        process.wait(60)
    assert mark.gone()
    assert not region.exists()


def test_processes_and_memory_of_others_stay(mark) -> None:
    of_a_live_run = Path("/dev/shm", f"{shm_prefix('0123abcf')}region")
    of_nobody = Path("/dev/shm", "ma_1_2_x")
    environments = [
        {**mark.environment, VARIABLE: this_process()},
        {**mark.environment, VARIABLE: "nonsense"},
        mark.environment,
    ]
    processes = [subprocess.Popen(["sleep", "300"], env=each) for each in environments]
    try:
        of_a_live_run.touch()
        of_nobody.touch()
        remove_leftovers()
        assert [process.poll() for process in processes] == [None] * 3
        assert of_a_live_run.exists()
        assert of_nobody.exists()
    finally:
        of_a_live_run.unlink()
        of_nobody.unlink()
        for process in processes:
            process.kill()
            process.wait()


def test_a_run_that_a_leftover_has_started_does_not_end_itself(mark) -> None:
    ended = subprocess.Popen(["true"])
    text = owner_of(ended.pid)
    ended.wait()
    source = (
        "from model_analyzer.runner.workspace import remove_leftovers;"
        "remove_leftovers(); print('still here')"
    )
    done = subprocess.run(
        [sys.executable, "-c", source],
        env={**mark.environment, VARIABLE: text},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )

    assert done.stdout == "still here\n"


def test_the_process_that_uses_a_port_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(ServerError) as caught:
            choose_endpoints(replace(SETTINGS, http_endpoints=(f"localhost:{port}",)))

    assert f"process {os.getpid()})" in str(caught.value)
    assert "stop the program that uses it" in str(caught.value)
