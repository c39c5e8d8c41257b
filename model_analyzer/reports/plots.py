# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Charts as Vega-Lite specifications: data only; other modules render them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from types import MappingProxyType
from typing import Any, TypeVar

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.metrics import METRICS, Better
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.domain.settings import PlotSettings
from model_analyzer.domain.trials import Load, LoadKind, load_text
from model_analyzer.domain.words import limit_text, number_text
from model_analyzer.reports.parameters import Axes, Quantity
from model_analyzer.results.ranking import VariantResult

_T = TypeVar("_T")

_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
_WIDTH, HEIGHT = 820, 380

# The chart parameter that holds the row that the reader selected, and its value for no row.
CHOSEN = "chosen"
NO_ROW = -1

# The row of each measurement (by `id`) in the table of a page.
Places = Mapping[int, int]
NO_PLACES: Places = MappingProxyType({})

# Above this number of measurements, a chart draws some of each variant, but at least the fewest.
_MOST_POINTS = 1000
_FEWEST_POINTS = 40
_CELLS = 150  # in each direction

# values that span more than this factor get a logarithmic axis
_WIDE = 10
# so do values of the default configuration that are so many times those of all others
_SQUASHING = 4
# an axis begins at zero unless values fill less than this share of it
_NARROW = 0.1
# memory that differs by less than this share is the same
_SAME = 0.05

# longer names (characters) are not placed side by side in a legend
_LONG = 28

