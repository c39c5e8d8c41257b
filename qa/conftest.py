# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Scenarios on the real tritonserver and the real perf_analyzer."""

from __future__ import annotations

import csv
import http.client
import json
import os
import select
import shlex
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from conftest import without_charts
from model_analyzer.runner.runtime import find_tritonserver, installed_runtime
from model_analyzer.runner.workspace import name_has_ended
from qa.cluster.local_cluster import LocalCluster

HERE = Path(__file__).parent
STARTER = HERE.parent / "model_analyzer" / "starter" / "model_repository"

# Three windows of a tenth of a second, accepted without stability: enough to check behaviour, but
# not numbers.
QUICK = {
    "measurement-mode": "time_windows",
    "measurement-interval": 100,
    "stability-percentage": 999,
}


# Scenarios for every day; the others take ten minutes more and run with `make qa`.
OFTEN = {"q10"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("e2e")
        if HERE / "scenarios" in item.path.parents and item.path.name[5:8] not in OFTEN:
            item.add_marker("slow")


@pytest.fixture(scope="session", autouse=True)
def runtime(program: str) -> None:
    """Installs the real programs if they are missing."""
    subprocess.run([program, "runtime", "install"], check=True, timeout=600)


@dataclass
class Scene:
    """A directory with models and a configuration for the program."""

    directory: Path
    program: str
    mark: Any
    config: dict[str, Any]
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def models(self) -> Path:
        return self.directory / "models"

    @property
    def environment(self) -> dict[str, str]:
        """The environment of the program, without charts, which other tests cover."""
        return without_charts(self.mark.environment)

    def model(self, name: str, code: str, **fields: Any) -> None:
        """Adds a model of the Python backend: four floats in, four floats out."""
        directory = self.models / name
        (directory / "1").mkdir(parents=True)
        (directory / "1" / "model.py").write_text(code)
        settings = {"max_batch_size": 8, **fields}
        lines = [f"{key}: {value}" for key, value in settings.items() if key != "extra"]
        (directory / "config.pbtxt").write_text(
            f'name: "{name}"\nbackend: "python"\n' + "\n".join(lines) + "\n"
            'input [ { name: "INPUT" data_type: TYPE_FP32 dims: [ 4 ] } ]\n'
            'output [ { name: "OUTPUT" data_type: TYPE_FP32 dims: [ 4 ] } ]\n'
            f"instance_group [ {{ count: 1 kind: KIND_CPU }} ]\n{fields.get('extra', '')}\n"
        )

    def add(self, name: str) -> Path:
        """Adds a model from the directory of these tests; returns its directory."""
        return Path(shutil.copytree(HERE / "models" / name, self.models / name))

    def start(self, *arguments: str, **changes: Any) -> subprocess.Popen[str]:
        path = self.directory / "config.yaml"
        path.write_text(yaml.safe_dump({**self.config, **changes}, sort_keys=False))
        process = subprocess.Popen(
            [self.program, "profile", "-f", str(path), *arguments],
            cwd=self.directory,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.started.append(process)
        return process

    def profile(self, *arguments: str, **changes: Any) -> tuple[int, str]:
        """Exit status and output of a whole run."""
        process = self.start(*arguments, **changes)
        output, _ = process.communicate(timeout=600)
        return process.returncode, output

    def run(self, *arguments: str) -> tuple[int, str]:
        done = subprocess.run(
            [self.program, *arguments],
            cwd=self.directory, env=self.environment, text=True, timeout=600, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        return done.returncode, done.stdout

    @property
    def rows(self) -> list[list[str]]:
        text = (self.directory / "results" / "metrics-model-inference.csv").read_text()
        return [row for row in csv.reader(text.splitlines()) if row][1:]

    @property
    def checkpoints(self) -> list[str]:
        return sorted(path.name for path in (self.directory / "checkpoints").glob("*.ckpt"))

    def processes(self, name: str) -> list[psutil.Process]:
        """The marked processes with `name` in their command line, without guards."""
        processes = []
        for pid in self.mark.processes():
            try:
                words = psutil.Process(pid).cmdline()
            except psutil.Error:
                continue
            if words and name in words[0]:
                processes.append(psutil.Process(pid))
        return processes

    @property
    def measuring(self) -> list[psutil.Process]:
        """The perf_analyzers that are measuring now."""
        analyzers = []
        for process in self.processes("perf_analyzer"):
            try:
                if "-m" in process.cmdline():
                    analyzers.append(process)
            except psutil.Error:
                continue
        return analyzers

    def held(self) -> psutil.Process:
        """A measuring perf_analyzer, stopped (SIGSTOP): it cannot end before the test resumes or
        kills it.
        """
        while True:
            self.wait_until(lambda: self.measuring)
            for process in self.measuring:
                try:
                    process.suspend()
                    self.wait_until(partial(has_settled, process))
                    if process.status() == psutil.STATUS_STOPPED:
                        return process
                except psutil.NoSuchProcess:
                    pass  # it has just ended

    def interrupt(self, process: subprocess.Popen[str], times: int) -> str:
        """Interrupts a run, and waits each time for its message: pending signals may be merged.

        Returns its output so far.
        """
        assert process.stdout is not None
        written = b""
        for number in range(1, times + 1):
            process.send_signal(signal.SIGINT)
            while f"Received SIGINT {number}/3".encode() not in written:
                assert select.select([process.stdout], [], [], 180)[0], written
                part = os.read(process.stdout.fileno(), 65536)
                assert part, written
                written += part
        return written.decode()

    def wait_until(self, condition: Callable[[], object], within_s: float = 180) -> None:
        deadline = time.monotonic() + within_s
        while not condition():
            assert time.monotonic() < deadline, "did not happen in time"
            time.sleep(0.02)


@pytest.fixture
def scene(tmp_path: Path, program: str, mark) -> Iterator[Scene]:
    """A scene with the starter models, to profile `add_sub`."""
    shutil.copytree(STARTER, tmp_path / "models")
    made = Scene(
        tmp_path,
        program,
        mark,
        {
            "model_repository": str(tmp_path / "models"),
            "profile_models": {"add_sub": {"cpu_only": True}},
            "override_output_model_repository": True,
            "skip_detailed_reports": True,
            "perf_analyzer_flags": dict(QUICK),
        },
    )
    before = set(Path("/dev/shm").glob("ma_*"))
    yield made
    for process in made.started:
        if process.poll() is None:
            process.kill()
            process.communicate()
        assert process.stdout is not None
        process.stdout.close()
    assert mark.gone(), "processes were left behind"
    left = {
        path
        for path in set(Path("/dev/shm").glob("ma_*")) - before
        if name_has_ended(path.name.split("_")[1])
    }
    assert not left, "shared memory was left behind"


@pytest.fixture
def crasher(scene: Scene) -> Callable[..., None]:
    """Adds the model `crasher`, which fails in `mode` after `after` good requests: by default after
    the three warm-up requests and one more, so that it also fails on a slow machine.
    """

    def add(mode: str, after: int = 4) -> None:
        code = (HERE / "models" / "crasher.py").read_text()
        scene.model(
            "crasher",
            code,
            extra=f'parameters {{ key: "mode" value: {{ string_value: "{mode}" }} }}\n'
            f'parameters {{ key: "after" value: {{ string_value: "{after}" }} }}\n',
        )

    return add


IMAGE = "nvcr.io/nvidia/tritonserver:26.09-py3"


@pytest.fixture
def containers(engine, mark, tmp_path: Path, monkeypatch) -> Any:
    """A fake Docker engine that runs the real tritonserver as a process of this machine: see
    tests/fakes/docker_engine.py.

    As in the real image, `tritonserver` is on the PATH and finds its backends.
    """
    real = installed_runtime(mark.environment)
    programs = tmp_path / "image" / "bin"
    programs.mkdir(parents=True)
    server = programs / "tritonserver"
    command = shlex.join([str(real.server), f"--backend-directory={real.backends}"])
    server.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    server.chmod(0o755)
    variables = {
        **real.server_environment({"PATH": f"{programs}:/usr/bin:/bin"}),
        "MODEL_ANALYZER_TEST": mark.value,
    }
    engine.plan(images={IMAGE: {"Env": [f"{name}={value}" for name, value in variables.items()]}})
    monkeypatch.setenv("DOCKER_HOST", engine.host)
    return engine


@dataclass
class Remote:
    """A remote server: the test starts it, without the program under test."""

    process: subprocess.Popen[bytes]
    http: int
    grpc: int
    metrics: int

    def reached(self, protocol: str = "grpc", **changes: Any) -> dict[str, Any]:
        """The options to reach it, with `changes`."""
        return {
            "triton_launch_mode": "remote",
            "client_protocol": protocol,
            "triton_http_endpoint": f"localhost:{self.http}",
            "triton_grpc_endpoint": f"localhost:{self.grpc}",
            "triton_metrics_url": f"http://localhost:{self.metrics}/metrics",
            **changes,
        }

    def call(self, method: str, path: str, content: Any = None) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self.http, timeout=300)
        try:
            body = None if content is None else json.dumps(content)
            connection.request(method, path, body)
            answer = connection.getresponse().read()
        finally:
            connection.close()
        return json.loads(answer) if answer else None

    def load(self, name: str) -> None:
        assert self.call("POST", f"/v2/repository/models/{name}/load", {}) is None

    @property
    def loaded(self) -> dict[str, Any]:
        """The configurations of the loaded models, by name."""
        index = self.call("POST", "/v2/repository/index", {})
        return {
            model["name"]: self.call("GET", f"/v2/models/{model['name']}/config")
            for model in index
            if model.get("state") == "READY"
        }


@pytest.fixture
def remote(scene: Scene) -> Iterator[Callable[..., Remote]]:
    """Starts a server over the models of the scene, in a model control mode."""
    started: list[Remote] = []

    def start(mode: str | None = None, *flags: str) -> Remote:
        triton = find_tritonserver(None, os.environ)
        with ExitStack() as stack:
            sockets = [stack.enter_context(socket.socket()) for _ in range(3)]
            for listener in sockets:
                listener.bind(("127.0.0.1", 0))
            ports = [listener.getsockname()[1] for listener in sockets]
        with open(scene.directory / "remote.log", "wb") as log:
            process = subprocess.Popen(
                [
                    str(triton.path), f"--model-repository={scene.models}",
                    "--http-address=127.0.0.1", "--grpc-address=127.0.0.1",
                    f"--http-port={ports[0]}", f"--grpc-port={ports[1]}",
                    f"--metrics-port={ports[2]}",
                    *(f"--{name}={value}" for name, value in triton.flags.items()),
                    *([f"--model-control-mode={mode}"] if mode else []), *flags,
                ],
                env={**scene.mark.environment, **triton.environment},
                stdout=log,
                stderr=subprocess.STDOUT,
            )  # fmt: skip
        server = Remote(process, *ports)
        started.append(server)
        last = server.grpc if "--allow-http=false" in flags else server.http
        scene.wait_until(lambda: listens(last))
        return server

    yield start
    for server in started:
        server.process.terminate()
        try:
            server.process.wait(60)
        except subprocess.TimeoutExpired:
            server.process.kill()


@pytest.fixture
def cluster(scene) -> Iterator[str]:
    """The address of a cluster with two nodes."""
    pytest.importorskip("ray", reason="Ray is not installed")
    with LocalCluster(2) as nodes:
        yield nodes.address


def has_settled(process: psutil.Process) -> bool:
    """Whether a process is stopped after a SIGSTOP, or has ended before it."""
    return process.status() in (psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE)


def listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True
