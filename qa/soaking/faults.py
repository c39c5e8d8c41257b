# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The faults. Each fault returns whether it hit the run."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from qa.soaking.program import GUARD_OF, Program, find, send
from qa.soaking.ray_nodes import RAYLET, SLOT, RayNodes
from qa.soaking.scene import Scene

MAIN = "model-analyzer"
SERVER = "tritonserver"
LOAD = "perf_analyzer"
ROLES = (MAIN, SERVER, "stub", LOAD, GUARD_OF + SERVER, GUARD_OF + LOAD)

_OF_LOAD = (LOAD, GUARD_OF + LOAD)

_ENDS_S = 90.0
_LEAVES_S = 20.0  # after a third interrupt
_ROOM = "64m"  # the disk space for a run
# with these capabilities, root may write to read-only directories
_AS_A_USER = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")


@dataclass(frozen=True)
class Strike:
    """A run, its scene, and the random numbers of the round."""

    scene: Scene
    run: Program
    dice: random.Random

    def reach(
        self, role: str, number: signal.Signals, *, most: int | None = None
    ) -> list[psutil.Process]:
        """Signals the processes with this role as soon as there are any; returns them. If these are
        more than `most`, it chooses.
        """
        reached: list[psutil.Process] = []

        def is_reached() -> bool:
            if processes := self.find(role):
                self.dice.shuffle(processes)
                reached.extend(send(processes[:most], number))
            return bool(reached)

        self.run.until(is_reached)
        return reached

    def find(self, role: str) -> list[psutil.Process]:
        """The processes with this role."""
        if role == MAIN:
            return [] if self.run.has_ended else [psutil.Process(self.run.pid)]
        if role in (SLOT, RAYLET):
            return self.nodes.find(role)
        return find(role, self.scene.mark, self.run.name)

    @property
    def nodes(self) -> RayNodes:
        assert self.scene.nodes is not None, "this fault needs a cluster"
        return self.scene.nodes


@dataclass(frozen=True)
class Fault:
    """A fault. `strike` causes it and returns whether it hit. The run must then end `within_s`
    seconds, with one of the `statuses`, or of `statuses_idle` if it had not begun or was over. With
    `is_swept_later`, the next start removes leftovers. With `needs_trial`, it comes before the last
    trial.
    """

    strike: Callable[[Strike], bool]
    statuses: frozenset[int] = frozenset({0, 1})
    statuses_idle: frozenset[int] = frozenset()
    within_s: float = _ENDS_S
    is_swept_later: bool = False
    needs_trial: bool = False
    prepare: Callable[[Scene], None] = lambda scene: None
    unavailable: Callable[[], str] = lambda: ""


_KILLED = frozenset({-signal.SIGKILL})

# -- signals -------------------------------------------------------------------------------------


def _kill(role: str) -> Fault:
    return Fault(
        lambda strike: bool(strike.reach(role, signal.SIGKILL)),
        statuses=_KILLED if role == MAIN else frozenset({0, 1}),
        needs_trial=role in _OF_LOAD,
    )


def _kill_with_guards(strike: Strike) -> bool:
    """Kills them one by one, in any order: a guard that lives a moment longer cleans up."""
    if not strike.run.until(lambda: find(GUARD_OF + SERVER, strike.scene.mark)):
        return False
    guards = [
        guard for role in (SERVER, LOAD) for guard in find(GUARD_OF + role, strike.scene.mark)
    ]
    return _kill_in_any_order([*guards, psutil.Process(strike.run.pid)], strike)


def _stop_guards_and_kill(strike: Strike) -> bool:
    guards = strike.reach(GUARD_OF + SERVER, signal.SIGSTOP)
    guards += send(find(GUARD_OF + LOAD, strike.scene.mark), signal.SIGSTOP)
    strike.run.process.kill()
    return bool(guards)


def _kill_everything(strike: Strike) -> bool:
    """Kills all processes, like a batch system."""
    processes = [process for role in ROLES[1:] for process in find(role, strike.scene.mark)]
    return _kill_in_any_order([*processes, psutil.Process(strike.run.pid)], strike)


def _kill_in_any_order(processes: list[psutil.Process], strike: Strike) -> bool:
    strike.dice.shuffle(processes)
    is_in_time = not strike.run.has_ended
    send(processes, signal.SIGKILL)
    return is_in_time


