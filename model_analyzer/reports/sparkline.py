# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A small picture of all measurements of a model over latency."""

from __future__ import annotations

import math
from dataclasses import dataclass

from model_analyzer.domain.metrics import METRICS
from model_analyzer.domain.numbers import number_text
from model_analyzer.domain.words import counted
from model_analyzer.reports.axes import Axes
from model_analyzer.reports.front import Point, first_points, front_points
from model_analyzer.reports.headline import unit_text
from model_analyzer.reports.plots import evenly, is_higher_better
from model_analyzer.results.ranking import Ranking

# The size of the picture, without its margins, in its own units.
WIDTH = 140
HEIGHT = 24

_MOST_POINTS = 60
_MOST_ON_FRONT = 40

# The axis of latencies is logarithmic, from at least this value on.
_LEAST_MS = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class Sparkline:
    """Dots, the line of the Pareto front, and the best, as places in the picture (x, y from the
    upper left corner); the x of the latency limit, if it is in the picture; `label` says the same
    in words.
    """

    dots: tuple[tuple[float, float], ...]
    front: tuple[tuple[float, float], ...]
    best: tuple[float, float] | None
    limit: float | None
    label: str


def sparkline(ranking: Ranking) -> Sparkline | None:
    """The picture of a ranking; None without a measurement that has both metrics."""
    plot, points = first_points(ranking)
    if not points:
        return None
    latencies, heights = [x for _, x, _ in points], [y for _, _, y in points]
    low, high = (math.log(max(bound, _LEAST_MS)) for bound in (min(latencies), max(latencies)))
    top = max(heights) or 1.0

    def share(latency: float) -> float:
        at = math.log(max(latency, _LEAST_MS))
        return (at - low) / (high - low) if high > low else 0.5

    def place(point: Point) -> tuple[float, float]:
        _, latency, height = point
        return round(WIDTH * share(latency), 1), round(HEIGHT * (1 - height / top), 1)

    axes = Axes(ranking.goal, ranking.results)
    over, up = axes.quantity(plot.x_axis), axes.quantity(plot.y_axis)
    limits = [limit for limit, sign in axes.limits(over) if sign == "≤"]
    bound = f"up to {number_text(max(heights))}"
    if not is_higher_better(plot, axes):
        bound = f"down to {number_text(min(heights))}"
    inside = [limit for limit in limits if min(latencies) <= limit <= max(latencies)]
    # the first of a ranking is its best
    best = next((place(point) for point in points if point[0] == 0), None)
    return Sparkline(
        dots=tuple(map(place, evenly(points, _MOST_POINTS))),
        front=tuple(map(place, evenly(front_points(ranking, plot, points), _MOST_ON_FRONT))),
        best=best,
        limit=round(WIDTH * share(min(inside)), 1) if inside else None,
        label=(
            f"{METRICS[up.tag].name} over latency of {counted(len(points), 'measurement')}:"
            f" {bound} {unit_text(up.tag, ranking.currency)}, latencies from"
            f" {number_text(min(latencies))} to {number_text(max(latencies))} ms"
        ),
    )
