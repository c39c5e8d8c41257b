# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What the commands on checkpoints open, print and write."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from model_analyzer.cli.echo import complain, echo, echo_data
from model_analyzer.cli.shared_options import TABLE
from model_analyzer.domain.words import one_line
from model_analyzer.errors import wrong

if TYPE_CHECKING:
    from model_analyzer.reports.tables import Table
    from model_analyzer.results.answer import Answer
    from model_analyzer.results.columns import Cell
    from model_analyzer.state.checkpoint import Checkpoint


def open_checkpoint(which: str, directory: Path, prefix: str) -> Checkpoint:
    """The checkpoint that the user means, with a warning where it is damaged."""
    from model_analyzer.state.find import find

    checkpoint = find(which, directory, prefix)
    warn_all(checkpoint.damage_warnings)
    return checkpoint


def open_path(path: Path, prefix: str) -> Checkpoint:
    """The checkpoint of a file or a directory, with a warning where it is damaged."""
    from model_analyzer.state.checkpoint import load_chosen

    checkpoint = load_chosen(None if os.path.isdir(path) else path, path, prefix)
    warn_all(checkpoint.damage_warnings)
    return checkpoint


def warn(text: str) -> None:
    complain(text)


def warn_all(texts: Iterable[str]) -> None:
    for text in texts:
        complain(text)


def is_shown(answer: Answer, *, allow_miss: bool) -> bool:
    """Whether there is a configuration to use; a warning says if it misses the constraints."""
    if answer.best is None:
        return False
    if not answer.is_met and not allow_miss:
        warn(
            f"{answer.ranking.model}: no configuration meets the constraints, so there is none to"
            " use: --allow-miss uses the closest one"
        )
        return False
    return True


def print_json(document: Any) -> None:
    import json  # few commands need it

    echo(json.dumps(document, indent=1))


def print_tables(tables: Iterable[tuple[str, Table]]) -> None:
    for title, table in tables:
        print_table(title, table)


def print_table(title: str, table: Table) -> None:
    """A table for people: drawn on a terminal, padded columns elsewhere."""
    from rich.console import Console
    from rich.text import Text

    from model_analyzer.cli.console import plain_table
    from model_analyzer.cli.table_layout import laid_out

    shown = replace(table, rows=tuple(tuple(map(_in_words, row)) for row in table.rows))
    if sys.stdout.isatty():
        console = Console()
        console.print(Text(one_line(title), style="bold"))
        for part in laid_out(shown, console.width):
            console.print(part)
        return
    for line in plain_table(title, shown):
        echo(line.rstrip())


def _in_words(cell: Cell) -> Cell:
    """The cell; yes or no for a truth value."""
    return ("no", "yes")[cell] if isinstance(cell, bool) else cell


def check_format(form: str, output: Path | None, others: Sequence[str] = ()) -> None:
    """Refuses a table in a file, which takes the `others`, and a binary format on a terminal.
    Raises ConfigError.
    """
    if form == TABLE and output is not None:
        *first, last = others
        choices = f"{', '.join(first)} or {last}"
        raise wrong("-o", f"a table cannot be written to a file: choose --format {choices}")
    if form == "parquet" and output is None and sys.stdout.isatty():
        raise wrong("--format", "parquet cannot be printed to a terminal: give a file with -o FILE")


def put(content: bytes, output: Path | None, description: str) -> None:
    """Writes to the file, or to standard output."""
    if output is None:
        echo_data(content)
        return
    from model_analyzer.reports.write import write_file

    write_file(content, output, "-o")
    echo(f"wrote {description} to {output}", err=True)
