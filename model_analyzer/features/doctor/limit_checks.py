# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Limits for this process and its children: control groups (containers) and ulimits."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from dataclasses import dataclass

import psutil

from model_analyzer.features.doctor.finding import Finding, ok, warning
from model_analyzer.runner.host import Group, read_group

_GIB = 2**30
_LEAST_MEMORY = 2 * _GIB
_LEAST_TASKS = 500  # threads of a server, its models and a load generator
_BASIC_FILES = 256  # files that the server and the load generator always open


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
