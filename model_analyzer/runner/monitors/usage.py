# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""CPU time of other programs during a load: it makes measurements noisy, and worse. And what a
local server and the load generators use: CPU time and memory before and after a load, and samples
of the server's memory during it.

Two readings of CPU time are enough, so nothing disturbs the measurement between them.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TypeVar

import psutil

from model_analyzer.domain.measurements import Notice, NoticeKind, Observation, ResourceUse
from model_analyzer.domain.metrics import METRICS
from model_analyzer.runner.timings import DEFAULT

log = logging.getLogger(__name__)

_MB = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceReading:
    """The CPU seconds so far of the server's processes, of all our programs that have ended, and of
    `others`; and the memory of the server's processes in MB; at a time in seconds.
    """

    at: float
    server: float
    ended: float
    others: float
    memory: float


def read_resources(processes: Callable[[], Sequence[psutil.Process]]) -> ResourceReading:
    """The current reading; `processes` returns the server's process tree.

    A perf_analyzer counts when it has ended, as a child of ours: the server does not end meanwhile.
    """
    own, usage = psutil.Process().cpu_times(), read_usage()
    server, memory = 0.0, 0.0
    for process in processes():
        try:
            times, used = process.cpu_times(), process.memory_info()
        except psutil.Error:
            continue  # it has just ended
        server += times.user + times.system
        memory += (used.rss - used.shared) / _MB
    return ResourceReading(
        at=time.monotonic(),
        server=server,
        ended=own.children_user + own.children_system,
        others=usage.all_programs - usage.own_processes,
        memory=memory,
    )


class ResourceMonitor:
    """Observes what the server and the load generators use while entered."""

    def __init__(self, read: Callable[[], ResourceReading]) -> None:
        self._read = read
        self._before: ResourceReading | None = None
        self._use: ResourceUse | None = None

    def __enter__(self) -> ResourceMonitor:
        self._before = self._read()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._before is not None, "__enter__ sets it"
        before, after = self._before, self._read()
        if before.memory and after.memory:  # otherwise the server has ended
            self._use = ResourceUse(
                seconds=round(after.at - before.at, 3),
                server_cpu_s=round(max(after.server - before.server, 0.0), 3),
                client_cpu_s=round(max(after.ended - before.ended, 0.0), 3),
                memory_before=round(before.memory, 1),
                memory_after=round(after.memory, 1),
                other_cpu_s=round(max(after.others - before.others, 0.0), 3),
            )

    @property
    def observation(self) -> Observation:
        return Observation(resources=self._use)


class Sampler:
    """While entered, calls `sample` at once and then every `interval_s` seconds; and once more when
    the block ends without an error, so that short loads get a sample, too.

    An exception of `sample` ends the sampling and is raised at the end of the block.
    """

    def __init__(self, sample: Callable[[], None], interval_s: float) -> None:
        self._sample = sample
        self._interval_s = interval_s
        self._stop = threading.Event()
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)

    def __enter__(self: S) -> S:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()
        if kind is not None:
            return
        if self._error is not None:
            raise self._error
        self._sample()

    def _run(self) -> None:
        try:
            while True:
                self._sample()
                if self._stop.wait(self._interval_s):
                    return
        except Exception as error:  # noqa: BLE001 (raised in the other thread)
            self._error = error


class CpuMonitor(Sampler):
    """Samples RAM while entered; `processes` returns the server's process tree.

    Used memory is the memory that only these processes use (unique set size), so memory that
    instances share is not counted several times.
    """

    def __init__(
        self, processes: Callable[[], Sequence[psutil.Process]], interval_s: float
    ) -> None:
        super().__init__(self._read, interval_s)
        self._processes = processes
        self._samples: dict[str, list[float]] = {"cpu_used_ram": [], "cpu_available_ram": []}

    @property
    def observation(self) -> Observation:
        return Observation(
            host={
                tag: round(METRICS[tag].over_time.apply(samples), 1)
                for tag, samples in self._samples.items()
                if samples
            }
        )

    def _read(self) -> None:
        used = sum(map(_unique_bytes, self._processes()))
        if used:
            self._samples["cpu_used_ram"].append(used / _MB)
        self._samples["cpu_available_ram"].append(psutil.virtual_memory().available / _MB)


def _unique_bytes(process: psutil.Process) -> int:
    try:
        return int(process.memory_full_info().uss)
    except psutil.Error:
        return 0  # it has just ended


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """CPU seconds so far: used by all programs, used by our own processes, and available on all
    cores.
    """

    all_programs: float
    own_processes: float
    available: float


def read_usage() -> Usage:
    """The current usage, without interrupts: our own connections cause some of them."""
    machine = psutil.cpu_times()
    steal = getattr(machine, "steal", 0.0)  # used by other virtual machines
    return Usage(
        all_programs=machine.user + machine.nice + machine.system + steal,
        own_processes=sum(map(_seconds, _own_processes())),
        available=time.monotonic() * (psutil.cpu_count() or 1),
    )


def share_of_others(before: Usage, after: Usage) -> float:
    """The share (0 to 1) of the CPU time between two usages that other programs used."""
    available = after.available - before.available
    own = after.own_processes - before.own_processes
    other = after.all_programs - before.all_programs - own
    return min(max(other / available, 0.0), 1.0) if available > 0 else 0.0


class Neighbours:
    """Creates a monitor for every load of a run, and warns once if other programs use more than
    `busy_share` (0 to 1) of the CPU time.
    """

    def __init__(
        self, read: Callable[[], Usage] = read_usage, *, busy_share: float = DEFAULT.busy_share
    ) -> None:
        self._read = read
        self._busy_share = busy_share
        self._has_warned = False

    def during(self, load: str) -> NeighbourMonitor:
        """A monitor for one load; `load` is the trial in words, for messages."""
        return NeighbourMonitor(self._read, load, self._warn, self._busy_share)

    def _warn(self, share: float) -> None:
        if not self._has_warned:
            log.warning(
                "Other programs use %.0f %% of this machine's CPU time, so measurements are"
                " noisy. Stop them; `model-analyzer doctor` lists them.",
                share * 100,
            )
        self._has_warned = True


class NeighbourMonitor:
    """Reads the usage before and after one load. All children of this process are ours."""

    def __init__(
        self,
        read: Callable[[], Usage],
        load: str,
        warn: Callable[[float], None],
        busy_share: float,
    ) -> None:
        self._read = read
        self._load = load
        self._warn = warn
        self._busy_share = busy_share
        self._start: Usage | None = None
        self._share = 0.0

    def __enter__(self) -> NeighbourMonitor:
        self._start = self._read()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._start is not None, "__enter__ sets it"
        self._share = share_of_others(self._start, self._read())
        if self._share > self._busy_share:
            self._warn(self._share)

    @property
    def observation(self) -> Observation:
        if self._share <= self._busy_share:
            return Observation()
        notice = Notice(
            kind=NoticeKind.BUSY_MACHINE,
            text=f"{self._load}: other programs used {100 * self._share:.0f} % of the machine's CPU"
            " time; stop them and measure again with another --checkpoint-directory (--fresh would"
            " delete all measurements in this one)",
        )
        return Observation(notices=(notice,))


def _own_processes() -> list[psutil.Process]:
    us = psutil.Process()
    return [us, *us.children(recursive=True)]


def _seconds(process: psutil.Process) -> float:
    """The CPU seconds of a process and of its ended children."""
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0  # it has just ended
    return float(times.user + times.system + times.children_user + times.children_system)


S = TypeVar("S", bound="Sampler")
