# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Charts as Vega-Lite specifications: data only, rendered elsewhere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.metrics import METRICS
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.domain.settings import PlotSettings
from model_analyzer.domain.trials import LoadKind
from model_analyzer.results.ranking import VariantResult

_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
_WIDTH, _HEIGHT = 820, 380

# latencies that span more than this factor get a logarithmic axis
_WIDE = 10

# Distinguishable with any kind of colour vision (Okabe and Ito); the default is always grey.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_DEFAULT_COLOUR = "#8a8a8a"
_CONFIG = {
    "font": "system-ui, sans-serif",
    "background": "#ffffff",
    "axis": {
        "labelFontSize": 12,
        "titleFontSize": 12,
        "gridColor": "#e6e6e6",
        "titlePadding": 14,  # the browser's font may be wider than the one it was drawn with
        "labelLimit": 320,
    },
    "legend": {"labelFontSize": 12, "labelLimit": 260, "columnPadding": 28},
    "view": {"stroke": None},
}

_PHASES = {
    "Queue": "perf_server_queue",
    "Compute input": "perf_server_compute_input",
    "Compute infer": "perf_server_compute_infer",
    "Compute output": "perf_server_compute_output",
}
_PHASE_COLOURS = ("#e69f00", "#56b4e9", "#009e73", "#f0e442")

# The charts of summaries: by latency online, by the client's batch size offline.
THROUGHPUT_OVER_LATENCY = PlotSettings(
    name="throughput_v_latency", title="Throughput vs. Latency",
    x_axis="perf_latency_p99", y_axis="perf_throughput", monotonic=False,
)  # fmt: skip
_MEMORY_OVER_LATENCY = (
    PlotSettings(
        name="gpu_mem_v_latency", title="GPU Memory vs. Latency",
        x_axis="perf_latency_p99", y_axis="gpu_used_memory", monotonic=False,
    ),
    PlotSettings(
        name="cpu_mem_v_latency", title="CPU Memory vs. Latency",
        x_axis="perf_latency_p99", y_axis="cpu_used_ram", monotonic=False,
    ),
)  # fmt: skip
_THROUGHPUT_OVER_BATCH_SIZE = PlotSettings(
    name="through_v_batch_size", title="Throughput vs. Batch Size",
    x_axis="batch_size", y_axis="perf_throughput", monotonic=False,
)  # fmt: skip

