# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A machine that has too little of something: one line, wherever a library is loaded."""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from model_analyzer.cli.main import _exhausted
from tests.sizes import small_and_full

Exhausted = MemoryError | ImportError | OSError | SystemError

COMMANDS = [["checkpoint", "list"], ["config", "validate", "c.yaml"], ["doctor", "--no-models"]]


def run(mark, directory: Path, command: list[str], limit: Callable[[], None]) -> tuple[int, str]:
    (directory / "c.yaml").write_text("model_repository: models\n")
    done = subprocess.run(
        [sys.executable, "-m", "model_analyzer", *command],
        cwd=directory, env=mark.environment, preexec_fn=limit,
        capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip
    return done.returncode, done.stderr


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@small_and_full("megabytes", 40, 28, 34, 60)
def test_too_little_memory_is_one_line(
    mark, tmp_path: Path, command: list[str], megabytes: int
) -> None:
    """Or enough: what a command loads depends on the machine."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    status, error = run(mark, tmp_path, command, limit)

    assert "Traceback" not in error
    if "out of memory" in error:
        assert status == 1
        assert len(error.splitlines()) == 1


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@small_and_full("files", 5, 3, 4, 6)
def test_too_few_files_are_one_line(mark, tmp_path: Path, command: list[str], files: int) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    _, error = run(mark, tmp_path, command, limit)

    # Python itself needs some
    assert "Traceback" not in error or "model_analyzer" not in error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError(), "out of memory"),
        (ImportError("x.so: failed to map segment from shared object"), "out of memory"),
        (OSError(12, "Cannot allocate memory"), "out of memory"),
        (OSError(24, "Too many open files"), "too many open files"),
        (ImportError("x.so: cannot open shared object file: Too many open files"), "too many open"),
    ],
)
def test_what_is_exhausted_is_named(error: Exhausted, words: str) -> None:
    assert words in _exhausted(error)


@pytest.mark.parametrize("error", [ImportError("no module"), OSError(2, "No such file"), OSError()])
def test_other_errors_stay_what_they_are(error: Exhausted) -> None:
    assert _exhausted(error) == ""


def test_a_fault_of_python_is_a_lack_of_memory_only_where_memory_is_short(monkeypatch) -> None:
    fault = SystemError("error return without exception set")
    assert _exhausted(fault) == ""
    with monkeypatch.context() as patched:
        patched.setattr("model_analyzer.cli.main._short_of_memory", lambda: True)
        assert "out of memory" in _exhausted(fault)


def test_without_proc_a_line_says_so(mark, tmp_path: Path) -> None:
    unshare = shutil.which("unshare") or pytest.skip("there is no unshare")
    hide = [unshare, "-m", "sh", "-c", 'mount -t tmpfs none /proc && exec "$0" "$@"']
    if subprocess.run([*hide, "true"], check=False, capture_output=True).returncode:
        pytest.skip("this user cannot hide /proc")
    done = subprocess.run(
        [*hide, sys.executable, "-m", "model_analyzer", "doctor", "--no-models"],
        cwd=tmp_path, env=mark.environment,
        capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    told = "/proc is not mounted, which is needed to watch processes: mount it"
    assert done.stderr == f"model-analyzer: {told}\n"
