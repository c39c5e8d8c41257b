# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes of a local Ray cluster get what they need by themselves, or are named in one line."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.runner.runtime import InstalledRuntime, installed_runtime

pytestmark = pytest.mark.slow

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def cache(scene, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache directory of driver and slots, empty."""
    path = Path(scene.directory / "cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(path))
    return path / "model-analyzer"


@pytest.fixture
def run(scene, cluster: str) -> Run:
    """A run of two trials on two slots: exit status, and output. It shows how long it took."""

    def start(*arguments: str, **changes: Any) -> tuple[int, str]:
        options = {
            "executor": "ray",
            "ray_address": cluster,
            "slots": 2,
            "slots_per_host": 2,
            "run_config_search_disable": True,
            "concurrency": [1, 2],
            **changes,
        }
        began = time.monotonic()
        status, output = scene.profile(*arguments, **options)
        assert "Traceback" not in output, output
        print(f"{time.monotonic() - began:.1f} s: {output.splitlines()[-1]}")
        return status, output

    return start


def test_nodes_install_the_runtime_once(scene, cache: Path, run: Run) -> None:
    status, output = run("--runtime-install")

    assert status == 0, output
    assert len(scene.rows) == 2
    assert [path.name for path in cache.glob("*runtime-*")] == ["runtime-2.51.0"]
    assert output.count("Fetching tritonserver and perf_analyzer") == 1


def test_nodes_fetch_the_models_of_a_url_once(scene, cache: Path, run: Run) -> None:
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    real = Path.home() / ".cache" / "model-analyzer" / "runtime-2.51.0"
    cache.mkdir(parents=True)
    (cache / real.name).symlink_to(real)

    status, output = run(model_repository=f"file://{scene.models}")

    assert status == 0, output
    assert len(scene.rows) == 2
    assert len([*cache.glob("repositories/*/models/add_sub")]) == 1
    assert output.count("Fetching file://") == 1


def test_slots_on_one_host_are_tested_once(scene, run: Run) -> None:
    status, output = run()

    assert status == 0, output
    host = os.uname().nodename
    assert output.count("Testing how much slots on one host slow each other down") == 1
    [sentence] = [line for line in output.splitlines() if "compared with one alone" in line][:1]
    assert f"2 slots on {host}, compared with one alone: " in sentence
    print(sentence)
    assert len(scene.rows) == 2  # its measurements are no outcomes

    status, again = run(concurrency=[1, 2, 3])

    assert status == 0, again
    assert "Testing how much" not in again
    assert "compared with one alone" in again
    assert len(scene.rows) == 3
    status, shown = scene.run("checkpoint", "show", "latest")
    assert status == 0, shown
    assert "Slots that share a host, compared with one alone" in shown


# -- ends ------------------------------------------------------------------------------------------


@pytest.fixture
def load_generator(scene, monkeypatch: pytest.MonkeyPatch) -> str:
    """The path of perf_analyzer, which works although no runtime is found."""
    runtime: InstalledRuntime = installed_runtime(os.environ)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(runtime.libraries))
    return str(runtime.perf_analyzer)


def test_a_node_without_a_server_is_named(load_generator: str, cache: Path, run: Run) -> None:
    status, output = run(perf_analyzer_path=load_generator)

    assert status == 1
    assert output.splitlines()[-1].endswith(
        f"no runtime on node {os.uname().nodename}: no tritonserver on the PATH,"
        " /opt/tritonserver/bin, and no runtime is installed; run `model-analyzer runtime install`,"
        " or give --runtime-install"
    )


def test_slots_that_do_not_fit_are_told(run: Run) -> None:
    status, output = run(slots=3, slot_gpus=1)

    assert status == 1
    line = output.splitlines()[-1]
    assert "no slot fits: a slot needs all CPUs, 1 GPU" in line
    assert f"{os.uname().nodename} has 0 GPUs" in line


def test_no_cluster_is_told(run: Run) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"

        status, output = run(ray_address=address)

    assert status == 1
    assert f"no Ray cluster at {address}" in output.splitlines()[-1]


_OTHER_VERSION = """
import sys, ray
from model_analyzer.errors import ClusterError
from model_analyzer.features.cluster.ray_slots import connected

ray.__version__ = "2.49.0"
try:
    with connected(sys.argv[1]):
        pass
except ClusterError as error:
    print(error)
"""


def test_a_cluster_of_another_version_is_told(cluster: str) -> None:
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", _OTHER_VERSION, cluster],
        stdout=subprocess.PIPE, text=True, check=True, timeout=180,
    )  # fmt: skip
    print(f"{time.monotonic() - began:.1f} s: {done.stdout}")

    [line] = done.stdout.splitlines()
    assert line.startswith(f"{cluster}: ")
    assert "Ray: 2.49.0" in line
    assert line.endswith("use equal versions of Ray and Python on all machines")
