# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Kinds for objectives and constraints."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from model_analyzer.config.former_keys import FORMER_METRICS
from model_analyzer.config.fragments import Schema, any_of, closed
from model_analyzer.config.kinds import ListOf, Number, Text
from model_analyzer.config.nodes import Entry, Node, did_you_mean, read_all
from model_analyzer.domain.goals import Constraint, Objective
from model_analyzer.domain.metrics import ALIASES, METRICS, Better, canonical, metric_of

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
            limits[bound] = Number(0).parse(limit.node)
        if not limits:
            raise entry.node.problem(f"{entry.key} has no limit", f"write {{{bound}: NUMBER}}")
        return Constraint(tag=tag, minimum=limits.get("min"), maximum=limits.get("max"))

    def schema(self) -> Schema:
        limit = Number(0).schema()
        return closed(
            {
                tag: {
                    "description": _meaning(tag),
                    **closed({bound_of(tag): limit}, required=[bound_of(tag)]),
                }
                for tag in _TAGS
            }
        )


def bound_of(tag: str) -> str:
    """The kind of limit, `min` or `max`, that a metric can have."""
    return "min" if metric_of(tag).better is Better.HIGHER else "max"


def wrong_limit(tag: str, *, right: str, wrong: str) -> str:
    """The message for a limit that a metric cannot have."""
    return f"the limit of {tag} is {right!r}, not {wrong!r}"


def _meaning(tag: str) -> str:
    """The name of a metric with its unit, as help for editors."""
    return metric_of(tag).header
