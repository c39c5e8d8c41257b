# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Objectives and constraints: the only code that decides which measurement is better.

The score of measurement A against B for one model is the sum, over its objectives, of
`weight * gain / mean(A, B)`, with weights that add up to one; several models add up by their
weightings. Positive means that A is better; 0.0488 says that 105 beats 100.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cmp_to_key
from typing import TypeVar

from model_analyzer.domain.measurements import Columns, Measurement
from model_analyzer.domain.metrics import METRICS, Reduction, Source, canonical, metric_of
from model_analyzer.domain.models import fingerprint
from model_analyzer.domain.words import limit_text

DEFAULT_WEIGHT = 10
DEFAULT_OBJECTIVE = "perf_throughput"

# The score over a value of 0 is 2, which no percentage expresses: a gain ends at 400,000 %.
_LEAST = 1e-3

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """A metric to be made better, with its weight among the objectives of the model."""

    tag: str
    weight: float = DEFAULT_WEIGHT


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """A bound that a metric must meet, in the metric's unit; a value on the bound passes."""

    tag: str
    minimum: float | None = None
    maximum: float | None = None

    def excess(self, value: float) -> float:
        """By how much `value` breaks the bound, as a fraction of the bound; 0 if it passes."""
        return max(0.0, -self.margin(value))

    def margin(self, value: float) -> float:
        """How far `value` is within the bounds, as a fraction of the nearest; negative outside."""
        low, high = self.minimum, self.maximum
        above = math.inf if low is None else (value - low) / abs(low or 1)
        below = math.inf if high is None else (high - value) / abs(high or 1)
        return min(above, below)

    def __str__(self) -> str:
        return self.with_limits(limit_text)

    def with_limits(self, text_of: Callable[[float], str]) -> str:
        """The constraint in words, with its limits as text."""
        metric = metric_of(self.tag)
        name, unit = metric.name, str(metric.unit)
        if metric.source is Source.GPU and metric.over_gpus is Reduction.SUM:
            unit += " over all GPUs"
        low = f"Min {name}: {text_of(self.minimum)} {unit}" if self.minimum is not None else ""
        high = f"Max {name}: {text_of(self.maximum)} {unit}" if self.maximum is not None else ""
        return ", ".join(filter(None, (low, high)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelGoal:
    """Objectives and constraints of a model; `weighting` is its weight among those of a trial."""

    objectives: tuple[Objective, ...] = (Objective(tag=DEFAULT_OBJECTIVE),)
    constraints: tuple[Constraint, ...] = ()
    weighting: float = 1

    @property
    def tags(self) -> tuple[str, ...]:
        """The metrics that it is judged by, objectives first, each once."""
        tags = [objective.tag for objective in self.objectives]
        tags += [constraint.tag for constraint in self.constraints]
        return tuple(dict.fromkeys(canonical(tag) for tag in tags))

    def needs(self, source: Source) -> bool:
        """Whether it cannot be judged without metrics from there."""
        return any(METRICS[tag].source is source for tag in self.tags)

    def __str__(self) -> str:
        weights = ", ".join(
            f"{objective.tag}: {objective.weight:g}" for objective in self.objectives
        )
        weighting = f"weighting {self.weighting:g}" if self.weighting != 1 else ""
        # checkpoints have this text, and a resumed run compares it: no separators
        constraints = [each.with_limits("{:g}".format) for each in self.constraints]
        return "; ".join(filter(None, (weights, *constraints, weighting)))


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalOverride:
    """The parts of a `ModelGoal` that somebody asked for; None leaves a part as it is.

    `constraints` replace all others, `bounds` only those on their own metrics.
    """

    objectives: tuple[Objective, ...] | None = None
    constraints: tuple[Constraint, ...] | None = None
    bounds: tuple[Constraint, ...] = ()
    weighting: float | None = None

    def over(self, goal: ModelGoal) -> ModelGoal:
        """The goal with these parts in place of its own."""
        constraints = goal.constraints if self.constraints is None else self.constraints
        bounded = {canonical(bound.tag) for bound in self.bounds}
        others = [
            constraint for constraint in constraints if canonical(constraint.tag) not in bounded
        ]
        return ModelGoal(
            objectives=goal.objectives if self.objectives is None else self.objectives,
            constraints=(*others, *self.bounds),
            weighting=goal.weighting if self.weighting is None else self.weighting,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """The goal of a trial: one `ModelGoal` for each of its models, in their order."""

    models: tuple[ModelGoal, ...]

    @property
    def identity(self) -> str:
        """Equal for goals that judge alike: 32 hex digits."""
        return fingerprint(asdict(self))

    @property
    def has_constraints(self) -> bool:
        return any(model.constraints for model in self.models)

    @property
    def wishes(self) -> tuple[str, ...]:
        """The metrics that any of its models shall be better in, each once, the heaviest first."""
        objectives = [objective for model in self.models for objective in model.objectives]
        objectives.sort(key=lambda objective: -objective.weight)
        return tuple(dict.fromkeys(canonical(objective.tag) for objective in objectives))

    @property
    def is_for_throughput(self) -> bool:
        """Whether throughput is all that is wished for."""
        return self.wishes == (DEFAULT_OBJECTIVE,)

    def wishes_first(self, tags: Iterable[str]) -> Sequence[str]:
        """The metrics to show, those that are wished for first. Throughput alone moves nothing: it
        is also the wish of those who made none.
        """
        first = () if self.is_for_throughput else self.wishes
        return tuple(dict.fromkeys((*first, *tags)))

    @property
    def tags(self) -> tuple[str, ...]:
        """The metrics that any of its models is judged by, each once."""
        return tuple(dict.fromkeys(tag for model in self.models for tag in model.tags))

    def shortfall(self, measurement: Measurement) -> float:
        """How far the constraints are missed, in percent of their bounds, added up.

        0 if all are met. A constraint on a metric that was not measured counts as met;
        `unchecked` names these metrics.
        """
        total = 0.0
        for index, goal in enumerate(self.models):
            for constraint in goal.constraints:
                value = measurement.model_value(index, constraint.tag)
                if value is not None:
                    total += constraint.excess(value) * 100
        return total

    def shortfalls(self, columns: Columns, measurements: Sequence[Measurement]) -> list[float]:
        """The `shortfall` of each of the measurements, whose metrics are the columns."""
        if len(self.models) != 1:
            return [self.shortfall(measurement) for measurement in measurements]
        totals = [0.0] * len(measurements)
        for constraint in self.models[0].constraints:
            low = -math.inf if constraint.minimum is None else constraint.minimum
            high = math.inf if constraint.maximum is None else constraint.maximum
            totals = [
                total
                if value is None or low <= value <= high
                else total + constraint.excess(value) * 100
                for total, value in zip(totals, columns.of(constraint.tag), strict=True)
            ]
        return totals

    def _unknown(self, columns: Columns, measurements: Sequence[Measurement]) -> list[bool]:
        """Whether each of the measurements, whose metrics are the columns, lacks a metric of a
        constraint.
        """
        if len(self.models) != 1:
            return [bool(self.unchecked(measurement)) for measurement in measurements]
        judged = [columns.of(constraint.tag) for constraint in self.models[0].constraints]
        return [any(column[row] is None for column in judged) for row in range(len(measurements))]

    def passes(self, measurement: Measurement) -> bool:
        """Whether every constraint that can be checked is met."""
        return self.shortfall(measurement) == 0

    def margin(self, measurement: Measurement, tag: str) -> float:
        """How far a metric is within the constraints on it, as a fraction of the nearest bound;
        infinite where there are none, or where it was not measured.
        """
        margins = []
        for index, goal in enumerate(self.models):
            value = measurement.model_value(index, tag)
            if value is not None:
                margins += [
                    constraint.margin(value)
                    for constraint in goal.constraints
                    if canonical(constraint.tag) == tag
                ]
        return min(margins, default=math.inf)

    def unchecked(self, measurement: Measurement) -> tuple[str, ...]:
        """Tags of the constraints whose metric the measurement does not have."""
        return tuple(
            constraint.tag
            for index, goal in enumerate(self.models)
            for constraint in goal.constraints
            if measurement.model_value(index, constraint.tag) is None
        )

    def score(self, a: Measurement, b: Measurement) -> float:
        """How much better `a` is than `b` by the objectives; constraints play no part."""
        return self._weighted(lambda index: self._model_score(index, a, b))

    def _weighted(self, of_model: Callable[[int], float]) -> float:
        total = sum(goal.weighting for goal in self.models)
        return sum(
            of_model(place) * goal.weighting / total for place, goal in enumerate(self.models)
        )

    def _model_score(self, index: int, a: Measurement, b: Measurement) -> float:
        goal = self.models[index]
        score, weights = 0.0, 0.0
        for objective in goal.objectives:
            metric = metric_of(objective.tag)
            new, old = a.model_value(index, metric.tag), b.model_value(index, metric.tag)
            if new is None and old is None:
                continue  # without data on either side the objective cannot tell them apart
            if old is None:
                return 1.0
            if new is None:
                return -1.0
            weights += objective.weight
            if new != old:
                score += objective.weight * 2 * metric.gain(new, old) / (abs(new) + abs(old))
        return score / weights if weights else 0.0

    def gain_percent(self, new: Measurement, old: Measurement) -> float:
        """The score in percent, for people to read: of one metric, by how much the better value is
        more, or the other one is more than it: twice the throughput and half the latency are both
        100 %. Of several, what one metric gains that makes the same score, so what is better by
        the objectives never has a loss.
        """
        score = self.score(new, old)
        return 200 * score / max(2 - score, _LEAST)

    def best_first(self, items: Iterable[T], measurement: Callable[[T], Measurement]) -> list[T]:
        """`items` in order of merit: those that meet the constraints first, by score; then those
        that lack a metric of a constraint, by score; then the others, nearest to the constraints
        first. Equals stay in the order in which they came.
        """
        ordered = list(items)
        measurements = [measurement(item) for item in ordered]
        columns = Columns(measurements)
        shortfalls = self.shortfalls(columns, measurements)
        unknown = self._unknown(columns, measurements)

        def compare(a: int, b: int) -> int:
            difference = (
                shortfalls[a] - shortfalls[b]
                or unknown[a] - unknown[b]
                or self.score(measurements[b], measurements[a])
            )
            return (difference > 0) - (difference < 0)

        objectives = [objective for model in self.models for objective in model.objectives]
        if len(objectives) == len(self.models) == 1 and objectives[0].weight > 0:
            # one number tells the same as every comparison of two, in a fraction of the time
            metric = metric_of(objectives[0].tag)
            sign = -metric.gain(1, 0)  # gains are differences
            merits = [
                (shortfall, is_unknown, value is None, sign * (value or 0.0))
                for shortfall, is_unknown, value in zip(
                    shortfalls, unknown, columns.of(metric.tag), strict=True
                )
            ]
            order = sorted(range(len(ordered)), key=merits.__getitem__)
        else:
            order = sorted(range(len(ordered)), key=cmp_to_key(compare))
        return [ordered[index] for index in order]


def are_met(goal: Goal, measurement: Measurement) -> bool | None:
    """Whether a measurement meets all constraints; None if it meets those whose metrics it has, and
    lacks others.
    """
    if not goal.unchecked(measurement):
        return goal.passes(measurement)
    return False if goal.shortfall(measurement) else None
