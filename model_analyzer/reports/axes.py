# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which metrics charts and tables show: a latency that is constrained, or wished for, replaces the
default p99.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from model_analyzer.domain.goals import Constraint, Goal
from model_analyzer.domain.measurements import Columns, Measurement
from model_analyzer.domain.metrics import METRICS, canonical
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.results.columns import Column, metric_column
from model_analyzer.results.ranking import VariantResult

# Metric prefixes: a constrained metric with such a prefix replaces the default metric.
_FAMILIES = {
    "perf_latency_p99": ("perf_latency_",),
    "time_to_first_token_p99": ("time_to_first_token_", "inter_token_latency_"),
}

# Their names in chart titles.
_IN_TITLES = {
    "perf_latency_p99": "p99 Latency",
    "time_to_first_token_p99": "Time To First Token",
}


def token_tags(goal: Goal) -> list[str]:
    """The metrics to show of a language model: token throughput, time to the first token and time
    between tokens; of the times those that the goal has, otherwise the p99.
    """
    tags = ["output_token_throughput"]
    for prefix in ("time_to_first_token_", "inter_token_latency_"):
        own = [tag for tag in goal.tags if tag.startswith(prefix)]
        tags += own or [f"{prefix}p99"]
    return tags


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A metric of a whole trial, or of its `model` at `index` if the trial has several models."""

    tag: str
    index: int | None = None
    model: str = ""

    def value(self, measurement: Measurement) -> float | None:
        """Its value, or None if it was not measured."""
        if self.index is None:
            return measurement.value(self.tag)
        return measurement.model_value(self.index, self.tag)

    def values(self, columns: Columns, items: Sequence[MeasuredTrial]) -> Sequence[float | None]:
        """Its value in each of `items`; `columns` hold the metrics of these items."""
        if self.index is None:
            return columns.of(self.tag)
        return [self.value(item.measurement) for item in items]

    @property
    def name(self) -> str:
        """`p90 Latency`, `p90 Latency of resnet`."""
        metric = METRICS[self.tag]
        return f"{metric.name} of {self.model}" if self.model else metric.name

    @property
    def column(self) -> Column[MeasuredTrial]:
        """The table column for this quantity."""

        def value(item: MeasuredTrial) -> float | None:
            return self.value(item.measurement)

        column = metric_column(self.tag, value).renamed(self.name)
        return replace(column, key=f"{self.tag}.{self.model}") if self.model else column


class Axes:
    """Maps metrics to the quantities to show, given a `goal` and the `results` ranked by it."""

    def __init__(self, goal: Goal, results: Sequence[VariantResult]) -> None:
        self.goal, self._results = goal, results

    def quantity(self, tag: str) -> Quantity:
        """The quantity to show for a metric: a measured one of the same family that is constrained,
        or else wished for, if there is one, otherwise the metric itself.
        """
        constrained = [quantity for quantity, _ in self._bounds()]
        wished = [Quantity(tag=wish) for wish in self.goal.wishes]
        asked = list(filter(self.is_measured, dict.fromkeys((*constrained, *wished))))
        for family in _FAMILIES.get(tag, ()):
            members = [quantity for quantity in asked if quantity.tag.startswith(family)]
            if members:
                return next((member for member in members if member.tag == tag), members[0])
        return Quantity(tag=tag)

    def value(self, item: MeasuredTrial, tag: str) -> float | None:
        """The value of the quantity that is shown for a metric."""
        return self.quantity(tag).value(item.measurement)

    def is_measured(self, quantity: Quantity) -> bool:
        """Whether any measurement has it."""
        return any(
            quantity.value(item.measurement) is not None
            for result in self._results
            for item in result.measured
        )

    @property
    def of_single_models(self) -> Sequence[Quantity]:
        """The quantities that are constrained for one model, if a trial has several models."""
        constrained = dict.fromkeys(quantity for quantity, _ in self._bounds())
        return [quantity for quantity in constrained if quantity.index is not None]

    def title(self, title: str) -> str:
        """The chart title, with the names of the quantities that are shown."""
        for tag, words in _IN_TITLES.items():
            quantity = self.quantity(tag)
            if quantity != Quantity(tag=tag):
                title = title.replace(words, quantity.name)
        return title

    def limits(self, quantity: Quantity) -> Sequence[tuple[float, str]]:
        """The limits on a quantity, each with its comparison sign."""
        limits = {
            (limit, sign)
            for constrained, constraint in self._bounds()
            if constrained == quantity
            for limit, sign in ((constraint.minimum, "≥"), (constraint.maximum, "≤"))
            if limit is not None
        }
        return sorted(limits)

    def _bounds(self) -> Iterator[tuple[Quantity, Constraint]]:
        """Each constraint with its quantity. Server-wide metrics, such as memory, have no model."""
        several = len(self.goal.models) > 1 and bool(self._results)
        for index, goal in enumerate(self.goal.models):
            for constraint in goal.constraints:
                tag = canonical(constraint.tag)
                if several and not METRICS[tag].is_of_the_server:
                    model = self._results[0].variants[index].model
                    yield Quantity(tag=tag, index=index, model=model), constraint
                else:
                    yield Quantity(tag=tag), constraint
