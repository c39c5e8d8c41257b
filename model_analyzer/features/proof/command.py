# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer endure`; and what `best --verify` does about proofs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from model_analyzer.cli.echo import echo
from model_analyzer.cli.run_options import followed_job, given_run_options, run_options
from model_analyzer.cli.shared_options import (
    config_file_option,
    directory_options,
    given_result_options,
    model_option,
    open_checkpoint,
)
from model_analyzer.domain.goals import GoalOverride
from model_analyzer.domain.profiles import ProofKind, Verdict
from model_analyzer.errors import EXIT_OK, EXIT_RUN_FAILED, wrong

if TYPE_CHECKING:
    from model_analyzer.results.answer import Answer


@click.command("endure", context_settings={"help_option_names": ["-h", "--help"]})
@directory_options
@config_file_option
@model_option()
@click.option(
    "--endurance",
    metavar="DURATION",
    default="15m",
    show_default=True,
    help="Time under load. What an interrupted run has measured of it counts.",
)
@run_options
@click.pass_context
def endure(
    ctx: click.Context,
    directory: Path,
    prefix: str,
    config_file: Path | None,
    model: str | None,
    endurance: str,
) -> int:
    """Keep the recommended configuration under its load, and say whether it holds.

    Throughput, memory and stalls are watched. If something gets worse, the model is reloaded once,
    to see whether that restores it. Needs the options of the run: -f, or flags of profile, for
    example --model-repository.

    \b
    Examples:
      model-analyzer endure -f start/config.yaml
      model-analyzer endure -f start/config.yaml -m sim_gpu --endurance 1h
    """
    from model_analyzer.app.recommend import recommend
    from model_analyzer.config.given_options import result_settings
    from model_analyzer.reports.remarks import proven_texts

    given = given_result_options(ctx, directory, prefix)
    settings = result_settings(given, config_file, os.environ)

    def answers() -> Sequence[Answer]:
        return recommend(
            open_checkpoint("latest", settings.checkpoint_directory, settings.checkpoint_prefix),
            GoalOverride(),
            model=model,
            settings=settings,
            config_file=config_file,
        ).answers

    asked = {**given, "--endurance": endurance}
    status = prove(ctx, answers(), asked, config_file, "--endurance")
    if status != EXIT_OK:
        return status
    (answer,) = answers()
    for text in proven_texts(answer):
        echo(text)
    found = {each.verdict for each in answer.proofs if each.kind is ProofKind.ENDURANCE}
    return EXIT_RUN_FAILED if Verdict.FAILED in found else EXIT_OK


def is_verified(answer: Answer) -> bool:
    """Whether the checkpoint has the proof that it performs as promised where it is deployed."""
    proofs = [proof for proof in answer.proofs if proof.kind is ProofKind.DEPLOYED]
    return any(proof.verdict is Verdict.PASSED for proof in proofs)


def prove(
    ctx: click.Context,
    answers: Sequence[Answer],
    given: Mapping[str, str],
    config_file: Path | None,
    option: str,
) -> int:
    """Proves what the option asks for about the only answer, and nothing else that a file asks for;
    the exit status. The proof is in the checkpoint then. Raises ConfigError for several answers.
    """
    from model_analyzer.domain.settings import ProofSettings
    from model_analyzer.features.proof.verification import prove_known

    if len(answers) > 1:
        raise wrong(option, "there are several recommendations: choose one with --model")
    ranking, key = answers[0].ranking, option.lstrip("-")
    run = given_run_options(ctx, given, config_file, ranking.model)
    job, caller = followed_job(ctx, run)
    asked = ProofSettings(**{key: getattr(job.settings.proofs, key)})
    job = replace(job, settings=replace(job.settings, proofs=asked))
    return prove_known(job, ranking, option, caller)