# Safe for colour-blind readers (Okabe and Ito); the default configuration is always grey.
_COLOURS = ("#2480c4", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_DEFAULT_COLOUR = "#8a8a8a"


def chart_config(*, dark: bool = False) -> dict[str, Any]:
    """The Vega-Lite style of charts for a light or a `dark` page."""
    text, soft, grid = (
        ("#e8eaee", "#a3abb8", "#343a44") if dark else ("#1a1c20", "#4a5160", "#e4e7ec")
    )
    limit = "#ff8a94" if dark else "#b00020"
    return {
        "mark": {"aria": False},  # screen readers get the table instead
        "font": "system-ui, sans-serif",
        "background": "#1e2126" if dark else "#ffffff",
        "axis": {
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "labelColor": soft,
            "titleColor": text,
            "gridColor": grid,
            "domainColor": grid,
            "tickColor": grid,
            "aria": False,
            "titlePadding": 14,  # the browser's font may be wider than the one used for drawing
            "labelLimit": 460,
        },
        "legend": {
            "labelFontSize": 12,
            "labelLimit": 460,
            "labelColor": text,
            "columnPadding": 28,
            "columns": 2,
            "aria": False,
        },
        "style": {
            "ring": {"size": 260, "strokeWidth": 2.5, "color": text, "filled": False, "opacity": 1},
            "pin": {
                "size": 420,
                "strokeWidth": 3,
                "color": "#e69f00",
                "filled": False,
                "opacity": 1,
            },
            "other": {"size": 22, "color": soft, "filled": True, "opacity": 0.45},
            "label": {"color": soft, "fontSize": 11},
            "whisker": {"color": text, "strokeDash": [1, 0], "strokeWidth": 1.4, "opacity": 0.75},
            "noise": {"color": "#12a05c", "opacity": 0.1},
            "front": {"color": "#12a05c", "opacity": 0.3, "strokeWidth": 9},
        },
        "rule": {"color": limit, "strokeDash": [6, 4]},
        "text": {"color": limit, "fontSize": 11},
        "view": {"stroke": None},
    }


def _plot(name: str, title: str, x_axis: str, y_axis: str) -> PlotSettings:
    return PlotSettings(name=name, title=title, x_axis=x_axis, y_axis=y_axis, monotonic=False)


def _over_latency(name: str, title: str, y_axis: str) -> PlotSettings:
    return _plot(f"{name}_v_latency", f"{title} vs. Latency", "perf_latency_p99", y_axis)


# Charts of summaries: over latency in online mode, over client batch size in offline mode.
THROUGHPUT_OVER_LATENCY = _over_latency("throughput", "Throughput", "perf_throughput")
TOKENS_OVER_FIRST = _plot(
    "token_throughput_v_first_token", "Output Token Throughput vs. Time To First Token",
    "time_to_first_token_p99", "output_token_throughput",
)  # fmt: skip
_OVER_LATENCY = (TOKENS_OVER_FIRST, THROUGHPUT_OVER_LATENCY)
_OF_WISH = "goal_v_latency"  # the name of the chart of another goal
_MEMORY_OVER_LATENCY = (
    _over_latency("gpu_mem", "GPU Memory", "gpu_used_memory"),
    _over_latency("cpu_mem", "CPU Memory", "cpu_used_ram"),
)
_OVER_LOAD = tuple(
    _plot(f"{name}_v_{load}", f"{title} vs. {load.replace('_', ' ').title()}", f"{load}_range", tag)
    for load in ("concurrency", "request_rate")
    for name, title, tag in (
        ("token_throughput", "Token Throughput", "output_token_throughput"),
        ("first_token", "Time To First Token", "time_to_first_token_p99"),
        ("throughput", "Throughput", "perf_throughput"),
        ("latency", "p99 Latency", "perf_latency_p99"),
    )
)
_THROUGHPUT_OVER_BATCH_SIZE, *_DETAILED_OFFLINE = _OVER_BATCH_SIZE = [
    _plot(f"{name}_v_batch_size", f"{title} vs. Batch Size", "batch_size", tag)
    for name, title, tag in (
        ("through", "Throughput", "perf_throughput"),
        ("throughput", "Throughput", "perf_throughput"),
        ("latency", "p99 Latency", "perf_latency_p99"),
    )
]
_NO_GOAL = Goal(models=())

# Charts of detailed reports after those over latency, unless the user defines some.
_DETAILED_ONLINE = (
    *_MEMORY_OVER_LATENCY,
    _over_latency("gpu_util", "GPU Utilization", "gpu_utilization"),
    _over_latency("gpu_power", "GPU Power", "gpu_power_usage"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart: file name, caption, and its Vega-Lite specification. `folder` is that of the kind of
    hardware, if a report has several, otherwise "".
    """

    name: str
    caption: str
    spec: dict[str, Any]
    folder: str = ""

    @property
    def key(self) -> str:
        """Its name within a report: a path."""
        return f"{self.folder}/{self.name}" if self.folder else self.name

    @property
    def has_data(self) -> bool:
        """Whether there is data to draw; charts without data are left out."""
        return bool(self.spec["data"]["values"])


def plots_over_latency(axes: Axes) -> Sequence[PlotSettings]:
    """The charts over latency. The first has on an axis what the goal wishes for most, unless that
    is plain throughput: then that of tokens is first.
    """
    if axes.goal.is_for_throughput or not axes.goal.models:
        return _OVER_LATENCY
    wish = axes.goal.wishes[0]
    shown = {
        plot: {axes.quantity(axis).tag for axis in (plot.x_axis, plot.y_axis)}
        for plot in _OVER_LATENCY
    }
    first = next((plot for plot, tags in shown.items() if wish in tags), None)
    if first is None:
        known = [plot for plot in _OVER_LATENCY if axes.is_measured(axes.quantity(plot.x_axis))]
        limited = [plot for plot in known if axes.limits(axes.quantity(plot.x_axis))]
        usual = next(iter((*limited, *known, *_OVER_LATENCY)))
        title = usual.title.replace(METRICS[usual.y_axis].name, METRICS[wish].name)
        first = replace(usual, name=_OF_WISH, title=title, y_axis=wish)
    return (first, *(plot for plot in _OVER_LATENCY if plot != first))


def is_higher_better(plot: PlotSettings, axes: Axes) -> bool:
    """Whether points of a chart are better the higher they are."""
    return METRICS[axes.quantity(plot.y_axis).tag].better is Better.HIGHER


def better_places(plot: PlotSettings, axes: Axes) -> str:
    """For a caption: where points are better."""
    return f"{'higher' if is_higher_better(plot, axes) else 'lower'} and further left is better"


def _is_by_load(plot: PlotSettings) -> bool:
    """Whether lines follow the load: one line for each client batch size. Loads that differ between
    models are on no line.
    """
    return plot in _OVER_LATENCY or plot.name == _OF_WISH


def summary_charts(
    results: Sequence[VariantResult], goal: Goal, *, offline: bool, places: Places = NO_PLACES
) -> Sequence[Chart]:
    """The curves of a summary, without those that tell nothing."""
    plots = (_THROUGHPUT_OVER_BATCH_SIZE,) if offline else (*_OVER_LOAD, *_MEMORY_OVER_LATENCY)
    axes = Axes(goal, results)
    return [
        draw(results, plot, goal, places=places) for plot in plots if _tells(results, plot, axes)
    ]


def same_memory_text(results: Sequence[VariantResult]) -> str:
    """A sentence about memory that is the same in all measurements, which has no chart; else ""."""
    texts = [
        f"{METRICS[tag].name} is the same in all these measurements: {number_text(max(values))}"
        f" {METRICS[tag].unit}."
        for tag in ("gpu_used_memory", "cpu_used_ram")
        if (values := _same_memory(results, tag))
    ]
    return " ".join(texts)


def _same_memory(results: Sequence[VariantResult], tag: str) -> Sequence[float]:
    """The values of all measurements, if they are the same; else none."""
    items = [item for result in results for item in result.measured]
    values = [value for item in items if (value := item.measurement.value(tag)) is not None]
    is_same = len(values) > 1 and max(values) - min(values) < _SAME * max(values)
    return values if is_same else ()


def _tells(results: Sequence[VariantResult], plot: PlotSettings, axes: Axes) -> bool:
    """Whether a chart tells more than a number for each variant: a curve has several points of
    different heights.
    """
    x, y = _shown(plot.x_axis, axes), _shown(plot.y_axis, axes)
    same = _SAME if plot in _MEMORY_OVER_LATENCY else 0.0
    for result in results:
        curve = curve_of(result, plot, axes)
        heights = [value_of(item, y) or 0 for item in curve]
        low, high = min(heights, default=0), max(heights, default=0)
        if len({value_of(item, x) for item in curve}) > 1 and high - low > same * high:
            return True
    return False


def detailed_charts(
    result: VariantResult,
    plots: Sequence[PlotSettings],
    *,
    offline: bool,
    places: Places = NO_PLACES,
    goal: Goal = _NO_GOAL,
) -> Sequence[Chart]:
    """The charts of one variant: the user's `plots` unchanged, or the default ones for the mode
    that tell something, which show the metrics that `goal` constrains.
    """
    goal = _NO_GOAL if plots else goal
    axes = Axes(goal, [result])
    chosen = (
        [plot for plot in plots if curve_of(result, plot, axes)]
        if plots
        else [
            plot
            for plot in (
                _DETAILED_OFFLINE if offline else (*plots_over_latency(axes), *_DETAILED_ONLINE)
            )
            if _tells([result], plot, axes)
        ]
    )
    return [draw([result], plot, goal, places=places) for plot in chosen]


def value_of(item: MeasuredTrial, axis: Quantity | str) -> float | None:
    """The value of a metric, or of a load parameter (summed over several models)."""
    if isinstance(axis, Quantity):
        return axis.value(item.measurement)
    loads = _loads(item)
    if axis == "batch_size":
        return sum(load.batch_size for load in loads)
    kind = {
        "concurrency_range": LoadKind.CONCURRENCY,
        "request_rate_range": LoadKind.REQUEST_RATE,
    }.get(axis)
    return sum(load.value for load in loads) if all(load.kind is kind for load in loads) else None


def _loads(item: MeasuredTrial) -> tuple[Load, ...]:
    return tuple(work.load for work in item.trial.workloads)


def _batch_sizes(item: MeasuredTrial) -> tuple[int, ...]:
    return tuple(load.batch_size for load in _loads(item))


def _strengths(item: MeasuredTrial) -> tuple[int, ...]:
    """The load value of each model: concurrency or request rate."""
    return tuple(load.value for load in _loads(item))


def _is_alike(item: MeasuredTrial) -> bool:
    """Whether all models have the same load; always true for one model."""
    return len(set(_loads(item))) == 1


def _shown(axis: str, axes: Axes) -> Quantity | str:
    """The quantity of an axis, or the name of a load parameter."""
    return axes.quantity(axis) if axis in METRICS else axis


def curve_of(result: VariantResult, plot: PlotSettings, axes: Axes) -> Sequence[MeasuredTrial]:
    """The measurements in the order of the line: by load if the x axis is latency, otherwise by x.

    Over one load parameter, only measurements whose other load parameters equal those of the best.
    """
    x, y = _shown(plot.x_axis, axes), _shown(plot.y_axis, axes)
    items = [
        item
        for item in sorted(result.measured, key=load_order)
        if value_of(item, x) is not None and value_of(item, y) is not None
    ]
    if plot in _OVER_LOAD:
        items = [item for item in items if _batch_sizes(item) == _batch_sizes(result.best)]
    elif plot in _OVER_BATCH_SIZE:
        items = [item for item in items if _strengths(item) == _strengths(result.best)]
    if not _is_by_load(plot):
        items.sort(key=lambda item: value_of(item, x) or 0)
    if plot.monotonic:
        highest = -math.inf
        rising = []
        for item in items:
            height = value_of(item, y) or 0
            if height > highest:
                rising.append(item)
                highest = height
        return rising
    return items


def draw(
    results: Sequence[VariantResult],
    plot: PlotSettings,
    goal: Goal,
    *,
    places: Places = NO_PLACES,
) -> Chart:
    """A chart with a line for each variant, and dashed lines for constraints."""
    axes = Axes(goal, results)
    points = line_points(results, plot, axes, places)
    default = next((result.telling_name for result in results if result.is_default), None)
    of_default = [point for point in points if point["variant"] == default]
    others = [point for point in points if point["variant"] != default]
    has_groups = any(len(result.variants) > 1 for result in results)
    x = x_axis(
        plot.x_axis,
        [point["x"] for point in others],
        axes,
        of_default=[point["x"] for point in of_default],
        has_groups=has_groups,
    )
    y = y_axis(
        plot.y_axis,
        [point["y"] for point in others],
        axes,
        of_default=[point["y"] for point in of_default],
    )
    limits = limit_layers(plot, axes)
    lines, *marks = line_layers(results, x, y)
    # limits are below the points, which must receive the pointer
    layers = [lines, *limits, *marks, *mark_layers(x, y)]
    title = axes.title(plot.title)
    caption = f"{title}{_other_part(results, plot)}; {lines_caption(results)}"
    caption += hollow_caption(points) + "the ring marks the "
    caption += ring_caption(results) if len(results) > 1 else "best load"
    caption += ", dashed lines are constraints." if limits else "."
    return Chart(
        name=plot.name,
        caption=caption + thinning_caption(len(points), results, plot, axes),
        spec=vega_lite(points, layers),
    )


def _other_part(results: Sequence[VariantResult], plot: PlotSettings) -> str:
    """For a caption: the other load parameters, if they vary."""
    items = [item for result in results for item in result.measured]
    if plot in _OVER_LOAD and len({_batch_sizes(item) for item in items}) > 1:
        return ", with the client batch size of the best measurement"
    if plot in _OVER_BATCH_SIZE and len({_strengths(item) for item in items}) > 1:
        return ", with the load value of the best measurement"
    return ""


def ring_caption(results: Sequence[VariantResult]) -> str:
    """For a caption: what the ring marks if there are several variants."""
    return "recommended load" if results[0].passes else "load that misses the constraints least"


def lines_caption(results: Sequence[VariantResult]) -> str:
    """For a caption: why some points are not on lines, if so."""
    if all(_is_alike(item) for result in results for item in result.measured):
        return ""
    return "lines join loads that are equal for all models; "


def hollow_caption(points: Iterable[Mapping[str, Any]]) -> str:
    """For a caption: what hollow points mean, if there are any."""
    has_misses = any(point.get("misses") for point in points)
    return "hollow points miss a constraint; " if has_misses else ""


def thinning_caption(
    drawn: int, results: Sequence[VariantResult], plot: PlotSettings, axes: Axes
) -> str:
    """For a caption: that only `drawn` points of the lines are shown, if so."""
    count = sum(len(curve_of(result, plot, axes)) for result in results)
    if drawn == count:
        return ""
    return f" {drawn} of {count} points on lines are shown: one for each small area."


def line_points(
    results: Sequence[VariantResult], plot: PlotSettings, axes: Axes, places: Places
) -> list[dict[str, Any]]:
    """The measurements as data of a chart, in the order of their lines; thinned out if too many."""
    x, y = _shown(plot.x_axis, axes), _shown(plot.y_axis, axes)
    most = max(_FEWEST_POINTS, _MOST_POINTS // max(1, len(results)))
    points: list[dict[str, Any]] = [
        {
            "variant": result.telling_name,
            "load": load_text(item.trial),
            "line": _line(item, plot),
            "x": value_of(item, x),
            "y": value_of(item, y),
            "best": result is results[0] and item is result.best,
            "misses": not axes.goal.passes(item.measurement),
            "row": places.get(id(item), NO_ROW),
        }
        for result in results
        for item in _thinned(curve_of(result, plot, axes), x, y, result.best, most)
    ]
    for order, point in enumerate(points):
        point["order"] = order
        if point["line"] is None:
            point["line"] = f"alone {order}"
    return points


def evenly(items: Sequence[_T], most: int) -> Sequence[_T]:
    """The items; if more than `most`, `most` evenly spaced ones, first and last included."""
    if len(items) <= most:
        return items
    return [items[index * (len(items) - 1) // (most - 1)] for index in range(most)]


def cells_of(values: Sequence[float], count: int) -> Sequence[int]:
    """The cell of each value on an axis of `count` cells."""
    low, high = min(values), max(values)
    width = (high - low) or 1
    return [int((value - low) / width * count) for value in values]


def _thinned(
    items: Sequence[MeasuredTrial],
    x: Quantity | str,
    y: Quantity | str,
    best: MeasuredTrial,
    most: int,
) -> Sequence[MeasuredTrial]:
    """The measurements; if more than `most`, the first in each cell of a grid, and the best."""
    if len(items) <= most:
        return items
    over, up = ([value_of(item, axis) or 0 for item in items] for axis in (x, y))
    if _scale(over)["type"] == "log":
        over = [math.log(value) for value in over]
    chosen: dict[tuple[int, int], MeasuredTrial] = {}
    columns, rows = cells_of(over, _CELLS), cells_of(up, _CELLS)
    for item, column, row in zip(items, columns, rows, strict=True):
        chosen.setdefault((column, row), item)
    kept = {id(best), *map(id, evenly(list(chosen.values()), most - 1))}
    return [item for item in items if id(item) in kept]


def _line(item: MeasuredTrial, plot: PlotSettings) -> int | None:
    """The number of the variant's line that has this measurement; None if it is on no line, since
    loads that differ between models have no order.
    """
    if not _is_alike(item):
        return None
    return _loads(item)[0].batch_size if _is_by_load(plot) else 0


def line_layers(
    results: Sequence[VariantResult], x: Mapping[str, Any], y: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The layers with a line and points for each variant."""
    names = [result.telling_name for result in results]
    colours = cycle(_COLOURS)
    shades = [_DEFAULT_COLOUR if result.is_default else next(colours) for result in results]
    legend: dict[str, Any] = {}
    if max(map(len, ",".join(names).split(",")), default=0) > _LONG:
        legend["columns"] = 1
    if any("," in name for name in names):
        # one line of text per model
        legend |= {"labelExpr": "split(datum.label, ',')", "rowPadding": 6}
    colour = {**by_kind("variant", names, shades, **legend), "sort": names}
    return [
        {
            "mark": {"type": "line", "strokeWidth": 2, "interpolate": "linear"},
            "encoding": {
                "x": x,
                "y": y,
                "color": colour,
                "order": {"field": "order"},
                "detail": {"field": "line"},
            },
        },
        {
            # invisible, large targets for the pointer
            "mark": {"type": "point", "filled": True, "size": 350, "opacity": 0},
            "encoding": {"x": x, "y": y},
        },
        {
            "transform": [{"filter": "!datum.misses"}],
            "mark": {"type": "point", "filled": True, "size": 60, "opacity": 0.9},
            "encoding": {"x": x, "y": y, "color": colour},
        },
        {
            "transform": [{"filter": "datum.misses"}],
            "mark": {"type": "point", "filled": False, "size": 60, "strokeWidth": 1.8},
            "encoding": {"x": x, "y": y, "color": colour},
        },
    ]


def by_kind(
    field: str, names: Sequence[str], looks: Sequence[str], **legend: Any
) -> dict[str, Any]:
    """What tells kinds of points apart: a colour or a shape (`looks`) for each of the names, with a
    legend below the chart.
    """
    return {
        "field": field,
        "type": "nominal",
        "scale": {"domain": names, "range": looks},
        "legend": {"title": None, "orient": "bottom", **legend},
    }


def mark_layers(x: Mapping[str, Any], y: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rings around the recommendation and around the row that the reader selected."""
    return [
        {
            "transform": [{"filter": f"datum.row >= 0 && datum.row === {CHOSEN}"}],
            "mark": {"type": "point", "style": "pin"},
            "encoding": {"x": x, "y": y},
        },
        {
            "transform": [{"filter": "datum.best"}],
            "mark": {"type": "point", "style": "ring"},
            "encoding": {"x": x, "y": y},
        },
    ]


def x_axis(
    axis: str,
    values: Sequence[float],
    axes: Axes,
    *,
    of_default: Sequence[float] = (),
    has_groups: bool = False,
) -> dict[str, Any]:
    """The x axis for `values` and those of the default configuration; the title of a load says if
    it is a sum over several models.
    """
    title = _axis_title(axis, axes)
    if has_groups and axis in _LOAD_TITLES:
        title += " (all models together)"
    return {
        "field": "x", "type": "quantitative", "title": title,
        "scale": _scale(values, of_default, base=10 if axis in METRICS else 2),
        # loads are integers
        "axis": {"tickCount": 10} if axis in METRICS else {"tickCount": 10, "tickMinStep": 1},
    }  # fmt: skip


def y_axis(
    axis: str, values: Sequence[float], axes: Axes, *, of_default: Sequence[float] = ()
) -> dict[str, Any]:
    """The y axis for `values` and those of the default configuration."""
    scale = _scale(values, of_default, wide=math.inf)
    return {
        "field": "y", "type": "quantitative", "title": _axis_title(axis, axes),
        "scale": scale, "axis": {"tickCount": 8},
    }  # fmt: skip


_LOAD_TITLES = {
    "batch_size": "Client batch size",
    "concurrency_range": "Concurrency",
    "request_rate_range": "Requests per second",
}


def _axis_title(axis: str, axes: Axes) -> str:
    if axis in METRICS:
        return axes.quantity(axis).column.header
    return _LOAD_TITLES.get(axis, axis.replace("_", " ").capitalize())


def _scale(
    values: Sequence[float],
    of_default: Sequence[float] = (),
    *,
    base: int = 10,
    wide: float = _WIDE,
) -> dict[str, Any]:
    """The scale: logarithmic for positive values with a `wide` range, or if the default
    configuration would squash the others; otherwise linear, from zero unless all values are close
    together.
    """
    together = [*values, *of_default]
    low, high = min(together, default=0), max(together, default=0)
    squashes = bool(values and of_default) and max(of_default) > _SQUASHING * max(values)
    if low > 0 and (high > wide * low or squashes):
        # `nice` would extend the axis to powers of the base
        return {"type": "log", "base": base, "nice": False, "padding": 24}
    is_narrow = high - low < _NARROW * high
    return {"type": "linear", "nice": True, "zero": len(together) < 2 or not is_narrow}


def load_order(item: MeasuredTrial) -> tuple[int, int, tuple[int, ...]]:
    """A sort key: client batch size, then load value; for several models sums, then the values of
    each model.
    """
    sizes, strengths = _batch_sizes(item), _strengths(item)
    return sum(sizes), sum(strengths), strengths


def limit_layers(plot: PlotSettings, axes: Axes) -> list[dict[str, Any]]:
    """The layers with the constraints on both axes, as labelled lines."""
    return [*_limits(plot.x_axis, "x", axes), *_limits(plot.y_axis, "y", axes)]


def _limits(tag: str, axis: str, axes: Axes) -> list[dict[str, Any]]:
    if tag not in METRICS:
        return []
    limits = axes.limits(axes.quantity(tag))
    place = (
        {"align": "left", "baseline": "top", "dx": 5, "y": 0}
        if axis == "x"
        else {"align": "left", "baseline": "bottom", "dy": -4, "x": 4}
    )
    layers: list[dict[str, Any]] = []
    for limit, sign in limits:
        at = {axis: {"datum": limit}}
        label = f"{sign} {limit_text(limit)} {METRICS[tag].unit}"
        once = {"data": {"values": [{}]}, "encoding": at}
        layers.append({"mark": {"type": "rule"}, **once})
        layers.append({"mark": {"type": "text", "text": label, **place}, **once})
    return layers


def vega_lite(
    points: Sequence[Mapping[str, Any]],
    layers: Sequence[Mapping[str, Any]],
    *,
    height: int = HEIGHT,
) -> dict[str, Any]:
    """The specification of a chart with `layers` over the data `points`, in the light style. Its
    parameter CHOSEN holds the row that the reader selected.
    """
    return {
        "$schema": _SCHEMA,
        "width": _WIDTH,
        "height": height,
        "config": chart_config(),
        "params": [{"name": CHOSEN, "value": NO_ROW}],
        "data": {"values": points},
        "layer": layers,
    }
