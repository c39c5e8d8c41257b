# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a person or a script sees of the program, scenario by scenario: exit status, log, files.

One file is one scenario. Nothing here looks inside the program, so that the same checks hold for
every program that takes its place. Whether instances run on GPUs, and how many rows there are of
them, is up to the machine.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

HERE = Path(__file__).parent

# One window of a tenth of a second, three of them, taken as they are.
SHORT_WINDOWS = {
    "measurement-mode": "time_windows",
    "measurement-interval": 100,
    "stability-percentage": 999,
}

# The tables: title with --verbose, file, columns unless others are asked for.
TABLES = {
    "Models (Inference)": ("metrics-model-inference.csv", 9),
    "Models (GPU Metrics)": ("metrics-model-gpu.csv", 10),
    "Server Only": ("metrics-server-only.csv", 5),
}

# Rows and columns of the tables that are there, by title.
Shapes = Mapping[str, tuple[int, int]]


@dataclass(frozen=True)
class Run:
    """A run of the program that has ended: exit status, and all that it printed."""

    status: int
    output: str

    def profiled(self, model: str) -> int:
        """How many measurements of variants of `model` were begun."""
        return self.output.count(f"Profiling {model}_config_")

    @property
    def tables(self) -> Shapes:
        """The tables in the log: a title, a header, rows, an empty line; cells have no blanks."""
        shapes = {}
        for title in TABLES:
            _, is_there, after = self.output.partition(f"\n{title}:\n")
            if is_there:
                _, *rows = after.partition("\n\n")[0].splitlines()
                (width,) = {len(row.split()) for row in rows}
                shapes[title] = len(rows), width
        return shapes


