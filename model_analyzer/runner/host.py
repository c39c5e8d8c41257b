# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""This machine: what it is, for reports and checkpoints, and what it limits."""

from __future__ import annotations

import os
import platform
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from model_analyzer.domain.hardware import Device, Machine

# How many threads OpenMP uses.
THREADS = "OMP_NUM_THREADS"

_MIB = 2**20
_NO_LIMIT = 2**60  # control groups of version 1 use a larger number for "no limit"


def core_count() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def whole_seconds() -> int:
    """The whole seconds since the epoch: no measurement that begins later has an earlier time."""
    return int(time.time())


def describe_host() -> Mapping[str, str]:
    """Name, system, processor and memory of this machine. The processor is as in
    `Machine.processor_text`.
    """
    memory = psutil.virtual_memory().total / 2**30
    return {
        "Host": socket.gethostname(),
        "System": f"{_system()}, Linux {platform.release()}",
        "Processor": f"{processor()}, {core_count()} cores",
        "Memory": f"{memory:.0f} GiB",
    }


def this_machine(devices: Sequence[Device], driver: str, environment: Mapping[str, str]) -> Machine:
    """This machine, as programs see it that this process starts with the environment."""
    return Machine(
        host=socket.gethostname(),
        devices=tuple(devices),
        driver=driver,
        processor=processor(),
        cores=core_count(),
        niceness=os.getpriority(os.PRIO_PROCESS, 0),
        threads=environment.get(THREADS, ""),
    )


def kernel_text(path: Path) -> str:
    """The text of a file of the kernel; "" if it does not exist or is not readable."""
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


def _system() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "unknown system")
    except OSError:
        return "unknown system"


def processor() -> str:
    """The model of the processor, or its architecture."""
    lines = kernel_text(Path("/proc/cpuinfo")).splitlines()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlGroup:
    """The tightest limits of our control groups; None means no limit.

    `cores` is CPU time in cores. `memory` and `memory_used` are in bytes. `tasks` counts processes
    and threads. `throttled` is how often the processes were stopped at the CPU limit.
    """

    cores: float | None = None
    memory: int | None = None
    memory_used: int = 0
    tasks: int | None = None
    tasks_used: int = 0
    throttled: int = 0


def read_group(root: Path = Path("/")) -> ControlGroup:
    """Reads control groups of both versions, from our own group up to the topmost visible one."""
    cores: list[float] = []
    memory: list[tuple[int, int]] = []
    tasks: list[tuple[int, int]] = []
    throttled = 0
    for directory in _directories(root):
        quota = _quota(directory)
        if quota is not None:
            cores.append(quota)
            throttled += _pairs(directory / "cpu.stat").get("nr_throttled", 0)
        for limit, used, values in (
            ("memory.max", "memory.current", memory),
            ("memory.limit_in_bytes", "memory.usage_in_bytes", memory),
            ("pids.max", "pids.current", tasks),
        ):
            number = _number(directory / limit)
            if number is not None and number < _NO_LIMIT:
                values.append((number, _number(directory / used) or 0))
    least_memory = min(memory, default=(None, 0), key=lambda limit: limit[0] - limit[1])
    least_tasks = min(tasks, default=(None, 0), key=lambda limit: limit[0] - limit[1])
    return ControlGroup(
        cores=min(cores, default=None),
        memory=least_memory[0],
        memory_used=least_memory[1],
        tasks=least_tasks[0],
        tasks_used=least_tasks[1],
        throttled=throttled,
    )


def _directories(root: Path) -> Iterator[Path]:
    """For each controller, our group and its parents.

    In a container, the path may be the path of the host, which does not exist: then our group is
    the top.
    """
    base = root / "sys/fs/cgroup"
    for line in kernel_text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        top = base / controllers.removeprefix("name=") if controllers else base
        group = top / path.lstrip("/")
        directory = group if group.is_dir() else top
        while directory != top:
            yield directory
            directory = directory.parent
        yield top


def _quota(directory: Path) -> float | None:
    """The CPU time of a group, in cores."""
    words = kernel_text(directory / "cpu.max").split()
    if not words:
        period = kernel_text(directory / "cpu.cfs_period_us")
        words = [kernel_text(directory / "cpu.cfs_quota_us"), period]
    quota, period = words if len(words) == 2 else ("", "")
    return int(quota) / int(period) if quota.isdecimal() and period.isdecimal() else None


def _pairs(path: Path) -> Mapping[str, int]:
    words = kernel_text(path).split()
    return {
        name: int(number)
        for name, number in zip(words[::2], words[1::2], strict=False)
        if number.isdecimal()
    }


def _number(path: Path) -> int | None:
    text = kernel_text(path)
    return int(text) if text.isdecimal() else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """A directory to write to, and its nearest existing parent.

    `free_mib` is the free space, `inodes` the number of files that can be added (None: not
    limited). `reason` says why it is not writable, or is "".
    """

    path: Path
    existing: Path
    free_mib: float
    inodes: int | None
    reason: str


def read_destination(path: Path) -> Destination:
    """Inspects the directory without writing to it."""
    path = Path(os.path.abspath(path))
    existing = next((place for place in (path, *path.parents) if os.path.lexists(place)), path)
    reason = ""
    try:
        system = os.statvfs(existing)
    except OSError as error:
        return Destination(
            path=path,
            existing=existing,
            free_mib=0,
            inodes=None,
            reason=error.strerror or str(error),
        )
    if not existing.is_dir():
        reason = f"{existing} is not a directory"
    elif not system.f_blocks:
        reason = f"{existing} is not on a disk"
    elif system.f_flag & os.ST_RDONLY:
        reason = "its file system is read-only"
    elif not os.access(existing, os.W_OK | os.X_OK):
        reason = f"user {os.geteuid()} may not write to {existing}"
    return Destination(
        path=path,
        existing=existing,
        free_mib=system.f_bavail * system.f_frsize / _MIB,
        inodes=system.f_favail if system.f_files else None,
        reason=reason,
    )
