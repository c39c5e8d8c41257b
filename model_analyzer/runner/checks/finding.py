# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a check comes to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Level(Enum):
    """How bad it is. Only a problem keeps a run from working; a warning makes its numbers worse, or
    may stop it later.
    """

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What was looked at, what was found, and what to do about it, each in a line; `details` are
    lines of logs that say more. Commands are between backticks.
    """

    check: str
    level: Level
    found: str
    fix: str = ""
    details: tuple[str, ...] = ()


def ok(check: str, found: str) -> Finding:
    return Finding(check=check, level=Level.OK, found=found)


def warning(check: str, found: str, fix: str, details: tuple[str, ...] = ()) -> Finding:
    return Finding(check=check, level=Level.WARNING, found=found, fix=fix, details=details)


def problem(check: str, found: str, fix: str, details: tuple[str, ...] = ()) -> Finding:
    return Finding(check=check, level=Level.PROBLEM, found=found, fix=fix, details=details)
