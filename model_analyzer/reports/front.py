# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The chart of all measurements over latency, with the Pareto front; and the labels inside it:
names of lines, and the loads and the knee of the best one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from model_analyzer.domain.goals import DEFAULT_OBJECTIVE
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.domain.settings import PlotSettings
from model_analyzer.domain.trials import LoadKind, Workload
from model_analyzer.domain.words import counted
from model_analyzer.reports.parameters import Axes
from model_analyzer.reports.plots import (
    NO_ROW,
    Chart,
    Places,
    better_places,
    cells_of,
    curve_of,
    evenly,
    hollow_caption,
    is_higher_better,
    limit_layers,
    line_layers,
    line_points,
    lines_caption,
    mark_layers,
    plots_over_latency,
    ring_caption,
    thinning_caption,
    value_of,
    vega_lite,
    x_axis,
    y_axis,
)
from model_analyzer.results.ranking import Ranking, VariantResult, knee_of

_MOST_LOADS = 10
# Labels that are closer than this share of the chart, across and up, would overlap.
_NEAR_ACROSS, _NEAR_UP = 0.16, 0.06

# Pixels of a name; a longer one is cut, as the legend has all of it.
_LONGEST_NAME = 150


@dataclass(frozen=True, slots=True)
class _Point:
    """A measurement of a curve, in a chart of the size 1 by 1."""

    item: MeasuredTrial
    x: float
    y: float
    across: float
    up: float


def label_layers(
    shown: Sequence[VariantResult],
    plot: PlotSettings,
    axes: Axes,
    encoding: Mapping[str, Any],
) -> Sequence[dict[str, Any]]:
    """The layers with labels; `encoding` is that of the lines."""
    curves = [_curve(result, plot, axes) for result in shown]
    together = [(x, y) for curve in curves for _, x, y in curve]
    if not together:
        return []
    is_log = encoding["x"]["scale"]["type"] == "log"
    placed = [_placed(curve, together, is_log=is_log) for curve in curves]
    loads = placed[0] if len(shown[0].variants) == 1 else []
    knee = _knee(loads)
    place = {axis: encoding[axis] for axis in ("x", "y")}
    of_loads = [
        {
            "x": point.x,
            "y": point.y,
            "text": f"{_work(point).load.value:,}{' (knee)' if point is knee else ''}",
        }
        for point in _few(loads, knee)
    ]
    names = list(_names(shown, placed))
    return [
        _texts(of_loads, place, {"align": "left", "baseline": "top", "dx": 7, "dy": 5}),
        _texts(
            names,
            {**place, "color": encoding["color"]},
            {
                "align": "right",
                "baseline": "bottom",
                "dx": -4,
                "dy": -10,
                "fontWeight": 600,
                "limit": _LONGEST_NAME,
            },
        ),
    ]


def _knee(curve: Sequence[_Point]) -> _Point | None:
    """The point of the knee; None if there is none, or for another load than a concurrency."""
    loads = {_work(point).load.value: point for point in curve}
    if any(_work(point).load.kind is not LoadKind.CONCURRENCY for point in curve):
        return None
    throughputs = {load: loads[load].item.measurement.value(DEFAULT_OBJECTIVE) for load in loads}
    known = {load: value for load, value in sorted(throughputs.items()) if value is not None}
    knee = knee_of(known)
    return None if knee is None else loads[knee]


def _work(point: _Point) -> Workload:
    return point.item.trial.workloads[0]


def _curve(
    result: VariantResult, plot: PlotSettings, axes: Axes
) -> Sequence[tuple[MeasuredTrial, float, float]]:
    """The measurements with the client batch size of the best, by load."""
    x, y = axes.quantity(plot.x_axis), axes.quantity(plot.y_axis)
    batches = [work.load.batch_size for work in result.best.trial.workloads]
    return [
        (item, value_of(item, x) or 0.0, value_of(item, y) or 0.0)
        for item in curve_of(result, plot, axes)
        if [work.load.batch_size for work in item.trial.workloads] == batches
    ]


