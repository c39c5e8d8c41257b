# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The real runtime, installed into a cache directory of its own."""

from __future__ import annotations

import subprocess
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
