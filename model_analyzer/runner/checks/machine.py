# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The machine while it should be quiet: load, memory, clock rates of processors, time of day."""

from __future__ import annotations

import ctypes
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from model_analyzer.runner.checks.finding import Finding, ok, warning

_LOOK_S = 0.3
_BUSY_SHARE = 0.3
_LEAST_MEMORY_GIB = 1.0
_GIB = 2**30

_UNSYNCHRONISED = 5  # TIME_ERROR of adjtimex
_TIMEX_BYTES = 512  # more than its struct has on any platform


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineLoad:
    """Cores that we may use, average load of the last minute, the share of the CPU time (0 to 1)
    that is used right now, and who uses it: names with cores.
    """

    cores: int
    average: float
    share: float
    users: Sequence[tuple[str, float]]


def read_load() -> MachineLoad:
    """Looks for a third of a second."""
    processes = [one for one in psutil.process_iter() if one.pid != os.getpid()]
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
    """Name and CPU percent since the last look; nothing of one that has ended."""
    try:
        return process.name(), process.cpu_percent()
    except psutil.Error:
        return "", 0.0


def judge_load(load: MachineLoad) -> Finding:
    found = f"{load.cores} cores, load {load.average:.1f}, {load.share:.0%} of the CPU time used"
    if load.share <= _BUSY_SHARE and load.average <= 0.5 * load.cores:
        return ok("load", found)
    users = ", ".join(f"{name} ({cores:.1f} cores)" for name, cores in load.users if cores >= 0.1)
    if users:
        found = f"{found}, most of it by {users}"
    return warning("load", found, "stop what else runs here: measurements will be noisy")


def read_memory() -> float:
    """Memory that can be had without swapping, in GiB."""
    return psutil.virtual_memory().available / _GIB


def judge_memory(available_gib: float) -> Finding:
    found = f"{available_gib:.1f} GiB available"
    if available_gib < _LEAST_MEMORY_GIB:
        return warning("memory", found, "models may not load: stop what else runs here")
    return ok("memory", found)


def read_governors(root: Path = Path("/")) -> frozenset[str]:
    """The governors of the processors; none where they cannot be seen."""
    cpus = root / "sys/devices/system/cpu"
    governors = map(_text, cpus.glob("cpu[0-9]*/cpufreq/scaling_governor"))
    return frozenset(filter(None, governors))


def judge_governors(governors: frozenset[str]) -> Finding:
    name = "CPU frequency"
    if not governors:
        return ok(name, "cannot be seen from here (virtual machine or container)")
    found = f"governor {', '.join(sorted(governors))}"
    if governors == {"performance"}:
        return ok(name, found)
    return warning(
        name,
        f"{found}: clock rates follow the load, and latencies with them",
        "`cpupower frequency-set -g performance` (as root)",
    )


def read_synchronised() -> bool | None:
    """Whether NTP keeps the time of day right, as the kernel says when asked without changing
    anything; None where it does not say.
    """
    try:
        state = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES))
    except (OSError, AttributeError):
        return None
    return None if state < 0 else state != _UNSYNCHRONISED


def judge_time_of_day(synchronised: bool | None) -> Finding:
    """For runs that compare it with that of other machines."""
    if synchronised is False:
        return warning(
            "clock",
            "no NTP keeps the time of day right: certificates may be refused, and times in shared"
            " checkpoints may be out of order",
            "`timedatectl set-ntp true` (as root, on the host)",
        )
    return ok("clock", "kept right by NTP" if synchronised else "cannot be seen from here")


def _text(path: Path) -> str:
    """What a file of the kernel says; "" if there is none, or if it is not for us."""
    try:
        return path.read_text().strip()
    except OSError:
        return ""
