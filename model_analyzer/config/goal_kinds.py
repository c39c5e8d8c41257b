# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Kinds for objectives and constraints; and goals from the options of commands that measure
nothing, by the same rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeGuard

from model_analyzer.config.former_keys import FORMER_METRICS
from model_analyzer.config.kinds import ListOf, Number, Text
from model_analyzer.config.nodes import Entry, Node, Schema, any_of, closed, did_you_mean, read_all
from model_analyzer.domain.goals import DEFAULT_WEIGHT, Constraint, GoalOverride, Objective
from model_analyzer.domain.metrics import ALIASES, METRICS, Better, canonical, metric_of
from model_analyzer.errors import wrong

_TAGS = (*METRICS, *ALIASES)
_METRICS_PAGE = "docs/metrics.md has all metrics"

# The options that stand for a constraint, in the unit of its metric.
SHORTHANDS: Mapping[str, Callable[[float], Constraint]] = {
    "latency_budget": lambda limit: Constraint(tag="perf_latency_p99", maximum=limit),
    "min_throughput": lambda limit: Constraint(tag="perf_throughput", minimum=limit),
}


class Tag:
    """The tag of a metric."""

    metavar = "METRIC"
    pattern = "|".join(_TAGS)

    def parse(self, node: Node) -> str:
        word = Text().parse(node)
        if word not in _TAGS:
            meant = FORMER_METRICS.get(word)
            hint = f"write {meant}" if meant else did_you_mean(word, _TAGS) or _METRICS_PAGE
            raise node.problem(f"unknown metric {word!r}", hint)
        return canonical(word)

    def schema(self) -> Schema:
        return {"enum": list(_TAGS)}


class Objectives:
    """`{tag: weight}`, a list of tags, or text with commas; without weights, all weights are 1."""

    metavar = "MAPPING"

    def parse(self, node: Node) -> tuple[Objective, ...]:
        if not node.is_mapping:
            if any(part.is_mapping for part in ListOf.split(node)):
                raise node.problem(
                    "expected names of metrics, or a mapping with their weights",
                    "write, for example, {perf_throughput: 10, perf_latency_p99: 5}",
                )
            tags = _LIST.parse(node)
            return tuple(Objective(tag=tag) for tag in dict.fromkeys(tags))
        objectives = read_all(node.entries, self._objective)
        if objectives and not any(objective.weight for objective in objectives):
            raise node.problem("at least one objective needs a weight above 0")
        return tuple(objectives)

    @staticmethod
    def _objective(entry: Entry) -> Objective:
        tag = Tag().parse(Node(entry.key, entry.where))
        return Objective(tag=tag, weight=Number(0).parse(entry.node))

    def schema(self) -> Schema:
        weight = Number(0).schema()
        weights = closed({tag: {"description": _meaning(tag), **weight} for tag in _TAGS})
        return any_of(weights, _LIST.schema())


_LIST = ListOf(Tag(), "METRICS")


class Constraints:
    """`{tag: {min: X}}` if higher is better, `{tag: {max: X}}` if lower is better."""

    metavar = "MAPPING"

    def parse(self, node: Node) -> tuple[Constraint, ...]:
        if not node.is_mapping:
            raise node.problem(
                f"expected a mapping of metrics, found {node.describe()}",
                "write, for example, {perf_latency_p99: {max: 50}}",
            )
        return tuple(read_all(node.entries, self._constraint))

    @staticmethod
    def _constraint(entry: Entry) -> Constraint:
        tag = Tag().parse(Node(entry.key, entry.where))
        bound = bound_of(tag)
        if not entry.node.is_mapping:
            raise entry.node.problem(
                f"expected a limit, found {entry.node.describe()}", f"write {{{bound}: NUMBER}}"
            )
        limits = {}
        for limit in entry.node.entries:
            if limit.key != bound:
                raise Node(limit.key, limit.where).problem(
                    wrong_limit(entry.key, right=bound, wrong=limit.key)
                )
            limits[bound] = _LIMITS[bound].parse(limit.node)
        if not limits:
            raise entry.node.problem(f"{entry.key} has no limit", f"write {{{bound}: NUMBER}}")
        return Constraint(tag=tag, minimum=limits.get("min"), maximum=limits.get("max"))

    def schema(self) -> Schema:
        bounds = {tag: bound_of(tag) for tag in _TAGS}
        return closed(
            {
                tag: {
                    "description": _meaning(tag),
                    **closed({bound: _LIMITS[bound].schema()}, required=[bound]),
                }
                for tag, bound in bounds.items()
            }
        )


# Nothing measured is at most 0.
_LIMITS = {"min": Number(0), "max": Number(0, above=True)}


def bound_of(tag: str) -> str:
    """The kind of limit, `min` or `max`, that a metric can have."""
    return "min" if metric_of(tag).better is Better.HIGHER else "max"


def wrong_limit(tag: str, *, right: str, wrong: str) -> str:
    """The message for a limit that a metric cannot have."""
    return f"the limit of {tag} is {right!r}, not {wrong!r}"


def _meaning(tag: str) -> str:
    """The name of a metric with its unit, as help for editors."""
    return metric_of(tag).header


def shorthand_bounds(
    latency_budget: float | None, min_throughput: float | None
) -> tuple[Constraint, ...]:
    """The constraints for a `latency_budget` in ms and a `min_throughput` in inferences/s."""
    given = {"latency_budget": latency_budget, "min_throughput": min_throughput}
    return tuple(SHORTHANDS[key](limit) for key, limit in given.items() if limit is not None)


def tightest(bounds: Sequence[Constraint]) -> tuple[Constraint, ...]:
    """One constraint for each metric, with the tightest of its bounds."""
    merged: dict[str, Constraint] = {}
    for bound in bounds:
        earlier = merged.get(bound.tag, bound)
        merged[bound.tag] = Constraint(
            tag=bound.tag,
            minimum=max(filter(_is_set, (earlier.minimum, bound.minimum)), default=None),
            maximum=min(filter(_is_set, (earlier.maximum, bound.maximum)), default=None),
        )
    return tuple(merged.values())


def _is_set(limit: float | None) -> TypeGuard[float]:
    return limit is not None


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
        if "=" in tag:
            written = ":".join(part.strip() for part in tag.split("="))
            raise wrong(_METRIC, f"{item.strip()!r} is not METRIC:WEIGHT", f"write {written}")
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
