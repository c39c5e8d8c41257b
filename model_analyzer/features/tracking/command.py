# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer track`: sends a checkpoint to an experiment tracker."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from model_analyzer.cli.echo import echo
from model_analyzer.cli.shared_options import (
    checkpoint_argument,
    directory_options,
    open_checkpoint,
)
from model_analyzer.domain.words import counted
from model_analyzer.errors import EXIT_OK, wrong

if TYPE_CHECKING:
    from model_analyzer.features.tracking.trackers import RunStore


@click.command("track", context_settings={"help_option_names": ["-h", "--help"]})
@checkpoint_argument
@directory_options
@click.option("-m", "--model", metavar="MODEL", help="Only this model.")
@click.option("--mlflow", metavar="URI", help="MLflow server, for example http://localhost:5000.")
@click.option(
    "--experiment",
    metavar="NAME",
    default="model-analyzer",
    show_default=True,
    help="Experiment of MLflow.",
)
@click.option("--wandb", metavar="[ENTITY/]PROJECT", help="Project of Weights & Biases.")
def track(
    which: str,
    directory: Path,
    prefix: str,
    model: str | None,
    mlflow: str | None,
    experiment: str,
    wandb: str | None,
) -> int:
    """Send measurements and recommendations to MLflow or Weights & Biases.

    Each configuration under each load is a run, with what was varied as parameters and what was
    measured as metrics. The recommended one has the tags "recommended" and "answer", and its
    config.pbtxt. Sending again changes runs, and makes no second ones.

    \b
    Examples:
      model-analyzer track --mlflow http://localhost:5000
      model-analyzer track --wandb team/triton -s start/checkpoints
    """
    from model_analyzer.app.checkpoints.show import best_variants
    from model_analyzer.domain.goals import GoalOverride
    from model_analyzer.features.tracking.trackers import Mlflow, WeightsAndBiases, tracked_runs

    if not mlflow and not wandb:
        raise wrong("track", "name a tracker: --mlflow URI or --wandb PROJECT")
    checkpoint = open_checkpoint(which, directory, prefix)
    answers = best_variants(checkpoint, GoalOverride(), count=1, model=model).answers
    trackers: dict[str, RunStore] = {}
    if mlflow:
        trackers["MLflow"] = Mlflow(mlflow, experiment)
    if wandb:
        trackers["Weights & Biases"] = WeightsAndBiases(wandb, directory)
    runs = [*tracked_runs(checkpoint, answers)]
    for name, tracker in trackers.items():
        tracker.send(runs)
        echo(f"{name} has {counted(len(runs), 'run')}")
    return EXIT_OK
