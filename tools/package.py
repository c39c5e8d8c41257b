# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel and the source distribution into dist/, and tests the wheel.

python tools/package.py

The wheel must contain every file of the package, and no other files. The tool installs it into an
empty environment, outside of the sources, and runs it there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
PACKAGE = "model_analyzer"

# Commands that need data files: the options, the schema, the starter directory, and what pages are
# made of. `measured` is a checkpoint directory.
COMMANDS = (
    ("--version",),
    ("--help",),
    ("profile", "--help"),
    ("config", "schema", "--results"),
    ("init", "starter"),
    ("config", "validate", "starter/config.yaml"),
    ("report", "-s", "measured", "-n", "m_config_0", "-o", "html,md,json"),
    ("report", "-s", "measured", "--fleet"),
    ("compare", "measured", "measured", "--format", "html", "-o", "changes.html"),
    ("explain", "-s", "measured"),
)


def main() -> int:
    shutil.rmtree(DIST, ignore_errors=True)
    run([sys.executable, "-m", "build", "--outdir", str(DIST)], ROOT)
    (wheel,) = DIST.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        problems = list(differences(files_of(ROOT), archive.namelist()))
    for problem in problems:
        print(f"{wheel.name}: {problem}", file=sys.stderr)
    if problems:
        return 1
    with tempfile.TemporaryDirectory() as scratch:
        try_out(wheel, Path(scratch))
    for path in sorted(DIST.iterdir()):
        print(f"built and tried {path.relative_to(ROOT)} ({path.stat().st_size / 1e6:.1f} MB)")
    return 0


def files_of(root: Path) -> Sequence[str]:
    """The files of the package below `root`, with their names in a wheel."""
    paths = (path.relative_to(root) for path in (root / PACKAGE).rglob("*") if path.is_file())
    return [path.as_posix() for path in paths if "__pycache__" not in path.parts]


def differences(expected: Iterable[str], wheel: Iterable[str]) -> Iterable[str]:
    """A sentence for each missing or unexpected file of a wheel."""
    packed = {name for name in wheel if not _is_metadata(name)}
    wanted = set(expected)
    for name in sorted(wanted - packed):
        yield f"{name} is missing"
    for name in sorted(packed - wanted):
        yield f"{name} does not belong to the package"


def _is_metadata(name: str) -> bool:
    return PurePosixPath(name).parts[0].endswith(".dist-info")


def try_out(wheel: Path, scratch: Path) -> None:
    """Installs the wheel into an empty environment in `scratch`, and runs commands there."""
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    venv.create(scratch / "venv", with_pip=True)
    programs = scratch / "venv" / "bin"
    run([str(programs / "python"), "-m", "pip", "install", "--quiet", str(wheel)], scratch)
    shutil.copytree(ROOT / "tests" / "golden" / "checkpoints" / "rounds", scratch / "measured")
    for words in COMMANDS:
        command = [str(programs / "model-analyzer"), *words]
        output = run(command, scratch, environment, is_kept=True)
        print("$", "model-analyzer", *words, "→", output.partition("\n")[0])


def run(
    command: Sequence[str],
    directory: Path,
    environment: Mapping[str, str] | None = None,
    *,
    is_kept: bool = False,
) -> str:
    """Runs a command; exits with its status if it fails. Returns its output if `is_kept`."""
    done = subprocess.run(
        command,
        cwd=directory,
        env=environment,
        text=True,
        stdout=subprocess.PIPE if is_kept else None,
    )
    if done.returncode:
        print(f"failed with status {done.returncode}: {' '.join(command)}", file=sys.stderr)
        sys.exit(done.returncode)
    return done.stdout or ""


if __name__ == "__main__":
    sys.exit(main())
