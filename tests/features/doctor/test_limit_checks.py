# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Limits of control groups, in both versions, and ulimits."""

from __future__ import annotations

from pathlib import Path

import pytest

from model_analyzer.features.doctor.findings import Finding, Level
from model_analyzer.features.doctor.machine_checks import (
    Ulimits,
    check_group,
    judge_group,
    judge_ulimits,
    read_ulimits,
)
from model_analyzer.runner.host import ControlGroup, read_group

GIB = 2**30


class Tree:
    """A pretend /proc and /sys."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def own(self, *lines: str) -> None:
        self.write("proc/self/cgroup", "\n".join(lines))

    def group(self, path: str, **files: str) -> None:
        for name, text in files.items():
            self.write(f"sys/fs/cgroup/{path}/{name.replace('__', '.')}", text)

    def write(self, path: str, text: str) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text + "\n")


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def judged(group: ControlGroup) -> dict[str, Finding]:
    return {finding.check: finding for finding in judge_group(group, cores=8, memory=32 * GIB)}


def test_version_2_of_a_container_that_sees_its_own_group_as_the_top(tree: Tree) -> None:
    tree.own("0::/")
    tree.group(
        "", cpu__max="250000 100000", cpu__stat="usage_usec 5\nnr_throttled 7",
        memory__max=str(4 * GIB), memory__current=str(GIB), pids__max="max", pids__current="9",
    )  # fmt: skip

    assert read_group(tree.root) == ControlGroup(
        cores=2.5, memory=4 * GIB, memory_used=GIB, throttled=7
    )


def test_the_tightest_group_above_counts(tree: Tree) -> None:
    tree.own("0::/user/job")
    tree.group("user/job", cpu__max="max 100000", memory__max="max")
    tree.group(
        "user", cpu__max="100000 100000", memory__max=str(GIB), memory__current="0",
        pids__max="100", pids__current="40",
    )  # fmt: skip

    assert read_group(tree.root) == ControlGroup(
        cores=1, memory=GIB, memory_used=0, tasks=100, tasks_used=40
    )


def test_version_1_with_the_path_of_the_host(tree: Tree) -> None:
    tree.own("4:memory:/docker/abc", "2:cpu,cpuacct:/docker/abc", "1:name=systemd:/docker/abc")
    tree.group("cpu,cpuacct", cpu__cfs_quota_us="150000", cpu__cfs_period_us="100000")
    tree.group("memory", memory__limit_in_bytes=str(GIB), memory__usage_in_bytes="5")

    assert read_group(tree.root) == ControlGroup(cores=1.5, memory=GIB, memory_used=5)


def test_version_1_without_limits(tree: Tree) -> None:
    tree.own("4:memory:/", "1:cpu:/")
    tree.group("cpu", cpu__cfs_quota_us="-1", cpu__cfs_period_us="100000")
    tree.group("memory", memory__limit_in_bytes="9223372036854771712")

    assert read_group(tree.root) == ControlGroup()


def test_no_control_groups_at_all(tmp_path: Path) -> None:
    assert read_group(tmp_path) == ControlGroup()


def test_less_cpu_time_than_cores_gets_a_warning() -> None:
    finding = judged(ControlGroup(cores=2.5, throttled=7))["CPU limit"]

    assert finding.level is Level.WARNING
    assert finding.found.startswith("2.5 of 8 cores, reached 7 times so far")


def test_limits_above_what_there_is_are_none() -> None:
    assert judged(ControlGroup(cores=8, memory=64 * GIB, tasks=10_000)) == {}


@pytest.mark.parametrize(("used", "level"), [(GIB, Level.OK), (int(3.5 * GIB), Level.WARNING)])
def test_memory_that_is_nearly_used_up_gets_a_warning(used: int, level: Level) -> None:
    assert judged(ControlGroup(memory=4 * GIB, memory_used=used))["memory limit"].level is level


def test_few_processes_get_a_warning() -> None:
    finding = judged(ControlGroup(tasks=600, tasks_used=200))["process limit"]

    assert finding.found.startswith("only 400 more processes")


@pytest.mark.parametrize(
    ("limits", "level", "fix"),
    [
        (Ulimits(files=1024, most_files=4096, processes=-1), Level.WARNING, "`ulimit -n 1280`"),
        (Ulimits(files=1024, most_files=1024, processes=-1), Level.WARNING, "as root"),
        (Ulimits(files=4096, most_files=4096, processes=90), Level.WARNING, "ulimit -u"),
        (Ulimits(files=4096, most_files=4096, processes=-1), Level.OK, ""),
        (Ulimits(files=-1, most_files=-1, processes=-1), Level.OK, ""),
    ],
)
def test_ulimits_are_compared_with_the_connections_of_the_run(
    limits: Ulimits, level: Level, fix: str
) -> None:
    finding = judge_ulimits(limits, connections=1024)

    assert finding.level is level
    assert fix in finding.fix


def test_grpc_needs_few_files() -> None:
    limits = Ulimits(files=1024, most_files=1024, processes=-1)

    assert judge_ulimits(limits, connections=0).level is Level.OK


def test_this_machine_can_be_read() -> None:
    assert read_ulimits().files != 0
    assert list(check_group())
