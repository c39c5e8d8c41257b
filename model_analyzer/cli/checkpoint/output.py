# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What the commands print and write."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from model_analyzer.cli.echo import complain, echo, echo_data
from model_analyzer.domain.printable import one_line
from model_analyzer.domain.words import counted
from model_analyzer.errors import wrong
from model_analyzer.reports.flat_text import to_csv, to_json
from model_analyzer.reports.tables import Table
from model_analyzer.reports.write import encoded, write_file
from model_analyzer.results.columns import Cell
from model_analyzer.results.flat_rows import Row
from model_analyzer.state.checkpoint import Checkpoint
from model_analyzer.state.find import find


def found(which: str, directory: Path, prefix: str) -> Checkpoint:
    """The checkpoint that the user means; what is damaged is told."""
    checkpoint = find(which, directory, prefix)
    for sentence in checkpoint.damage:
        warn(f"{sentence}: using the intact part")
    return checkpoint


def warn(text: str) -> None:
    complain(text)


def print_table(title: str, table: Table) -> None:
    """A table for people: drawn on a terminal, padded columns elsewhere."""
    from rich.console import Console
    from rich.text import Text

    from model_analyzer.cli.console import plain_table, rich_table

    cells = tuple(tuple(map(_plain, row)) for row in table.rows)
    shown = replace(table, rows=cells)
    if sys.stdout.isatty():
        console = Console()
        console.print(Text(one_line(title), style="bold"))
        console.print(rich_table(shown))
        return
    for line in plain_table(title, shown):
        echo(line.rstrip())


def _plain(cell: Cell) -> Cell:
    """What is no number or text, in words."""
    if cell is None:
        return "-"
    return ("no", "yes")[cell] if isinstance(cell, bool) else cell


def pairs_table(values: Mapping[str, Any]) -> Table:
    """Names and values."""
    return Table(
        headers=("Name", "Value"), rows=tuple((name, str(text)) for name, text in values.items())
    )


def put_rows(rows: Sequence[Row], form: str, output: Path | None) -> None:
    """Writes the rows in a format, to the file or to standard output."""
    content: bytes
    match form:
        case "csv":
            content = encoded(to_csv(rows))
        case "json":
            content = encoded(to_json(rows))
        case _:
            from model_analyzer.reports.parquet import to_parquet

            if output is None and sys.stdout.isatty():
                raise wrong(
                    "--format", "parquet cannot be printed to a terminal: give a file with -o FILE"
                )
            content = to_parquet(rows)
    put(content, output, counted(len(rows), "row"))


def put(content: bytes, output: Path | None, what: str) -> None:
    """Writes to the file, or to standard output."""
    if output is None:
        echo_data(content)
        return
    write_file(content, output, "-o")
    echo(f"wrote {what} to {output}", err=True)
