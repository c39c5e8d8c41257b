# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What this process and its children may use: control groups (containers) and ulimits."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from model_analyzer.runner.checks.finding import Finding, ok, warning

_GIB = 2**30
_LEAST_MEMORY = 2 * _GIB
_LEAST_TASKS = 500  # threads of a server, its models and a load generator
_NO_LIMIT = 2**60  # version 1 has a number for it, a little smaller on each machine
_BASIC_FILES = 256  # what server and load generator open anyway


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The tightest limits of the control groups that we are in, None where there is none.

    `cores` is CPU time in cores, `memory` and `memory_used` are bytes, `tasks` counts processes
    and threads, `throttled` how often CPU time had run out.
    """

    cores: float | None = None
    memory: int | None = None
    memory_used: int = 0
    tasks: int | None = None
    tasks_used: int = 0
    throttled: int = 0


def read_group(root: Path = Path("/")) -> Group:
    """Reads both versions of control groups, from our own group up to the topmost that we see."""
    cores: list[float] = []
    memory: list[tuple[int, int]] = []
    tasks: list[tuple[int, int]] = []
    throttled = 0
    for directory in _directories(root):
        quota = _quota(directory)
        if quota is not None:
            cores.append(quota)
            throttled += _pairs(directory / "cpu.stat").get("nr_throttled", 0)
        for limit, used, found in (
            ("memory.max", "memory.current", memory),
            ("memory.limit_in_bytes", "memory.usage_in_bytes", memory),
            ("pids.max", "pids.current", tasks),
        ):
            number = _number(directory / limit)
            if number is not None and number < _NO_LIMIT:
                found.append((number, _number(directory / used) or 0))
    least_memory = min(memory, default=(None, 0), key=lambda one: one[0] - one[1])
    least_tasks = min(tasks, default=(None, 0), key=lambda one: one[0] - one[1])
    return Group(
        cores=min(cores, default=None),
        memory=least_memory[0],
        memory_used=least_memory[1],
        tasks=least_tasks[0],
        tasks_used=least_tasks[1],
        throttled=throttled,
    )


def _directories(root: Path) -> Iterator[Path]:
    """Of each controller our group and those above it.

    In a container the path may be that of the host, which is not there: then its top is ours.
    """
    base = root / "sys/fs/cgroup"
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        top = base / controllers.removeprefix("name=") if controllers else base
        own = top / path.lstrip("/")
        directory = own if own.is_dir() else top
        while directory != top:
            yield directory
            directory = directory.parent
        yield top


def _quota(directory: Path) -> float | None:
    """The CPU time of a group, in cores."""
    words = _text(directory / "cpu.max").split()
    if not words:
        period = _text(directory / "cpu.cfs_period_us")
        words = [_text(directory / "cpu.cfs_quota_us"), period]
    quota, period = words if len(words) == 2 else ("", "")
    return int(quota) / int(period) if quota.isdecimal() and period.isdecimal() else None


def _pairs(path: Path) -> Mapping[str, int]:
    words = _text(path).split()
    return {
        name: int(number)
        for name, number in zip(words[::2], words[1::2], strict=False)
        if number.isdecimal()
    }


def _number(path: Path) -> int | None:
    text = _text(path)
    return int(text) if text.isdecimal() else None


def judge_group(group: Group, *, cores: int, memory: int) -> Iterator[Finding]:
    """`cores` and `memory` (bytes) are the machine's."""
    if group.cores is not None and group.cores < cores:
        found = f"{group.cores:g} of {cores} cores"
        if group.throttled:
            found += f", used up {group.throttled} times so far"
        yield warning(
            "CPU limit",
            f"{found}: server and perf_analyzer are stopped for moments when it is used up",
            "raise the limit of the container (`docker run --cpus`, resources.limits.cpu), or"
            " reserve whole cores (`--cpuset-cpus`)",
        )
    if group.memory is not None and group.memory < memory:
        free = group.memory - group.memory_used
        found = f"{group.memory / _GIB:.1f} GiB, of which {free / _GIB:.1f} GiB are free"
        if free < _LEAST_MEMORY:
            yield warning(
                "memory limit",
                f"{found}: what goes above is killed",
                "raise the limit of the container (`docker run --memory`, resources.limits.memory)",
            )
        else:
            yield ok("memory limit", found)
    if group.tasks is not None and group.tasks - group.tasks_used < _LEAST_TASKS:
        yield warning(
            "process limit",
            f"{group.tasks - group.tasks_used} more processes and threads are allowed",
            "raise the limit of the container (`docker run --pids-limit`)",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ulimits:
    """Files and processes that each process, or this user, may have, now and if raised; -1 is any
    number.
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
    """`connections` is how many a load generator may open at once."""
    needed = connections + _BASIC_FILES
    if 0 <= limits.files < needed:
        can = limits.most_files < 0 or limits.most_files >= needed
        return warning(
            "ulimits",
            f"{limits.files} open files, but {connections} connections at once may be tried",
            f"`ulimit -n {needed}`" if can else f"as root, raise nofile to {needed} or more",
        )
    if 0 <= limits.processes < _LEAST_TASKS:
        return warning(
            "ulimits",
            f"{limits.processes} processes and threads for this user",
            f"`ulimit -u {8 * _LEAST_TASKS}`, as root if it is refused",
        )
    return ok("ulimits", f"{limits.files} open files")


def check_group() -> Iterator[Finding]:
    cores, memory = len(os.sched_getaffinity(0)), psutil.virtual_memory().total
    found = list(judge_group(read_group(), cores=cores, memory=memory))
    yield from found or [ok("container limits", "none on CPU time and memory")]


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
