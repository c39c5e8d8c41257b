# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What all findings together mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from model_analyzer.domain.words import counted
from model_analyzer.runner.checks.finding import Finding, Level

Findings = Sequence[tuple[str, Finding]]  # each with its subject

# the layout that docs/doctor.md describes
_VERSION = 1


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
