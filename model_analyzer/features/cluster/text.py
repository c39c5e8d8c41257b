# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The comparison of the nodes of a cluster, as lines of a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from model_analyzer.domain.printable import printable
from model_analyzer.domain.words import counted
from model_analyzer.features.cluster.node_comparison import Comparison, Row
from model_analyzer.features.doctor.finding import Level

_INDENT = " " * 11


def lines_of(comparison: Comparison, *, is_quiet: bool = False) -> Iterator[str]:
    """The table, what the doctor found, and the verdict; only what is not fine if `is_quiet`."""
    nodes = comparison.nodes
    if nodes and not is_quiet:
        slots = sum(node.slots for node in nodes)
        yield f"{counted(slots, 'slot')} on {counted(len(nodes), 'node')}"
    for name, reason in comparison.without:
        yield f"  {'no slot':9}{printable(name)}: {printable(reason)}"
    shown = [row for row in comparison.rows if not (is_quiet and row.level is Level.OK)]
    names = max((len(row.name) for row in shown), default=0)
    values = max((len(value) for row in shown for value in row.values), default=0)
    for row in shown:
        yield from map(printable, _row_lines(row, names, values, len(nodes)))
    for subject, finding, hosts in comparison.findings:
        where = ", ".join(hosts) if len(hosts) < len(nodes) else _all(len(nodes))
        text = f"  {finding.level.value:9}{subject}, {finding.check} ({where}): {finding.found}"
        yield printable(text)
        if finding.fix:
            yield printable(f"{_INDENT}→ {finding.fix}")
    if comparison.problem:
        yield printable(f"  {Level.PROBLEM.value:9}{comparison.problem}")
    yield _verdict(comparison)


def _row_lines(row: Row, names: int, values: int, nodes: int) -> Iterator[str]:
    """A line for each value, the name and level in the first, and what to do."""
    start = f"  {row.level.value:9}{row.name:{names}}"
    for value, having in row.values.items():
        where = ", ".join(having) if len(having) < nodes else _all(nodes)
        yield f"{start}  {value:{values}}  {where}"
        start = " " * len(start)
    if row.fix:
        yield f"{_INDENT}→ {row.fix}"


def _all(nodes: int) -> str:
    return f"all {nodes}" if nodes > 1 else "1 node"


def _verdict(comparison: Comparison) -> str:
    levels: Sequence[Level] = comparison.levels
    problems = levels.count(Level.PROBLEM) + bool(comparison.problem)
    warnings = levels.count(Level.WARNING)
    about = counted(warnings, "warning") if warnings else ""
    if problems:
        count = counted(problems, "problem")
        return f"{', '.join(filter(None, (count, about)))}: a run would not start."
    return f"A run can start{'; ' + about if about else ''}."
