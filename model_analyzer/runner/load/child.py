# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A running perf_analyzer, which is watched until it ends."""

from __future__ import annotations

import math
import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from model_analyzer.domain.measurements import Values
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.protocols import Route, Server
from model_analyzer.domain.trials import FailureReason
from model_analyzer.reading.untrusted import open_regular
from model_analyzer.runner.host import read_group
from model_analyzer.runner.load.ended import OUTPUT, Stop
from model_analyzer.runner.load.generators import Generator
from model_analyzer.runner.load.output import is_loaded, stream_failed, why_not_loaded
from model_analyzer.runner.process import Process
from model_analyzer.runner.stubs import StubWatch, stubs_among

_CPU_PERCENT = 80.0

# It ends sooner after the error of a request, unless it waits forever.
_ENDING_S = 5.0

# The size of a piece of output to read at once, and its overlap with the next piece.
_LOOKED_AT, _LONGEST_LINE = 2**20, 2**14

# How often the server is asked: the first and the last answer are seen so much too late.
LOOK_S = 0.05

_Count = tuple[float, int]


class Child:
    """A running perf_analyzer that measures the variant `name`, and the reasons to stop it.

    With an embedded server, its CPU time and memory include the model: then there is no default CPU
    limit, and none of memory.
    """

    def __init__(
        self,
        name: str,
        process: Process,
        command: str,
        directory: Path,
        route: Route,
        stubs: StubWatch,
        *,
        most_cpu_percent: float | None,
        most_bytes: int,
    ) -> None:
        self._name = name
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

    def trouble(self, most_memory: float) -> Stop | None:
        """The reason to stop it, which may use so many bytes of memory, or None."""
        if _bytes_below(self.directory) > self._most_bytes:
            return Stop(
                FailureReason.NO_RESULT,
                f"perf_analyzer was stopped: it wrote more than {_gib(self._most_bytes)} for"
                f" {self._name}",
                "use fewer verbose flags or a shorter measurement-interval",
            )
        if self._is_loading:
            return self._trouble_of_loading()
        if self.stubs.death():
            return Stop(FailureReason.MODEL_DIED)
        if self._waits_in_vain():
            return Stop(
                FailureReason.REQUEST_FAILED,
                f"{self._name}: the model answered a request with an error in its stream, after"
                " which perf_analyzer never ends",
                "send one such request by hand to see the error: perf_analyzer does not show it",
            )
        cpu_percent, memory = self._use()
        if cpu_percent > self._most_cpu_percent:
            return Stop(
                FailureReason.LOAD_GENERATOR_BUSY,
                f"perf_analyzer used too much CPU while it measured {self._name}",
                "raise --perf-analyzer-cpu-util",
            )
        if memory > most_memory and not self.embeds_server:
            return Stop(
                FailureReason.LOAD_GENERATOR_LARGE,
                f"perf_analyzer was stopped: it used more than {_gib(most_memory)} of memory"
                f" while it measured {self._name}, half of what was free before",
                "it keeps all requests in memory: measure for less time, with smaller inputs or a"
                " lower load, or where more memory is free",
            )
        return None

    def _trouble_of_loading(self) -> Stop | None:
        if self._failed_to_load():
            return Stop(FailureReason.MODEL_NOT_LOADED)
        if self._is_loading and time.monotonic() > self._loads_until:
            return Stop(
                FailureReason.LOAD_TIMEOUT,
                f"{self._name} was not loaded in time",
                "raise --model-load-timeout",
            )
        if not self._is_loading:
            self.stubs = StubWatch([stub.pid for stub in stubs_among(self.process.tree())])
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

    def _use(self) -> tuple[float, int]:
        """The CPU use of the process tree since the last call, in percent, and its memory in bytes;
        0 if less than a second has passed.
        """
        time_s, (last_time_s, last_used_s) = time.monotonic(), self._used
        if time_s - last_time_s < 1:
            return 0.0, 0
        tree = self.process.tree()
        used_s = sum(map(_cpu_seconds, tree))
        self._used = (time_s, used_s)
        percent = (used_s - last_used_s) / (time_s - last_time_s) * 100
        return percent, sum(map(_memory, tree))


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


def most_memory_of_each(count: int) -> float:
    """The bytes of memory that each of so many perf_analyzers may use: together half of what is
    free on this machine, and in this container. The server, its models, and the reading of exports
    need the rest.
    """
    group = read_group()
    free = [psutil.virtual_memory().available]
    if group.memory is not None:
        free.append(max(group.memory - group.memory_used, 0))
    return min(free) / 2 / count


def _gib(size: float) -> str:
    return f"{size / 2**30:.3g} GiB"


def _memory(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0  # it has just ended


def _cpu_seconds(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0  # it has just ended
    return float(times.user + times.system)


class AnswerWatch:
    """Sees when the first and the last requests of a load were answered, in the statistics of the
    server. Without these, the table stays as it is.
    """

    def __init__(self, generators: Sequence[Generator], server: Server) -> None:
        self._server = server
        self._variants: dict[str, ModelVariant] = {}
        # all requests of a model, which several generators may send
        self._requests: Counter[str] = Counter()
        for each in generators:
            if each.window.total and not each.exports:
                self._variants[each.work.variant.model] = each.work.variant
                self._requests[each.work.variant.model] += each.window.total
        self._seen = dict(self._inferences())
        self._first: dict[str, _Count] = {}
        self._last: dict[str, _Count] = {}

    @property
    def is_needed(self) -> bool:
        """Whether there is such a load."""
        return bool(self._variants)

    def look(self, now: float) -> None:
        """Asks the server, at a time in seconds."""
        for model, count in self._inferences().items():
            if count != self._seen.get(model):
                self._last[model] = now, count
                self._first.setdefault(model, (now, count))
                self._seen[model] = count

    def corrected(self, generator: Generator, table: Values | None) -> Values | None:
        """The table of a generator, with its part of the inferences per second between the first
        answer and the last one.
        """
        model, requests = generator.work.variant.model, generator.window.total
        if table is None or requests is None or generator.exports or model not in self._last:
            return table
        (begin, before), (end, after) = self._first[model], self._last[model]
        if end <= begin or after <= before:  # too short to see, or the server was restarted
            return table
        rate = (after - before) / (end - begin)
        return {**table, "perf_throughput": rate * requests / self._requests[model]}

    def _inferences(self) -> Mapping[str, int]:
        if not self._variants:
            return {}
        statistics = self._server.statistics([*self._variants.values()])
        return {name: statistics[name].inferences for name in self._variants if name in statistics}
