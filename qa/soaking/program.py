# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A run of the program as a user would start it, and its leftovers."""

from __future__ import annotations

import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO

import psutil

from conftest import Mark
from model_analyzer.runner.workspace import GUARD
from qa.soaking.checks import Event, Outcome, acknowledged, event_of

GUARD_OF = "guard of "
RUN = "SOAK_RUN"  # the variable with the name of a run, in all its processes
_POLL_S = 0.003
_SHM = Path("/dev/shm")


class Program:
    """A running command. Its output is read at once, and stored in `logs`.out and `logs`.err.
    `is_separate` means that its checkpoints are not those of the round.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        directory: Path,
        environment: Mapping[str, str],
        logs: Path,
        is_separate: bool = False,
    ) -> None:
        self.name = logs.name
        self.is_separate = is_separate
        self._began = time.monotonic()
        self.duration_s = 0.0  # set at the end
        self.process = subprocess.Popen(
            command,
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # an interrupt of the soak must not reach the program
        )
        self._out, self._err = Path(f"{logs}.out"), Path(f"{logs}.err")
        self._events: list[Event] = []
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self._readers = [
            threading.Thread(target=read, args=(stream, path), daemon=True)
            for read, stream, path in (
                (self._read_events, self.process.stdout, self._out),
                (_copy, self.process.stderr, self._err),
            )
        ]
        for reader in self._readers:
            reader.start()

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def events(self) -> Sequence[Event]:
        """The events so far."""
        return list(self._events)

    @property
    def acknowledged(self) -> Sequence[Outcome]:
        return acknowledged(self.events)

    @property
    def has_ended(self) -> bool:
        return self.process.poll() is not None

    @property
    def output(self) -> str:
        return self._out.read_text(errors="replace")

    @property
    def errors(self) -> str:
        return self._err.read_text(errors="replace")

    def until(self, condition: Callable[[], object], within_s: float = 60) -> bool:
        """Waits for a condition; False if the program ends before, or after `within_s` seconds."""
        deadline = time.monotonic() + within_s
        while not condition():
            if self.has_ended or time.monotonic() > deadline:
                return False
            time.sleep(_POLL_S)
        return True

    def wait(self, within_s: float) -> bool:
        """Waits for its end and all its output; False if it does not end in time."""
        try:
            self.process.wait(within_s)
        except subprocess.TimeoutExpired:
            return False
        self.duration_s = self.duration_s or time.monotonic() - self._began
        for reader in self._readers:
            reader.join(5)
        return True

    def interrupt(self, times: int) -> None:
        """Interrupts it, and waits each time for its message: pending signals may be merged."""
        for number in range(1, times + 1):
            words = f"Received SIGINT {number}/3"
            self.process.send_signal(signal.SIGINT)
            self.until(lambda: words in self.errors, within_s=5)  # noqa: B023

    def _read_events(self, stream: IO[bytes], path: Path) -> None:
        with path.open("wb", buffering=0) as file:
            for line in stream:
                file.write(line)
                event = event_of(line.decode(errors="replace"))
                if event is not None:
                    self._events.append(event)


def _copy(stream: IO[bytes], path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        for line in stream:
            file.write(line)


# -- processes -----------------------------------------------------------------------------------


def find(role: str, mark: Mark, run: str | None = None) -> list[psutil.Process]:
    """The running processes of runs, or of the one with this name, with this role: `tritonserver`,
    `stub`, `perf_analyzer` (while it measures), or `guard of` one of these.
    """
    if role.startswith(GUARD_OF):
        children = find(role.removeprefix(GUARD_OF), mark, run)
        parents = [parent for parent in map(parent_of, children) if parent is not None]
        # a program that only prints its version has no guard
        return [parent for parent in parents if str(GUARD) in words_of(parent)]
    return [
        process
        for process in marked(mark)
        if _plays(role, process) and (run is None or run_of(process) == run)
    ]


def run_of(process: psutil.Process) -> str:
    """The name of the run of a process; "" if it has just ended."""
    try:
        return process.environ().get(RUN, "")
    except (psutil.Error, OSError):
        return ""


def parent_of(process: psutil.Process) -> psutil.Process | None:
    try:
        return process.parent()
    except psutil.Error:
        return None


def marked(mark: Mark) -> list[psutil.Process]:
    """All processes of a run."""
    processes = []
    for pid in mark.processes():
        try:
            processes.append(psutil.Process(pid))
        except psutil.Error:
            continue  # it has just ended
    return processes


def _plays(role: str, process: psutil.Process) -> bool:
    words = words_of(process)
    program = Path(words[0]).name if words else ""
    match role:
        case "stub":
            return program == "triton_python_backend_stub"
        case "perf_analyzer":
            return program == role and "-m" in words  # not one that prints its version
        case "tritonserver":
            return program == role and not _is_forked(process)
    return program == role


def _is_forked(process: psutil.Process) -> bool:
    """Whether it is a copy of its parent, and is just becoming another program."""
    parent = parent_of(process)
    return parent is not None and words_of(parent) == words_of(process)


def words_of(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def send(processes: Iterable[psutil.Process], number: signal.Signals) -> list[psutil.Process]:
    """Signals processes; returns those that were running."""
    reached = []
    for process in processes:
        try:
            process.send_signal(number)
            reached.append(process)
        except psutil.Error:
            continue  # it has just ended
    return reached


def ports(mark: Mark) -> set[int]:
    """The ports in the commands of a run's servers."""
    text = " ".join(word for server in find("tritonserver", mark) for word in words_of(server))
    return {int(port) for port in re.findall(r"--\w+-port=(\d+)", text)}


# -- what is left --------------------------------------------------------------------------------


def leftovers(mark: Mark, owners: set[int], listened: set[int]) -> list[str]:
    """Processes and ports of runs that still exist, and shared memory of these processes."""
    return [
        *(f"process left: {process.pid} {words_of(process)[:1]}" for process in marked(mark)),
        *(f"shared memory left: {name}" for name in _regions(owners)),
        *(f"port left: {port}" for port in sorted(listened & _listening())),
    ]


def _regions(pids: set[int]) -> list[str]:
    names = [path.name for path in _SHM.glob("ma_*")]
    return [
        name
        for name in names
        if (match := re.match(r"ma_\d+-(\d+)-\d+_", name)) and int(match[1]) in pids
    ]


def _listening() -> set[int]:
    """All ports with a listener on this machine."""
    listening = set()
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A":
                listening.add(int(fields[1].rpartition(":")[2], 16))
    return listening


def settles(left: Callable[[], list[str]], within_s: float) -> list[str]:
    """Waits until nothing is left, at most `within_s` seconds; returns the rest."""
    deadline = time.monotonic() + within_s
    while (remains := left()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return remains
