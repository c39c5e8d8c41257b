# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The result of a check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from model_analyzer.domain.words import counted

# the layout that docs/doctor.md describes
_VERSION = 1


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


Findings = Sequence[tuple[str, Finding]]  # each with its subject


def has_problem(findings: Findings) -> bool:
    return any(finding.level is Level.PROBLEM for _, finding in findings)


def verdict(findings: Findings) -> str:
    """Whether a run would work, in a line."""
    number = _counts(findings)
    problems, warnings = number[Level.PROBLEM], number[Level.WARNING]
    about = counted(warnings, "warning") if warnings else ""
    if problems:
        count = counted(problems, "problem")
        return f"{', '.join(filter(None, (count, about)))}: a run would fail here."
    return f"Everything that a run needs is in place{'; ' + about if about else ''}."


def document_of(findings: Findings) -> Mapping[str, Any]:
    """The findings for programs."""
    number = _counts(findings)
    return {
        "version": _VERSION,
        "works": not number[Level.PROBLEM],
        "counts": {level.value: number[level] for level in Level},
        "findings": [
            {
                "subject": subject,
                "check": finding.check,
                "level": finding.level.value,
                "found": finding.found,
                "fix": finding.fix or None,
                "details": list(finding.details),
            }
            for subject, finding in findings
        ],
    }


def _counts(findings: Findings) -> Mapping[Level, int]:
    return {level: sum(finding.level is level for _, finding in findings) for level in Level}
