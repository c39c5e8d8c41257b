# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What readings of a machine mean: every pure judgement, as rows of a table.

What checks read: the machine, control groups, directories, ports, programs, their modules.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.domain.hardware import Device
from model_analyzer.domain.models import ModelFacts
from model_analyzer.domain.settings import LaunchMode, ServerSettings
from model_analyzer.features.doctor import machine_checks
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
    check_docker,
    check_load_generator,
    check_packages,
    check_ports,
    imported,
    judge_absent,
    judge_engine,
    judge_packages,
    judge_port,
    judge_silence,
    missing_libraries,
)
from model_analyzer.runner.gpus import Gpu
from model_analyzer.runner.host import ControlGroup, Destination, read_destination, read_group
from model_analyzer.runner.install import Platform
from model_analyzer.runner.repository import ModelRepository
from model_analyzer.runner.runtime import INSTALL, Program
from model_analyzer.runner.server.docker import Engine
from tests.unit.builders import resolved

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
        "checkpoints", "--checkpoint-directory", replace(roomy, **changes), needed_mib=needed_mib
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


def test_this_machine_can_be_read() -> None:
    load = machine_checks.read_load()

    assert load.cores >= 1
    assert 0 <= load.share <= 1
    assert machine_checks.read_memory() > 0
    assert machine_checks.judge_time_of_day(machine_checks.read_synchronised()).found
    assert machine_checks.judge_governors(machine_checks.read_governors()).found
    assert machine_checks.read_ulimits().files != 0
    assert list(machine_checks.check_group())


def test_governors_are_read(tree: Tree) -> None:
    assert machine_checks.read_governors(tree.root) == frozenset()
    for number in (0, 1, 17):
        tree.write(f"sys/devices/system/cpu/cpu{number}/cpufreq/scaling_governor", "powersave")

    assert machine_checks.read_governors(tree.root) == {"powersave"}


# -- storage -------------------------------------------------------------------------------------


def test_a_place_that_is_to_be_made_is_judged_by_the_directory_above(tmp_path: Path) -> None:
    place = read_destination(tmp_path / "a" / "b")

    assert (place.existing, place.reason) == (tmp_path, "")
    assert place.free_mib > 0
    assert not (tmp_path / "a").exists()


def test_a_file_in_the_way_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    assert (
        read_destination(tmp_path / "file" / "b").reason
        == f"{tmp_path / 'file'} is not a directory"
    )


def test_a_place_without_a_disk_is_reported() -> None:
    assert read_destination(Path("/proc/checkpoints")).reason == "/proc is not on a disk"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_of_another_user_is_reported(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)

    assert "may not write to" in read_destination(tmp_path / "b").reason


def test_a_repository_is_read_as_a_whole(tmp_path: Path) -> None:
    (tmp_path / "m" / "1").mkdir(parents=True)
    (tmp_path / "m" / "1" / "model.py").write_text("x" * 2**20)

    assert machine_checks.check_readable("models", tmp_path, None).level is Level.OK
    assert machine_checks.size_mib([tmp_path / "m"]) == 1
    assert machine_checks.check_readable("models", tmp_path / "none", None).level is Level.PROBLEM


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_reported(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "secret").touch(mode=0o000)

    finding = machine_checks.check_readable("models", tmp_path, ["m"])

    assert finding.level is Level.PROBLEM
    assert str(tmp_path / "m" / "secret") in finding.found


def test_shared_memory_is_read(tmp_path: Path) -> None:
    assert machine_checks.read_shared_memory(tmp_path).size_mib > 0
    assert "No such file" in machine_checks.read_shared_memory(tmp_path / "none").reason


def test_a_store_of_models_is_listed(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "config.pbtxt").write_text("text")

    finding = machine_checks.check_store(f"file://{tmp_path}", os.environ)

    assert finding.level is Level.OK
    assert finding.found == f"file://{tmp_path}: 1 file, 4 bytes"


@pytest.mark.parametrize("url", ["memory://nothing/there", "nowhere://bucket"])
def test_a_store_that_cannot_be_listed_is_a_problem(url: str) -> None:
    finding = machine_checks.check_store(url, os.environ)

    assert finding.level is Level.PROBLEM
    assert finding.found.startswith(f"{url}: ")
    assert "credentials" in finding.fix


# -- the network ---------------------------------------------------------------------------------


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


@pytest.fixture
def settings() -> ServerSettings:
    return resolved("").settings.server


def test_without_an_address_ports_are_chosen(settings: ServerSettings) -> None:
    (finding,) = check_ports(settings)

    assert (finding.level, finding.check) == (Level.OK, "ports")


