# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Slots on a local Ray cluster measure at the same time; when one dies, nothing of it is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from model_analyzer.features.cluster.slot_worker import HostLock
from model_analyzer.runner.guard import regions_of

pytest.importorskip("ray", reason="Ray is not installed")
pytestmark = pytest.mark.slow

HERE = Path(__file__).parent / "cluster"

# The processes of a slot must be gone after this time, those of a dead driver after a longer one:
# Ray notices it by itself.
GONE_S = 5
GONE_WITH_DRIVER_S = 60


@dataclass
class Driver:
    """A process that runs trials in slots, and what it has said of these."""

    process: subprocess.Popen[str]
    slots: list[dict[str, Any]] = field(default_factory=list)

    @property
    def pids(self) -> list[int]:
        return [slot["process"] for slot in self.slots]

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the driver has ended"
        return json.loads(line)

    def order(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()


@pytest.fixture
def drive(scene, cluster: str) -> Iterator[Callable[..., Driver]]:
    """Starts a driver of two slots with the configuration and some changes of it."""
    drivers: list[Driver] = []

    def start(**changes: Any) -> Driver:
        flags = {**scene.config["perf_analyzer_flags"], "measurement-interval": 3000}
        config = {**scene.config, "perf_analyzer_flags": flags, **changes}
        path = scene.directory / "config.yaml"
        path.write_text(yaml.safe_dump({**config, "run_config_search_mode": "brute"}))
        process = subprocess.Popen(
            [sys.executable, str(HERE / "driver.py"), cluster, str(path), "2"],
            cwd=scene.directory,
            env={**scene.environment, "OMP_NUM_THREADS": "3"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        drivers.append(Driver(process))
        return drivers[-1]

    yield start
    for driver in drivers:
        driver.process.kill()
        driver.process.communicate()


@pytest.fixture
def driver(scene, drive) -> Driver:
    """A driver with two slots that are measuring."""
    started = drive()
    started.slots = started.read()["slots"]
    scene.wait_until(lambda: len(scene.measuring) == 2)
    return started


@dataclass
class Remains:
    """What slots have started: their processes, and the shared memory."""

    slots: list[int]

    def __post_init__(self) -> None:
        self.processes = [
            child for slot in self.slots for child in psutil.Process(slot).children(recursive=True)
        ]
        assert {child.name() for child in self.processes} >= {"tritonserver", "perf_analyzer"}
        mapped = regions_of([child.pid for child in self.processes])
        self.regions = {Path("/dev/shm", name) for name in mapped}

    def are_gone(self) -> bool:
        own = [path for slot in self.slots for path in Path("/dev/shm").glob(f"ma_*-{slot}-*")]
        shared = [*own, *filter(Path.exists, self.regions)]
        return not shared and all(map(is_over, self.processes))


def is_over(process: psutil.Process) -> bool:
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_slots_measure_at_the_same_time_and_end_in_order(scene, driver: Driver) -> None:
    remains = Remains(driver.pids)
    assert {slot["threads"] for slot in driver.slots} == {"3"}
    [server] = {slot["server"] for slot in driver.slots}
    assert server.startswith("2.")

    assert [driver.read()["outcome"], driver.read()["outcome"]] == ["Measurement"] * 2
    driver.process.communicate("", timeout=120)

    assert driver.process.returncode == 0
    scene.wait_until(remains.are_gone, within_s=GONE_S)


@pytest.mark.parametrize("victim", ["slot", "raylet", "slot, by its driver"])
def test_a_slot_that_dies_leaves_nothing_and_the_other_goes_on(
    scene, driver: Driver, victim: str
) -> None:
    lost = driver.pids[1]  # not that of the head node
    remains = Remains([lost])

    if victim == "slot, by its driver":
        driver.order("1")
    else:
        os.kill(lost if victim == "slot" else psutil.Process(lost).ppid(), signal.SIGKILL)

    scene.wait_until(remains.are_gone, within_s=GONE_S)
    outcomes = {line["slot"]: line["outcome"] for line in (driver.read(), driver.read())}
    assert outcomes[0] == "Measurement"
    assert outcomes[1] in ("ActorDiedError", "ActorUnavailableError")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_driver_that_dies_leaves_nothing(scene, driver: Driver, number: signal.Signals) -> None:
    remains = Remains(driver.pids)

    driver.process.send_signal(number)

    scene.wait_until(remains.are_gone, within_s=GONE_WITH_DRIVER_S)


def test_a_host_on_which_another_run_measures_is_named(drive) -> None:
    with HostLock("another"):
        error = drive().read()["error"]

    assert error.startswith(f"{os.uname().nodename}: in use by another run, process {os.getpid()};")


def test_a_repository_that_is_not_on_the_node_is_named(scene, drive) -> None:
    error = drive(model_repository=str(scene.directory / "nowhere")).read()["error"]

    assert error == (
        f"model repository {scene.directory}/nowhere is not visible on node {os.uname().nodename}:"
        " put it on a shared disk, or give a URL, which each node fetches"
    )