def _placed(
    curve: Sequence[tuple[MeasuredTrial, float, float]],
    together: Sequence[tuple[float, float]],
    *,
    is_log: bool,
) -> list[_Point]:
    def across(x: float) -> float:
        return math.log(max(x, 1e-9)) if is_log else x

    places = [across(x) for x, _ in together]
    heights = [y for _, y in together]
    left, width = min(places), (max(places) - min(places)) or 1.0
    top = max(heights) or 1.0
    return [_Point(item, x, y, (across(x) - left) / width, y / top) for item, x, y in curve]


def _few(points: Sequence[_Point], knee: _Point | None) -> Iterator[_Point]:
    """Points whose labels do not overlap, the knee first."""
    chosen: list[_Point] = []
    for point in [*([knee] if knee else []), *evenly(points, _MOST_LOADS)]:
        if not any(_is_near(point, other) for other in chosen):
            chosen.append(point)
            yield point


def _is_near(a: _Point, b: _Point) -> bool:
    return abs(a.across - b.across) < _NEAR_ACROSS / 3 and abs(a.up - b.up) < _NEAR_UP


def _names(
    shown: Sequence[VariantResult], placed: Sequence[Sequence[_Point]]
) -> Iterator[dict[str, Any]]:
    """The names of lines at their highest points, without the model; none that would overlap."""
    chosen: list[_Point] = []
    for result, curve in zip(shown, placed, strict=True):
        if len(result.variants) > 1 or not curve:
            continue
        end = max(curve, key=lambda point: point.up)
        if any(
            abs(end.across - other.across) < _NEAR_ACROSS and abs(end.up - other.up) < _NEAR_UP
            for other in chosen
        ):
            continue
        chosen.append(end)
        name = result.telling_name.removeprefix(f"{result.variants[0].model}_")
        yield {"x": end.x, "y": end.y, "text": name, "variant": result.telling_name}


def _texts(
    values: Sequence[Mapping[str, Any]], encoding: Mapping[str, Any], style: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "data": {"values": values},
        "mark": {"type": "text", "style": "label", **style},
        "encoding": {**encoding, "text": {"field": "text"}},
    }


_HEIGHT = 430

# Above this number of points, only one for each small cell of the chart is drawn.
_MOST_POINTS = 800
_CELLS = 40  # in each direction
_MOST_ON_FRONT = 1000

_NOISE_CAPTION = " Whiskers are 95 % intervals; the pale band is that of the best."


def front_charts(
    ranking: Ranking, shown: Sequence[VariantResult], places: Places
) -> Sequence[Chart]:
    """The charts over latency that were measured, that of the goal first. The variants in `shown`
    have lines.
    """
    charts = []
    for plot in plots_over_latency(Axes(ranking.goal, ranking.results)):
        points = points_of(ranking, plot)
        if points:
            charts.append(_front(ranking, shown, plot, points, places))
    return charts


def front_of(ranking: Ranking) -> Sequence[MeasuredTrial]:
    """The Pareto front of the first chart over latency: measurements that no other beats in both,
    lowest latency first.
    """
    plot, points = first_points(ranking)
    return [ranking.measured[row] for row, _, _ in front_points(ranking, plot, points)]


def first_points(ranking: Ranking) -> tuple[PlotSettings, Sequence[Point]]:
    """The first chart over latency that has points, with them; no points if none has."""
    plots = plots_over_latency(Axes(ranking.goal, ranking.results))
    having = ((plot, points) for plot in plots if (points := points_of(ranking, plot)))
    return next(having, (plots[0], ()))


# A point of the chart: index in the ranking, x and y. A plain tuple, since there may be very many
# and it is the fastest to make.
Point = tuple[int, float, float]


