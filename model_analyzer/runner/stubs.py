# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The stubs: the processes in which Triton's Python backend runs its models, and their deaths.

A stub that dies is never started again. Its requests fail after a second each, or hang for ever,
depending on what the server waits for, and the model is called ready all the same. Triton collects
the exit status of a stub when it unloads the model, and at no other time: a stub that died
otherwise stays a zombie.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from model_analyzer.runner.process import describe_status

# as the kernel cuts it
_NAME = "triton_python_backend_stub"[:15]

# So long a stub that is unloaded may wait for its server. It takes milliseconds, also where a
# machine has many more programs than cores.
_COLLECTED_S = 4.0
_LOOK_S = 0.1


@dataclass(frozen=True, slots=True)
class State:
    """What the kernel says of a process: `started` in ticks since boot, `status` as of wait(2).

    The status is 0 where it is not ours to see.
    """

    started: int
    is_zombie: bool
    status: int


def read_state(pid: int) -> State | None:
    """The state of a process; None if there is none with this number."""
    try:
        text = Path("/proc", str(pid), "stat").read_text(errors="replace")
    except OSError:
        return None
    # the name before the last parenthesis may hold anything
    fields = text.rpartition(")")[2].split()
    return State(started=int(fields[19]), is_zombie=fields[0] == "Z", status=int(fields[-1]))


def stubs_among(processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    return [process for process in processes if _name_of(process) == _NAME]


def model_of(pid: int) -> str:
    """The model that a stub runs, from its first argument, MODEL/VERSION/model.py; "" if it has
    ended.
    """
    try:
        return Path(psutil.Process(pid).cmdline()[1]).parts[-3]
    except (psutil.Error, IndexError):
        return ""


class StubWatch:
    """Looks after the stubs with these process numbers; of later ones it knows nothing.

    A look reads one small file for each stub.
    """

    def __init__(
        self,
        pids: Sequence[int] = (),
        *,
        read: Callable[[int], State | None] = read_state,
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
        """Which stub has died, in words; "" as long as none is known to have."""
        now = self._clock()
        for stub in self._stubs:
            state = self._read(stub.pid)
            if state is None or state.started != stub.started or not state.is_zombie:
                self._uncollected.pop(stub.pid, None)
            elif now - self._uncollected.setdefault(stub.pid, now) > _COLLECTED_S:
                return stub.obituary(state.status)
        return ""

    def final_death(self) -> str:
        """The same, after a wait for the server to collect stubs that have ended."""
        while not (death := self.death()) and self._uncollected:
            self._sleep(_LOOK_S)
        return death


@dataclass(frozen=True, slots=True)
class _Stub:
    """`model` is "" where the stub was dead when the watch began."""

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


def _name_of(process: psutil.Process) -> str:
    try:
        return str(process.name())[:15]
    except psutil.Error:
        return ""
