# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The chart of all measurements: what throughput costs in latency, and what nothing beats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.domain.settings import PlotSettings
from model_analyzer.reports.plots import (
    THROUGHPUT_OVER_LATENCY,
    TOKENS_OVER_FIRST,
    Chart,
    Places,
    has_data,
    limit_layers,
    line_layers,
    line_points,
    mark_layers,
    value_of,
    vega_lite,
    x_axis,
    y_axis,
)
from model_analyzer.results.pareto import pareto_front
from model_analyzer.results.ranking import Ranking, VariantResult

_HEIGHT = 430

# Of more measurements than this, one for each small cell of the chart is drawn.
_MOST_POINTS = 1500
_CELLS = 60  # in each direction


def front_charts(
    ranking: Ranking, shown: Sequence[VariantResult], places: Places
) -> Sequence[Chart]:
    """Throughput over latency, of tokens first where they were counted; lines are drawn for the
    variants that are `shown`.
    """
    return [
        _front(ranking, shown, plot, places)
        for plot in (TOKENS_OVER_FIRST, THROUGHPUT_OVER_LATENCY)
        if has_data(ranking.results, plot)
    ]


def front_of(
    ranking: Ranking, plot: PlotSettings = THROUGHPUT_OVER_LATENCY
) -> Sequence[MeasuredTrial]:
    """The measurements that no other beats in both, lowest latency first."""
    items = _drawable(ranking, plot)
    return [items[index] for index in pareto_front([_place(item, plot) for item in items])]


def _front(
    ranking: Ranking, shown: Sequence[VariantResult], plot: PlotSettings, places: Places
) -> Chart:
    items = _drawable(ranking, plot)
    front = front_of(ranking, plot)
    lines = line_points(shown, plot, places)
    drawn = {point["row"] for point in lines}
    others = [item for item in items if places[id(item)] not in drawn]
    few = _thinned(others, plot)
    values = [_place(item, plot)[0] for item in items]
    x, y = x_axis(plot.x_axis, values), y_axis(plot.y_axis)
    limits = limit_layers(ranking.goal, plot)

    def points(chosen: Sequence[MeasuredTrial]) -> list[dict[str, Any]]:
        return [
            {"x": _place(item, plot)[0], "y": _place(item, plot)[1], "row": places[id(item)]}
            for item in chosen
        ]

    everything = {"values": [*points(few), *points(front), *lines]}
    layers: list[dict[str, Any]] = [
        {
            "data": {"values": points(front)},
            "mark": {"type": "line", "style": "front", "strokeCap": "round", "strokeJoin": "round"},
            "encoding": {"x": x, "y": y, "order": {"field": "x", "type": "quantitative"}},
        },
        {
            "data": {"values": points(few)},
            "mark": {"type": "point", "style": "other"},
            "encoding": {"x": x, "y": y},
        },
        *line_layers(shown, x, y),
        *({**layer, "data": everything} for layer in mark_layers(x, y)),
        *limits,
    ]
    caption = (
        f"{plot.title} of {len(items)} measurements: the higher and the further left, the better."
        " The pale green band joins those that no other beats in both (the Pareto front), the"
        " ring marks the recommended load" + (", dashed lines are constraints." if limits else ".")
    )
    if len(few) < len(others):
        caption += f" Of {len(others)} grey points {len(few)} are drawn: one for each small area."
    return Chart(name=plot.name, caption=caption, spec=vega_lite(lines, layers, height=_HEIGHT))


def _drawable(ranking: Ranking, plot: PlotSettings) -> Sequence[MeasuredTrial]:
    return [
        item
        for item in ranking.measured
        if value_of(item, plot.x_axis) is not None and value_of(item, plot.y_axis) is not None
    ]


def _place(item: MeasuredTrial, plot: PlotSettings) -> tuple[float, float]:
    return value_of(item, plot.x_axis) or 0.0, value_of(item, plot.y_axis) or 0.0


def _thinned(items: Sequence[MeasuredTrial], plot: PlotSettings) -> Sequence[MeasuredTrial]:
    """The items; of very many, the first in each cell of a grid, with latencies as logarithms."""
    if len(items) <= _MOST_POINTS:
        return items
    places = [_place(item, plot) for item in items]
    places = [(math.log(max(x, 1e-6)), y) for x, y in places]
    low = [min(axis) for axis in zip(*places, strict=True)]
    high = [max(axis) for axis in zip(*places, strict=True)]
    cells: dict[tuple[int, ...], MeasuredTrial] = {}
    for item, place in zip(items, places, strict=True):
        cell = tuple(
            int((value - start) / ((end - start) or 1) * _CELLS)
            for value, start, end in zip(place, low, high, strict=True)
        )
        cells.setdefault(cell, item)
    return list(cells.values())
