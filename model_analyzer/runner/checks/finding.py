# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The result of a check."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Level(Enum):
    """The severity of a finding. Only a problem prevents a run. A warning makes its measurements
    less reliable, or may stop it later.
    """

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The name of the check, the state that it found, and what to do, each in one line. `details`
    are log lines with more information. Commands are between backticks.
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
