# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Charts as Vega-Lite specifications: data only, rendered elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.profiles import MeasuredTrial
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
    "axis": {"labelFontSize": 12, "titleFontSize": 12, "gridColor": "#e6e6e6"},
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

_LATENCY, _THROUGHPUT = "p99 latency (ms)", "Throughput (infer/sec)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart: file name, caption, and its Vega-Lite specification."""

    name: str
    caption: str
    spec: dict[str, Any]


def throughput_over_latency(results: Sequence[VariantResult], goal: Goal) -> Chart:
    """One line for each variant over its loads; constraints on either axis are dashed."""
    points: list[dict[str, Any]] = [
        {
            "variant": result.variant.name,
            "load": str(item.trial.workloads[0].load),
            "x": item.measurement.value("perf_latency_p99"),
            "y": item.measurement.value("perf_throughput"),
            "best": result is results[0] and item is result.best,
        }
        for result in results
        for item in sorted(result.measured, key=_load_order)
    ]
    for order, point in enumerate(points):
        point["order"] = order
    names = [result.variant.name for result in results]
    colours = iter(_COLOURS * (len(names) // len(_COLOURS) + 1))
    scale = {
        "domain": names,
        "range": [
            _DEFAULT_COLOUR if result.variant.is_default else next(colours) for result in results
        ],
    }
    latencies = [point["x"] for point in points if point["x"]]
    wide = bool(latencies) and max(latencies) > _WIDE * min(latencies)
    x = {
        "field": "x", "type": "quantitative", "title": _LATENCY,
        "scale": {"type": "log" if wide else "linear", "nice": True, "zero": not wide},
    }  # fmt: skip
    y = {"field": "y", "type": "quantitative", "title": _THROUGHPUT}
    colour = {
        "field": "variant", "type": "nominal", "scale": scale, "sort": names,
        "legend": {"title": None, "orient": "bottom", "columns": 2},
    }  # fmt: skip
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
        *_limits(goal, "perf_latency_p99", "x"),
        *_limits(goal, "perf_throughput", "y"),
    ]
    return Chart(
        name="throughput_v_latency",
        caption="Throughput over p99 latency; the ring marks the recommended load,"
        " dashed lines are constraints.",
        spec=_spec(points, layers),
    )


def latency_breakdown(result: VariantResult) -> Chart:
    """Where the time goes inside the server, for each load."""
    loads = sorted(result.measured, key=_load_order)
    order = [str(item.trial.workloads[0].load) for item in loads]
    points = [
        {
            "load": str(item.trial.workloads[0].load),
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
        caption=f"Average time inside the server, by load, for {result.variant.name}.",
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