def points_of(ranking: Ranking, plot: PlotSettings) -> Sequence[Point]:
    """The measurements that have the metrics of both axes."""
    axes = Axes(ranking.goal, ranking.results)
    over, up = (
        axes.quantity(tag).values(ranking.columns, ranking.measured)
        for tag in (plot.x_axis, plot.y_axis)
    )
    return [
        (row, x, y)
        for row, (x, y) in enumerate(zip(over, up, strict=True))
        if x is not None and y is not None
    ]


def front_points(ranking: Ranking, plot: PlotSettings, points: Sequence[Point]) -> Sequence[Point]:
    """The points that no other beats in both directions, lowest x first."""
    sign = 1 if is_higher_better(plot, Axes(ranking.goal, ranking.results)) else -1
    return [points[index] for index in pareto_front([(x, sign * y) for _, x, y in points])]


def _front(
    ranking: Ranking,
    shown: Sequence[VariantResult],
    plot: PlotSettings,
    points: Sequence[Point],
    places: Places,
) -> Chart:
    axes = Axes(ranking.goal, ranking.results)
    on_lines = line_points(shown, plot, axes, places)
    start = places.get(id(ranking.measured[0]), 0)
    of_lines = {
        places[id(item)] - start
        for result in shown
        for item in result.measured
        if id(item) in places
    }
    others = [point for point in points if point[0] not in of_lines]
    drawn = thinned(others)
    front = evenly(front_points(ranking, plot, points), _MOST_ON_FRONT)
    values = [
        *_data("other", drawn, ranking, start),
        *_data("front", front, ranking, start),
        *({"part": "line", **point} for point in on_lines),
        *(noises := list(_noises(shown, plot, axes, places))),
    ]
    limits = limit_layers(plot, axes)
    x = x_axis(plot.x_axis, [x for _, x, _ in points], axes)
    y = y_axis(plot.y_axis, [y for _, _, y in points], axes)
    labels = label_layers(shown, plot, axes, line_layers(shown, x, y)[0]["encoding"])
    is_repeated = any(len(item.runs) > 1 for item in ranking.measured)
    noun = "trial" if is_repeated else "measurement"  # repetitions are one point
    caption = (
        f"{axes.title(plot.title)} of {counted(len(points), noun)};"
        f" {better_places(plot, axes)}."
        " The pale green band joins measurements that no other beats in both (Pareto front); "
        + lines_caption(shown)
        + hollow_caption(values)
        + f"the ring marks the {ring_caption(shown)}"
        + (", numbers along its line are loads" if len(shown[0].variants) == 1 else "")
        + (", dashed lines are constraints." if limits else ".")
        + (_NOISE_CAPTION if noises else "")
        + thinning_caption(len(on_lines), shown, plot, axes)
    )
    if len(drawn) < len(others):
        caption += f" {len(drawn)} of {len(others)} grey points are shown: one for each small area."
    layers = _layers(shown, x, y, [*limits, *labels])
    return Chart(name=plot.name, caption=caption, spec=vega_lite(values, layers, height=_HEIGHT))


def _noises(
    shown: Sequence[VariantResult], plot: PlotSettings, axes: Axes, places: Places
) -> Iterator[dict[str, Any]]:
    """The 95 % intervals of the best measurement of each variant, where they are known; `band` is
    true for the first.
    """
    x, y = axes.quantity(plot.x_axis), axes.quantity(plot.y_axis)
    for result in shown:
        item = result.best
        values = [quantity.value(item.measurement) for quantity in (x, y)]
        if None in values:
            continue
        over, up = (
            result.noise_model.interval(item.runs, quantity.tag, quantity.index)
            for quantity in (x, y)
        )
        if over is None and up is None:
            continue
        point = {"part": "noise", "x": values[0], "y": values[1], "band": result is shown[0]}
        point["row"] = places.get(id(item), NO_ROW)
        if over is not None:
            point |= {"left": over.low, "right": over.high}
        if up is not None:
            point |= {"low": up.low, "high": up.high}
        yield point


