# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Fetches wheels with pip, which refuses every file whose hash is not in a lock file.

pip reads the user's configuration (index, mirror, proxy, certificates). This is safe: hashes verify
files from any source. Modules in the current directory or in PYTHON* variables cannot replace
modules of pip.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from model_analyzer.errors import RuntimeNotFound
from model_analyzer.runner.process import run

_LOCKS = Path(__file__).with_name("lock")

# Written by tools/lock_runtime.py. BUILD has the tools to compile numpy if it has no wheel.
MODELS, BUILD = (_LOCKS / name for name in ("models.txt", "build.txt"))

_WHEELS_ONLY = "--only-binary=:all:"
_SERVER_PLATFORMS = (
    "manylinux_2_35_x86_64",
    "manylinux_2_31_x86_64",
    "manylinux2014_x86_64",
    "manylinux1_x86_64",
)
_LONG_S = 900.0

_MISMATCH = re.compile(
    r"DO NOT MATCH THE HASHES.*?\bfrom (?P<url>\S+).*?\bGot\s+(?P<hash>[0-9a-f]+)", re.DOTALL
)


def server_lock(version: str) -> Path:
    """The lock file of this Triton (such as 2.51), with its perf_analyzer."""
    return _LOCKS / f"server-{version}.txt"


def isolated(python: str | Path, *arguments: str) -> list[str]:
    """A command of this Python that imports no modules from the current directory."""
    return [str(python), "-I", *arguments]


def without_python_variables(environment: Mapping[str, str]) -> Mapping[str, str]:
    """The environment without PYTHON* variables: it isolates Pythons that a child starts, which do
    not inherit `-I`.
    """
    return {key: value for key, value in environment.items() if not key.startswith("PYTHON")}


@dataclass(frozen=True, slots=True)
class Pip:
    """pip of one Python environment."""

    python: Path
    environment: Mapping[str, str]

    def install(self, *locks: Path) -> None:
        """Installs wheels whose hashes are in these files."""
        self._run("install", _WHEELS_ONLY, *_verified_by(locks))

    def install_unverified(self, *requirements: str) -> None:
        """Installs packages and their dependencies without verifying hashes."""
        self._run("install", *requirements)

    def install_wheel(self, wheel: Path) -> None:
        self._run("install", "--no-index", "--no-deps", str(wheel))

    def fetch_server(self, lock: Path, directory: Path) -> Sequence[Path]:
        """Fetches the wheels with tritonserver and perf_analyzer, for any version of Python."""
        platforms = [word for name in _SERVER_PLATFORMS for word in ("--platform", name)]
        self._run(
            "download", "--no-deps", _WHEELS_ONLY, *platforms, *_verified_by([lock]),
            "--dest", str(directory),
        )  # fmt: skip
        return sorted(directory.glob("*.whl"))

    def compile(self, lock: Path, directory: Path) -> Sequence[Path]:
        """Builds wheels from the sources in `lock`, with the tools in this environment."""
        self._run(
            "wheel", "--no-deps", "--no-binary=:all:", "--no-build-isolation",
            *_verified_by([lock]), "--wheel-dir", str(directory),
        )  # fmt: skip
        return sorted(directory.glob("*.whl"))

    def _run(self, *arguments: str) -> None:
        path = os.pathsep.join([str(self.python.parent), self.environment.get("PATH", "")])
        succeed(
            f"pip {arguments[0]}",
            isolated(
                self.python, "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments
            ),
            environment={**self.environment, "PATH": path},
        )


def _verified_by(locks: Sequence[Path]) -> Sequence[str]:
    files = [word for lock in locks for word in ("--requirement", str(lock))]
    return ["--require-hashes", *files]


def succeed(
    action: str,
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    directory: Path | None = None,
) -> None:
    """Runs a command of the installation. Raises RuntimeNotFound with one line if it fails."""
    status, output = run(command, environment=environment, timeout_s=_LONG_S, directory=directory)
    if status != 0:
        raise RuntimeNotFound(f"cannot {action}: {reason_in(output) or f'exit status {status}'}")


def reason_in(output: str) -> str:
    """Why pip, apt-get or dpkg-deb failed, in one line; "" if their output is empty."""
    if match := _MISMATCH.search(output):
        url = match["url"].partition("#")[0]
        return (
            f"{PurePosixPath(url).name} has sha256 {match['hash']}, which is not in the"
            " lock file: it was changed or rebuilt (`pip config list` shows which index pip uses)"
        )
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith(("error", "e:"))]
    telling = [line for line in errors if "ResolutionImpossible" not in line]
    return (telling or errors or lines or [""])[-1]
