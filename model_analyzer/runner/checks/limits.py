# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Limits for this process and its children: control groups (containers) and ulimits."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from model_analyzer.runner.checks.finding import Finding, ok, warning
from model_analyzer.runner.host import kernel_text

_GIB = 2**30
_LEAST_MEMORY = 2 * _GIB
_LEAST_TASKS = 500  # threads of a server, its models and a load generator
_NO_LIMIT = 2**60  # version 1 uses a larger number for "no limit"
_BASIC_FILES = 256  # files that the server and the load generator always open


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
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


def read_group(root: Path = Path("/")) -> Group:
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
    return Group(
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


def judge_group(group: Group, *, cores: int, memory: int) -> Iterator[Finding]:
    """`cores` and `memory` (bytes) are those of the machine."""
    if group.cores is not None and group.cores < cores:
        text = f"{group.cores:g} of {cores} cores"
        if group.throttled:
            text += f", reached {group.throttled} times so far"
        yield warning(
            "CPU limit",
            f"{text}: at the limit, the server and perf_analyzer are paused",
            "raise the limit of the container (`docker run --cpus`, resources.limits.cpu), or"
            " reserve whole cores (`--cpuset-cpus`)",
        )
    if group.memory is not None and group.memory < memory:
        free = group.memory - group.memory_used
        text = f"{group.memory / _GIB:.1f} GiB, of which {free / _GIB:.1f} GiB are free"
        if free < _LEAST_MEMORY:
            yield warning(
                "memory limit",
                f"{text}: processes that need more are killed",
                "raise the limit of the container (`docker run --memory`, resources.limits.memory)",
            )
        else:
            yield ok("memory limit", text)
    if group.tasks is not None and group.tasks - group.tasks_used < _LEAST_TASKS:
        yield warning(
            "process limit",
            f"only {group.tasks - group.tasks_used} more processes and threads are allowed",
            "raise the limit of the container (`docker run --pids-limit`)",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ulimits:
    """Limits of open files for each process (`files`; it can be raised to `most_files`) and of
    processes for this user; -1 means no limit.
    """

    files: int
    most_files: int
    processes: int


def read_ulimits() -> Ulimits:
    files, most_files = resource.getrlimit(resource.RLIMIT_NOFILE)
    return Ulimits(
        files=files,
        most_files=most_files,
        processes=resource.getrlimit(resource.RLIMIT_NPROC)[0],
    )


def judge_ulimits(limits: Ulimits, *, connections: int) -> Finding:
    """`connections` is the number that the load generator may open at once."""
    needed = connections + _BASIC_FILES
    if 0 <= limits.files < needed:
        can = limits.most_files < 0 or limits.most_files >= needed
        return warning(
            "ulimits",
            f"{limits.files} open files, but the search may open {connections} connections",
            f"`ulimit -n {needed}`" if can else f"as root, raise nofile to {needed} or more",
        )
    if 0 <= limits.processes < _LEAST_TASKS:
        return warning(
            "ulimits",
            f"only {limits.processes} processes and threads for this user",
            f"`ulimit -u {8 * _LEAST_TASKS}` (as root if it is refused)",
        )
    return ok("ulimits", f"{limits.files} open files")


def check_group() -> Iterator[Finding]:
    cores, memory = len(os.sched_getaffinity(0)), psutil.virtual_memory().total
    findings = list(judge_group(read_group(), cores=cores, memory=memory))
    yield from findings or [ok("container limits", "none on CPU time and memory")]
