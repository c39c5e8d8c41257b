# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Runs perf_analyzer until it gives a usable result, or fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import psutil

from model_analyzer.domain.protocols import Server
from model_analyzer.domain.slots import Overdue
from model_analyzer.domain.trials import Failure, Workload
from model_analyzer.errors import unwritable
from model_analyzer.runner.load.careful import CarefulMeasuring
from model_analyzer.runner.load.launches import Launches, Reading
from model_analyzer.runner.load.rates import ExportSizes
from model_analyzer.runner.load.rounds import RoundMeasuring
from model_analyzer.runner.load.time_limits import end_of_budget


class PerfAnalyzer:
    """The load generator: starts one perf_analyzer for each workload, at the same time.

    `transcript` receives the command and the output of the last launch of each trial. `tell` is
    called if a measurement takes much longer than expected.
    """

    def __init__(
        self,
        launches: Launches,
        *,
        transcript: Callable[[str], None] | None = None,
        tell: Callable[[Overdue], None] = lambda _: None,
    ) -> None:
        self._launches = launches
        sizes = ExportSizes()
        self._careful = CarefulMeasuring(launches, sizes, tell)
        self._rounds = RoundMeasuring(launches, sizes, tell)
        self._transcript = transcript

    def processes(self) -> Sequence[psutil.Process]:
        """All running processes, with an embedded server."""
        return self._launches.processes()

    def generate(
        self,
        workloads: Sequence[Workload],
        server: Server,
        round_s: float | None = None,
        part: int = 0,
        limit_s: float | None = None,
    ) -> Reading | Failure:
        if round_s is None:
            outcome, ended = self._careful.measure(workloads, server)
        else:
            outcome, ended = self._rounds.measure(
                workloads, server, round_s, part, end_of_budget(limit_s)
            )
        if self._transcript is not None:
            for run in ended:
                self._transcript(run.transcript)
        return outcome


class Transcript:
    """Appends texts to a file. Raises OutputError if it cannot be written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.add("")

    def add(self, text: str) -> None:
        try:
            with open(self._path, "a", encoding="utf-8") as file:
                file.write(f"{text}\n" if text else "")
        except OSError as error:
            raise unwritable(self._path, error, "--perf-output-path") from error
