# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Stubs: the processes in which Triton's Python backend runs models. Detects their deaths.

A dead stub is never restarted. Each of its requests fails after a second, or hangs forever, but the
server still reports the model as ready. Triton collects the exit status of a stub only when it
unloads the model: any other dead stub stays a zombie.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from model_analyzer.runner.process import describe_status

# shortened by the kernel
_NAME = "triton_python_backend_stub"[:15]

# The time that an unloaded stub may wait for its server. It takes milliseconds, even on a machine
# with many more programs than cores.
_COLLECTED_S = 4.0
_LOOK_S = 0.1


@dataclass(frozen=True, slots=True)
class ProcessState:
    """The state of a process: `started` in clock ticks since boot, `status` as in wait(2), or 0 if
    we may not see it.
    """

    started: int
    is_zombie: bool
    status: int


def read_state(pid: int) -> ProcessState | None:
    """The state of the process with this number; None if there is none."""
    try:
        text = Path("/proc", str(pid), "stat").read_text(errors="replace")
    except OSError:
        return None
    # the name before the last parenthesis may contain any character
    fields = text.rpartition(")")[2].split()
    return ProcessState(started=int(fields[19]), is_zombie=fields[0] == "Z", status=int(fields[-1]))


def stubs_among(processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    return [process for process in processes if name_of(process) == _NAME]


def model_of(pid: int) -> str:
    """The model of a stub, from its first argument MODEL/VERSION/model.py; "" if it has ended."""
    try:
        return Path(psutil.Process(pid).cmdline()[1]).parts[-3]
    except (psutil.Error, IndexError):
        return ""


class StubWatch:
    """Watches the stubs with these process numbers, but not stubs that start later.

    Each check reads one small file for each stub.
    """

    def __init__(
        self,
        pids: Sequence[int] = (),
        *,
        read: Callable[[int], ProcessState | None] = read_state,
        model_of: Callable[[int], str] = model_of,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._read = read
        self._clock = clock
        self._sleep = sleep
        self._stubs = [
            _Stub(pid, state.started, model_of(pid))
            for pid in pids
            if (state := read(pid)) is not None
        ]
        self._uncollected: dict[int, float] = {}

    def death(self) -> str:
        """A text about a dead stub; "" if none has died."""
        time_s = self._clock()
        for stub in self._stubs:
            state = self._read(stub.pid)
            if state is None or state.started != stub.started or not state.is_zombie:
                self._uncollected.pop(stub.pid, None)
            elif time_s - self._uncollected.setdefault(stub.pid, time_s) > _COLLECTED_S:
                return stub.obituary(state.status)
        return ""

    def final_death(self) -> str:
        """As `death`, after waiting for the server to collect stubs that have ended."""
        while not (death := self.death()) and self._uncollected:
            self._sleep(_LOOK_S)
        return death


@dataclass(frozen=True, slots=True)
class _Stub:
    """A watched stub. `model` is "" if it was dead when the watch began."""

    pid: int
    started: int
    model: str

    def obituary(self, status: int) -> str:
        event = "a Python backend process died before the measurement"
        if self.model:
            event = f"the Python backend process of model {self.model} died during the measurement"
        code = os.waitstatus_to_exitcode(status)
        reason = f" ({describe_status(code if code >= 0 else 128 - code)})" if status else ""
        return event + reason


def name_of(process: psutil.Process) -> str:
    """The name of a process, as the kernel shortens it; "" if it has ended."""
    try:
        return str(process.name())[:15]
    except psutil.Error:
        return ""
