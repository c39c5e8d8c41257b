# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What readings of a machine mean: every pure judgement, as rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.domain.hardware import Device
from model_analyzer.features.doctor.findings import Finding, Level
from model_analyzer.features.doctor.machine_checks import (
    Driver,
    GpuState,
    MachineLoad,
    SharedMemory,
    Ulimits,
    judge_driver,
    judge_governors,
    judge_group,
    judge_load,
    judge_memory,
    judge_place,
    judge_platform,
    judge_shared_memory,
    judge_time_of_day,
    judge_ulimits,
)
from model_analyzer.features.doctor.program_checks import (
    Port,
    judge_absent,
    judge_engine,
    judge_packages,
    judge_port,
    judge_silence,
    missing_libraries,
)
from model_analyzer.runner.gpus import Gpu
from model_analyzer.runner.host import ControlGroup, Destination
from model_analyzer.runner.install import Platform
from model_analyzer.runner.runtime import INSTALL
from model_analyzer.runner.server.docker import Engine

OK, WARNING, PROBLEM = Level
GIB = 2**30

LDD = """
	linux-vdso.so.1 (0x00007ffd)
	libb64.so.0d => not found
	libssl.so.3 => not found
	libz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x00007f)
"""
LOADER = (
    "/x/perf_analyzer does not start: /x/perf_analyzer: error while loading shared libraries:"
    " libcudart.so.12: cannot open shared object file: No such file or directory"
)


def load(average: float, share: float) -> Finding:
    users = [("make", 3.0), ("idle", 0.01)]
    return judge_load(MachineLoad(cores=8, average=average, share=share, users=users))


def group(**limits: Any) -> Finding | None:
    found = [*judge_group(ControlGroup(**limits), cores=8, memory=32 * GIB)]
    assert len(found) <= 1
    return found[0] if found else None


def ulimits(files: int, most_files: int, processes: int, connections: int = 1024) -> Finding:
    limits = Ulimits(files=files, most_files=most_files, processes=processes)
    return judge_ulimits(limits, connections=connections)


def platform(*here: str, has_program: bool = False) -> Finding:
    return judge_platform(Platform(*here), has_program=has_program)


def place(needed_mib: float = 0, **changes: Any) -> Finding:
    roomy = Destination(
        path=Path("/data/checkpoints"),
        existing=Path("/data"),
        free_mib=50_000,
        inodes=1_000_000,
        reason="",
    )
    return judge_place(
        "checkpoints",
        "--checkpoint-directory",
        replace(roomy, **changes),
        needed_mib=needed_mib,
    )


def shared(size_mib: float, free_mib: float, reason: str = "") -> Finding:
    return judge_shared_memory(SharedMemory(size_mib=size_mib, free_mib=free_mib, reason=reason))


def port(reason: str) -> Finding:
    return judge_port(Port(option="triton_grpc_endpoint", address="127.0.0.1:9", reason=reason))


def engine(*, has_image: bool, is_needed: bool = True) -> Finding:
    return judge_engine(Engine("Docker 27.1", has_image=has_image), image="i", is_needed=is_needed)


def device(uuid: str) -> Device:
    return Device(uuid=uuid, name="NVIDIA Pretend", memory=16_000)


def gpu(slices: Sequence[str] | None = None, programs: int | None = 0) -> Driver:
    parts = None if slices is None else tuple(map(device, slices))
    state = GpuState(gpu=Gpu(device("GPU-0"), parts), programs=programs)
    return Driver(version="999.99", gpus=(state,))


def driver(
    found: Driver, at: int, requested: Sequence[str] = ("all",), variable: str | None = None
) -> Finding:
    """The finding at a place: the driver if it has something to say, each GPU, those of a run."""
    return [*judge_driver(found, requested=requested, variable=variable)][at]


def packages(missing: set[str] | None) -> Finding:
    needed = {"a": frozenset({"numpy", "PIL", "torch"}), "b": frozenset({"numpy"})}
    absent = None if missing is None else frozenset(missing)
    (finding,) = judge_packages(needed, absent, "/env/bin/python3")
    return finding


NONE, GOOD = Driver(is_missing=True), gpu()
DENIED = "no Docker engine answers at the default address (Permission denied)"
PACKAGED = "`model-analyzer runtime install --with pillow --with torch --unverified`"


