# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`compare`: what changed between two checkpoints, and whether that is allowed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from model_analyzer.cli.complete import complete_metrics
from model_analyzer.cli.echo import echo
from model_analyzer.cli.options import directory_options, goal_options, metric, output_option
from model_analyzer.errors import EXIT_OK, EXIT_REGRESSION, CheckpointError, wrong

if TYPE_CHECKING:
    from model_analyzer.domain.goals import GoalOverride
    from model_analyzer.reports.comparison_report import ComparisonReport
    from model_analyzer.results.gate import Rule
    from model_analyzer.state.checkpoint import Checkpoint

_TABLE = "table"


def compare() -> click.Command:
    return _compare


@click.command("compare", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("base")
@click.argument("new")
@directory_options
@goal_options("perf_throughput")
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
@click.option(
    "--format",
    "form",
    type=click.Choice([_TABLE, "md", "markdown", "json", "junit"]),
    default=_TABLE,
    show_default=True,
    help="Output format.",
)
@output_option
def _compare(
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
      model-analyzer compare 0 1 --fail-on 'perf_throughput<-3%' --fail-on 'perf_latency_p99>20'
    """
    judged = [_rule(text) for text in rules]
    tags = [metric(tag.strip(), "--metrics") for tag in shown.split(",")]
    tags += [rule.tag for rule in judged]

    from model_analyzer.app.compare import comparison
    from model_analyzer.cli.output import put, warn
    from model_analyzer.domain.goals import ModelGoal
    from model_analyzer.reports.comparison_report import verdict_lines
    from model_analyzer.reports.write import encoded

    report = comparison(
        (base, _found(base, directory, prefix)), (new, _found(new, directory, prefix)),
        asked.over(ModelGoal()), tags, judged, strict=strict,
    )  # fmt: skip
    content = _rendered(report, form)
    if content is None and output is None:
        _print(report)
    else:
        put(encoded(content or _text(report)), output, "the comparison")
        for line in verdict_lines(report, broken=True):
            warn(line)
    return EXIT_REGRESSION if report.is_regression else EXIT_OK


def _rule(text: str) -> Rule:
    """Raises ConfigError where it is none."""
    from dataclasses import replace

    from model_analyzer.results.gate import Rule

    try:
        rule = Rule.parse(text)
    except ValueError as error:
        raise wrong("--fail-on", str(error)) from error
    return replace(rule, tag=metric(rule.tag, "--fail-on"))


def _found(which: str, directory: Path, prefix: str) -> Checkpoint:
    """What the user means by BASE or NEW; what is odd about it is told."""
    from model_analyzer.cli.output import open_checkpoint, warn
    from model_analyzer.state.find import LATEST, NoSuchCheckpoint

    path, at, rest = which.rpartition("@")
    if os.path.isdir(whole := os.path.expanduser(which)):
        directory, which = Path(whole), LATEST
    elif at and os.path.isdir(place := os.path.expanduser(path)):
        directory, which = Path(place), rest
    try:
        checkpoint = open_checkpoint(which, directory, prefix)
    except NoSuchCheckpoint as error:
        raise CheckpointError(
            f"{which!r} is neither a directory or file nor a checkpoint of {directory}"
            f" (available: {error.present})"
        ) from error
    for sentence in checkpoint.remarks:
        warn(sentence)
    return checkpoint


def _rendered(report: ComparisonReport, form: str) -> str | None:
    """None for the tables, which are printed as fits."""
    from model_analyzer.reports.comparison_report import to_json, to_junit, to_markdown

    match form:
        case "md" | "markdown":
            return to_markdown(report)
        case "json":
            return to_json(report)
        case "junit":
            return to_junit(report)
        case _:
            return None


def _print(report: ComparisonReport) -> None:
    from model_analyzer.cli.output import print_table
    from model_analyzer.reports.comparison_report import titled_tables, to_lines, verdict_lines

    for line in to_lines(report):
        echo(line)
    echo()
    for title, table in titled_tables(report):
        print_table(title, table)
    for line in verdict_lines(report):
        echo(line)


def _text(report: ComparisonReport) -> str:
    """The tables for a file."""
    from model_analyzer.cli.console import plain_table
    from model_analyzer.reports.comparison_report import titled_tables, to_lines, verdict_lines

    lines = [*to_lines(report), ""]
    for title, table in titled_tables(report):
        lines += [line.rstrip() for line in plain_table(title, table)]
    return "\n".join([*lines, *verdict_lines(report), ""])
