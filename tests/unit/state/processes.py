# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Starts and kills processes that write to a checkpoint directory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

REPOSITORY = Path(__file__).parents[3]

Writer = subprocess.Popen[str]


@contextmanager
def writer(directory: Path, *, first: int, node: str = "") -> Iterator[Writer]:
    """A process that records trials, from concurrency `first` on, until it is killed."""
    command = [sys.executable, "-m", "tests.unit.state.writer", str(directory), str(first)]
    command += [node] if node else []
    with subprocess.Popen(
        command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def kill(process: Writer) -> None:
    """Kills the process at once, and waits for its end."""
    process.kill()
    process.wait(timeout=30)


def acknowledged(process: Writer) -> list[str]:
    """The keys that a process has printed and nobody has read yet; waits for its end."""
    assert process.stdout is not None
    return [line.strip() for line in process.stdout if line.endswith("\n")]
