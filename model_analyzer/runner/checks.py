# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Looks at everything that a run needs: each check says what it found and what to do."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import psutil

from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.settings import (
    LaunchMode,
    LoadGeneratorSettings,
    ModelType,
    Protocol,
    ServerRestart,
    ServerSettings,
)
from model_analyzer.domain.trials import Failure, Load, ServerSetup, Workload
from model_analyzer.errors import ModelAnalyzerError
from model_analyzer.runner.load.perf_analyzer import PerfAnalyzer
from model_analyzer.runner.monitors.gpu import find_devices
from model_analyzer.runner.process import run
from model_analyzer.runner.repository import ModelRepository, stage
from model_analyzer.runner.runtime import (
    InstalledRuntime,
    Program,
    check_models_python,
    find_perf_analyzer,
    find_tritonserver,
    installed_runtime,
    why_server_fails,
)
from model_analyzer.runner.server.local import LocalLauncher
from model_analyzer.runner.server.log import ServerLog
from model_analyzer.runner.server.triton import TritonServer
from model_analyzer.runner.workspace import Workspace

# A Triton server takes its shared memory for the Python backend from there: 1 MiB an instance.
_LEAST_SHM_MB = 64
_LEAST_DISK_MB = 200


class State(Enum):
    """What a check came to. Only a failed one keeps a run from working."""

    OK = "ok"
    NOTE = "note"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the doctor: what was looked at, what was found, and how to mend it."""

    name: str
    state: State
    found: str
    mend: str = ""


def examine(
    environment: Mapping[str, str],
    *,
    server_path: str | None,
    perf_analyzer_path: str | None,
    tiny_models: Path,
) -> Iterator[Check]:
    """Every check, one after another. `tiny_models` is a repository with the model add_sub."""
    runtime = installed_runtime(environment)
    server = load = None
    try:
        server = find_tritonserver(server_path, environment)
        reason = why_server_fails(server)
        found = f"{server.path} ({server.origin})"
        yield Check("tritonserver", State.FAILED if reason else State.OK, reason or found)
        server = None if reason else server
    except ModelAnalyzerError as error:
        yield Check("tritonserver", State.FAILED, str(error))
    try:
        load = find_perf_analyzer(perf_analyzer_path, environment)
        yield Check("perf_analyzer", State.OK, f"{load.version}: {load.path} ({load.origin})")
    except ModelAnalyzerError as error:
        yield Check("perf_analyzer", State.FAILED, str(error))
    models_python_works = True
    if server is not None and server.path == runtime.server:
        check = _models_python(server, runtime, environment)
        models_python_works = check.state is State.OK
        yield check
    yield _shared_memory()
    yield _disk()
    yield _gpus()
    yield _machine()
    if server is not None and models_python_works:
        yield from _tiny_model(server, load, tiny_models)


def _models_python(
    server: Program, runtime: InstalledRuntime, environment: Mapping[str, str]
) -> Check:
    name = "Python of the models"
    try:
        check_models_python(server, environment)
    except ModelAnalyzerError as error:
        return Check(name, State.FAILED, str(error))
    # A stub that cannot start would make every load hang; without arguments it only complains.
    _, output = run([str(runtime.stub)], environment=server.environment, timeout_s=20)
    if "arguments" not in output:
        reason = output.strip().splitlines()[-1:] or ["it says nothing"]
        return Check(
            name, State.FAILED, f"the model process does not start: {reason[0]}",
            "run `model-analyzer runtime remove` and install again",
        )  # fmt: skip
    return Check(name, State.OK, f"{runtime.python}, numpy {runtime.numpy_version}")


def _shared_memory() -> Check:
    try:
        free = shutil.disk_usage("/dev/shm").free / 2**20
    except OSError as error:
        return Check(
            "/dev/shm", State.FAILED, f"cannot be read: {error.strerror}",
            "models of the Python backend need it: mount a tmpfs there",
        )  # fmt: skip
    if not os.access("/dev/shm", os.W_OK):
        return Check("/dev/shm", State.FAILED, "not writable", "chmod 1777 /dev/shm")
    if free < _LEAST_SHM_MB:
        return Check(
            "/dev/shm", State.NOTE, f"{free:.0f} MiB free",
            "each instance of a Python model takes 1 MiB or more; in a container: --shm-size",
        )  # fmt: skip
    return Check("/dev/shm", State.OK, f"{free:.0f} MiB free")


def _disk() -> Check:
    free = shutil.disk_usage(Path.cwd()).free / 2**20
    state = State.OK if free > _LEAST_DISK_MB else State.NOTE
    mend = "" if state is State.OK else "variants and checkpoints are written here: make room"
    return Check("disk", state, f"{free:.0f} MiB free in {Path.cwd()}", mend)


def _gpus() -> Check:
    found = find_devices()
    if not found:
        return Check("GPUs", State.NOTE, "none: instances of KIND_CPU will be searched")
    return Check("GPUs", State.OK, ", ".join(device.name for device in found))


def _machine() -> Check:
    cores, load = len(os.sched_getaffinity(0)), os.getloadavg()[0]
    memory = psutil.virtual_memory().available / 2**30
    found = f"{cores} cores, load {load:.1f}, {memory:.0f} GiB of memory available"
    if load > 0.5 * cores:
        return Check("machine", State.NOTE, found, "it is busy: measurements will be noisy")
    return Check("machine", State.OK, found)


def _tiny_model(server: Program, load: Program | None, tiny_models: Path) -> Iterator[Check]:
    """Loads a model, sends it one request, and lets perf_analyzer measure it for a moment."""
    names = ("a model loads and answers", "perf_analyzer measures it")
    with ExitStack() as stack:
        work = stack.enter_context(Workspace())
        repository = ModelRepository(tiny_models)
        facts = repository.facts("add_sub")
        settings = _server_settings()
        local = stack.enter_context(
            TritonServer(
                LocalLauncher(server, settings, stage(repository, [facts], work / "models")),
                settings,
                ServerLog(work / "server.log"),
                settles=False,
            )
        )
        variant = VariantNames().default(facts)
        try:
            # checks the size of the answer, too
            failure = local.serve([variant], ServerSetup())
        except ModelAnalyzerError as error:
            yield Check(names[0], State.FAILED, str(error))
            return
        if failure is not None:
            no_backend = "find backend library" in " ".join((failure.message, *failure.log))
            state = State.NOTE if no_backend else State.FAILED
            yield Check(names[0], state, failure.message, failure.hint)
            return
        yield Check(names[0], State.OK, "add_sub, with an answer of the right size")
        if load is None:
            return
        generator = PerfAnalyzer(
            load,
            LoadGeneratorSettings(
                model_type=ModelType.GENERIC,
                keep_output=False,
                output=None,
                path=None,
                timeout_s=30,
                max_launches=3,
                most_cpu_percent=1e6,
            ),
            Protocol.GRPC,
            work_directory=work,
            user_directory=work,
        )
        flags = {"measurement-mode": "time_windows", "measurement-interval": "100"}
        workload = Workload(
            variant=variant, load=Load(value=1), flags={**flags, "stability-percentage": "999"}
        )
        reading = generator.generate([workload], local)
        if isinstance(reading, Failure):
            yield Check(names[1], State.FAILED, reading.message, reading.hint)
        else:
            throughput = reading.models[0].values["perf_throughput"]
            yield Check(names[1], State.OK, f"{throughput:.0f} infer/sec")


def _server_settings() -> ServerSettings:
    return ServerSettings(
        launch=LaunchMode.LOCAL,
        path=None,
        install_path=None,
        reload_disable=False,
        protocol=Protocol.GRPC,
        http_endpoint=None,
        grpc_endpoint=None,
        metrics_url=None,
        log=None,
        ready_timeout_s=30,
        load_timeout_s=30,
        restart=ServerRestart.AUTO,
    )