_Layer = dict[str, Any]


def _layers(
    shown: Sequence[VariantResult], x: _Layer, y: _Layer, notes: Sequence[_Layer]
) -> list[_Layer]:
    """The front, the points without a line, the lines of the variants in `shown`, `notes` (limits
    and labels), and marks.
    """
    front = {
        "mark": {"type": "line", "style": "front", "strokeCap": "round", "strokeJoin": "round"},
        "encoding": {"x": x, "y": y, "order": {"field": "x", "type": "quantitative"}},
    }
    others = (
        {
            "transform": [{"filter": f"{'' if misses else '!'}datum.misses"}],
            "mark": {"type": "point", "style": "other", "filled": not misses},
            "encoding": {"x": x, "y": y},
        }
        for misses in (False, True)
    )
    lines, *marks = line_layers(shown, x, y)
    band, *whiskers = (_only("noise", layer) for layer in _noise_layers(x, y))
    return [
        _only("front", front),
        band,
        *(_only("other", layer) for layer in others),
        _only("line", lines),
        *notes,  # below the points, which must receive the pointer
        *whiskers,
        *(_only("line", layer) for layer in marks),
        *mark_layers(x, y),
    ]


def _noise_layers(x: _Layer, y: _Layer) -> list[_Layer]:
    """The band of values within noise of the best, and whiskers in both directions."""
    low, high = {**y, "field": "low"}, {"field": "high"}
    return [
        {
            "transform": [{"filter": "datum.band && datum.high"}],
            "mark": {"type": "rect", "style": "noise"},
            "encoding": {"y": low, "y2": high},
        },
        {
            "transform": [{"filter": "datum.high"}],
            "mark": {"type": "rule", "style": "whisker"},
            "encoding": {"x": x, "y": low, "y2": high},
        },
        {
            "transform": [{"filter": "datum.right"}],
            "mark": {"type": "rule", "style": "whisker"},
            "encoding": {"x": {**x, "field": "left"}, "x2": {"field": "right"}, "y": y},
        },
    ]


def _only(part: str, layer: _Layer) -> _Layer:
    """The layer for one part of the data."""
    before = layer.get("transform", [])
    return {**layer, "transform": [{"filter": f"datum.part === '{part}'"}, *before]}


def _data(part: str, points: Sequence[Point], ranking: Ranking, start: int) -> list[dict[str, Any]]:
    """The values of points; the rows of the ranking begin at `start` in the table of the page."""
    return [
        {"part": part, "x": x, "y": y, "row": start + row, "misses": not ranking.passing[row]}
        for row, x, y in points
    ]


def thinned(points: Sequence[Point]) -> Sequence[Point]:
    """The points; if too many, the first in each cell of a grid with a logarithmic x axis."""
    if len(points) <= _MOST_POINTS:
        return points
    columns = cells_of([math.log(max(x, 1e-6)) for _, x, _ in points], _CELLS)
    rows = cells_of([y for _, _, y in points], _CELLS)
    chosen: dict[tuple[int, int], Point] = {}
    for cell, point in zip(zip(columns, rows, strict=True), points, strict=True):
        chosen.setdefault(cell, point)
    return list(chosen.values())


def pareto_front(points: Sequence[tuple[float, float]]) -> Sequence[int]:
    """The indices of the points (cost, gain) that no other point dominates, lowest cost first. Of
    equal points, the first counts.
    """
    costs, losses = [cost for cost, _ in points], [-gain for _, gain in points]
    # two sorts by one number are faster than one sort by pairs
    order = sorted(range(len(points)), key=losses.__getitem__)
    order.sort(key=costs.__getitem__)
    front = []
    highest = -math.inf
    for index in order:
        gain = points[index][1]
        if gain > highest:
            front.append(index)
            highest = gain
    return front
