# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The processor time and the memory of the program itself while measurements run.

    python benchmarks/own_cpu.py --model-repository models --model m [--most-measurements 40]

An adaptive search runs on the real server, without reports. What the program and its guards use
while a perf_analyzer runs is told as a share of one core, since it is taken from the measured
server; what they use between measurements, in seconds for each. Servers, their models and
perf_analyzer do not count.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

POLL_S = 0.02
MEASURED = ("perf_analyzer", "tritonserver", "triton_python_backend_stub")


@dataclass
class Use:
    """Seconds of the processor and of the clock, with and without a running perf_analyzer."""

    during_s: float = 0.0
    measuring_s: float = 0.0
    between_s: float = 0.0
    resting_s: float = 0.0
    measurements: int = 0
    peak_mb: float = 0.0


def observe(process: psutil.Popen) -> Use:
    """Samples a run until it ends."""
    use, was_measuring = Use(), False
    before_s, before = 0.0, time.perf_counter()
    while process.poll() is None:
        time.sleep(POLL_S)
        with contextlib.suppress(psutil.NoSuchProcess):
            own = [process, *_others(process)]
            names = {child.name() for child in process.children(recursive=True)}
            now_s, now = sum(_used_s(each) for each in own), time.perf_counter()
            use.peak_mb = max(use.peak_mb, process.memory_info().rss / 2**20)
            is_measuring = "perf_analyzer" in names
            use.measurements += is_measuring and not was_measuring
            # a guard that ended takes its time along
            spent_s = max(now_s - before_s, 0.0)
            if is_measuring and was_measuring:
                use.during_s += spent_s
                use.measuring_s += now - before
            else:
                use.between_s += spent_s
                use.resting_s += now - before
            before_s, before, was_measuring = now_s, now, is_measuring
    return use


def _others(process: psutil.Popen) -> Iterator[psutil.Process]:
    for child in process.children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if child.name() not in MEASURED:
                yield child


def _used_s(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--model-repository", type=Path, required=True)
    options.add_argument("--model", required=True)
    options.add_argument("--most-measurements", type=int, default=40)
    chosen = options.parse_args()
    program = Path(sys.executable).with_name("model-analyzer")
    with tempfile.TemporaryDirectory(prefix="own-cpu-") as temporary:
        log = Path(temporary, "output.txt")
        with open(log, "wb") as output:
            process = psutil.Popen(
                [
                    str(program), "profile", "--search", "adaptive", "--progress", "plain",
                    "--model-repository", os.fspath(chosen.model_repository.absolute()),
                    "--profile-models", chosen.model, "--skip-summary-reports",
                    "--skip-detailed-reports", "--max-measurements", str(chosen.most_measurements),
                ],
                cwd=temporary, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            )  # fmt: skip
            use = observe(process)
        if process.returncode != 0:
            sys.exit(log.read_text())
    print(
        f"{use.measurements} measurements, {use.measuring_s:.0f} s:"
        f" {use.during_s / use.measuring_s:.1%} of a core meanwhile;"
        f" between them {use.between_s / use.measurements:.2f} s of the processor for each"
        f" ({use.between_s / use.resting_s:.0%} of a core); {use.peak_mb:.0f} MB at most"
    )


if __name__ == "__main__":
    main()
