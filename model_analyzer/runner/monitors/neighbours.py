# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Other work on this machine while a load is on: it makes measurements noisy, and worse."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType

import psutil

from model_analyzer.domain.measurements import Notice, NoticeKind, Observation
from model_analyzer.runner.timings import DEFAULT

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """CPU seconds used so far, on all cores, by everybody and by us; and the seconds of all cores
    that went by.
    """

    everybody: float
    own: float
    available: float


def read_usage() -> Usage:
    """Interrupts count for nobody: those of our own connections are not told apart."""
    machine = psutil.cpu_times()
    steal = getattr(machine, "steal", 0.0)  # taken by other virtual machines
    return Usage(
        everybody=machine.user + machine.nice + machine.system + steal,
        own=sum(map(_seconds, _own_processes())),
        available=time.monotonic() * (psutil.cpu_count() or 1),
    )


def share_of_others(before: Usage, after: Usage) -> float:
    """The share (0 to 1) of the CPU time in between that was used by others."""
    available = after.available - before.available
    others = (after.everybody - before.everybody) - (after.own - before.own)
    return min(max(others / available, 0.0), 1.0) if available > 0 else 0.0


class Neighbours:
    """Looks after every load of a run, and logs the first that was disturbed: others used more
    than `busy_share` of the CPU time.
    """

    def __init__(
        self, read: Callable[[], Usage] = read_usage, *, busy_share: float = DEFAULT.busy_share
    ) -> None:
        self._read = read
        self._busy_share = busy_share
        self._is_told = False

    def during(self, load: str) -> NeighbourMonitor:
        """A monitor for one load, which is called so in messages."""
        return NeighbourMonitor(self._read, load, self._tell, self._busy_share)

    def _tell(self, share: float) -> None:
        if not self._is_told:
            log.warning(
                "Other programs use %.0f %% of this machine's CPU time, so measurements are"
                " noisy. Stop them; `model-analyzer doctor` lists them.",
                share * 100,
            )
        self._is_told = True


class NeighbourMonitor:
    """Reads before and after one load. Whatever runs below this process is ours."""

    def __init__(
        self,
        read: Callable[[], Usage],
        load: str,
        tell: Callable[[float], None],
        busy_share: float,
    ) -> None:
        self._read = read
        self._load = load
        self._tell = tell
        self._busy_share = busy_share
        self._before: Usage | None = None
        self._share = 0.0

    def __enter__(self) -> NeighbourMonitor:
        self._before = self._read()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._before is not None, "it was entered"
        self._share = share_of_others(self._before, self._read())
        if self._share > self._busy_share:
            self._tell(self._share)

    @property
    def observation(self) -> Observation:
        if self._share <= self._busy_share:
            return Observation()
        notice = Notice(
            kind=NoticeKind.BUSY_MACHINE,
            text=f"{self._load}: other programs used {self._share:.0%} of the machine's CPU time;"
            " stop them and measure again with --fresh",
        )
        return Observation(notices=(notice,))


def _own_processes() -> list[psutil.Process]:
    us = psutil.Process()
    return [us, *us.children(recursive=True)]


def _seconds(process: psutil.Process) -> float:
    """Of a process and of its children that have ended."""
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0  # it has just ended
    return float(times.user + times.system + times.children_user + times.children_system)