def test_a_used_port_names_its_process(settings: ServerSettings, taken: int) -> None:
    first, *_ = check_ports(replace(settings, http_endpoints=(f"localhost:{taken}",)))

    assert first.level is Level.PROBLEM
    assert f"127.0.0.1:{taken} (triton_http_endpoint) cannot be used" in first.found
    assert f"process {os.getpid()}" in first.found
    assert "remove triton_http_endpoint" in first.fix


def test_a_server_elsewhere_has_to_listen(settings: ServerSettings, taken: int) -> None:
    remote = replace(settings, launch=LaunchMode.REMOTE, grpc_endpoints=(f"localhost:{taken}",))
    (there,) = check_ports(remote)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        (absent,) = check_ports(replace(remote, grpc_endpoints=(f"localhost:{port}",)))

    assert there.level is Level.OK
    assert absent.level is Level.PROBLEM
    assert "--triton-grpc-endpoint" in absent.fix


def test_a_missing_engine_that_is_not_needed_is_ok(tmp_path: Path) -> None:
    finding = check_docker({}, image="i", is_needed=False, socket=tmp_path / "docker.sock")

    assert finding.level is Level.OK
    assert finding.found.startswith("none")


# -- programs ------------------------------------------------------------------------------------


def test_the_advice_is_in_the_fix_only(tmp_path: Path) -> None:
    finding, _ = check_load_generator(str(tmp_path / "none"), {})

    assert finding.found == f"perf_analyzer_path: {tmp_path}/none does not exist"
    assert "model-analyzer runtime install" in finding.fix


def test_a_program_that_does_not_start_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "perf_analyzer"
    reason = "error while loading shared libraries: libcudart.so.12: cannot open shared object file"
    path.write_text(f"#!/bin/sh\necho '{path}: {reason}' >&2\nexit 127\n")
    path.chmod(0o755)

    finding, program = check_load_generator(str(path), {"PATH": os.defpath})

    assert program is None
    assert finding.level is Level.PROBLEM
    assert finding.found == f"{path} does not start: libcudart.so.12 missing"


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import numpy as np, torch.nn\nfrom PIL import Image", {"numpy", "torch", "PIL"}),
        ("from . import beside\nfrom .more import x", set()),
        ("try:\n    import cupy\nexcept ImportError:\n    cupy = None", set()),
        ("def execute():\n    import late", set()),
        ("import (", set()),
        ("x = '\0'", set()),
    ],
)
def test_modules_that_a_model_needs(source: str, names: set[str]) -> None:
    assert imported(source) == names


class Models:
    """A repository with one model, and a server whose models have our own Python."""

    def __init__(self, repository: Path) -> None:
        self.repository = repository
        self.facts: ModelFacts = ModelRepository(repository).facts("m")
        python = Path(sys.executable).parent
        self.server = Program(
            path=Path("tritonserver"), origin="test", environment={"PATH": f"{python}:{os.defpath}"}
        )

    def write(self, source: str) -> None:
        (self.repository / "m" / "1" / "model.py").write_text(source)

    def levels(self) -> list[Level]:
        return [
            finding.level for finding in check_packages(self.repository, [self.facts], self.server)
        ]


@pytest.fixture
def models(make_model) -> Models:
    return Models(make_model("m"))


def test_the_python_of_the_models_is_asked(models: Models) -> None:
    models.write("import json, no_such_module_here\nimport triton_python_backend_utils\n")

    (finding,) = check_packages(models.repository, [models.facts], models.server)

    assert "needs no_such_module_here, which" in finding.found


def test_packages_of_model_analyzer_are_not_available_to_models(
    models: Models, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Python of the models looks neither into the current directory nor into PYTHONPATH."""
    here, there = tmp_path / "here", tmp_path / "there"
    for directory, module in ((here, "only_here"), (there, "only_there"), (here, "json")):
        directory.mkdir(exist_ok=True)
        (directory / f"{module}.py").write_text("raise SystemExit('planted')\n")
    models.write("import only_here, only_there\n")
    variables = {**models.server.environment, "PYTHONPATH": str(there)}
    monkeypatch.chdir(here)

    (finding,) = check_packages(
        models.repository, [models.facts], replace(models.server, environment=variables)
    )

    assert "needs only_here, only_there, which" in finding.found


def test_modules_beside_the_model_are_available(models: Models) -> None:
    (models.repository / "m" / "1" / "beside_it.py").touch()
    models.write("import json, beside_it\n")

    assert models.levels() == [Level.OK]


def test_models_with_a_python_of_their_own_are_not_asked(models: Models) -> None:
    models.write("import no_such_module_here\n")
    own = {"EXECUTION_ENV_PATH": {"string_value": "env.tar.gz"}}
    models.facts = replace(models.facts, config={**models.facts.config, "parameters": own})

    assert models.levels() == []
