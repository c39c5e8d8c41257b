# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A running perf_analyzer, which is watched until it ends."""

from __future__ import annotations

import math
import os
import time
from pathlib import Path

import psutil

from model_analyzer.domain.protocols import Route
from model_analyzer.domain.trials import FailureReason
from model_analyzer.reading import open_regular
from model_analyzer.runner.load.ended import OUTPUT
from model_analyzer.runner.load.output import is_loaded, stream_failed, why_not_loaded
from model_analyzer.runner.process import Process
from model_analyzer.runner.stubs import StubWatch, stubs_among

_CPU_PERCENT = 80.0

# It ends sooner after the error of a request, unless it waits forever.
_ENDING_S = 5.0

# The size of a piece of output to read at once, and its overlap with the next piece.
_LOOKED_AT, _LONGEST_LINE = 2**20, 2**14


class Child:
    """A running perf_analyzer, and the reasons to stop it.

    With an embedded server, its CPU time includes the model: then there is no default CPU limit.
    """

    def __init__(
        self,
        process: Process,
        command: str,
        directory: Path,
        route: Route,
        stubs: StubWatch,
        most_cpu_percent: float | None,
        most_bytes: int,
    ) -> None:
        self.process = process
        self.command = command
        self.directory = directory
        self.stubs = stubs
        self.embeds_server = route.load_timeout_s is not None
        usual = math.inf if self.embeds_server else _CPU_PERCENT * (os.cpu_count() or 1)
        self._most_cpu_percent = most_cpu_percent or usual
        self._most_bytes = most_bytes
        self._looked_at = 0
        self._loads_until = time.monotonic() + (route.load_timeout_s or 0)
        self._is_loading = self.embeds_server
        self._used = (time.monotonic(), 0.0)
        self._failed_at = 0.0

    def trouble(self) -> FailureReason | None:
        """The reason to stop it, or None."""
        if _bytes_below(self.directory) > self._most_bytes:
            return FailureReason.NO_RESULT
        if self._is_loading:
            if self._failed_to_load():
                return FailureReason.MODEL_NOT_LOADED
            if self._is_loading and time.monotonic() > self._loads_until:
                return FailureReason.LOAD_TIMEOUT
            if not self._is_loading:
                self.stubs = StubWatch([stub.pid for stub in stubs_among(self.process.tree())])
        elif self.stubs.death():
            return FailureReason.MODEL_DIED
        elif self._waits_in_vain():
            return FailureReason.REQUEST_FAILED
        elif self._cpu_percent() > self._most_cpu_percent:
            return FailureReason.LOAD_GENERATOR_BUSY
        return None

    def _waits_in_vain(self) -> bool:
        """Whether it said some seconds ago that a request failed, and still runs."""
        with open_regular(self.directory / OUTPUT) as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(size - _LONGEST_LINE, 0))
            if not stream_failed(file.read(_LONGEST_LINE).decode(errors="replace")):
                return False
        self._failed_at = self._failed_at or time.monotonic()
        return time.monotonic() - self._failed_at > _ENDING_S

    def _failed_to_load(self) -> bool:
        """Whether its new output says that the model could not be loaded; also notes if it is."""
        with open_regular(self.directory / OUTPUT) as file:
            size = os.fstat(file.fileno()).st_size
            while self._is_loading and self._looked_at < size:
                file.seek(max(self._looked_at - _LONGEST_LINE, 0))
                output = file.read(_LOOKED_AT).decode(errors="replace")
                self._looked_at = file.tell()
                self._is_loading = not is_loaded(output)
                if self._is_loading and why_not_loaded(output):
                    return True
        return False

    def _cpu_percent(self) -> float:
        """The CPU use of the process tree since the last call, if at least a second has passed."""
        time_s, (last_time_s, last_used_s) = time.monotonic(), self._used
        if time_s - last_time_s < 1:
            return 0.0
        used_s = sum(map(_cpu_seconds, self.process.tree()))
        self._used = (time_s, used_s)
        return (used_s - last_used_s) / (time_s - last_time_s) * 100


def _bytes_below(directory: Path) -> int:
    """The size of the files below a directory on disk."""
    sizes = (
        os.lstat(os.path.join(root, name)).st_blocks * 512
        for root, _, names in os.walk(directory)
        for name in names
    )
    try:
        return sum(sizes)
    except FileNotFoundError:
        return 0  # it has just been removed


def _cpu_seconds(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0  # it has just ended
    return float(times.user + times.system)
