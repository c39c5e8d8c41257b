# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""By what measurements are judged, where it is asked for on the command line."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from model_analyzer.cli.complete import complete_metrics
from model_analyzer.errors import wrong

if TYPE_CHECKING:
    from model_analyzer.domain.goals import Constraint, GoalOverride, Objective

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
            click.option("--latency-budget", metavar="MS", help="Maximum p99 latency, in ms."),
            click.option(
                "--min-throughput",
                metavar="N",
                help="Minimum throughput, in inferences per second.",
            ),
        )
        decorated: Any = with_goal
        for option in reversed(options):
            decorated = option(decorated)
        return cast(F, decorated)

    return decorate


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
        raise wrong(where, f"{text!r} is not a constraint: write, for example, perf_latency_p99<20")
    bound = Entry("max" if found[2][0] == "<" else "min", where, Node(found[3], where))
    limits = Node((bound,), where, is_mapping=True)
    return Constraints().parse(Node((Entry(found[1], where, limits),), where, is_mapping=True))