# The charts of detailed reports where the user defined none.
_DETAILED_ONLINE = (
    THROUGHPUT_OVER_LATENCY,
    *_MEMORY_OVER_LATENCY,
    PlotSettings(
        name="gpu_util_v_latency", title="GPU Utilization vs. Latency",
        x_axis="perf_latency_p99", y_axis="gpu_utilization", monotonic=False,
    ),
    PlotSettings(
        name="gpu_power_v_latency", title="GPU Power vs. Latency",
        x_axis="perf_latency_p99", y_axis="gpu_power_usage", monotonic=False,
    ),
)  # fmt: skip
_DETAILED_OFFLINE = (
    PlotSettings(
        name="throughput_v_batch_size", title="Throughput vs. Batch Size",
        x_axis="batch_size", y_axis="perf_throughput", monotonic=False,
    ),
    PlotSettings(
        name="latency_v_batch_size", title="p99 Latency vs. Batch Size",
        x_axis="batch_size", y_axis="perf_latency_p99", monotonic=False,
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart: file name, caption, and its Vega-Lite specification."""

    name: str
    caption: str
    spec: dict[str, Any]


def summary_charts(
    results: Sequence[VariantResult], goal: Goal, *, offline: bool
) -> Sequence[Chart]:
    """The charts of a summary; those without data are left out."""
    plots = (
        (_THROUGHPUT_OVER_BATCH_SIZE,)
        if offline
        else (THROUGHPUT_OVER_LATENCY, *_MEMORY_OVER_LATENCY)
    )
    return [draw(results, plot, goal) for plot in plots if _has_data(results, plot)]


def detailed_charts(
    result: VariantResult, plots: Sequence[PlotSettings], *, offline: bool
) -> Sequence[Chart]:
    """The charts of one variant: `plots` of the user, or else those for the mode."""
    chosen = plots or (_DETAILED_OFFLINE if offline else _DETAILED_ONLINE)
    return [draw([result], plot, Goal(models=())) for plot in chosen if _has_data([result], plot)]


def _has_data(results: Sequence[VariantResult], plot: PlotSettings) -> bool:
    return any(
        _value(item, plot.x_axis) is not None and _value(item, plot.y_axis) is not None
        for result in results
        for item in result.measured
    )


def _value(item: MeasuredTrial, axis: str) -> float | None:
    """A metric, or a parameter of the (first) load."""
    if axis in METRICS:
        return item.measurement.value(axis)
    load = item.trial.workloads[0].load
    if axis == "batch_size":
        return load.batch_size
    kind = {
        "concurrency_range": LoadKind.CONCURRENCY,
        "request_rate_range": LoadKind.REQUEST_RATE,
    }.get(axis)
    return load.value if load.kind is kind else None


def _points(result: VariantResult, plot: PlotSettings) -> Sequence[MeasuredTrial]:
    """The measurements in the order of the line: by load over latency, else from left to right."""
    items = [
        item
        for item in sorted(result.measured, key=_load_order)
        if _value(item, plot.x_axis) is not None and _value(item, plot.y_axis) is not None
    ]
    if plot is not THROUGHPUT_OVER_LATENCY:
        items.sort(key=lambda item: _value(item, plot.x_axis) or 0)
    if plot.monotonic:
        highest = -math.inf
        rising = []
        for item in items:
            height = _value(item, plot.y_axis) or 0
            if height > highest:
                rising.append(item)
                highest = height
        return rising
    return items


def draw(results: Sequence[VariantResult], plot: PlotSettings, goal: Goal) -> Chart:
    """One line for each variant; constraints on either axis are dashed."""
    points: list[dict[str, Any]] = [
        {
            "variant": result.name,
            "load": item.trial.loads,
            "x": _value(item, plot.x_axis),
            "y": _value(item, plot.y_axis),
            "best": result is results[0] and item is result.best,
        }
        for result in results
        for item in _points(result, plot)
    ]
    for order, point in enumerate(points):
        point["order"] = order
    names = [result.name for result in results]
    colours = iter(_COLOURS * (len(names) // len(_COLOURS) + 1))
    scale = {
        "domain": names,
        "range": [_DEFAULT_COLOUR if result.is_default else next(colours) for result in results],
    }
    x = {
        "field": "x", "type": "quantitative", "title": _axis_title(plot.x_axis),
        "scale": _scale([point["x"] for point in points]),
        # there is no half of a request
        "axis": {} if plot.x_axis in METRICS else {"tickMinStep": 1},
    }  # fmt: skip
    y = {"field": "y", "type": "quantitative", "title": _axis_title(plot.y_axis)}
    colour = {
        "field": "variant", "type": "nominal", "scale": scale, "sort": names,
        "legend": {"title": None, "orient": "bottom", "columns": 2},
    }  # fmt: skip
    limits = [*_limits(goal, plot.x_axis, "x"), *_limits(goal, plot.y_axis, "y")]
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {"x": x, "y": y, "color": colour, "order": {"field": "order"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 45},
            "encoding": {"x": x, "y": y, "color": colour},
        },
        {
            "transform": [{"filter": "datum.best"}],
            "mark": {"type": "point", "size": 260, "strokeWidth": 2.5, "color": "#111111"},
            "encoding": {"x": x, "y": y},
        },
        *limits,
    ]
    caption = f"{plot.title}; the ring marks the recommended load"
    return Chart(
        name=plot.name,
        caption=f"{caption}, dashed lines are constraints." if limits else f"{caption}.",
        spec=_spec(points, layers),
    )


def _axis_title(axis: str) -> str:
    return METRICS[axis].header if axis in METRICS else axis.replace("_", " ").title()


def _scale(values: Sequence[float]) -> dict[str, Any]:
    """A logarithmic axis for values that span much."""
    positive = [value for value in values if value > 0]
    wide = len(positive) == len(values) > 0 and max(positive) > _WIDE * min(positive)
    if wide:
        return {"type": "log", "nice": False, "padding": 24}  # nice would go to powers of ten
    return {"type": "linear", "nice": True, "zero": True}


def latency_breakdown(result: VariantResult) -> Chart:
    """Where the time goes inside the server, for each load."""
    loads = sorted(result.measured, key=_load_order)
    order = [item.trial.loads for item in loads]
    points = [
        {
            "load": item.trial.loads,
            "phase": phase,
            "rank": rank,
            "time": item.measurement.value(tag),
        }
        for item in loads
        for rank, (phase, tag) in enumerate(_PHASES.items())
    ]
    layer = {
        "mark": {"type": "bar"},
        "encoding": {
            "x": {
                "field": "load", "type": "nominal", "sort": order, "title": None,
                "axis": {"labelAngle": -30},
            },
            "y": {"field": "time", "type": "quantitative", "title": "Average time (ms)"},
            "color": {
                "field": "phase", "type": "nominal", "sort": list(_PHASES),
                "scale": {"domain": list(_PHASES), "range": list(_PHASE_COLOURS)},
                "legend": {"title": None, "orient": "bottom"},
            },
            "order": {"field": "rank"},
        },
    }  # fmt: skip
    return Chart(
        name="latency_breakdown",
        caption=f"Average time inside the server, by load, for {result.name}.",
        spec=_spec(points, [layer]),
    )


def _load_order(item: MeasuredTrial) -> tuple[int, int]:
    load = item.trial.workloads[0].load
    return load.batch_size, load.value


def _limits(goal: Goal, tag: str, axis: str) -> list[dict[str, Any]]:
    limits = {
        limit
        for model in goal.models
        for constraint in model.constraints
        if constraint.tag == tag
        for limit in (constraint.minimum, constraint.maximum)
        if limit is not None
    }
    return [
        {
            "mark": {"type": "rule", "strokeDash": [6, 4], "color": "#b00020"},
            "encoding": {axis: {"datum": limit}},
        }
        for limit in sorted(limits)
    ]


def _spec(points: list[dict[str, Any]], layers: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "$schema": _SCHEMA,
        "width": _WIDTH,
        "height": _HEIGHT,
        "config": _CONFIG,
        "data": {"values": points},
        "layer": layers,
    }
