# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The table of counts at the end of a soak."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

_COLUMNS = ("rounds", "hit", "late", "findings")


@dataclass
class Counts:
    """For each fault: how often it was tried, hit the run, and caused a finding."""

    rounds: Counter[str] = field(default_factory=Counter)
    hit: Counter[str] = field(default_factory=Counter)
    findings: Counter[str] = field(default_factory=Counter)

    def add(self, fault: str, *, hit: bool, has_finding: bool) -> None:
        self.rounds[fault] += 1
        self.hit[fault] += hit
        self.findings[fault] += has_finding

    def row(self, fault: str) -> Sequence[int]:
        rounds, hit = self.rounds[fault], self.hit[fault]
        return rounds, hit, rounds - hit, self.findings[fault]

    def table(self, skipped: Mapping[str, str]) -> str:
        """A line for each fault, a total, and the reasons for skipped faults. `late` counts faults
        that came after the run.
        """
        names = sorted(self.rounds)
        rows = [(name, *self.row(name)) for name in names]
        totals = [sum(column) for column in zip(*map(self.row, names), strict=True)] or [0] * 4
        width = max(map(len, ["total", *names]))
        lines = [" ".join([" " * width, *(f"{column:>8}" for column in _COLUMNS)])]
        for name, *numbers in [*rows, ("total", *totals)]:
            lines.append(" ".join([f"{name:{width}}", *(f"{number:8}" for number in numbers)]))
        lines += [f"skipped: {name}: {reason}" for name, reason in skipped.items()]
        return "\n".join(lines)
