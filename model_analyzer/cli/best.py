# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer best`: what was recommended, in the form in which it is deployed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from model_analyzer.cli.circumstances import circumstances_option
from model_analyzer.cli.complete import complete_model
from model_analyzer.cli.echo import echo, echo_data
from model_analyzer.cli.miss import allow_miss_option, is_shown
from model_analyzer.cli.options import (
    checkpoint_argument,
    directory_options,
    goal_options,
    path_option,
)
from model_analyzer.errors import EXIT_OK, EXIT_RUN_FAILED, wrong

if TYPE_CHECKING:
    from model_analyzer.app.recommend import Recommendations
    from model_analyzer.domain.goals import GoalOverride
    from model_analyzer.domain.settings import ReportSettings
    from model_analyzer.results.answer import Answer

_PBTXT, _DIFF, _KUBERNETES, _JSON = "pbtxt", "diff", "kubernetes", "json"


def best() -> click.Command:
    return _best


@click.command("best", context_settings={"help_option_names": ["-h", "--help"]})
@checkpoint_argument
@directory_options
@path_option(
    "-f",
    "--config-file",
    "config_file",
    metavar="FILE",
    help="YAML file of the run, for its goals and checkpoint directory.",
)
@click.option(
    "-m",
    "--model",
    metavar="MODEL",
    shell_complete=complete_model,
    help="Model to use. Needed if the checkpoint has several.",
)
@goal_options("those of the run, otherwise perf_throughput")
@click.option(
    "--format",
    "form",
    type=click.Choice([_PBTXT, _DIFF, _KUBERNETES, _JSON]),
    default=_PBTXT,
    show_default=True,
    help="Output format: config.pbtxt, its changes, a Kubernetes manifest, or all results.",
)
@click.option("--diff", is_flag=True, help="The same as --format diff.")
@click.option(
    "--throughput",
    metavar="NUMBER",
    help="Inferences per second that all replicas of the manifest must serve together.",
)
@circumstances_option
@allow_miss_option
@path_option(
    "--output-dir",
    metavar="DIR",
    help="Write config.pbtxt, config.diff and kubernetes.yaml below DIR/MODEL instead.",
)
@click.pass_context
def _best(
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
    circumstances: int | None,
    allow_miss: bool,
    output_dir: Path | None,
) -> int:
    """Print the recommended configuration for deployment.

    CHECKPOINT is a number, a uuid or a file. Without it, all results of the checkpoint directory
    are used. Nothing is measured. The recommendation is explained on standard error.

    \b
    Examples:
      model-analyzer best -f start/config.yaml > config.pbtxt
      model-analyzer best -m sim_gpu --constraint 'perf_latency_p99<20' --diff
      model-analyzer best --format kubernetes --throughput 5000 | kubectl apply -f -
    """
    form = _form(ctx, form, diff=diff)
    wanted = _number(throughput)
    if wanted is not None and form != _KUBERNETES and output_dir is None:
        raise wrong(
            "--throughput", "only a Kubernetes manifest has replicas: add --format kubernetes"
        )

    from model_analyzer.app.delivery.files import results_text
    from model_analyzer.app.recommend import recommend, write
    from model_analyzer.app.selection.circumstances import run_of
    from model_analyzer.app.selection.goals import goals_of
    from model_analyzer.app.selection.subjects import chosen_subjects
    from model_analyzer.cli.output import open_checkpoint, warn
    from model_analyzer.reports.write import ExportDirectory

    settings = _settings(ctx, config_file, directory, prefix)
    checkpoint = open_checkpoint(which, settings.checkpoint_directory, settings.checkpoint_prefix)
    is_for_several = form == _JSON or output_dir is not None
    names = chosen_subjects(checkpoint, model, several=is_for_several)
    goals, remarks = goals_of(checkpoint, names, asked, settings)
    for remark in remarks:
        warn(remark)
    run = run_of(config_file)
    recommendations = recommend(checkpoint, goals, circumstances=circumstances, run=run)
    _show(recommendations)
    every = recommendations.answers
    answers = [answer for answer in every if is_shown(answer, allow_miss=allow_miss)]
    if output_dir is not None:
        target = ExportDirectory(output_dir, "--output-dir")
        for answer in answers:
            for path in write(target, answer, recommendations, wanted):
                echo(f"wrote {path}")
    elif form == _JSON:
        echo(results_text(every, recommendations.origin, complete=None), nl=False)
    elif answers:
        echo_data(_deployable(answers[0], recommendations, form, model=model, throughput=wanted))
    return EXIT_OK if len(answers) == len(every) else EXIT_RUN_FAILED


def _deployable(
    answer: Answer,
    recommendations: Recommendations,
    form: str,
    *,
    model: str | None,
    throughput: float | None,
) -> str:
    """The recommendation in the format that was asked for."""
    from model_analyzer.app.recommend import configuration, difference, manifest_of
    from model_analyzer.cli.output import warn

    if form == _KUBERNETES:
        return manifest_of(answer, recommendations.origin, throughput)
    if form == _DIFF:
        text = difference(answer, recommendations.originals)
        if not text:
            warn(
                "the configuration in the model repository is the recommended one: nothing to"
                " change"
            )
        return text
    text, calls = configuration(answer, model)
    if calls:
        name = answer.ranking.model if model is None else model
        warn(f"{name} calls {', '.join(calls)}: use --model for one of them, --output-dir for all")
    return text


def _given(ctx: click.Context, name: str) -> bool:
    """Whether somebody said so, rather than nobody."""
    return ctx.get_parameter_source(name) is not ParameterSource.DEFAULT


def _form(ctx: click.Context, form: str, *, diff: bool) -> str:
    if not diff:
        return form
    if _given(ctx, "form") and form != _DIFF:
        raise wrong("--diff", f"means --format diff, but --format {form} is given: choose one")
    return _DIFF


def _number(text: str | None) -> float | None:
    """Raises ConfigError where it is no number above 0."""
    from model_analyzer.config.kinds import Number
    from model_analyzer.config.nodes import Node

    return None if text is None else Number(0, above=True).parse(Node(text, "--throughput"))


def _settings(
    ctx: click.Context, config_file: Path | None, directory: Path, prefix: str
) -> ReportSettings:
    """The command line, then variables, the YAML file, and defaults. Raises ConfigError."""
    from model_analyzer.config.environment import read_environment
    from model_analyzer.config.nodes import Entry, Node
    from model_analyzer.config.resolve import resolve_report
    from model_analyzer.config.sources import read_yaml
    from model_analyzer.config.table import BEST

    values = {
        "directory": ("checkpoint_directory", "--checkpoint-directory", str(directory)),
        "prefix": ("checkpoint_prefix", "--checkpoint-prefix", prefix),
    }
    entries = [
        Entry(key, flag, Node(value, flag))
        for name, (key, flag, value) in values.items()
        if _given(ctx, name)
    ]
    yaml = None if config_file is None else read_yaml(config_file)
    variables = read_environment(os.environ)
    resolved = resolve_report(entries, yaml, Path.cwd(), command=BEST, environment=variables)
    return resolved.settings


def _show(recommendations: Recommendations) -> None:
    """What is recommended and why, where it does not get in the way."""
    from model_analyzer.cli.output import warn
    from model_analyzer.reports.headline import headline
    from model_analyzer.reports.remarks import certainty_text, remarks_of

    gpus = len(recommendations.origin.devices)
    for answer in recommendations.answers:
        echo("".join(headline(answer, gpus=gpus)), err=True)
        for remark in filter(None, (certainty_text(answer), *remarks_of(answer))):
            warn(remark)
