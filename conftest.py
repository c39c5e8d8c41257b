# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures for tests/ and qa/ alike."""

from __future__ import annotations

import os
import sys
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def program() -> str:
    """The model-analyzer command of this environment."""
    found = Path(sys.executable).with_name("model-analyzer")
    assert found.exists(), "install the project first: see the README"
    return str(found)


@dataclass(frozen=True)
class Mark:
    """An environment variable by which the processes of one test are found, however deep."""

    value: str

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "MODEL_ANALYZER_TEST": self.value}

    def processes(self) -> list[int]:
        """Running processes that carry the mark; zombies are left out."""
        wanted = f"MODEL_ANALYZER_TEST={self.value}".encode()
        found = []
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                environment = Path("/proc", entry, "environ").read_bytes().split(b"\0")
                state = Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if wanted in environment and state != "Z":
                found.append(int(entry))
        return found

    def gone(self, within_s: float = 10.0) -> bool:
        """Whether no marked process is left after at most so many seconds."""
        deadline = time.monotonic() + within_s
        while self.processes():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True


@pytest.fixture
def mark() -> Mark:
    return Mark(uuid.uuid4().hex)
