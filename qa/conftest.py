# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Scenarios on the real tritonserver and the real perf_analyzer."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

HERE = Path(__file__).parent
STARTER = HERE.parent / "model_analyzer" / "starter" / "model_repository"

# One window of a tenth of a second, three of them, taken as they are: right for checks of
# behaviour, not of numbers.
QUICK = {
    "measurement-mode": "time_windows",
    "measurement-interval": 100,
    "stability-percentage": 999,
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("e2e")


@pytest.fixture(scope="session", autouse=True)
def runtime(program: str) -> None:
    """Installs the real programs, unless they are there."""
    subprocess.run([program, "runtime", "install"], check=True, timeout=600)


@dataclass
class Scene:
    """A directory with models and a configuration, in which the program is run."""

    directory: Path
    program: str
    mark: Any
    config: dict[str, Any]
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def models(self) -> Path:
        return self.directory / "models"

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
        """Adds one of the models that lie beside these tests; its directory."""
        return Path(shutil.copytree(HERE / "models" / name, self.models / name))

    def start(self, *arguments: str, **changes: Any) -> subprocess.Popen[str]:
        path = self.directory / "config.yaml"
        path.write_text(yaml.safe_dump({**self.config, **changes}, sort_keys=False))
        process = subprocess.Popen(
            [self.program, "profile", "-f", str(path), *arguments],
            cwd=self.directory,
            env=self.mark.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.started.append(process)
        return process

    def profile(self, *arguments: str, **changes: Any) -> tuple[int, str]:
        """Exit status and output of a whole run."""
        process = self.start(*arguments, **changes)
        output, _ = process.communicate(timeout=180)
        return process.returncode, output

    def run(self, *arguments: str) -> tuple[int, str]:
        done = subprocess.run(
            [self.program, *arguments],
            cwd=self.directory, env=self.mark.environment, text=True, timeout=180, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        return done.returncode, done.stdout

    @property
    def rows(self) -> list[list[str]]:
        text = (self.directory / "results" / "metrics-model-inference.csv").read_text()
        return [line.split(",") for line in text.splitlines()[1:] if line]

    @property
    def checkpoints(self) -> list[str]:
        return sorted(path.name for path in (self.directory / "checkpoints").glob("*.ckpt"))

    def processes(self, name: str) -> list[psutil.Process]:
        """The marked processes with this in their command line, guards left out."""
        found = []
        for pid in self.mark.processes():
            try:
                words = psutil.Process(pid).cmdline()
            except psutil.Error:
                continue
            if words and name in words[0]:
                found.append(psutil.Process(pid))
        return found

    @property
    def measuring(self) -> list[psutil.Process]:
        """The perf_analyzers that put a load on the server just now."""
        found = []
        for process in self.processes("perf_analyzer"):
            try:
                if "-m" in process.cmdline():
                    found.append(process)
            except psutil.Error:
                continue
        return found

    def wait_until(self, condition: Callable[[], object], within_s: float = 60) -> None:
        deadline = time.monotonic() + within_s
        while not condition():
            assert time.monotonic() < deadline, "did not happen in time"
            time.sleep(0.02)


@pytest.fixture
def scene(tmp_path: Path, program: str, mark) -> Iterator[Scene]:
    """The models that the project ships; `add_sub` is to be profiled."""
    shutil.copytree(STARTER, tmp_path / "models")
    made = Scene(
        tmp_path,
        program,
        mark,
        {
            "model_repository": str(tmp_path / "models"),
            "profile_models": {"add_sub": {"cpu_only": True}},
            "override_output_model_repository": True,
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
        if not psutil.pid_exists(int(path.name.split("_")[1]))
    }
    assert not left, "shared memory was left behind"


@pytest.fixture
def crasher(scene: Scene) -> Callable[..., None]:
    """Adds the model `crasher`, which misbehaves in `mode` after so many good requests."""

    def add(mode: str, after: int = 50) -> None:
        code = (HERE / "models" / "crasher.py").read_text()
        scene.model(
            "crasher",
            code,
            extra=f'parameters {{ key: "mode" value: {{ string_value: "{mode}" }} }}\n'
            f'parameters {{ key: "after" value: {{ string_value: "{after}" }} }}\n',
        )

    return add
