# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""By what measurements are judged, where it is asked for on the command line."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from model_analyzer.cli.checkpoint.options import wrong
from model_analyzer.cli.complete import complete_metrics

if TYPE_CHECKING:
    from model_analyzer.domain.goals import Constraint, Goal, GoalOverride, ModelGoal, Objective
    from model_analyzer.domain.settings import ReportSettings
    from model_analyzer.state.checkpoint import Checkpoint

F = TypeVar("F", bound=Callable[..., Any])

_NO_CONSTRAINTS = "none"
_CONSTRAINT = re.compile(r"\s*([\w/]+)\s*(<=?|>=?)\s*(.*?)\s*", re.DOTALL)


def goal_options(otherwise: str) -> Callable[[F], F]:
    """The goal that is asked for, as a parameter `asked` (`GoalOverride`); `otherwise` tells what
    counts where nothing is.
    """

    def decorate(command: F) -> F:
        @wraps(command)
        def with_goal(
            *arguments: Any,
            metrics: str | None,
            constraints: Sequence[str],
            latency_budget: str | None,
            min_throughput: str | None,
            **others: Any,
        ) -> Any:
            asked = _asked(metrics, constraints, latency_budget, min_throughput)
            return command(*arguments, asked=asked, **others)

        options = (
            click.option(
                "--metric",
                "metrics",
                metavar="METRIC[:WEIGHT],...",
                shell_complete=complete_metrics,
                help=f"Metrics to optimize.  [default: {otherwise}]",
            ),
            click.option(
                "--constraint",
                "constraints",
                multiple=True,
                metavar="CONDITION",
                help="Constraint, for example 'perf_latency_p99<20'; 'none' for no constraints."
                " Can be repeated.",
            ),
            click.option(
                "--latency-budget", metavar="MS", help="Highest p99 latency allowed, in ms."
            ),
            click.option(
                "--min-throughput",
                metavar="N",
                help="Lowest throughput allowed, in inferences per second.",
            ),
        )
        decorated: Any = with_goal
        for option in reversed(options):
            decorated = option(decorated)
        return cast(F, decorated)

    return decorate


def goals_of(
    checkpoint: Checkpoint,
    subjects: Sequence[str],
    asked: GoalOverride,
    settings: ReportSettings | None = None,
) -> Mapping[str, Goal]:
    """By what each of the subjects is judged: what the command line asked for, then the YAML file
    (`settings`), then the run that is in the checkpoint, then the default.

    Where the run decides, that is said.
    """
    from model_analyzer.cli.checkpoint.output import warn
    from model_analyzer.domain.goals import Goal, GoalOverride, ModelGoal

    goals = {}
    of_run: dict[str, str] = {}
    for subject in subjects:
        names = subject.split(",")
        run = checkpoint.goal_of(subject)
        known = run.models if run is not None and len(run.models) == len(names) else None
        models = []
        for index, name in enumerate(names):
            base = ModelGoal() if known is None else known[index]
            in_file = settings.asked_goal(name) if settings is not None else GoalOverride()
            models.append(asked.over(in_file.over(base)))
            given = asked.over(in_file.over(ModelGoal(objectives=())))
            of_run[name] = _text_of_run(models[-1], given)
        goals[subject] = Goal(models=tuple(models))
    if len(set(of_run.values())) == 1:
        of_run = {"": next(iter(of_run.values()))}
    for name, text in of_run.items():
        if text:
            warn(f"goals of the run{f' for {name}' if name else ''}: {text}")
    return goals


def _text_of_run(goal: ModelGoal, given: ModelGoal) -> str:
    """What of a goal was not given but comes from the run; "" where that is the default."""
    from model_analyzer.domain.goals import DEFAULT_OBJECTIVE
    from model_analyzer.domain.metrics import ALIASES, METRICS

    wishes = () if given.objectives else goal.objectives
    bounds = [bound for bound in goal.constraints if bound not in given.constraints]
    weighting = f"weighting {goal.weighting:g}" if goal.weighting != given.weighting else ""
    is_default = [wish.tag for wish in wishes] in ([], [DEFAULT_OBJECTIVE])
    if is_default and not (bounds or weighting):
        return ""
    texts = []
    for wish in wishes:
        weight = f" (weight {wish.weight:g})" if len(wishes) > 1 else ""
        texts.append(f"{METRICS[ALIASES.get(wish.tag, wish.tag)].name}{weight}")
    return "; ".join(filter(None, (", ".join(texts), *map(str, bounds), weighting)))


def subjects_of(checkpoint: Checkpoint) -> Mapping[str, int]:
    """The models, or the names of those measured together, with how many they are. The order in
    which models were measured together last counts.
    """
    last = {record.trial.models: place for place, record in enumerate(checkpoint.records)}
    newest = {frozenset(models.split(",")): models for models in sorted(last, key=last.__getitem__)}
    subjects = dict.fromkeys(newest[frozenset(models.split(","))] for models in last)
    return {models: len(models.split(",")) for models in subjects}


def subject_of(checkpoint: Checkpoint, model: str) -> str:
    """The subject that is this model; or else the only one that the model is measured in, together
    with others or called by another. Raises CheckpointError.
    """
    from model_analyzer.errors import CheckpointError

    subjects = subjects_of(checkpoint)
    if model in subjects:
        return model
    asked = set(model.split(","))
    within = [name for name in subjects if asked == set(name.split(","))]
    within = within or [name for name in subjects if asked <= set(name.split(","))]
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


def _asked(
    metrics: str | None,
    constraints: Sequence[str],
    latency_budget: str | None,
    min_throughput: str | None,
) -> GoalOverride:
    """What these options ask for. Raises ConfigError."""
    from model_analyzer.config.resolve import shorthand_bounds, tightest
    from model_analyzer.domain.goals import GoalOverride

    bounds = shorthand_bounds(
        _bound(latency_budget, "--latency-budget"), _bound(min_throughput, "--min-throughput")
    )
    listed = [
        constraint
        for text in constraints
        if text.strip() != _NO_CONSTRAINTS
        for constraint in _constraint(text)
    ]
    return GoalOverride(
        objectives=None if metrics is None else _objectives(metrics),
        constraints=tightest((*listed, *bounds)) if constraints else None,
        bounds=() if constraints else bounds,
    )


def _bound(text: str | None, flag: str) -> float | None:
    """Judged as the option of `profile` is. Raises ConfigError."""
    from model_analyzer.config.kinds import Number
    from model_analyzer.config.nodes import Node

    return None if text is None else Number(0, above=True).parse(Node(text, flag))


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
