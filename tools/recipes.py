# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Applies the examples of CONTRIBUTING.md, each to a copy of the repository, and checks the copy.

    python tools/recipes.py [metric] [search] [feature] [format]

A step is a block of code below one of these:

    In `PATH`, below `TEXT`:    lines that follow the first line with that text
    Write `PATH`:               a new file
    (a block of sh)             commands to run

A section says how many files its steps touch. Its new code has to pass formatter, linter and types.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]

_SECTION = re.compile(r"^## Add an? (\w+)\n(.*?)(?=^## )", re.MULTILINE | re.DOTALL)
_PLACE = r"(?:In `(?P<path>[^`]+)`, below `(?P<anchor>[^`]+)`|Write `(?P<new>[^`]+)`):\s*"
_BLOCK = r"(?P<indent>^ *)```(?P<language>\w+)\n(?P<code>.*?)^ *```$"
_STEP = re.compile(f"(?:{_PLACE})?{_BLOCK}", re.MULTILINE | re.DOTALL)
_COUNT = re.compile(r"It touches (\d+) files")


def recipes() -> Mapping[str, str]:
    """The text of each section that has steps, by what it adds."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    return {name: body for name, body in _SECTION.findall(text) if _COUNT.search(body)}


def problems(name: str) -> Iterator[str]:
    """What is wrong with a recipe, applied to a copy of the repository."""
    text = recipes()[name]
    with TemporaryDirectory() as directory:
        copy = Path(directory)
        _copy_to(copy)
        touched, commands = set(), list[str]()
        for step in _STEP.finditer(text):
            lines = [line.removeprefix(step["indent"]) for line in step["code"].splitlines()]
            if path := step["path"] or step["new"]:
                touched.add(path)
                _edit(copy / path, step["anchor"], lines)
            elif step["language"] == "sh":
                commands += lines
        python = [path for path in sorted(touched) if path.endswith(".py")]
        for command in (
            f"ruff format --check {' '.join(python)}",
            f"ruff check {' '.join(python)}",
            f"python -m mypy {' '.join(python)}",
            *commands,
        ):
            yield from _failure(command, copy)
    if len(touched) != int(_COUNT.findall(text)[0]):
        yield f"it touches {len(touched)} files: {', '.join(sorted(touched))}"


def _copy_to(directory: Path) -> None:
    """All files that git knows, or would know."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True,
    ).stdout.split("\0")  # fmt: skip
    for name in filter(None, listed):
        if (ROOT / name).is_file():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, directory / name)


def _edit(path: Path, anchor: str | None, lines: Sequence[str]) -> None:
    """Writes a new file, or puts the lines below the first one that has the text `anchor`."""
    text = "".join(f"{line}\n" for line in lines)
    if anchor is None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return
    before, found, after = path.read_text("utf-8").partition(anchor)
    if not found:
        raise ValueError(f"{path.name} has no {anchor}")
    rest, end, after = after.partition("\n")
    path.write_text(before + anchor + rest + end + text + after, "utf-8")


def _failure(command: str, directory: Path) -> Iterator[str]:
    """The command with its output, if it fails there."""
    own = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST_")}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    ended = subprocess.run(
        ["sh", "-c", command],
        cwd=directory,
        env={**own, "PATH": path, "PYTHONPATH": str(directory)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if ended.returncode:
        yield f"{command}\n{ended.stdout}"


if __name__ == "__main__":
    found = {name: [*problems(name)] for name in sys.argv[1:] or recipes()}
    for name, texts in found.items():
        print(f"{name}:", *texts or ["works"], sep="\n")
    sys.exit(any(found.values()))
