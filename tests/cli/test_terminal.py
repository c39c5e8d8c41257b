# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A run on a terminal, with its live display."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import time
from pathlib import Path

import pytest
import yaml


@pytest.mark.parametrize("mode", ["brute", "quick"])
def test_a_run_shows_itself_on_a_terminal_and_ends(setting, mode: str) -> None:
    path: Path = setting.directory / "config.yaml"
    path.write_text(
        yaml.safe_dump(
            {
                **setting.config,
                "run_config_search_mode": mode,
                "run_config_search_max_instance_count": 1,
            }
        )
    )
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [setting.program, "profile", "-f", str(path)],
        cwd=setting.directory,
        env={**setting.variables, "TERM": "xterm", "COLUMNS": "120", "CI": ""},
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    try:
        shown = read_all(ours)
        status = process.wait(timeout=60)
    finally:
        process.kill()
        os.close(ours)

    assert status == 0, shown
    for part in (
        "measuring",
        "best",
        "measurement 1 of about",
        "left",
        "trend",
        "infer/s",
        "Ctrl-C",
    ):
        assert part in shown, part
    assert "Profile complete" in shown
    assert "Profiling m_config" not in shown  # the view says it


def read_all(terminal: int, within_s: float = 180) -> str:
    """What is written until nobody writes any more, or time is up."""
    parts = []
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                parts.append(os.read(terminal, 65536))
            except OSError:
                break
    return b"".join(parts).decode()
