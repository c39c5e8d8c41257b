# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A small picture of all measurements of a model: throughput over latency."""

from __future__ import annotations

import math
from dataclasses import dataclass

from model_analyzer.domain.numbers import number_text
from model_analyzer.domain.words import counted
from model_analyzer.reports.axes import Axes
from model_analyzer.reports.front import Point, front_points, points_of
from model_analyzer.reports.plots import THROUGHPUT_OVER_LATENCY, evenly
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
    points = points_of(ranking, THROUGHPUT_OVER_LATENCY)
    if not points:
        return None
    latencies, throughputs = [x for _, x, _ in points], [y for _, _, y in points]
    low, high = (math.log(max(bound, _LEAST_MS)) for bound in (min(latencies), max(latencies)))
    top = max(throughputs) or 1.0

    def share(latency: float) -> float:
        at = math.log(max(latency, _LEAST_MS))
        return (at - low) / (high - low) if high > low else 0.5

    def place(point: Point) -> tuple[float, float]:
        _, latency, throughput = point
        return round(WIDTH * share(latency), 1), round(HEIGHT * (1 - throughput / top), 1)

    axes = Axes(ranking.goal, ranking.results)
    limits = [
        limit for limit, sign in axes.limits(axes.quantity("perf_latency_p99")) if sign == "≤"
    ]
    inside = [limit for limit in limits if min(latencies) <= limit <= max(latencies)]
    # the first of a ranking is its best
    best = next((place(point) for point in points if point[0] == 0), None)
    return Sparkline(
        dots=tuple(map(place, evenly(points, _MOST_POINTS))),
        front=tuple(map(place, evenly(front_points(points), _MOST_ON_FRONT))),
        best=best,
        limit=round(WIDTH * share(min(inside)), 1) if inside else None,
        label=(
            f"Throughput over latency of {counted(len(points), 'measurement')}:"
            f" up to {number_text(max(throughputs))} infer/sec, latencies from"
            f" {number_text(min(latencies))} to {number_text(max(latencies))} ms"
        ),
    )
