# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What else one could choose: measurements that trade some of the objective for another metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from model_analyzer.domain.metrics import METRICS
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.results.ranking import Ranking

# A choice gives up at most this share of the objective …
_MOST_LOSS = 0.25
# … and is this many times better in the other metric.
_LEAST_FACTOR = 1.5
# A choice that is better by the objective gains at least this share.
_LEAST_GAIN = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A measurement that meets the constraints, and its objective and other metric divided by those
    of the recommendation.
    """

    item: MeasuredTrial
    objective: float
    other: float


def choices(ranking: Ranking, other: str, values: Sequence[float | None]) -> Sequence[Choice]:
    """At most two choices beside the recommendation: the least loss of the objective for a much
    better `other` metric, and the highest objective at a worse one. `values` are those of the other
    metric, in the order of the ranking.

    Empty if there are several objectives or several models, or if the recommendation does not meet
    the constraints.
    """
    goal = ranking.goal
    tags = [objective.tag for model in goal.models for objective in model.objectives]
    if len(tags) != 1 or not ranking.any_passes or values[0] is None:
        return ()
    wished = ranking.columns.of(tags[0])
    if not wished[0] or not values[0]:
        return ()
    passing = [
        Choice(item=item, objective=value / wished[0], other=beside / values[0])
        for item, value, beside, passes in zip(
            ranking.measured, wished, values, ranking.passing, strict=True
        )
        if passes and value and beside
    ]
    return tuple(_chosen(passing, tags[0], other))


def _chosen(passing: Sequence[Choice], tag: str, other: str) -> Iterator[Choice]:
    def merit(choice: Choice) -> float:
        return _times_better(tag, choice.objective)

    cheap = [
        choice
        for choice in passing
        if 1 - _MOST_LOSS <= merit(choice) <= 1
        and _times_better(other, choice.other) >= _LEAST_FACTOR
    ]
    if cheap:
        yield max(cheap, key=merit)
    dear = [
        choice
        for choice in passing
        if merit(choice) >= 1 + _LEAST_GAIN and _times_better(other, choice.other) < 1
    ]
    if dear:
        yield max(dear, key=merit)


def _times_better(tag: str, ratio: float) -> float:
    """A ratio of new to old value, above 1 if the new one is better."""
    return ratio if METRICS[tag].gain(1, 0) > 0 else 1 / ratio
