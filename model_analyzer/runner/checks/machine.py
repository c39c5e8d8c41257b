# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The machine while it should be quiet: load, memory, clock rates of its processors, clocks."""

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

# What the kernel takes where it trusts no faster one: reading them costs a microsecond.
_SLOW_CLOCKS = ("hpet", "acpi_pm", "jiffies")
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Frequency:
    """The governors of the processors, and whether they may go above their base clock rate; empty
    and None where that cannot be seen.
    """

    governors: frozenset[str]
    turbo: bool | None


def read_frequency(root: Path = Path("/")) -> Frequency:
    cpus = root / "sys/devices/system/cpu"
    governors = map(_text, cpus.glob("cpu[0-9]*/cpufreq/scaling_governor"))
    off, on = _text(cpus / "intel_pstate/no_turbo"), _text(cpus / "cpufreq/boost")
    turbo = off == "0" if off else on == "1" if on else None
    return Frequency(governors=frozenset(filter(None, governors)), turbo=turbo)


def judge_frequency(frequency: Frequency) -> Finding:
    name = "CPU frequency"
    if not frequency.governors:
        return ok(name, "cannot be seen from here (virtual machine or container)")
    turbo = {True: ", turbo on", False: ", turbo off", None: ""}[frequency.turbo]
    found = f"governor {', '.join(sorted(frequency.governors))}{turbo}"
    if frequency.governors == {"performance"}:
        return ok(name, found)
    return warning(
        name,
        f"{found}: clock rates follow the load, and latencies with them",
        "`cpupower frequency-set -g performance` (as root)",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """Where the kernel has the time from, what else it could use, and whether the time of day is
    kept right by NTP; "" and None where that cannot be seen.
    """

    source: str
    available: Sequence[str]
    synchronised: bool | None


def read_clock(root: Path = Path("/")) -> Clock:
    directory = root / "sys/devices/system/clocksource/clocksource0"
    return Clock(
        source=_text(directory / "current_clocksource"),
        available=_text(directory / "available_clocksource").split(),
        synchronised=_is_synchronised(),
    )


def _is_synchronised() -> bool | None:
    """What the kernel says when asked without changing anything."""
    try:
        state = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES))
    except (OSError, AttributeError):
        return None
    return None if state < 0 else state != _UNSYNCHRONISED


def judge_clock(clock: Clock, *, needs_time_of_day: bool) -> Finding:
    """`needs_time_of_day`: the run compares it with that of other machines."""
    name = "clock"
    source = clock.source or "unknown source"
    if clock.source in _SLOW_CLOCKS:
        better = next((one for one in clock.available if one not in _SLOW_CLOCKS), "tsc")
        return warning(
            name,
            f"{source}, which takes a microsecond to read: short latencies look longer",
            f"boot with clocksource={better}, or ask whoever runs the virtual machine",
        )
    if clock.synchronised is False and needs_time_of_day:
        return warning(
            name,
            f"{source}, and no NTP keeps the time of day right: certificates may be refused, and"
            " times in shared checkpoints may be out of order",
            "`timedatectl set-ntp true` (as root, on the host)",
        )
    kept = {True: ", kept right by NTP", False: ", not kept right by NTP", None: ""}[
        clock.synchronised
    ]
    return ok(name, f"{source}{kept}")


def _text(path: Path) -> str:
    """What a file of the kernel says; "" if there is none, or if it is not for us."""
    try:
        return path.read_text().strip()
    except OSError:
        return ""
