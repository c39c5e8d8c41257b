# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What the targets of the Makefile would do."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")


def commands_of(target: str) -> str:
    """Everything that this target does, from nothing."""
    done = subprocess.run(
        ["make", "--dry-run", "--always-make", target],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    return done.stdout


def test_the_quick_start_installs_what_a_user_needs() -> None:
    commands = commands_of("quickstart")

    assert "pip install -q --disable-pip-version-check -e .;" in commands
    assert "[dev]" not in commands


@pytest.mark.parametrize("target", ["test", "fast", "check", "qa", "soak", "fuzz", "site"])
def test_what_developers_run_installs_its_tools(target: str) -> None:
    assert '-e ".[dev]"' in commands_of(target)


def test_qa_ends_with_five_minutes_of_soak() -> None:
    assert "qa/soak.py --minutes 5 " in commands_of("qa")