@dataclass
class Scenario:
    """A directory with models, in which the program is run."""

    scene: Any
    gpu_uuids: list[str]
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def directory(self) -> Path:
        return self.scene.directory

    @property
    def gpus(self) -> int:
        return len(self.gpu_uuids)

    @property
    def cpu_only(self) -> bool:
        return not self.gpus

    @property
    def kind(self) -> str:
        """Where instances run on this machine."""
        return "KIND_GPU" if self.gpus else "KIND_CPU"

    # -- models ------------------------------------------------------------------------------

    def edit(self, model: str, old: str, new: str) -> None:
        """Changes the configuration of a model."""
        path = self.scene.models / model / "config.pbtxt"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def clone(self, model: str, *names: str) -> None:
        """Adds the same model under other names."""
        for name in names:
            shutil.copytree(self.scene.models / model, self.scene.models / name)
            self.edit(name, f'name: "{model}"', f'name: "{name}"')

    # -- runs --------------------------------------------------------------------------------

    def start(self, command: str, *arguments: str, **options: Any) -> subprocess.Popen[bytes]:
        """Begins a command with options of the command line, and others for the YAML file."""
        config = self.directory / "config.yaml"
        common = {
            "model_repository": str(self.scene.models),
            "override_output_model_repository": True,
            "perf_analyzer_flags": SHORT_WINDOWS,
            "skip_detailed_reports": True,  # drawing them takes longer than measuring
        }
        config.write_text(yaml.safe_dump({**common, **options}, sort_keys=False))
        with open(self.directory / "log.txt", "wb") as log:
            process = subprocess.Popen(
                [self.scene.program, command, "-f", str(config), *arguments],
                cwd=self.directory,
                env=self.scene.mark.environment,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self.started.append(process)
        return process

    @property
    def log(self) -> str:
        """What the last run has printed so far."""
        return (self.directory / "log.txt").read_text()

    def finish(self, process: subprocess.Popen[bytes], within_s: float = 900) -> Run:
        process.wait(within_s)
        return Run(process.returncode, self.log)

    def run(self, command: str, *arguments: str, **options: Any) -> Run:
        return self.finish(self.start(command, *arguments, **options))

    def profile(self, *arguments: str, **options: Any) -> Run:
        return self.run("profile", *arguments, **options)

    # -- what a run leaves -------------------------------------------------------------------

    def rows(self, title: str = "Models (Inference)") -> list[list[str]]:
        """The rows of a CSV file: it begins with a header and ends with an empty line."""
        text = (self.directory / "results" / TABLES[title][0]).read_text()
        header, *rows = text.splitlines()
        assert "Model" in header
        assert rows.pop() == ""
        return [row.split(",") for row in rows]

    @property
    def tables(self) -> Shapes:
        """The CSV files."""
        shapes = {}
        for title, (name, _) in TABLES.items():
            if (self.directory / "results" / name).exists():
                rows = self.rows(title)
                (width,) = {len(row) for row in rows}
                shapes[title] = len(rows), width
        return shapes

    def expected(self, measurements: int, *columns: int) -> Shapes:
        """The tables of so many measurements, one row each for every GPU of the machine."""
        rows = (measurements, measurements * self.gpus, self.gpus)
        widths = columns or tuple(width for _, width in TABLES.values())
        return {
            title: (count, width)
            for title, count, width in zip(TABLES, rows, widths, strict=True)
            if count
        }

    @property
    def checkpoints(self) -> list[str]:
        """Everything in the checkpoint directory, as scripts count it."""
        return sorted(path.name for path in (self.directory / "checkpoints").iterdir())


@pytest.fixture(scope="session")
def gpu_uuids() -> list[str]:
    """The GPUs of this machine."""
    if shutil.which("nvidia-smi") is None:
        return []
    command = ["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.split() if done.returncode == 0 else []


@pytest.fixture
def short_windows() -> Mapping[str, object]:
    """The flags of perf_analyzer that every run gets, unless it says something else."""
    return SHORT_WINDOWS


@pytest.fixture
def scenario(scene: Any, gpu_uuids: list[str]) -> Iterator[Scenario]:
    shutil.copytree(HERE / "models", scene.models, dirs_exist_ok=True)
    made = Scenario(scene, gpu_uuids)
    made.edit("add_sub", "KIND_CPU", made.kind)
    yield made
    for process in made.started:
        if process.poll() is None:
            process.kill()
            process.wait()


@pytest.fixture
def three_models(scenario: Scenario) -> Mapping[str, Mapping[str, Any]]:
    """Options by name of a configuration; each model has one variant besides the default.

    In "multi" the second model has another load. The two "mixed" have two models each, of which
    they share the second one, under different loads.
    """
    scenario.edit("add_sub", "count: 1", "count: 2")
    scenario.clone("add_sub", "a", "r", "v")
    group = {"count": 1, "kind": scenario.kind}

    def options(**loads: list[int]) -> Mapping[str, Any]:
        models = {
            name: {
                "parameters": {"concurrency": concurrency},
                "model_config_parameters": {"instance_group": [group]},
            }
            for name, concurrency in loads.items()
        }
        return {"run_config_search_disable": True, "profile_models": models}

    return {
        "single": options(a=[16], r=[16], v=[16]),
        "multi": options(a=[16], r=[16, 32], v=[16]),
        "mixed first": options(a=[16], r=[16]),
        "mixed second": options(r=[32], v=[16]),
    }


@pytest.fixture
def interrupted(scenario: Scenario, three_models: Mapping[str, Mapping[str, Any]]) -> Run:
    """A run that got one interrupt as soon as one measurement was saved and the next one ran."""
    process = scenario.start("profile", **three_models["multi"])
    journal = scenario.directory / "checkpoints" / "journal"
    scenario.scene.wait_until(lambda: journal.exists() and "measurement" in journal.read_text())
    scenario.scene.wait_until(lambda: scenario.log.count("Profiling a_config") == 2)
    process.send_signal(signal.SIGINT)
    return scenario.finish(process)


@pytest.fixture
def docker_image() -> str:
    """An image of Triton that this machine's Docker engine has; none is fetched, they are large."""
    try:
        done = subprocess.run(
            ["docker", "images", "--format", "{{.Repository}}:{{.Tag}}"],
            capture_output=True, text=True, timeout=30, check=False,
        )  # fmt: skip
    except OSError:
        pytest.skip("no Docker engine")
    if done.returncode != 0:
        pytest.skip("no Docker engine")
    images = [name for name in done.stdout.split() if re.search(r"/tritonserver:.*-py3$", name)]
    if not images:
        pytest.skip("the Docker engine has no image of Triton")
    return images[0]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """The table: one line for each scenario that ran."""
    reports: defaultdict[tuple[int, str], list[pytest.TestReport]] = defaultdict(list)
    for report in [each for several in terminalreporter.stats.values() for each in several]:
        match = re.search(r"scenarios/test_q(\d+)_(\w+)\.py::", getattr(report, "nodeid", ""))
        if match and isinstance(report, pytest.TestReport):
            reports[int(match[1]), match[2].replace("_", " ")].append(report)
    if reports:
        terminalreporter.section("scenarios")
    for (number, name), parts in sorted(reports.items()):
        seconds = sum(part.duration for part in parts)
        reasons = dict.fromkeys(_reason(part) for part in parts if part.skipped)
        line = f"Q{number:<3} {_result(parts)}  {seconds:6.1f} s  {name}"
        terminalreporter.write_line(f"{line:<50}{'; '.join(reasons)}".rstrip())


def _result(parts: list[pytest.TestReport]) -> str:
    if any(part.failed for part in parts):
        return "FAIL"
    return "pass" if any(part.passed and part.when == "call" for part in parts) else "skip"


def _reason(part: pytest.TestReport) -> str:
    """Why it was skipped, or left to fail."""
    if hasattr(part, "wasxfail"):
        return str(part.wasxfail)
    assert isinstance(part.longrepr, tuple)
    return part.longrepr[2].removeprefix("Skipped: ")
