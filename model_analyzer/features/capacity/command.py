# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer capacity`: how many replicas serve a rate."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from model_analyzer.cli.echo import echo
from model_analyzer.cli.run_options import followed_job, given_run_options, run_options
from model_analyzer.cli.shared_options import (
    check_format,
    checkpoint_argument,
    conditions_option,
    config_file_option,
    directory_options,
    format_option,
    given_result_options,
    goal_options,
    is_given,
    model_option,
    open_checkpoint,
    output_option,
    path_option,
    prices_option,
    print_tables,
    put,
    warn_all,
)
from model_analyzer.errors import EXIT_OK, EXIT_RUN_FAILED, wrong

if TYPE_CHECKING:
    from model_analyzer.config.given_options import GivenOptions
    from model_analyzer.domain.goals import GoalOverride
    from model_analyzer.features.capacity.capacity_text import CapacityReport
    from model_analyzer.features.capacity.question import Question

_FORMATS = ("json", "md", "helm", "hpa", "keda")

F = TypeVar("F", bound=Callable[..., int])


def _question_options(command: F) -> F:
    """`question`: what is asked about the checkpoint."""
    options = (
        model_option(),
        click.option(
            "--variant",
            metavar="NAME",
            help="Variant to deploy.  [default: the one that carries most]",
        ),
        click.option(
            "--rate",
            metavar="NUMBER",
            help="Requests per second that all replicas must serve together.",
        ),
        path_option(
            "--trace",
            metavar="FILE",
            help="CSV file with rates over time (columns time,rate), instead of --rate.",
        ),
        click.option(
            "--batch-size",
            type=click.IntRange(1),
            metavar="N",
            help="Inferences in each request.  [default: as in the recommended measurement]",
        ),
        goal_options("those of the run, otherwise perf_throughput"),
        click.option(
            "--headroom",
            metavar="PERCENT",
            default="20%",
            show_default=True,
            help="Spare capacity: the replicas are planned for the rate and this share of it.",
        ),
        click.option(
            "--replicas-per-node",
            metavar="N",
            help="Number of replicas on each node; the answer then counts nodes, too.",
        ),
        prices_option,
        conditions_option,
    )
    decorated: Any = _with_question(command)
    for option in reversed(options):
        decorated = option(decorated)
    return cast(F, decorated)


def _with_question(command: F) -> Callable[..., int]:
    @wraps(command)
    def with_question(
        *arguments: Any,
        rate: str | None,
        trace: Path | None,
        headroom: str,
        replicas_per_node: str | None,
        model: str | None,
        variant: str | None,
        batch_size: int | None,
        asked: GoalOverride,
        conditions: int | None,
        **others: Any,
    ) -> int:
        from model_analyzer.features.capacity.question import Question, parse_demand, read_trace

        over_time = None if trace is None else read_trace(trace)
        question = Question(
            demand=parse_demand(rate, over_time, headroom, replicas_per_node),
            trace=over_time,
            model=model,
            variant=variant,
            batch_size=batch_size,
            asked=asked,
            conditions=conditions,
        )
        return command(*arguments, question=question, **others)

    return with_question


