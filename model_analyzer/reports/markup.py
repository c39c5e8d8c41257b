# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Markdown output in which inserted text is never read as markup."""

from __future__ import annotations

import re
from collections.abc import Sequence

from model_analyzer.reports.tables import Table

# A comment of a pull request holds 65 536 characters.
_MOST_ROWS = 100


def escaped(text: str) -> str:
    """A text on one line, with the special characters of Markdown and HTML escaped."""
    text = re.sub(r"\s+", " ", text).replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([\\`*_|\[\]@#])", r"\\\1", text)


def markdown_table(table: Table, others: str = "more") -> Sequence[str]:
    """The lines of a table: numbers are right-aligned, missing values are `-`. If it is long, a
    line at the end says how many `others` there are.
    """
    first = table.rows[0] if table.rows else ("",) * len(table.headers)
    rules = ["---:" if isinstance(cell, (int, float)) else "---" for cell in first]
    shown = Table(headers=table.headers, rows=table.rows[:_MOST_ROWS])
    rows = [
        ["-" if cell is None else "<br>".join(map(escaped, cell.split("\n"))) for cell in row]
        for row in shown.texts()
    ]
    lines = [[escaped(header) for header in table.headers], rules, *rows]
    count = len(table.rows) - len(shown.rows)
    rest = ["", f"… and {count} {others}."] if count else []
    return [*(f"| {' | '.join(cells)} |" for cells in lines), *rest]


def fenced(text: str, language: str = "") -> Sequence[str]:
    """The lines of a code block; its fence is longer than any in the text."""
    longest = max((len(ticks) for ticks in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *text.splitlines(), fence]
