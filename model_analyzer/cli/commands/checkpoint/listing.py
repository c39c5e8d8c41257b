# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`checkpoint list` and `checkpoint show`."""

from __future__ import annotations

from pathlib import Path

import click

from model_analyzer.cli.options import (
    checkpoint_argument,
    directory_options,
    json_option,
    metric,
    order_option,
)
from model_analyzer.cli.output import open_checkpoint, print_json, print_table, print_tables

_NO_METRICS = ("time", "index", "state")


@click.command("list")
@directory_options
@click.option("--metric", "shown", metavar="METRIC", help="Metric whose best value is shown.")
@click.option(
    "--sort-by",
    default="index",
    metavar="METRIC|time|index|state",
    show_default=True,
    help="Column to sort by. A metric sorts by its best value.",
)
@order_option("best first for metrics, otherwise lowest first.")
@click.option(
    "--limit", type=click.IntRange(1), metavar="N", help="Maximum number of checkpoints to show."
)
@json_option
def list_(
    directory: Path,
    prefix: str,
    shown: str | None,
    sort_by: str,
    order: str | None,
    limit: int | None,
    as_json: bool,
) -> None:
    """List the checkpoints of a directory.

    The best value is that of a whole trial: its measurements, such as instalments, are pooled.

    \b
    Example:
      model-analyzer checkpoint list --sort-by perf_latency_p99 --limit 3
    """
    from model_analyzer.app.checkpoints.listing import list_checkpoints

    listing = list_checkpoints(
        directory,
        prefix,
        sort_by=sort_by if sort_by in _NO_METRICS else metric(sort_by, "--sort-by"),
        metric=metric(shown, "--metric") if shown else None,
        order=order,
        limit=limit,
    )
    if as_json:
        print_json(listing.documents())
    else:
        print_table(f"Checkpoints in {directory}", listing.table())


@click.command()
@checkpoint_argument
@directory_options
@click.option(
    "--metric",
    "shown",
    metavar="METRIC",
    help="Metric to rank variants by.  [default: what the run optimized]",
)
def show(which: str, directory: Path, prefix: str, shown: str | None) -> None:
    """Show the content of a checkpoint.

    Values of variants are those of whole trials: their measurements, such as instalments, are
    pooled.

    \b
    Example:
      model-analyzer checkpoint show 3
    """
    from model_analyzer.app.checkpoints.show import content_tables

    tag = metric(shown, "--metric") if shown else None
    print_tables(content_tables(open_checkpoint(which, directory, prefix), tag))
