# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What charts and tables show under a goal: the latency that is bounded, in place of the p99."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from model_analyzer.domain.goals import Constraint, Goal
from model_analyzer.domain.measurements import Columns, Measurement
from model_analyzer.domain.metrics import ALIASES, METRICS
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.results.columns import Column, metric_column
from model_analyzer.results.ranking import VariantResult

# Beginnings of the metrics that stand in place of a usual one where a goal bounds them.
_FAMILIES = {
    "perf_latency_p99": ("perf_latency_",),
    "time_to_first_token_p99": ("time_to_first_token_", "inter_token_latency_"),
}

# How titles of charts call them.
_IN_TITLES = {
    "perf_latency_p99": "p99 Latency",
    "time_to_first_token_p99": "Time To First Token",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A metric over all models of a trial, or of the `model` at the `index` among several."""

    tag: str
    index: int | None = None
    model: str = ""

    def of(self, measurement: Measurement) -> float | None:
        """Its value, None where it was not measured."""
        if self.index is None:
            return measurement.value(self.tag)
        return measurement.model_value(self.index, self.tag)

    def of_all(self, columns: Columns, items: Sequence[MeasuredTrial]) -> Sequence[float | None]:
        """Its value in each of the measurements, whose metrics are the columns."""
        if self.index is None:
            return columns.of(self.tag)
        return [self.of(item.measurement) for item in items]

    @property
    def name(self) -> str:
        """`p90 Latency`, `p90 Latency of resnet`."""
        metric = METRICS[self.tag]
        return f"{metric.name} of {self.model}" if self.model else metric.name

    @property
    def column(self) -> Column[MeasuredTrial]:
        """The column that shows it."""

        def value(item: MeasuredTrial) -> float | None:
            return self.of(item.measurement)

        column = metric_column(self.tag, value).called(self.name)
        return replace(column, key=f"{self.tag}.{self.model}") if self.model else column


class Axes:
    """The quantities behind metrics under the `goal` by which there are these `results`."""

    def __init__(self, goal: Goal, results: Sequence[VariantResult]) -> None:
        self.goal, self._results = goal, results

    def quantity(self, tag: str) -> Quantity:
        """What is shown of a metric: itself, or what is bounded in its place and was measured."""
        bounded = list(
            filter(self._is_measured, dict.fromkeys(quantity for quantity, _ in self._bounds()))
        )
        for family in _FAMILIES.get(tag, ()):
            members = [quantity for quantity in bounded if quantity.tag.startswith(family)]
            if members:
                return next((one for one in members if one.tag == tag), members[0])
        return Quantity(tag=tag)

    def value(self, item: MeasuredTrial, tag: str) -> float | None:
        """The value of what is shown of a metric."""
        return self.quantity(tag).of(item.measurement)

    def _is_measured(self, quantity: Quantity) -> bool:
        return any(
            quantity.of(item.measurement) is not None
            for result in self._results
            for item in result.measured
        )

    @property
    def of_single_models(self) -> Sequence[Quantity]:
        """What is bounded for one of several models."""
        bounded = dict.fromkeys(quantity for quantity, _ in self._bounds())
        return [quantity for quantity in bounded if quantity.index is not None]

    def title(self, title: str) -> str:
        """The title of a chart, with what stands in place of a metric."""
        for tag, words in _IN_TITLES.items():
            quantity = self.quantity(tag)
            if quantity != Quantity(tag=tag):
                title = title.replace(words, quantity.name)
        return title

    def limits(self, quantity: Quantity) -> Sequence[tuple[float, str]]:
        """The bounds on a quantity, each with its sign."""
        limits = {
            (limit, sign)
            for bounded, constraint in self._bounds()
            if bounded == quantity
            for limit, sign in ((constraint.minimum, "≥"), (constraint.maximum, "≤"))
            if limit is not None
        }
        return sorted(limits)

    def _bounds(self) -> Iterator[tuple[Quantity, Constraint]]:
        """Each constraint, with what it is on: memory and the like are those of the server."""
        several = len(self.goal.models) > 1 and bool(self._results)
        for index, goal in enumerate(self.goal.models):
            for constraint in goal.constraints:
                tag = ALIASES.get(constraint.tag, constraint.tag)
                if several and not METRICS[tag].is_of_the_server:
                    model = self._results[0].variants[index].model
                    yield Quantity(tag=tag, index=index, model=model), constraint
                else:
                    yield Quantity(tag=tag), constraint
