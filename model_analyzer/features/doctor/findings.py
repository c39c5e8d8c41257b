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


def verdict(
    levels: Sequence[Level],
    *,
    good: str = "Everything that a run needs is in place",
    bad: str = "a run would fail here",
) -> str:
    """Whether a run would work, in a line, with the number of problems and warnings."""
    counts = ((levels.count(level), level.value) for level in (Level.PROBLEM, Level.WARNING))
    about = ", ".join(counted(number, noun) for number, noun in counts if number)
    if Level.PROBLEM in levels:
        return f"{about}: {bad}."
    return f"{good}{'; ' + about if about else ''}."


def finding_document(subject: str, finding: Finding) -> dict[str, Any]:
    """A finding for programs, without its details."""
    return {
        "subject": subject,
        "check": finding.check,
        "level": finding.level.value,
        "found": finding.found,
        "fix": finding.fix or None,
    }


def document_of(findings: Findings) -> Mapping[str, Any]:
    """The findings for programs."""
    levels = [finding.level for _, finding in findings]
    return {
        "version": _VERSION,
        "works": Level.PROBLEM not in levels,
        "counts": {level.value: levels.count(level) for level in Level},
        "findings": [
            {**finding_document(subject, finding), "details": list(finding.details)}
            for subject, finding in findings
        ],
    }