def _pause(role: str) -> Fault:
    def strike(strike: Strike) -> bool:
        stopped = strike.reach(role, signal.SIGSTOP)
        time.sleep(strike.dice.uniform(0.2, 3))
        send(stopped, signal.SIGCONT)
        return bool(stopped)

    return Fault(strike, needs_trial=role in _OF_LOAD)


def _stop(role: str) -> Fault:
    """The process stays stopped: the user waits a little, and then interrupts three times."""

    def strike(strike: Strike) -> bool:
        stopped = strike.reach(role, signal.SIGSTOP)
        time.sleep(strike.dice.uniform(0, 2))
        if stopped:
            strike.run.interrupt(3)
        return bool(stopped)

    return Fault(strike, within_s=_LEAVES_S, needs_trial=role in _OF_LOAD)


def _stop_main(strike: Strike) -> bool:
    """Stops the main process, which then only a kill can end."""
    stopped = strike.reach(MAIN, signal.SIGSTOP)
    time.sleep(strike.dice.uniform(0, 2))
    send(stopped, signal.SIGKILL)
    return bool(stopped)


def _ask_to_end(number: signal.Signals) -> Fault:
    return Fault(lambda strike: bool(strike.reach(MAIN, number)), statuses_idle=_as_of_any(number))


def _as_of_any(number: signal.Signals) -> frozenset[int]:
    """The exit statuses of a program without a handler for the signal."""
    return frozenset({-number, 128 + number})


def _interrupt_three_times(strike: Strike) -> bool:
    is_in_time = not strike.run.has_ended
    strike.run.interrupt(3)
    return is_in_time


# -- files ---------------------------------------------------------------------------------------


def _truncate(journal: Path, dice: random.Random) -> None:
    os.truncate(journal, int(journal.stat().st_size * dice.random()))


def _remove(path: Path, dice: random.Random) -> None:
    path.unlink()


def _spoil_journal(change: Callable[[Path, random.Random], None], *, kills: bool) -> Fault:
    """With `kills`, the program is killed after the second outcome from now: it had time to notice.
    The first one may have been in the journal before the fault.
    """

    def strike(strike: Strike) -> bool:
        journal, run = strike.scene.journal, strike.run
        if not run.until(lambda: journal.exists() and journal.stat().st_size):
            return False
        try:
            change(journal, strike.dice)
        except FileNotFoundError:
            return False  # it has just become a checkpoint
        before = len(run.acknowledged)
        if kills and run.until(lambda: len(run.acknowledged) > before + 1):
            run.process.kill()
        return True

    statuses = frozenset({0, *_KILLED}) if kills else frozenset({0})
    return Fault(strike, statuses, needs_trial=True)


def _remove_directory(name: str) -> Fault:
    def strike(strike: Strike) -> bool:
        directory = strike.scene.work / name
        if not strike.run.until(directory.exists):
            return False
        shutil.rmtree(directory, ignore_errors=True)
        return True

    return Fault(strike)


def _remove_lock(strike: Strike) -> bool:
    lock = strike.scene.checkpoints / "lock"
    if not strike.run.until(lock.exists):
        return False
    lock.unlink(missing_ok=True)
    return _start_another(strike)


def _start_another(strike: Strike) -> bool:
    """Starts a second run. Half of the time it has its own output directory, so that the runs share
    only the checkpoints.
    """
    is_in_time = not strike.run.has_ended
    own = ["--output-model-repository-path", "other_models"]
    another = strike.scene.start("another", *strike.dice.choice([[], own]))
    another.wait(strike.scene.patience * _ENDS_S)
    return is_in_time


def _forbid(strike: Strike) -> bool:
    checkpoints = strike.scene.checkpoints
    if not strike.run.until(checkpoints.exists):
        return False
    mode = checkpoints.stat().st_mode
    strike.scene.mends.callback(checkpoints.chmod, mode)
    checkpoints.chmod(strike.dice.choice([0o000, 0o100, 0o500]))
    return True


def _be_a_user(scene: Scene) -> None:
    if os.getuid() == 0:
        scene.prefix = _AS_A_USER


def _cannot_forbid() -> str:
    if os.getuid() != 0:
        return ""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o500)
        try:
            done = subprocess.run(
                [*_AS_A_USER, "test", "-w", directory], capture_output=True, check=False
            )
        except OSError:
            return "root may write everywhere, and there is no setpriv"
    return (
        "root may write everywhere, and setpriv cannot change that" if done.returncode != 1 else ""
    )