@click.command("capacity", context_settings={"help_option_names": ["-h", "--help"]})
@checkpoint_argument
@directory_options
@config_file_option
@_question_options
@format_option(
    *_FORMATS,
    help="Output format: the answer, or an autoscaler for Kubernetes that follows from it.",
)
@click.option(
    "--measure",
    is_flag=True,
    help="Take the missing measurements first, as profile would; needs the options of the run: -f,"
    " or flags of profile, for example --model-repository.",
)
@click.option(
    "--budget",
    metavar="DURATION",
    default="5m",
    show_default=True,
    help="Maximum time for the measurements of --measure.",
)
@run_options
@output_option
@click.pass_context
def capacity(
    ctx: click.Context,
    which: str,
    directory: Path,
    prefix: str,
    config_file: Path | None,
    question: Question,
    form: str,
    measure: bool,
    budget: str,
    output: Path | None,
) -> int:
    """Say how many replicas serve a rate, and how sure that is.

    CHECKPOINT is a number, a uuid or a file. Without it, all results of the checkpoint directory
    are used. If the measurements do not carry the answer, or it is not certain, the missing one is
    named, and the exit status is 1.

    \b
    Examples:
      model-analyzer capacity --rate 5000 --constraint 'perf_latency_p99<50'
      model-analyzer capacity --rate 5000 --headroom 30% --replicas-per-node 4 --format json
      model-analyzer capacity -f my.yaml --rate 5000 --measure
      model-analyzer capacity --model-repository models --rate 5000 --measure --budget 10m
      model-analyzer capacity --trace day.csv --constraint 'perf_latency_p99<50'
    """
    from model_analyzer.config.given_options import result_settings
    from model_analyzer.features.capacity.question import capacity as answer
    from model_analyzer.reports.write import check_destination

    check_format(form, output, _FORMATS)
    given = given_result_options(ctx, directory, prefix)
    settings = result_settings(given, config_file, os.environ)
    place = (which, settings.checkpoint_directory, settings.checkpoint_prefix)
    reports = answer(open_checkpoint(*place), question, settings, config_file)
    if measure and any(each.rates for report in reports for each in report.capacity.missing):
        if is_given(ctx, "which"):
            raise wrong("CHECKPOINT", "--measure adds to the newest one: leave it out")
        check_destination(output, "-o")
        run = given_run_options(ctx, given, config_file, reports[0].capacity.model)
        if _measure(reports[0], question, run, budget, ctx) != EXIT_OK:
            return EXIT_RUN_FAILED
        reports = answer(open_checkpoint(*place), question, settings, config_file)
    _show(reports, form, output)
    is_certain = all(report.sizing and report.sizing.is_certain for report in reports)
    return EXIT_OK if is_certain else EXIT_RUN_FAILED


def _measure(
    report: CapacityReport,
    question: Question,
    run: GivenOptions,
    budget: str,
    ctx: click.Context,
) -> int:
    """Takes the missing measurements; the exit status."""
    from model_analyzer.config.kinds import Duration
    from model_analyzer.config.nodes import Node
    from model_analyzer.features.capacity.measure import measure_capacity

    budget_s = Duration().parse(Node(budget, "--budget"))
    job, caller = followed_job(ctx, run)
    return measure_capacity(job, report.capacity, question, budget_s, caller)


def _show(reports: Sequence[CapacityReport], form: str, output: Path | None) -> None:
    from model_analyzer.features.capacity.capacity_text import (
        answer_lines,
        cheapest_text,
        kinds_table,
        remark_lines,
        titled_tables,
    )

    content = rendered(reports, form)
    if content:
        put(content.encode(), output, "the answer")
    elif len(reports) > 1 and content is None:
        print_tables([("Which hardware", kinds_table(reports))])
        echo(cheapest_text(reports))
    for report in reports:
        kind = f"{report.capacity.kind}: " if len(reports) > 1 else ""
        if not content:
            if kind:
                echo(f"\n{kind.rstrip()}", err=content is not None)
            for line in answer_lines(report):
                echo(line, err=content is not None)
            print_tables(titled_tables(report) if content is None else ())
        warn_all(f"{kind}{remark}" for remark in remark_lines(report))


def rendered(reports: Sequence[CapacityReport], form: str) -> str | None:
    """The answers, one for each kind of hardware, as `md`, `json`, or a manifest (`FORMS`) for the
    cheapest kind: "" where the measurements do not carry one. None for another form.
    """
    from model_analyzer.features.capacity.autoscaler import FORMS, autoscaler_manifest
    from model_analyzer.features.capacity.capacity_text import (
        capacity_document,
        cheapest_of,
        to_markdown,
    )

    match form:
        case "md":
            return to_markdown(reports)
        case "json":
            return json.dumps(capacity_document(reports), indent=1) + "\n"
    if form not in FORMS:
        return None
    chosen = reports[0] if len(reports) == 1 else cheapest_of(reports)
    if chosen is None:
        raise wrong(
            "--conditions",
            f"{len(reports)} kinds of hardware were measured: choose one, or give --prices for the"
            " cheapest",
        )
    return autoscaler_manifest(chosen, form) or ""
