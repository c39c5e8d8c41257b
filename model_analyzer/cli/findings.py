# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Findings of the doctor, for a person at a terminal and for programs."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from model_analyzer.cli.echo import styled
from model_analyzer.domain.printable import printable
from model_analyzer.domain.words import counted
from model_analyzer.runner.checks.finding import Finding, Level

Findings = Sequence[tuple[str, Finding]]

# the layout that docs/doctor.md describes
_VERSION = 1

_COLOURS = {Level.OK: "green", Level.WARNING: "yellow", Level.PROBLEM: "red"}
_INDENT = " " * 11
_MOST_COLUMNS = 100
_MOST_DETAILS = 2
_MOST_CHARACTERS = 200

# A blank that is no place to break a line: commands are copied.
_HARD_BLANK = "\u00a0"


def lines_of(finding: Finding, columns: int, *, all_details: bool = False) -> Iterator[str]:
    """The finding in lines of at most `columns`, unless a word or a command is longer.

    Of details only the last are told, as far as they fit, unless `all_details` are wanted.
    """
    level = styled(f"  {finding.level.value:9}", fg=_COLOURS[finding.level])
    first, *more = _wrapped(f"{finding.check}: {finding.found}", columns)
    rest = printable(first.removeprefix(finding.check))
    yield level + styled(finding.check, bold=True) + rest
    yield from (_INDENT + printable(line) for line in more)
    details = finding.details
    if not all_details:
        details = tuple(_cut(detail) for detail in details[-_MOST_DETAILS:])
    for detail in details:
        yield from (styled(f"{_INDENT}| {line}", dim=True) for line in _wrapped(detail, columns))
    if finding.fix:
        for mark, line in zip(_marks(), _wrapped(finding.fix, columns - 2), strict=False):
            yield f"{_INDENT}{mark} {printable(line)}"


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}…"


def _marks() -> Iterator[str]:
    yield "→"
    while True:
        yield " "


def _wrapped(text: str, columns: int) -> Sequence[str]:
    """Lines that fit behind the indent. Commands, between backticks, stay in one piece."""
    parts = " ".join(text.split()).split("`")
    held = [
        part.replace(" ", _HARD_BLANK) if index % 2 else part for index, part in enumerate(parts)
    ]
    lines = textwrap.wrap(
        "`".join(held),
        max(columns - len(_INDENT) - 2, 20),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(_HARD_BLANK, " ") for line in lines] or [""]


def columns_here() -> int:
    return min(shutil.get_terminal_size().columns, _MOST_COLUMNS)


def counts(findings: Findings) -> Mapping[Level, int]:
    return {level: sum(one.level is level for _, one in findings) for level in Level}


def verdict(findings: Findings) -> str:
    """What all of it means, in a line."""
    number = counts(findings)
    problems, warnings = number[Level.PROBLEM], number[Level.WARNING]
    about = counted(warnings, "warning") if warnings else ""
    if problems:
        count = counted(problems, "problem")
        return f"{', '.join(filter(None, (count, about)))}: a run would fail here."
    return f"Everything that a run needs is in place{'; ' + about if about else ''}."


def document_of(findings: Findings) -> Mapping[str, Any]:
    """The same for programs."""
    number = counts(findings)
    return {
        "version": _VERSION,
        "works": not number[Level.PROBLEM],
        "counts": {level.value: number[level] for level in Level},
        "findings": [
            {
                "subject": subject,
                "check": one.check,
                "level": one.level.value,
                "found": one.found,
                "fix": one.fix or None,
                "details": list(one.details),
            }
            for subject, one in findings
        ],
    }
