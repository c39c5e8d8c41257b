# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Labels inside a chart of curves: names of lines, and the loads and the knee of the best one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from model_analyzer.domain.goals import DEFAULT_OBJECTIVE
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.domain.settings import PlotSettings
from model_analyzer.domain.trials import LoadKind, Workload
from model_analyzer.reports.axes import Axes
from model_analyzer.reports.plots import curve_of, evenly, value_of
from model_analyzer.results.knee import knee_of
from model_analyzer.results.ranking import VariantResult

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
