# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Goals from the options of commands that measure nothing, by the rules of the YAML file."""

from __future__ import annotations

import re
from collections.abc import Sequence

from model_analyzer.config.goal_kinds import Constraints, Objectives, Tag, bound_of, wrong_limit
from model_analyzer.config.kinds import Number
from model_analyzer.config.nodes import Entry, Node
from model_analyzer.config.resolve import shorthand_bounds, tightest
from model_analyzer.domain.goals import DEFAULT_WEIGHT, Constraint, GoalOverride, Objective
from model_analyzer.errors import wrong

_METRIC, _CONSTRAINT = "--metric", "--constraint"
_NO_CONSTRAINTS = "none"
_FORM = re.compile(r"\s*([\w/]+)\s*(<=?|>=?)\s*(.*?)\s*", re.DOTALL)


def goal_override(
    metrics: str | None,
    constraints: Sequence[str],
    latency_budget: str | None,
    min_throughput: str | None,
) -> GoalOverride:
    """The goal that these options ask for. Raises ConfigError."""
    bounds = shorthand_bounds(
        _bound(latency_budget, "--latency-budget"), _bound(min_throughput, "--min-throughput")
    )
    listed = [
        constraint
        for text in constraints
        if text.strip() != _NO_CONSTRAINTS
        for constraint in _parsed(text)
    ]
    return GoalOverride(
        objectives=None if metrics is None else _objectives(metrics),
        constraints=tightest((*listed, *bounds)) if constraints else None,
        bounds=() if constraints else bounds,
    )


def _bound(text: str | None, flag: str) -> float | None:
    return None if text is None else Number(0, above=True).parse(Node(text, flag))


def _objectives(text: str) -> tuple[Objective, ...]:
    """Reads `METRIC,…` or `METRIC:WEIGHT,…`."""
    entries = []
    for item in text.split(","):
        tag, colon, weight = (part.strip() for part in item.partition(":"))
        entries.append(Entry(tag, _METRIC, Node(weight if colon else DEFAULT_WEIGHT, _METRIC)))
    return Objectives().parse(Node(tuple(entries), _METRIC, is_mapping=True))


def _parsed(text: str) -> tuple[Constraint, ...]:
    """Reads `METRIC<VALUE` or `METRIC>VALUE`."""
    match = _FORM.fullmatch(text)
    if match is None:
        raise wrong(
            _CONSTRAINT, f"{text!r} is not a constraint: write, for example, perf_latency_p99<20"
        )
    tag, sign, value = match.groups()
    limit = "max" if sign[0] == "<" else "min"
    if (right := bound_of(Tag().parse(Node(tag, _CONSTRAINT)))) != limit:
        raise Node(tag, _CONSTRAINT).problem(
            wrong_limit(tag, right=right, wrong=limit), f"use {'<' if right == 'max' else '>'}"
        )
    bound = Entry(limit, _CONSTRAINT, Node(value, _CONSTRAINT))
    limits = Entry(tag, _CONSTRAINT, Node((bound,), _CONSTRAINT, is_mapping=True))
    return Constraints().parse(Node((limits,), _CONSTRAINT, is_mapping=True))
