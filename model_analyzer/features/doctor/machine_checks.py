# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The machine while it should be idle: load, memory, CPU frequencies, time of day."""

from __future__ import annotations

import ctypes
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from model_analyzer.features.doctor.finding import Finding, ok, warning
from model_analyzer.runner.host import kernel_text

_LOOK_S = 0.3
_BUSY_SHARE = 0.3
_LEAST_MEMORY_GIB = 1.0
_GIB = 2**30

_UNSYNCHRONISED = 5  # TIME_ERROR of adjtimex
_TIMEX_BYTES = 512  # more than its struct has on any platform


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineLoad:
    """The cores that we may use, the average load of the last minute, the share of the CPU time
    (0 to 1) in use now, and its users: program names with cores.
    """

    cores: int
    average: float
    share: float
    users: Sequence[tuple[str, float]]


def read_load() -> MachineLoad:
    """Observes the machine for a third of a second."""
    processes = [process for process in psutil.process_iter() if process.pid != os.getpid()]
    for process in processes:
        _percent(process)
    share = psutil.cpu_percent(interval=_LOOK_S) / 100
    used: Counter[str] = Counter()
    for process in processes:
        name, percent = _percent(process)
        used[name] += round(percent)
    return MachineLoad(
        cores=len(os.sched_getaffinity(0)),
        average=os.getloadavg()[0],
        share=share,
        users=[(name, percent / 100) for name, percent in used.most_common(3)],
    )


def _percent(process: psutil.Process) -> tuple[str, float]:
    """The name of a process and its CPU use in percent since the last call; ("", 0.0) if it has
    ended.
    """
    try:
        return process.name(), process.cpu_percent()
    except psutil.Error:
        return "", 0.0


def judge_load(load: MachineLoad) -> Finding:
    used = f"{100 * load.share:.0f} % of the CPU time used"
    state = f"{load.cores} cores, load {load.average:.1f}, {used}"
    if load.share <= _BUSY_SHARE and load.average <= 0.5 * load.cores:
        return ok("load", state)
    users = ", ".join(f"{name} ({cores:.1f} cores)" for name, cores in load.users if cores >= 0.1)
    if users:
        state = f"{state}, most of it by {users}"
    return warning("load", state, "stop other programs: measurements will be noisy")


def read_memory() -> float:
    """Memory that is available without swapping, in GiB."""
    return psutil.virtual_memory().available / _GIB


def judge_memory(available_gib: float) -> Finding:
    state = f"{available_gib:.1f} GiB available"
    if available_gib < _LEAST_MEMORY_GIB:
        return warning("memory", f"{state}: models may not load", "stop other programs")
    return ok("memory", state)


def read_governors(root: Path = Path("/")) -> frozenset[str]:
    """The frequency governors of the processors; none if they are not visible."""
    cpus = root / "sys/devices/system/cpu"
    governors = map(kernel_text, cpus.glob("cpu[0-9]*/cpufreq/scaling_governor"))
    return frozenset(filter(None, governors))


def judge_governors(governors: frozenset[str]) -> Finding:
    name = "CPU frequency"
    if not governors:
        return ok(name, "unknown (virtual machine or container)")
    state = f"governor {', '.join(sorted(governors))}"
    if governors == {"performance"}:
        return ok(name, state)
    return warning(
        name,
        f"{state}: the frequency follows the load, which changes latencies",
        "`cpupower frequency-set -g performance` (as root)",
    )


def read_synchronised() -> bool | None:
    """Whether NTP synchronizes the clock, according to the kernel; None if unknown."""
    try:
        state = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES))
    except (OSError, AttributeError):
        return None
    return None if state < 0 else state != _UNSYNCHRONISED


def judge_time_of_day(synchronised: bool | None) -> Finding:
    """A finding for runs that compare the time with other machines."""
    if synchronised is False:
        return warning(
            "clock",
            "not synchronized by NTP: certificates may be refused, and times in shared checkpoints"
            " may be out of order",
            "`timedatectl set-ntp true` (as root, on the host)",
        )
    return ok("clock", "synchronized by NTP" if synchronised else "synchronization is unknown")
