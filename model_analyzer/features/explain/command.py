# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer explain`: why a variant is slow."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from model_analyzer.cli.echo import complain, echo
from model_analyzer.cli.run_options import followed_job, given_run_options, run_options
from model_analyzer.cli.shared_options import (
    conditions_option,
    config_file_option,
    directory_options,
    format_option,
    given_result_options,
    goal_options,
    model_option,
    open_checkpoint,
    print_json,
)
from model_analyzer.errors import EXIT_OK, wrong

if TYPE_CHECKING:
    from model_analyzer.config.given_options import GivenOptions
    from model_analyzer.domain.goals import GoalOverride
    from model_analyzer.features.explain.explanation import ExplainQuestion
    from model_analyzer.reports.explain_text import ExplainReport
    from model_analyzer.results.explain.finding import Confirmation

_JSON = "json"


@click.command("explain", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("variant", metavar="[VARIANT]", required=False)
@directory_options
@config_file_option
@model_option(", and no VARIANT is given")
@goal_options("those of the run, otherwise perf_throughput")
@format_option(_JSON, default="text", help="Output format: text, or JSON for programs.")
@conditions_option
@click.option(
    "--confirm",
    is_flag=True,
    help="Test the advice with up to three measurements, and say what it changed; needs the options"
    " of the run: -f, or flags of profile, for example --model-repository.",
)
@run_options
@click.pass_context
def explain(
    ctx: click.Context,
    variant: str | None,
    directory: Path,
    prefix: str,
    config_file: Path | None,
    model: str | None,
    asked: GoalOverride,
    form: str,
    conditions: int | None,
    confirm: bool,
) -> int:
    """Say why requests are slow, and what limits the throughput.

    VARIANT is the name of a variant. Without it, the best one is explained, under the load at which
    it is best. Causes are ranked; each names its evidence in the measurements, and what to do.

    \b
    Examples:
      model-analyzer explain
      model-analyzer explain -m sim_gpu --latency-budget 50
      model-analyzer explain -f start/config.yaml --confirm
      model-analyzer explain sim_gpu_config_default -s start/checkpoints --format json
    """
    from model_analyzer.config.given_options import result_settings
    from model_analyzer.features.explain.explanation import ExplainQuestion, explain_checkpoint
    from model_analyzer.reports.explain_text import explain_document, explain_lines

    given = given_result_options(ctx, directory, prefix)
    settings = result_settings(given, config_file, os.environ)
    question = ExplainQuestion(model=model, variant=variant, asked=asked, conditions=conditions)
    place = ("latest", settings.checkpoint_directory, settings.checkpoint_prefix)
    reports = explain_checkpoint(open_checkpoint(*place), question, settings, config_file)
    if confirm:
        run = given_run_options(ctx, given, config_file, reports[0].model)
        status, confirmations = _confirm(reports, question, run, ctx)
        if status != EXIT_OK:
            return status
        # new measurements may tell more
        explained = replace(question, model=reports[0].model, variant=reports[0].variant)
        (report,) = explain_checkpoint(open_checkpoint(*place), explained, settings, config_file)
        reports = [replace(report, confirmations=tuple(confirmations))]
    if form == _JSON:
        print_json(explain_document(reports))
        return EXIT_OK
    for number, report in enumerate(reports):
        if number:
            echo()
        for line in explain_lines(report):
            echo(line)
    return EXIT_OK


def _confirm(
    reports: Sequence[ExplainReport],
    question: ExplainQuestion,
    run: GivenOptions,
    ctx: click.Context,
) -> tuple[int, Sequence[Confirmation]]:
    """Tests the advice of the only report; the exit status, and what it changed."""
    from model_analyzer.features.explain.explanation import compared, confirm_advice

    if len(reports) > 1:
        raise wrong(
            "--confirm",
            f"{len(reports)} kinds of hardware were measured: choose that of this machine with"
            " --conditions",
        )
    if not compared(reports[0].explanation):
        complain("--confirm: nothing to test: no advice is another configuration")
        return EXIT_OK, ()
    job, caller = followed_job(ctx, run)
    return confirm_advice(job, reports[0], question.conditions, caller)
