# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`runtime install` where packages come from nobody, or from somebody else."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from model_analyzer.runner.runtime import installed_runtime

Install = Callable[..., "subprocess.CompletedProcess[str]"]

PLANTED = ("pip", "numpy", "sitecustomize", "usercustomize", "venv", "ensurepip", "sysconfig")

needs_a_wheel = pytest.mark.skipif(
    sys.version_info >= (3, 13), reason="there is no wheel of numpy 1 for this Python"
)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """The current directory, with modules that leave a trace when they are run."""
    directory = tmp_path / "work"
    directory.mkdir()
    trace = f"open({str(tmp_path / 'trace')!r}, 'a').write(__name__ + chr(10))\n"
    for name in PLANTED:
        (directory / f"{name}.py").write_text(trace)
    return directory


@pytest.fixture
def install(mark, tmp_path: Path, work: Path) -> Install:
    """Runs `runtime install`; pip finds what lies in `index`, and nothing else."""

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        # -I: what Python itself runs before the program is none of its business
        return subprocess.run(
            [sys.executable, "-I", "-m", "model_analyzer", "runtime", "install", *arguments],
            cwd=work,
            env={
                **mark.environment,
                "XDG_CACHE_HOME": str(tmp_path / "cache"),
                "PYTHONPATH": str(work),
                "PIP_CONFIG_FILE": os.devnull,
                "PIP_NO_INDEX": "1",
                "PIP_FIND_LINKS": str(tmp_path / "index"),
            },
            capture_output=True, text=True, timeout=180, check=False,
        )  # fmt: skip

    (tmp_path / "index").mkdir()
    return call


def runtime_of(tmp_path: Path) -> Path:
    return installed_runtime({"XDG_CACHE_HOME": str(tmp_path / "cache")}).root


@needs_a_wheel
def test_a_wheel_with_another_hash_is_refused_and_nothing_of_ours_is_replaced_by_planted_modules(
    install: Install, tmp_path: Path
) -> None:
    (tmp_path / "index" / "numpy-1.26.4-py3-none-any.whl").write_bytes(b"of somebody else")

    done = install()

    (line,) = done.stderr.splitlines()
    assert done.returncode == 1
    assert "numpy-1.26.4-py3-none-any.whl has sha256" in line
    assert not (tmp_path / "trace").exists()
    assert not runtime_of(tmp_path).exists()


def test_a_package_without_hash_needs_a_word(install: Install, tmp_path: Path) -> None:
    done = install("--with", "six")

    (line,) = done.stderr.splitlines()
    assert done.returncode == 2
    assert "--with six: " in line
    assert "--unverified" in line
    assert "--requirements" in line
    assert not (tmp_path / "cache").exists()


def test_a_file_of_requirements_must_be_there(install: Install) -> None:
    done = install("--requirements", "none.txt")

    assert done.returncode == 2
    assert "--requirements none.txt: file not found" in done.stderr
