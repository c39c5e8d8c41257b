# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`compare`: what changed between two checkpoints, and whether that is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from model_analyzer.cli.complete import complete_metrics
from model_analyzer.cli.echo import echo
from model_analyzer.cli.output import open_checkpoint, print_tables, put, warn_all
from model_analyzer.cli.shared_options import (
    directory_options,
    format_option,
    goal_options,
    output_option,
)
from model_analyzer.errors import EXIT_OK, EXIT_REGRESSION, UnusableCheckpoint

if TYPE_CHECKING:
    from model_analyzer.domain.goals import GoalOverride
    from model_analyzer.features.compare.comparison_report import ComparisonReport
    from model_analyzer.state.checkpoint import Checkpoint

_HTML = "html"


@click.command("compare", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("base")
@click.argument("new")
@directory_options
@goal_options("the goal of the NEW run")
@click.option(
    "--metrics",
    "shown",
    default="perf_throughput,perf_latency_p99",
    show_default=True,
    metavar="METRIC,...",
    shell_complete=complete_metrics,
    help="Metrics to compare.",
)
@click.option(
    "--fail-on",
    "rules",
    multiple=True,
    metavar="RULE",
    help="Exit with status 3 if a model changed this much, for example 'perf_throughput<-3%', or"
    " if its best value in NEW meets the rule, for example 'perf_latency_p99>20'. Can be"
    " repeated.",
)
@click.option("--strict", is_flag=True, help="Fail even if a change may be noise.")
@format_option(_HTML, "md", "markdown", "json", "junit")
@output_option
def compare(
    base: str,
    new: str,
    directory: Path,
    prefix: str,
    asked: GoalOverride,
    shown: str,
    rules: Sequence[str],
    strict: bool,
    form: str,
    output: Path | None,
) -> int:
    """Show what changed from checkpoint BASE to checkpoint NEW.

    Each is a checkpoint directory, a file, DIR@WHICH, or WHICH in the checkpoint directory. WHICH
    is a number, a uuid or the beginning of a uuid, `best` or `latest`.

    \b
    Examples:
      model-analyzer compare old/checkpoints new/checkpoints
      model-analyzer compare old/checkpoints new/checkpoints --format html -o changes.html
      model-analyzer compare 0 1 --fail-on 'perf_throughput<-3%' --fail-on 'perf_latency_p99>20'
    """
    from model_analyzer.features.compare.compare import (
        checkpoint_place,
        comparison,
        parse_metrics,
        parse_rule,
    )

    broken_by = [parse_rule(text) for text in rules]
    tags = parse_metrics(shown)
    first, second = (_opened(*checkpoint_place(name, directory), prefix) for name in (base, new))
    report = comparison((base, first), (new, second), asked, tags, broken_by, strict=strict)
    _show(report, form, output)
    return EXIT_REGRESSION if report.is_regression else EXIT_OK


def _opened(which: str, directory: Path, prefix: str) -> Checkpoint:
    """The checkpoint, with warnings about it."""
    from model_analyzer.state.find import NoSuchCheckpoint

    try:
        checkpoint = open_checkpoint(which, directory, prefix)
    except NoSuchCheckpoint as error:
        raise UnusableCheckpoint(
            f"{which!r} is neither a directory or file nor a checkpoint of {directory}"
            f" (available: {error.present})"
        ) from error
    warn_all(checkpoint.remarks)
    return checkpoint


def _show(report: ComparisonReport, form: str, output: Path | None) -> None:
    from model_analyzer.cli.console import plain_table
    from model_analyzer.features.compare.comparison_report import (
        rendered,
        titled_tables,
        to_lines,
        verdict_lines,
    )
    from model_analyzer.reports.write import encoded

    content = _page(report) if form == _HTML else rendered(report, form)
    lines = [*to_lines(report), ""]
    if content is None and output is None:
        for line in lines:
            echo(line)
        print_tables(titled_tables(report))
        for line in verdict_lines(report):
            echo(line)
        return
    for title, table in titled_tables(report):
        lines += [line.rstrip() for line in plain_table(title, table)]
    text = "\n".join([*lines, *verdict_lines(report), ""])
    put(encoded(content or text), output, "the comparison")
    warn_all(verdict_lines(report, broken=True))


def _page(report: ComparisonReport) -> str:
    """The comparison as a page, with warnings about images that are missing in it."""
    from model_analyzer.features.compare.compare import page_of

    text, remarks = page_of(report)
    warn_all(remarks)
    return text
