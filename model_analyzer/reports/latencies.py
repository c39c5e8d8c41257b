# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The latencies of one measurement beside those of another one: their distribution, and their
average over time. A page has the charts without data, and fills them with what its reader selects.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from model_analyzer.domain.measurements import ModelMeasurement
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.domain.trials import LoadKind, Workload
from model_analyzer.reports.plots import vega_lite

_FAMILY = "perf_latency"
# The distribution is drawn at these shares of the requests: closely where latencies are long.
_SHARES = (*(percent / 100 for percent in range(0, 96, 5)), 0.97, 0.98, 0.99, 0.995, 0.999, 1.0)
_DIGITS = 3

_HEIGHT = 180
_COLOURS = ("#d55e00", "#8a8a8a")  # of the selected measurement, and of the other one
_QUANTITATIVE = "quantitative"

# Points of a chart: (x, y).
Points = Sequence[tuple[float, float]]


def distribution_of(item: MeasuredTrial) -> Points:
    """The latency (ms) that each share of the requests (percent) does not exceed; empty for several
    models, and without a histogram of all requests.
    """
    model = _only_model(item)
    histogram = None if model is None else model.histograms.get(_FAMILY)
    if histogram is None or histogram.is_approximate or histogram.is_empty:
        return ()
    return [(_rounded(histogram.quantile(share)), 100 * share) for share in _SHARES]


def averages_of(item: MeasuredTrial) -> Sequence[Points]:
    """For each round, the average latency (ms) in each of its windows, at the seconds of
    measuring that had passed in the middle of the window. Empty for several models, and for open
    loads: it follows from the throughput of a window only if as many requests are always in flight.
    """
    if _only_model(item) is None:
        return ()
    (work,) = item.trial.workloads
    if work.load.kind is not LoadKind.CONCURRENCY:
        return ()
    return [*_over_time(work, [run.models[0] for run in item.runs])]


def _over_time(work: Workload, models: Sequence[ModelMeasurement]) -> Iterator[Points]:
    began, in_flight = 0.0, work.load.value * work.load.batch_size
    for model in models:
        if model.seconds and len(model.windows) > 1 and min(model.windows) > 0:
            width = model.seconds / len(model.windows)
            yield [
                (_rounded(began + (place + 0.5) * width), _rounded(1000 * in_flight / window))
                for place, window in enumerate(model.windows)
            ]
        began += model.seconds


def _only_model(item: MeasuredTrial) -> ModelMeasurement | None:
    models = item.measurement.models
    return models[0] if len(models) == 1 else None


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def latency_charts() -> dict[str, dict[str, Any]]:
    """The charts without data, by name. Each point has `x`, `y`, its `side` and the `part` of its
    line; the side that comes first is that of the selected measurement.
    """
    latency = {"type": _QUANTITATIVE, "scale": {"type": "log", "nice": False}}
    shares = {"type": _QUANTITATIVE, "scale": {"domain": [0, 100]}}
    return {
        "distribution": _lines(
            {"field": "x", "title": "Latency (ms)", **latency},
            {"field": "y", "title": "Requests (%)", **shares},
        ),
        "over_time": _lines(
            {"field": "x", "title": "Time measured (s)", "type": _QUANTITATIVE},
            {"field": "y", "title": "Average latency (ms)", "type": _QUANTITATIVE},
        ),
    }


def _lines(x: dict[str, Any], y: dict[str, Any]) -> dict[str, Any]:
    colour = {
        "field": "side",
        "type": "nominal",
        "sort": None,
        "scale": {"range": _COLOURS},
        "legend": {"title": None, "orient": "bottom", "columns": 1},
    }
    encoding = {"x": x, "y": y, "color": colour, "detail": {"field": "part"}}
    return vega_lite([], [{"mark": {"type": "line"}, "encoding": encoding}], height=_HEIGHT)
