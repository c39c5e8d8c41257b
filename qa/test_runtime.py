# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The real runtime, installed into a cache directory of its own."""

from __future__ import annotations

import socket
import subprocess
import time
from pathlib import Path

import pytest


@pytest.fixture
def start(program: str, mark, tmp_path: Path):
    """Starts the program with a fresh cache directory."""

    def call(*arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [program, *arguments],
            env={**mark.environment, "XDG_CACHE_HOME": str(tmp_path)},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    return call


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    output, _ = process.communicate(timeout=1200)
    return process.returncode, output


@pytest.mark.slow
def test_installed_twice_at_once_shown_used_extended_and_removed(start, tmp_path: Path) -> None:
    both = [start("runtime", "install"), start("runtime", "install")]
    for process in both:
        status, output = finish(process)
        assert status == 0, output

    status, output = finish(start("runtime", "show"))
    assert status == 0, output
    assert "tritonserver   2." in output
    assert str(tmp_path) in output

    assert "packages       all verified by hashes" in output

    assert finish(start("runtime", "install", "--with", "six"))[0] == 2
    status, output = finish(start("runtime", "install", "--with", "six", "--unverified"))
    assert status == 0, output
    assert list(tmp_path.glob("model-analyzer/**/site-packages/six.py"))
    _, output = finish(start("runtime", "show"))
    assert "packages       not verified by hashes: six-" in output

    status, output = finish(start("doctor"))
    assert status == 0, output

    status, output = finish(start("runtime", "remove"))
    assert status == 0, output
    assert not list(tmp_path.glob("model-analyzer/**/tritonserver"))
    assert finish(start("runtime", "show"))[0] == 1


@pytest.mark.slow
def test_an_interrupted_installation_leaves_nothing_half_done(start, tmp_path: Path) -> None:
    process = start("runtime", "install")
    try:
        process.wait(2)
    except subprocess.TimeoutExpired:
        process.kill()
    process.communicate()

    status, output = finish(start("runtime", "install"))

    assert status == 0, output
    assert finish(start("runtime", "show"))[0] == 0
    cache = tmp_path / "model-analyzer"
    assert len([*cache.glob("runtime-*")]) == 1
    assert not [*cache.glob(".installing-*")]


def test_programs_are_started_by_hand(scene) -> None:
    def run(*words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [scene.program, "runtime", *words], cwd=scene.directory, env=scene.environment,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    variables = finish(run("env"))[1]
    found = subprocess.run(
        ["sh", "-c", variables + 'perf_analyzer --version; python3 -c "import numpy"'],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert "Version 2." in found.stderr

    log = scene.directory / "server.log"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = "127.0.0.1:{1}".format(*free.getsockname())
    with log.open("w") as file:
        server = subprocess.Popen(
            [scene.program, "runtime", "run", "tritonserver", "--model-repository=models",
             "--model-control-mode=explicit", "--load-model=add_sub",
             "--allow-http=false", "--allow-metrics=false",
             f"--grpc-port={address.partition(':')[2]}"],
            cwd=scene.directory, env=scene.environment, stdout=file, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        while "Started GRPC" not in log.read_text():
            assert server.poll() is None, log.read_text()
            time.sleep(0.05)
        measure = ["perf_analyzer", "-i", "grpc", "-u", address, "--request-count=50"]
        status, output = finish(run("run", *measure, "-m", "add_sub"))
        assert status == 0, output
        assert "Throughput: " in output
        status, output = finish(run("run", *measure, "-m", "another"))
        assert status == 99, output
    finally:
        server.terminate()
        server.wait(60)
    assert server.returncode == 0, log.read_text()
