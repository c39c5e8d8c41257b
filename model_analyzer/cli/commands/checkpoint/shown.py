# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`checkpoint list`, `show`, `trials` and `best`: what is in checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from model_analyzer.cli.complete import complete_model
from model_analyzer.cli.echo import echo
from model_analyzer.cli.shared_options import (
    FORMATS,
    TABLE,
    allow_miss_option,
    check_format,
    checkpoint_argument,
    conditions_option,
    directory_options,
    format_option,
    goal_options,
    is_shown,
    json_option,
    metric,
    open_checkpoint,
    order_option,
    output_option,
    path_option,
    prices_of,
    prices_option,
    print_json,
    print_table,
    print_tables,
    put,
    remarks_option,
    shows_remarks,
    warn_all,
)
from model_analyzer.domain.words import counted
from model_analyzer.errors import EXIT_OK, EXIT_RUN_FAILED

if TYPE_CHECKING:
    from model_analyzer.domain.goals import GoalOverride

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

    The best value is that of a whole trial: its measurements, such as rounds, are pooled.

    \b
    Example:
      model-analyzer checkpoint list --sort-by perf_latency_p99 --limit 3
    """
    from model_analyzer.app.checkpoints.show import list_checkpoints

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

    Values of variants are those of whole trials: their measurements, such as rounds, are
    pooled.

    \b
    Example:
      model-analyzer checkpoint show 3
    """
    from model_analyzer.app.checkpoints.show import content_tables

    tag = metric(shown, "--metric") if shown else None
    print_tables(content_tables(open_checkpoint(which, directory, prefix), tag))


@click.command()
@checkpoint_argument
@directory_options
@click.option(
    "--where",
    multiple=True,
    metavar="FILTER",
    help="Show only rows that match this filter, for example 'perf_latency_p99<20', 'model=m'"
    " or 'concurrency>=8'. Operators: < <= > >= = !=. Can be repeated: rows must match all"
    " filters.",
)
@click.option("--sort-by", metavar="COLUMN", help="Metric or other column to sort by.")
@order_option("best first for metrics, otherwise lowest first.")
@click.option("--top-n", type=click.IntRange(1), metavar="N", help="Show only the first N rows.")
@click.option(
    "--single",
    is_flag=True,
    help="Show each single measurement, such as a round, instead of their pooled values.",
)
@format_option(*FORMATS)
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

    If a trial was measured several times, for example in rounds, its measurements are pooled,
    as in `best` and in reports. A trial of several models has one row for each model.

    \b
    Example:
      model-analyzer checkpoint trials --where 'perf_latency_p99<20' --sort-by perf_throughput
    """
    from model_analyzer.app.checkpoints.show import choose_trials, parse_query

    query = parse_query(where, sort_by, order, top_n, single=single)
    check_format(form, output, FORMATS)
    chosen = choose_trials(open_checkpoint(which, directory, prefix), query)
    count = len(chosen.rows)
    if form != TABLE:
        put(chosen.encoded(form), output, counted(count, "row"))
    elif count:
        print_table(chosen.title, chosen.table())
    else:
        echo("no measurement matches the filters" if where else "no measurements")


@click.command()
@checkpoint_argument
@directory_options
@click.option(
    "--model", metavar="MODEL", shell_complete=complete_model, help="Show only this model."
)
@goal_options("those of the run, otherwise perf_throughput")
@click.option(
    "--top-n", type=click.IntRange(1), default=3, metavar="N", show_default=True,
    help="Number of variants of each model to show and write.",
)  # fmt: skip
@prices_option
@conditions_option
@allow_miss_option
@remarks_option
@path_option(
    "--output-dir",
    metavar="DIR",
    help="Write DIR/MODEL/VARIANT/config.pbtxt, with the measurements beside it.",
)
def best(
    which: str,
    directory: Path,
    prefix: str,
    model: str | None,
    asked: GoalOverride,
    top_n: int,
    conditions: int | None,
    allow_miss: bool,
    output_dir: Path | None,
) -> int:
    """Show the best variants for the goals of the run, or for other goals.

    Nothing is measured.

    \b
    Example:
      model-analyzer checkpoint best --constraint 'perf_latency_p99<20' --output-dir deploy
    """
    from model_analyzer.app.checkpoints.show import best_variants
    from model_analyzer.cli.console import TerminalView

    variants = best_variants(
        open_checkpoint(which, directory, prefix),
        asked,
        count=top_n,
        model=model,
        conditions=conditions,
        directory=output_dir,
        prices=prices_of(click.get_current_context()),
    )
    warn_all(variants.remarks)
    view = TerminalView(0, with_remarks=shows_remarks(click.get_current_context()))
    has_all = True
    paths: list[Path] = []
    for each in variants.models:
        for answer in each.answers:
            statement, table = variants.statement(answer)
            view.answer(statement, table, variants.swept(answer), more="shown with -v")
            is_usable = is_shown(answer, allow_miss=allow_miss)
            has_all = has_all and is_usable
            paths += variants.write(answer) if is_usable else ()
        if each.is_of_several_kinds:
            view.hardware(each.model, variants.hardware(each))
    for path in paths:
        view.print(f"wrote {path}")
    return EXIT_OK if has_all else EXIT_RUN_FAILED
