# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer best`: what was recommended, in the form in which it is deployed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from model_analyzer.cli.checkpoint.goal import goal_options, goals_of, subject_of, subjects_of
from model_analyzer.cli.checkpoint.options import (
    checkpoint_argument,
    directory_options,
    path_option,
    wrong,
)
from model_analyzer.cli.circumstances import circumstances_option
from model_analyzer.cli.complete import complete_model
from model_analyzer.cli.echo import echo, echo_data
from model_analyzer.cli.miss import allow_miss_option, is_shown
from model_analyzer.errors import EXIT_OK, EXIT_RUN_FAILED, CheckpointError

if TYPE_CHECKING:
    from model_analyzer.domain.goals import GoalOverride
    from model_analyzer.domain.models import ModelConfig
    from model_analyzer.domain.settings import ReportSettings
    from model_analyzer.reports.build import Origin
    from model_analyzer.reports.write import ExportDirectory
    from model_analyzer.results.answer import Answer
    from model_analyzer.results.ranking import Ranking
    from model_analyzer.state.checkpoint import Checkpoint

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
    help="YAML file of the run: its goals and its checkpoint directory are used.",
)
@click.option(
    "-m",
    "--model",
    metavar="MODEL",
    shell_complete=complete_model,
    help="Of this model; needed if there are several.",
)
@goal_options("those of the run, else perf_throughput")
@click.option(
    "--format",
    "form",
    type=click.Choice([_PBTXT, _DIFF, _KUBERNETES, _JSON]),
    default=_PBTXT,
    show_default=True,
    help="What is printed: config.pbtxt, what it changes, a manifest, or all results.",
)
@click.option("--diff", is_flag=True, help="The same as --format diff.")
@click.option(
    "--throughput",
    metavar="NUMBER",
    help="Inferences per second that all replicas of the manifest are to serve.",
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
    """Print the recommended configuration, to be deployed.

    It comes from a checkpoint: a number, a uuid, a file, or by default all that the directory
    knows. Nothing is measured. The recommendation itself is told on standard error.

    \b
    Examples:
      model-analyzer best -f start/config.yaml > config.pbtxt
      model-analyzer best -m sim_gpu --constraint 'perf_latency_p99<20' --diff
      model-analyzer best --format kubernetes --throughput 5000 | kubectl apply -f -
    """
    form = _form(ctx, form, diff=diff)
    wanted = _number(throughput)
    if wanted is not None and form != _KUBERNETES and output_dir is None:
        raise wrong("--throughput", "only a manifest has replicas: give --format kubernetes")

    from model_analyzer.cli.checkpoint.output import found
    from model_analyzer.cli.circumstances import ranked, run_of
    from model_analyzer.cli.export import origin_of, originals_of, results_text
    from model_analyzer.reports.write import ExportDirectory
    from model_analyzer.results.answer import answer_of

    settings = _settings(ctx, config_file, directory, prefix)
    checkpoint = found(which, settings.checkpoint_directory, settings.checkpoint_prefix)
    profile = checkpoint.profile
    names = _chosen(checkpoint, model, several=form == _JSON or output_dir is not None)
    goals = goals_of(checkpoint, names, asked, settings)
    run = run_of(config_file)
    answers = [answer_of(ranked(profile, name, goals[name], circumstances, run)) for name in names]
    origin = origin_of(profile, checkpoint.path)
    _show(answers, origin)
    shown = [answer for answer in answers if is_shown(answer, allow_miss=allow_miss)]
    if output_dir is not None:
        target = ExportDirectory(output_dir, "--output-dir")
        for answer in shown:
            _write(target, answer, origin, originals_of(profile), wanted)
    elif form == _JSON:
        echo(results_text(answers, origin, complete=None), nl=False)
    elif shown:
        (answer,) = shown
        match form:
            case "diff":
                echo_data(_difference(answer, originals_of(profile)))
            case "kubernetes":
                echo_data(_manifest(answer, origin, wanted))
            case _:
                echo_data(_configuration(answer, model))
    return EXIT_OK if len(shown) == len(answers) else EXIT_RUN_FAILED


def _given(ctx: click.Context, name: str) -> bool:
    """Whether somebody said so, rather than nobody."""
    return ctx.get_parameter_source(name) is not ParameterSource.DEFAULT


def _form(ctx: click.Context, form: str, *, diff: bool) -> str:
    if not diff:
        return form
    if _given(ctx, "form") and form != _DIFF:
        raise wrong("--diff", f"means --format diff, and --format {form} is given: choose one")
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


def _chosen(checkpoint: Checkpoint, model: str | None, *, several: bool) -> Sequence[str]:
    """The subjects that are meant: the one of the model, or all, where there may be `several`."""
    names = list(subjects_of(checkpoint))
    if model is not None:
        return [subject_of(checkpoint, model)]
    if not names:
        raise CheckpointError(f"{checkpoint.path}: nothing was measured")
    if len(names) > 1 and not several:
        raise wrong("--model", f"there are several, name one of them: {', '.join(names)}")
    return names


def _show(answers: Sequence[Answer], origin: Origin) -> None:
    """What is recommended and why, where it does not get in the way."""
    from model_analyzer.cli.checkpoint.output import warn
    from model_analyzer.reports.headline import headline
    from model_analyzer.reports.remarks import certainty_text, remarks_of

    for answer in answers:
        echo("".join(headline(answer, gpus=len(origin.devices))), err=True)
        for remark in filter(None, (certainty_text(answer), *remarks_of(answer))):
            warn(remark)


def _configuration(answer: Answer, model: str | None) -> str:
    """The config.pbtxt of the model, or of the only one that was measured."""
    from model_analyzer.cli.checkpoint.output import warn
    from model_analyzer.cli.export import configurations_of, head_of

    texts = configurations_of(answer.ranking.results[0])
    chosen = answer.ranking.model if model is None else model
    if chosen not in texts:
        raise wrong("--model", f"each has a config.pbtxt: name one of {', '.join(texts)}")
    calls = [
        part.model
        for variant in answer.ranking.results[0].variants
        if variant.model == chosen
        for part in variant.with_parts()
        if part is not variant
    ]
    if calls:
        warn(f"{chosen} calls {', '.join(calls)}: see --model for theirs, --output-dir for all")
    return head_of(answer) + texts[chosen]


def _difference(answer: Answer, originals: Mapping[str, ModelConfig]) -> str:
    from model_analyzer.cli.checkpoint.output import warn
    from model_analyzer.cli.export import configuration_difference, head_of

    unknown = _without_original(answer.ranking, originals)
    if unknown:
        raise CheckpointError(
            f"{', '.join(unknown)}: the configuration in the model repository was not measured, so"
            " there is nothing to compare with: see --format pbtxt"
        )
    text = configuration_difference(answer.ranking, originals)
    if not text:
        warn("it is the configuration in the model repository: there is nothing to change")
        return ""
    return f"{head_of(answer)}{text}\n"


def _without_original(ranking: Ranking, originals: Mapping[str, ModelConfig]) -> Sequence[str]:
    """The models whose own configuration nobody knows."""
    from model_analyzer.cli.export import parts_of

    parts = parts_of(ranking.results[0])
    return [part.model for part in parts if part.model not in originals]


def _manifest(answer: Answer, origin: Origin, throughput: float | None) -> str:
    from model_analyzer.cli.export import configurations_of
    from model_analyzer.reports.kubernetes import manifest

    texts = configurations_of(answer.ranking.results[0])
    return manifest(answer, origin, texts, throughput=throughput)


def _write(
    directory: ExportDirectory,
    answer: Answer,
    origin: Origin,
    originals: Mapping[str, ModelConfig],
    throughput: float | None,
) -> None:
    """What is printed otherwise, as files below the directory."""
    from model_analyzer.cli.export import configuration_difference, write_best

    ranking = answer.ranking
    is_known = not _without_original(ranking, originals)
    difference = configuration_difference(ranking, originals) if is_known else None
    paths = list(write_best(directory, answer, difference))
    text = _manifest(answer, origin, throughput)
    paths.append(directory.write(text, ranking.model, "kubernetes.yaml"))
    for path in paths:
        echo(f"wrote {path}")
