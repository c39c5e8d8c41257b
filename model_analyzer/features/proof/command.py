# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What commands do about proofs: `best --verify`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from model_analyzer.app.bench.job import Job
from model_analyzer.cli.progress.at_terminal import caller_at_terminal
from model_analyzer.cli.run_options import given_run_options
from model_analyzer.domain.proofs import ProofKind, Verdict
from model_analyzer.errors import wrong
from model_analyzer.features.proof.verification import prove_known
from model_analyzer.results.answer import Answer


def verify(
    ctx: click.Context,
    answers: Sequence[Answer],
    given: Mapping[str, str],
    config_file: Path | None,
) -> None:
    """Measures the only answer where it is deployed; the proof is in the checkpoint then. Raises
    ConfigError for several answers.
    """
    if len(answers) > 1:
        raise wrong("--verify", "there are several recommendations: choose one with --model")
    ranking = answers[0].ranking
    run = given_run_options(ctx, given, config_file, ranking.model)
    job = Job.of(run.profile(), os.environ, (ctx.obj or {}).get("timings"))
    caller = caller_at_terminal(job.settings, 0, on_stderr=True)
    prove_known(job, ranking, "--verify", caller)


def is_verified(answer: Answer) -> bool:
    """Whether the checkpoint has the proof that it performs as promised where it is deployed."""
    proofs = [proof for proof in answer.proofs if proof.kind is ProofKind.DEPLOYED]
    return any(proof.verdict is Verdict.PASSED for proof in proofs)