# each with a part of what was found, and of what to do
@pytest.mark.parametrize(
    ("finding", "level", "found", "fix"),
    [
        # the machine
        (load(0.2, 0.02), OK, "", ""),
        (load(6.0, 0.02), WARNING, "make (3.0 cores)", ""),
        (load(0.2, 0.6), WARNING, "make (3.0 cores)", ""),
        (judge_memory(0.4), WARNING, "", ""),
        (judge_memory(4), OK, "", ""),
        (judge_governors(frozenset({"powersave"})), WARNING, "governor powersave", "cpupower"),
        (judge_governors(frozenset({"performance", "schedutil"})), WARNING, "", "cpupower"),
        (judge_governors(frozenset({"performance"})), OK, "governor performance", ""),
        (judge_governors(frozenset()), OK, "unknown", ""),
        (judge_time_of_day(True), OK, "", ""),
        (judge_time_of_day(None), OK, "", ""),
        (judge_time_of_day(False), WARNING, "", ""),
        (platform("linux", "x86_64", "glibc", "2.34"), OK, "", ""),
        (platform("linux", "x86_64", "glibc", "2.100"), OK, "", ""),
        (platform("linux", "x86_64", "glibc", "2.31"), PROBLEM, "needs glibc 2.34 or newer", ""),
        (platform("linux", "x86_64", "musl", ""), PROBLEM, "found musl", ""),
        (platform("linux", "x86_64", "", ""), PROBLEM, "found another C library", ""),
        (platform("linux", "aarch64", "glibc", "2.39"), PROBLEM, "for linux on aarch64", ""),
        (platform("darwin", "arm64", "", ""), PROBLEM, "for darwin on arm64", ""),
        (platform("darwin", "arm64", "", "", has_program=True), OK, "", ""),
        # limits of control groups, and ulimits
        (group(cores=2.5, throttled=7), WARNING, "2.5 of 8 cores, reached 7 times so far", ""),
        (group(memory=4 * GIB, memory_used=GIB), OK, "", ""),
        (group(memory=4 * GIB, memory_used=int(3.5 * GIB)), WARNING, "", ""),
        (group(tasks=600, tasks_used=200), WARNING, "only 400 more processes", ""),
        (group(cores=8, memory=64 * GIB, tasks=10_000), None, "", ""),
        (ulimits(1024, 4096, -1), WARNING, "", "`ulimit -n 1280`"),
        (ulimits(1024, 1024, -1), WARNING, "", "as root"),
        (ulimits(4096, 4096, 90), WARNING, "", "ulimit -u"),
        (ulimits(4096, 4096, -1), OK, "", ""),
        (ulimits(-1, -1, -1), OK, "", ""),
        (ulimits(1024, 1024, -1, connections=0), OK, "", ""),
        # storage
        (place(), OK, "/data/checkpoints, 48.8 GiB free", ""),
        (place(inodes=None), OK, "", ""),
        (place(reason="its file system is read-only"), PROBLEM, "read-only", "--checkpoint-d"),
        (place(free_mib=20), WARNING, "20 MiB free", "--checkpoint-directory"),
        (place(inodes=7), WARNING, "only for 7 more files (inodes)", "--checkpoint-directory"),
        (place(2048, free_mib=900), PROBLEM, "the models alone need 2.0 GiB", "--checkpoint-d"),
        (shared(64, 63), WARNING, "", "--shm-size"),
        (shared(8192, 8000), OK, "", ""),
        (shared(64, 64, "not writable"), PROBLEM, "", "1777"),
        (shared(0, 0, "No such file"), PROBLEM, "", "tmpfs"),
        # the network
        (port(""), OK, "", ""),
        (port("in use"), PROBLEM, "in use", "remove triton_grpc_endpoint"),
        (engine(has_image=True), OK, "Docker 27.1 answers and has i", ""),
        (engine(has_image=False), WARNING, "", "`docker pull i`"),
        (engine(has_image=False, is_needed=False), OK, "", ""),
        (judge_silence(DENIED, is_needed=True), PROBLEM, "", "usermod -aG docker"),
        (judge_silence(DENIED, is_needed=False), OK, "", ""),
        (judge_silence("nobody listens", is_needed=True), PROBLEM, "", "systemctl"),
        # GPUs
        (driver(NONE, -1), OK, "instances of KIND_CPU", ""),
        (driver(NONE, -1, ["0"]), PROBLEM, "there is no GPU 0", ""),
        (driver(replace(NONE, on_host=True), 0), WARNING, "", "--gpus all"),
        (driver(Driver(error="version mismatch"), 0), WARNING, "version mismatch", ""),
        (driver(GOOD, 0), OK, "999.99", ""),
        (driver(GOOD, 1), OK, "", ""),
        (driver(GOOD, 2), OK, "GPU-0", ""),
        (driver(GOOD, 2, ()), OK, "", ""),
        (driver(GOOD, 2, variable="7"), WARNING, "VISIBLE_DEVICES='7' hides all GPUs", ""),
        (driver(gpu(programs=2), 1), WARNING, "in use by 2 programs", "nvidia-smi"),
        (driver(gpu(programs=None), 1), OK, "", ""),  # an old driver does not say
        (driver(gpu([]), 1), WARNING, "MIG mode with 0 devices", "-cgi"),
        (driver(gpu(["MIG-a", "MIG-b"]), 1), OK, "MIG mode with 2 devices", ""),
        (driver(gpu(["MIG-a", "MIG-b"]), 2), OK, "MIG-a", ""),
        # programs, and packages of models
        (
            judge_absent("perf_analyzer", LOADER, missing_libraries(LDD + LOADER), INSTALL),
            PROBLEM,
            "perf_analyzer does not start: libb64.so.0d, libssl.so.3, libcudart.so.12 missing",
            "`apt install libb64-0d`; `apt install libssl3`",
        ),
        (judge_absent("perf_analyzer", "x", (), INSTALL), PROBLEM, "x", "--perf-analyzer-path"),
        (judge_absent("tritonserver", "no", (), INSTALL), PROBLEM, "no", "--triton-server-path"),
        (packages({"PIL", "torch"}), PROBLEM, "model a needs PIL, torch, which /env", PACKAGED),
        (packages(set()), OK, "all 3 imported modules", ""),
        (packages(None), PROBLEM, "does not start", ""),
    ],
)  # fmt: skip
def test_what_a_reading_means(
    finding: Finding | None, level: Level | None, found: str, fix: str
) -> None:
    if finding is None:
        assert level is None
        return
    assert finding.level is level
    assert found in finding.found
    assert "idle" not in finding.found
    assert fix in finding.fix
    assert bool(finding.fix) is (level is not OK)


@pytest.mark.parametrize(
    ("output", "libraries"),
    [
        (LDD, ("libb64.so.0d", "libssl.so.3")),
        (LOADER, ("libcudart.so.12",)),
        (LDD + LDD, ("libb64.so.0d", "libssl.so.3")),
        ("	not a dynamic executable", ()),
    ],
)
def test_missing_libraries_are_found(output: str, libraries: tuple[str, ...]) -> None:
    assert missing_libraries(output) == libraries
