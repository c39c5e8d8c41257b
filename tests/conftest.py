# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures: pretend programs and model repositories."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parent


def write_program(path: Path, source: Path, variables: dict[str, str], flags: str = "") -> Path:
    """An executable at `path` that runs a Python file with these variables set.

    `flags` are those of Python: with -I -S, it starts without site-packages in half of the time.
    """
    settings = "".join(f"export {name}='{value}'\n" for name, value in variables.items())
    path.write_text(f"#!/bin/sh\n{settings}exec '{sys.executable}' {flags} '{source}' \"$@\"\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@dataclass
class Pretend:
    """Pretend programs in a directory of their own, and what they were asked to do."""

    directory: Path
    _triton: dict[str, Any] = field(default_factory=dict)

    def tritonserver(self, **plan: Any) -> Path:
        plan = {"log": str(self.directory / "triton.log"), **plan}
        return write_program(
            self.directory / "tritonserver",
            TESTS / "fakes" / "tritonserver.py",
            {"FAKE_TRITON": json.dumps(plan).replace("'", "")},
        )

    def perf_analyzer(self, *steps: dict[str, Any], tell: Sequence[str] = ()) -> Path:
        plan = self.directory / "perf_analyzer.json"
        log = self.directory / "perf_analyzer.log"
        plan.write_text(json.dumps({"log": str(log), "tell": list(tell), "steps": list(steps)}))
        return write_program(
            self.directory / "perf_analyzer",
            TESTS / "fakes" / "perf_analyzer.py",
            {"FAKE_PERF_ANALYZER": str(plan)},
            flags="-I -S",
        )

    @property
    def server_calls(self) -> list[str]:
        """`start …`, `load MODEL …`, `infer MODEL`, `stop`, in order."""
        path = self.directory / "triton.log"
        return path.read_text().splitlines() if path.exists() else []

    @property
    def starts(self) -> int:
        """How often a server was started."""
        return sum(call.startswith("start") for call in self.server_calls)

    @property
    def loads(self) -> list[str]:
        return [call for call in self.server_calls if call.startswith("load")]

    @property
    def launches(self) -> list[list[str]]:
        """The arguments of each perf_analyzer launch."""
        path = self.directory / "perf_analyzer.log"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def pretend(tmp_path: Path) -> Pretend:
    directory = tmp_path / "programs"
    directory.mkdir()
    return Pretend(directory)


GIB = 2**30


def gpu(number: int = 0, **changes: Any) -> dict[str, Any]:
    """A GPU of the pretend driver, with 16 GiB of which 1 GiB is used."""
    return {
        "uuid": f"GPU-{number}{number}{number}{number}",
        "name": "NVIDIA Pretend",
        "total": 16 * GIB,
        "used": GIB,
        "utilization": 50,
        "power": 75_500,
        "energy": True,
        **changes,
    }


@dataclass(frozen=True)
class PretendDriver:
    """A pretend NVML and the GPUs that it tells of."""

    plan: Path

    def has(self, *gpus: dict[str, Any], error: str = "") -> None:
        self.plan.write_text(json.dumps({"gpus": gpus, "error": error}))

    @property
    def environment(self) -> dict[str, str]:
        """What makes a program use it."""
        path = [str(TESTS / "fakes" / "nvml"), *filter(None, [os.environ.get("PYTHONPATH")])]
        return {"FAKE_NVML": str(self.plan), "PYTHONPATH": os.pathsep.join(path)}


@pytest.fixture
def driver(tmp_path: Path) -> PretendDriver:
    made = PretendDriver(tmp_path / "nvml.json")
    made.has(gpu())
    return made


@dataclass(frozen=True)
class Elsewhere:
    """A pretend server that the program under test did not start."""

    process: subprocess.Popen[bytes]
    http: str
    grpc: str
    metrics: str


@pytest.fixture
def elsewhere(pretend: Pretend) -> Iterator[Callable[..., Elsewhere]]:
    """Starts a pretend server with a plan (see fakes/tritonserver.py) and waits for it."""
    started: list[subprocess.Popen[bytes]] = []

    def start(**plan: Any) -> Elsewhere:
        if "metrics" in plan:
            shown = pretend.directory / f"metrics-{len(started)}.txt"
            shown.write_text(plan["metrics"])
            plan["metrics"] = str(shown)
        sockets = [socket.socket() for _ in range(3)]
        for listener in sockets:
            listener.bind(("127.0.0.1", 0))
        http, grpc, metrics = (listener.getsockname()[1] for listener in sockets)
        for listener in sockets:
            listener.close()
        process = subprocess.Popen(
            [
                str(pretend.tritonserver(**plan)),
                f"--http-port={http}", f"--grpc-port={grpc}", f"--metrics-port={metrics}",
            ]
        )  # fmt: skip
        started.append(process)
        _wait_for(metrics)
        return Elsewhere(
            process, f"localhost:{http}", f"localhost:{grpc}", f"http://localhost:{metrics}/metrics"
        )

    yield start
    for process in started:
        process.kill()
        process.wait()


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + 120
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            assert time.monotonic() < deadline, "the pretend server did not start"
            time.sleep(0.02)


MakeModel = Callable[..., Path]


@pytest.fixture
def make_model(tmp_path: Path) -> MakeModel:
    """Adds a model to the repository `tmp_path/models` and gives the repository."""

    def make(
        name: str,
        *,
        max_batch_size: int = 8,
        kind: str = "KIND_CPU",
        extra: str = "",
        fake: str = "",
    ) -> Path:
        directory = tmp_path / "models" / name
        (directory / "1").mkdir(parents=True)
        (directory / "1" / "model.py").write_text("# never run\n")
        parameter = (
            f'parameters {{ key: "fake" value: {{ string_value: "{fake}" }} }}' if fake else ""
        )
        (directory / "config.pbtxt").write_text(
            f'name: "{name}"\nbackend: "python"\nmax_batch_size: {max_batch_size}\n'
            'input [ { name: "IN" data_type: TYPE_FP32 dims: [ 4 ] } ]\n'
            'output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 4 ] } ]\n'
            f"instance_group [ {{ count: 1 kind: {kind} }} ]\n"
            f"{parameter}\n{extra}\n"
        )
        return tmp_path / "models"

    return make
