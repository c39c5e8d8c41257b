# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Memory of the server and of its model processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import psutil

from model_analyzer.domain.measurements import Observation
from model_analyzer.domain.metrics import METRICS
from model_analyzer.runner.monitors.sampler import Sampler

_MB = 1e6


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
