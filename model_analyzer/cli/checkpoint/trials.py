# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`checkpoint trials` and `checkpoint export`: measurements as rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from model_analyzer.cli.checkpoint.options import (
    FORMATS,
    checkpoint_argument,
    column,
    directory_options,
    order_option,
    output_option,
)
from model_analyzer.cli.echo import echo
from model_analyzer.domain.words import counted
from model_analyzer.errors import wrong

_SHOWN = ("perf_throughput", "perf_latency_p99", "gpu_used_memory", "cpu_used_ram")


@click.command()
@checkpoint_argument
@directory_options
@click.option(
    "--where",
    multiple=True,
    metavar="CONDITION",
    help="Show only rows that meet this condition, for example 'perf_latency_p99<20', 'model=m'"
    " or 'concurrency>=8'. Operators: < <= > >= = !=. Can be repeated: rows must meet all"
    " conditions.",
)
@click.option("--sort-by", metavar="COLUMN", help="Metric or other column to sort by.")
@order_option("best first for metrics, otherwise lowest first.")
@click.option("--top-n", type=click.IntRange(1), metavar="N", help="Show only the first N rows.")
@click.option(
    "--format", "form", type=click.Choice(["table", *FORMATS]), default="table", show_default=True
)
@output_option
def trials(
    which: str,
    directory: Path,
    prefix: str,
    where: Sequence[str],
    sort_by: str | None,
    order: str | None,
    top_n: int | None,
    form: str,
    output: Path | None,
) -> None:
    """Show the measurements of a checkpoint, filtered and sorted.

    A trial of several models has one row for each model.

    \b
    Example:
      model-analyzer checkpoint trials --where 'perf_latency_p99<20' --sort-by perf_throughput
    """
    from model_analyzer.cli.checkpoint.output import found, print_table, put_rows
    from model_analyzer.domain.metrics import METRICS, is_best_high
    from model_analyzer.reports.flat_text import to_table
    from model_analyzer.results.conditions import Condition
    from model_analyzer.results.flat_rows import NUMBERS, rows_of, sort_rows

    try:
        conditions = [Condition.parse(text) for text in where]
    except ValueError as error:
        raise wrong("--where", str(error)) from error
    if form == "table" and output is not None:
        raise wrong(
            "-o", "a table cannot be written to a file: choose --format csv, json or parquet"
        )
    sorted_by = column(sort_by, "--sort-by") if sort_by else None
    checkpoint = found(which, directory, prefix)
    rows: Sequence[dict[str, str | int | float | None]] = [
        row
        for row in rows_of(checkpoint.records.items())
        if "failure" not in row and all(condition.is_met_by(row) for condition in conditions)
    ]
    if sorted_by is not None:
        is_descending = order == "desc" if order else is_best_high(sorted_by)
        rows = sort_rows(rows, sorted_by, descending=is_descending)
    elif order == "desc":
        rows = rows[::-1]
    rows = rows[:top_n]
    if form != "table":
        put_rows(rows, form, output)
        return
    if not rows:
        echo("no measurement meets the conditions" if where else "no measurements")
        return
    named = [*([sorted_by] if sorted_by else []), *(condition.column for condition in conditions)]
    metrics = dict.fromkeys(name for name in (*_SHOWN, *named) if name in METRICS)
    columns = [
        ("Model", "model"),
        ("Variant", "variant"),
        ("Calls", "composing"),
        *((name.replace("_", " ").title(), name) for name in NUMBERS),
        *((METRICS[name].header, name) for name in metrics),
    ]
    print_table(counted(len(rows), "measurement"), to_table(rows, columns))