# -- full disks ----------------------------------------------------------------------------------


def _limit(strike: Strike) -> bool:
    """Limits the file size of the program: the next line of the journal is incomplete."""
    journal, run = strike.scene.journal, strike.run
    if not run.until(lambda: journal.exists() and journal.stat().st_size):
        return False
    try:
        size = journal.stat().st_size + strike.dice.randrange(2000)
        resource.prlimit(run.pid, resource.RLIMIT_FSIZE, (size, size))
    except (FileNotFoundError, ProcessLookupError):
        return False
    return True


def _mount(directory: Path, scene: Scene) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={_ROOM}", "soak", str(directory)]
    subprocess.run(command, check=True, capture_output=True)
    scene.closes.callback(_unmount, directory)


def _unmount(directory: Path) -> None:
    """Unmounts the disk, and copies its files to the disk below, for findings."""
    copy = directory.with_name(f"{directory.name}.copy")
    shutil.copytree(directory, copy, symlinks=True)
    subprocess.run(["umount", "--lazy", str(directory)], check=True)
    directory.rmdir()
    copy.rename(directory)


def _fill(directory: Callable[[Scene], Path]) -> Fault:
    """A file fills the disk of this directory."""

    def strike(strike: Strike) -> bool:
        filler = directory(strike.scene) / "filler"
        is_in_time = not strike.run.has_ended
        strike.scene.mends.callback(filler.unlink, missing_ok=True)
        with filler.open("wb", buffering=0) as file:
            for size in (1 << 20, 4096, 1):
                _write_until_full(file.write, b"x" * size)
        return is_in_time

    return Fault(
        strike,
        prepare=lambda scene: _mount(directory(scene), scene),
        unavailable=_cannot_mount,
    )


def _write_until_full(write: Callable[[bytes], object], block: bytes) -> None:
    try:
        while True:
            write(block)
    except OSError:
        pass  # the disk is full, as intended


def _cannot_mount() -> str:
    with tempfile.TemporaryDirectory() as directory:
        command = ["mount", "-t", "tmpfs", "-o", "size=64k", "soak", directory]
        try:
            done = subprocess.run(command, capture_output=True, check=False)
        except OSError:
            return "there is no mount"
        if done.returncode:
            return "mounting a small disk takes root"
        subprocess.run(["umount", directory], check=True)
    return ""


# ------------------------------------------------------------------------------------------------

FAULTS: Mapping[str, Fault] = {
    **{f"kill {role}": _kill(role) for role in ROLES},
    "kill model-analyzer and guards": Fault(_kill_with_guards, _KILLED, is_swept_later=True),
    "stop guards, kill model-analyzer": Fault(_stop_guards_and_kill, _KILLED, is_swept_later=True),
    "kill everything": Fault(_kill_everything, _KILLED, is_swept_later=True),
    **{f"pause {role}": _pause(role) for role in ROLES},
    f"stop {MAIN}": Fault(_stop_main, _KILLED),
    **{f"stop {role}": _stop(role) for role in ROLES[1:]},
    "SIGINT": _ask_to_end(signal.SIGINT),
    "SIGINT three times": Fault(
        _interrupt_three_times, statuses_idle=_as_of_any(signal.SIGINT), within_s=_LEAVES_S
    ),
    "SIGTERM": _ask_to_end(signal.SIGTERM),
    "SIGHUP": _ask_to_end(signal.SIGHUP),
    "journal truncated": _spoil_journal(_truncate, kills=False),
    "journal truncated, killed later": _spoil_journal(_truncate, kills=True),
    "journal removed": _spoil_journal(_remove, kills=False),
    "journal removed, killed later": _spoil_journal(_remove, kills=True),
    "lock removed, two runs": Fault(_remove_lock),
    "two runs": Fault(_start_another, frozenset({0})),
    "output models removed": _remove_directory("output_model_repository"),
    "exports removed": _remove_directory("exported"),
    "temporary files removed": _remove_directory("tmp"),
    "chmod of the checkpoints": Fault(_forbid, prepare=_be_a_user, unavailable=_cannot_forbid),
    "disk full (limit of file size)": Fault(_limit, needs_trial=True),
    "disk full (checkpoints)": _fill(lambda scene: scene.checkpoints),
    "disk full (everything)": _fill(lambda scene: scene.work),
}
