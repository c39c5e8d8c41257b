# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer best`: what was recommended, in the form in which it is deployed."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from model_analyzer.cli.echo import complain, echo, echo_data
from model_analyzer.cli.run_options import run_options
from model_analyzer.cli.shared_options import (
    allow_miss_option,
    checkpoint_argument,
    conditions_option,
    config_file_option,
    directory_options,
    format_option,
    given_result_options,
    goal_options,
    is_given,
    is_shown,
    model_option,
    open_checkpoint,
    path_option,
    prices_option,
    remarks_option,
    shows_remarks,
    warn_all,
)
from model_analyzer.domain.words import counted
from model_analyzer.errors import EXIT_OK, EXIT_RUN_FAILED, wrong

if TYPE_CHECKING:
    from model_analyzer.app.recommend import Recommendations
    from model_analyzer.domain.goals import GoalOverride

_DIFF, _KUBERNETES, _JSON = "diff", "kubernetes", "json"

# What production is watched with.
_MONITORING = ("prometheus-rules", "grafana")

# The features behind --verify and these formats, which are imported when they are used.
_PROOF = "model_analyzer.features.proof.command"
_WATCHED = "model_analyzer.features.monitoring.command"

_VARIANT, _VERIFY = f"{__name__}.variant", f"{__name__}.verify"


def _keep(ctx: click.Context, parameter: click.Parameter, value: str | None) -> None:
    ctx.meta[f"{__name__}.{parameter.name}"] = value


@click.command("best", context_settings={"help_option_names": ["-h", "--help"]})
@checkpoint_argument
@directory_options
@config_file_option
@model_option()
@click.option(
    "--variant",
    metavar="NAME",
    callback=_keep,
    expose_value=False,
    help="Configuration to use instead of the recommended one. It has to meet the constraints.",
)
@goal_options("those of the run, otherwise perf_throughput")
@format_option(
    _DIFF, _KUBERNETES, *_MONITORING, _JSON, default="pbtxt",
    help="Output format: config.pbtxt, its changes, a Kubernetes manifest, alert rules or a"
    " dashboard with the measured values, or all results.",
)  # fmt: skip
@click.option("--diff", is_flag=True, help="The same as --format diff.")
@click.option(
    "--throughput",
    metavar="NUMBER",
    help="Inferences per second that all replicas of the manifest must serve together.",
)
@prices_option
@conditions_option
@allow_miss_option
@remarks_option
@click.option(
    "--verify",
    is_flag=False,
    flag_value="true",
    metavar="[URL]",
    callback=_keep,
    expose_value=False,
    help="Measure the recommendation first where it is deployed: on a plain server with these"
    " files, or on the server with this URL; needs the options of the run: -f, or flags of profile,"
    " for example --model-repository.",
)
@run_options
@path_option(
    "--output-dir",
    metavar="DIR",
    help="Write config.pbtxt, config.diff and kubernetes.yaml below DIR/MODEL instead.",
)
@click.pass_context
def best(
    ctx: click.Context,
    which: str,
    directory: Path,
    prefix: str,
    config_file: Path | None,
    model: str | None,
    asked: GoalOverride,
    form: str,
    diff: bool,
    throughput: str | None,
    conditions: int | None,
    allow_miss: bool,
    output_dir: Path | None,
) -> int:
    """Print the recommended configuration for deployment.

    CHECKPOINT is a number, a uuid or a file. Without it, all results of the checkpoint directory
    are used. Nothing is measured, unless you --verify. The recommendation is explained on standard
    error.

    \b
    Examples:
      model-analyzer best -f start/config.yaml > config.pbtxt
      model-analyzer best -m sim_gpu --constraint 'perf_latency_p99<20' --diff
      model-analyzer best --format kubernetes --throughput 5000 | kubectl apply -f -
      model-analyzer best -m sim_gpu --format prometheus-rules > sim_gpu.rules.yaml
      model-analyzer best -f start/config.yaml --verify
    """
    form = _form(ctx, form, diff=diff)

    from model_analyzer.app.delivery.files import told_apart
    from model_analyzer.app.recommend import parse_throughput, recommend
    from model_analyzer.config.given_options import result_settings

    has_files = output_dir is not None
    needed = parse_throughput(throughput, has_manifest=has_files or form == _KUBERNETES)
    given = given_result_options(ctx, directory, prefix)
    settings = result_settings(given, config_file, os.environ)

    def answered() -> Recommendations:
        return recommend(
            open_checkpoint(which, settings.checkpoint_directory, settings.checkpoint_prefix),
            asked,
            model=model,
            several=has_files or form == _JSON,
            settings=settings,
            config_file=config_file,
            conditions=conditions,
            variant=ctx.meta[_VARIANT],
        )

    recommendations, verify = answered(), ctx.meta[_VERIFY]
    if verify is not None:
        if is_given(ctx, "which") or ctx.meta[_VARIANT] is not None:
            raise wrong("--verify", "is about the recommendation of the newest checkpoint only")
        options = {**given, "--verify": verify}
        proof = import_module(_PROOF)
        proof.prove(ctx, recommendations.answers, options, config_file, "--verify")
        recommendations = answered()
    _explain(recommendations, verbose=shows_remarks(ctx))
    every = recommendations.answers
    answers = [answer for answer in every if is_shown(answer, allow_miss=allow_miss)]
    if output_dir is not None:
        for path in recommendations.write(output_dir, answers, needed):
            echo(f"wrote {path}")
        warn_all(text for _, apart in told_apart(answers) for text in apart.values())
    elif form == _JSON:
        echo(recommendations.document, nl=False)
    elif answers and form in _MONITORING:
        echo_data(import_module(_WATCHED).document(form, answers[0], recommendations.origin))
    elif answers:
        _print(*recommendations.deployable(answers[0], form, model, needed))
    is_kept = verify is None or import_module(_PROOF).is_verified(every[0])
    return EXIT_OK if len(answers) == len(every) and is_kept else EXIT_RUN_FAILED


def _explain(recommendations: Recommendations, *, verbose: bool) -> None:
    """Says on standard error what is recommended and why."""
    warn_all(recommendations.remarks)
    for statement in recommendations.statements:
        for text in (statement.sentence, *statement.lines):
            echo(text, err=True)
        if verbose:
            warn_all(statement.folded)
        elif statement.folded:
            echo(f"{counted(len(statement.folded), 'remark')}: shown with -v", err=True)


def _print(text: str, remark: str) -> None:
    if remark:
        complain(remark)
    echo_data(text)


def _form(ctx: click.Context, form: str, *, diff: bool) -> str:
    if not diff:
        return form
    if is_given(ctx, "form") and form != _DIFF:
        raise wrong("--diff", f"means --format diff, but --format {form} is given: choose one")
    return _DIFF
