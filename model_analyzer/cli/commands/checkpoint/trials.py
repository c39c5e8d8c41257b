# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`checkpoint trials`: trials, or their single measurements, as rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from model_analyzer.cli.echo import echo
from model_analyzer.cli.options import (
    FORMATS,
    checkpoint_argument,
    directory_options,
    order_option,
    output_option,
)
from model_analyzer.cli.output import check_printable, open_checkpoint, print_table, put
from model_analyzer.domain.words import counted
from model_analyzer.errors import wrong

_TABLE = "table"


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
    "--single",
    is_flag=True,
    help="Show each single measurement, such as an instalment, instead of their pooled values.",
)
@click.option(
    "--format", "form", type=click.Choice([_TABLE, *FORMATS]), default=_TABLE, show_default=True
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
    single: bool,
    form: str,
    output: Path | None,
) -> None:
    """Show the trials of a checkpoint, filtered and sorted.

    If a trial was measured several times, for example in instalments, its measurements are pooled,
    as in `best` and in reports. A trial of several models has one row for each model.

    \b
    Example:
      model-analyzer checkpoint trials --where 'perf_latency_p99<20' --sort-by perf_throughput
    """
    from model_analyzer.app.checkpoints.trials import choose_trials, parse_query

    query = parse_query(where, sort_by, order, top_n, single=single)
    if form == _TABLE and output is not None:
        raise wrong(
            "-o", "a table cannot be written to a file: choose --format csv, json or parquet"
        )
    check_printable(form, output)
    chosen = choose_trials(open_checkpoint(which, directory, prefix), query)
    count = len(chosen.rows)
    if form != _TABLE:
        put(chosen.encoded(form), output, counted(count, "row"))
    elif count:
        print_table(chosen.title, chosen.table())
    else:
        echo("no measurement meets the conditions" if where else "no measurements")
