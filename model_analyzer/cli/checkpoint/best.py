# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`checkpoint best`: another question to the same measurements."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from model_analyzer.cli.checkpoint.options import (
    checkpoint_argument,
    directory_options,
    path_option,
    wrong,
)
from model_analyzer.errors import EXIT_OK, EXIT_RUN_FAILED, CheckpointError

if TYPE_CHECKING:
    from model_analyzer.domain.goals import Constraint, ModelGoal, Objective
    from model_analyzer.state.checkpoint import Checkpoint

_CONSTRAINT = re.compile(r"\s*([\w/]+)\s*(<=?|>=?)\s*(.*?)\s*", re.DOTALL)


@click.command()
@checkpoint_argument
@directory_options
@click.option("--model", metavar="MODEL", help="Of this model only.")
@click.option(
    "--metric",
    "metrics",
    default="perf_throughput",
    metavar="METRIC[:WEIGHT],...",
    show_default=True,
    help="What is to be good.",
)
@click.option(
    "--constraint",
    "constraints",
    multiple=True,
    metavar="CONDITION",
    help="What has to hold, such as 'perf_latency_p99<20'. Can be repeated.",
)
@click.option(
    "--top-n", type=click.IntRange(1), default=3, metavar="N", show_default=True,
    help="How many variants of each model are shown and written.",
)  # fmt: skip
@path_option(
    "--output-dir",
    metavar="DIR",
    help="Write DIR/MODEL/VARIANT/config.pbtxt with the measurements beside.",
)
def best(
    which: str,
    directory: Path,
    prefix: str,
    model: str | None,
    metrics: str,
    constraints: Sequence[str],
    top_n: int,
    output_dir: Path | None,
) -> int:
    """Find the best variants by other objectives and constraints.

    Nothing is measured for it.

    \b
    Example:
      model-analyzer checkpoint best --constraint 'perf_latency_p99<20' --output-dir deploy
    """
    goal = _goal(metrics, constraints)

    from model_analyzer.cli.checkpoint.output import found, warn
    from model_analyzer.cli.console import View
    from model_analyzer.cli.export import origin_of, write_variants
    from model_analyzer.domain.goals import Goal
    from model_analyzer.reports.build import build_summary
    from model_analyzer.reports.tables import answer_table
    from model_analyzer.reports.write import ExportDirectory
    from model_analyzer.results.ranking import rank
    from model_analyzer.results.selection import top_with_default

    checkpoint = found(which, directory, prefix)
    models = _models(checkpoint)
    if model is not None and model not in models:
        raise CheckpointError(
            f"{checkpoint.path}: nothing was measured of model {model!r}: there is"
            f" {', '.join(models)}"
        )
    view = View(0)
    origin = origin_of(checkpoint.profile, checkpoint.path)
    has_all = True
    paths: list[Path] = []
    target = ExportDirectory(output_dir, "--output-dir") if output_dir is not None else None
    for name, count in models.items() if model is None else ((model, models[model]),):
        ranking = rank(checkpoint.profile, name, Goal(models=(goal,) * count))
        summary = build_summary(ranking, best=top_n, origin=origin, difference="", complete=True)
        view.answer(
            summary.sentence,
            answer_table(top_with_default(ranking, top_n), ranking.goal, gpus=len(origin.devices)),
        )
        for remark in summary.remarks:
            warn(remark)
        has_all = has_all and bool(ranking.results)
        if target is not None:
            paths += write_variants(target, ranking, top_n)
    for path in paths:
        view.print(f"wrote {path}")
    return EXIT_OK if has_all else EXIT_RUN_FAILED


def _models(checkpoint: Checkpoint) -> Mapping[str, int]:
    """The models, or the names of those measured together, with how many they are."""
    return {
        record.trial.models: len(record.trial.workloads) for record in checkpoint.profile.records
    }


def _goal(metrics: str, constraints: Sequence[str]) -> ModelGoal:
    from model_analyzer.domain.goals import ModelGoal

    return ModelGoal(
        objectives=_objectives(metrics),
        constraints=tuple(constraint for text in constraints for constraint in _constraint(text)),
    )


def _objectives(text: str) -> tuple[Objective, ...]:
    """`METRIC,…` or `METRIC:WEIGHT,…`, judged as in YAML. Raises ConfigError."""
    from model_analyzer.config.goals import Objectives
    from model_analyzer.config.nodes import Entry, Node
    from model_analyzer.domain.goals import DEFAULT_WEIGHT

    where = "--metric"
    entries = []
    for item in text.split(","):
        tag, colon, weight = (part.strip() for part in item.partition(":"))
        value = Node(weight if colon else DEFAULT_WEIGHT, where)
        entries.append(Entry(tag, where, value))
    return Objectives().parse(Node(tuple(entries), where, is_mapping=True))


def _constraint(text: str) -> tuple[Constraint, ...]:
    """`METRIC<VALUE` or `METRIC>VALUE`, judged as in YAML. Raises ConfigError."""
    from model_analyzer.config.goals import Constraints
    from model_analyzer.config.nodes import Entry, Node

    where = "--constraint"
    found = _CONSTRAINT.fullmatch(text)
    if found is None:
        raise wrong(where, f"{text!r} is no constraint: write one like perf_latency_p99<20")
    bound = Entry("max" if found[2][0] == "<" else "min", where, Node(found[3], where))
    limits = Node((bound,), where, is_mapping=True)
    return Constraints().parse(Node((Entry(found[1], where, limits),), where, is_mapping=True))
