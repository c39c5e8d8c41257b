# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""By what measurements are judged, where it is asked for on the command line."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from model_analyzer.cli.checkpoint.options import wrong
from model_analyzer.cli.complete import complete_metrics

if TYPE_CHECKING:
    from model_analyzer.domain.goals import Constraint, ModelGoal, Objective
    from model_analyzer.state.checkpoint import Checkpoint

F = TypeVar("F", bound=Callable[..., Any])

_CONSTRAINT = re.compile(r"\s*([\w/]+)\s*(<=?|>=?)\s*(.*?)\s*", re.DOTALL)


def goal_options(command: F) -> F:
    """`metrics` and `constraints`, for `goal_of`."""
    command = click.option(
        "--constraint",
        "constraints",
        multiple=True,
        metavar="CONDITION",
        help="What has to hold, such as 'perf_latency_p99<20'. Can be repeated.",
    )(command)
    return click.option(
        "--metric",
        "metrics",
        default="perf_throughput",
        metavar="METRIC[:WEIGHT],...",
        show_default=True,
        shell_complete=complete_metrics,
        help="What is to be good.",
    )(command)


def subjects_of(checkpoint: Checkpoint) -> Mapping[str, int]:
    """The models, or the names of those measured together, with how many they are."""
    return {
        record.trial.models: len(record.trial.workloads) for record in checkpoint.profile.records
    }


def subject_of(checkpoint: Checkpoint, model: str) -> str:
    """The subject that is this model; or else the only one that the model is measured in, together
    with others or called by another. Raises CheckpointError.
    """
    from model_analyzer.errors import CheckpointError

    subjects = subjects_of(checkpoint)
    if model in subjects:
        return model
    within = [name for name in subjects if model in name.split(",")]
    within = within or [
        record.trial.models
        for record in checkpoint.profile.records
        for work in record.trial.workloads
        if model in {part.model for part in work.variant.with_parts()}
    ]
    match list(dict.fromkeys(within)):
        case [only]:
            return only
        case []:
            raise CheckpointError(
                f"{checkpoint.path}: nothing was measured of model {model!r}: there is"
                f" {', '.join(subjects)}"
            )
        case several:
            raise CheckpointError(
                f"{checkpoint.path}: {model!r} was measured as a part of several: name one of"
                f" {', '.join(several)}"
            )


def goal_of(metrics: str, constraints: Sequence[str]) -> ModelGoal:
    """What a model is judged by. Raises ConfigError."""
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
