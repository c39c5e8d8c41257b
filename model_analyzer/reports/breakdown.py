# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Latency breakdown charts: time in the client, on the network and inside the server.

The latencies of one measurement beside those of another one: their distribution, and their average
over time. A page has the charts without data, and fills them with what its reader selects.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from model_analyzer.domain.measurements import ModelMeasurement
from model_analyzer.domain.models import group_members
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.domain.trials import LoadKind, Workload, load_text
from model_analyzer.reports.plots import (
    HEIGHT,
    NO_PLACES,
    NO_ROW,
    Chart,
    Places,
    by_kind,
    evenly,
    load_order,
    vega_lite,
)
from model_analyzer.results.ranking import VariantResult
from model_analyzer.results.time_parts import (
    NOT_MEASURED,
    SERVER_TAGS,
    TimePart,
    TimeParts,
    time_parts,
)

_CLIENT, _NETWORK = "Client send/receive", "Network and other"
_FIRST_TOKEN, _TOKENS = "To the first token", "Further tokens"
_COLOURS = {
    "Queue": "#e69f00",
    _FIRST_TOKEN: "#0072b2",
    _TOKENS: "#56b4e9",
    "Compute input": "#56b4e9",
    "Compute infer": "#009e73",
    "Compute output": "#f0e442",
    _CLIENT: "#cc79a7",
    _NETWORK: "#9aa1ad",
}

_PHASES = {
    TimePart.QUEUE: "Queue",
    TimePart.FIRST_TOKEN: _FIRST_TOKEN,
    TimePart.FURTHER_TOKENS: _TOKENS,
    TimePart.INPUTS: "Compute input",
    TimePart.COMPUTE: "Compute infer",
    TimePart.OUTPUTS: "Compute output",
}

# The times in the server: name, metric and colour of each.
SERVER_TIMES = tuple(
    (_PHASES[part], tag, _COLOURS[_PHASES[part]]) for part, tag in SERVER_TAGS.items()
)

_MOST_BARS = 40  # more leave no space for their labels

_BATCH = "client batch"
_MAX_FLAT = 20  # characters of all labels below a chart
_MAX_LINE = 32  # characters of a label beside it
_HALF_LINE = 6  # pixels


def latency_breakdown(result: VariantResult, *, places: Places = NO_PLACES) -> Chart:
    """Latency breakdown of a variant by load; a chart without data if no times were measured."""
    items = [item for item in result.measured if phases(item)]
    chosen = evenly(sorted(items, key=load_order), _MOST_BARS)
    bars = [(load_text(item.trial), item) for item in chosen]
    caption = f"Average latency breakdown by load, for {result.telling_name}."
    return Chart(
        name="latency_breakdown",
        caption=caption + _omission(len(chosen), len(items), "loads"),
        spec=_bars(bars, places, horizontal=False),
    )


def breakdown_of_variants(
    results: Sequence[VariantResult], *, places: Places = NO_PLACES
) -> Sequence[Chart]:
    """Latency breakdown of each variant at its best measurement; empty if none has times."""
    bars = [(result.telling_name, result.best) for result in results if phases(result.best)]
    if not bars:
        return ()
    caption = "Average latency breakdown of each configuration at its best measurement."
    chosen = bars[:_MOST_BARS]
    chart = Chart(
        name="latency_breakdown",
        caption=caption + _omission(len(chosen), len(bars), "configurations"),
        spec=_bars(chosen, places, horizontal=True),
    )
    return (chart,)


def _omission(drawn: int, count: int, noun: str) -> str:
    """For a caption: how many bars are left out, if any."""
    return f" {drawn} of {count} {noun} are shown." if drawn < count else ""


def phases(item: MeasuredTrial) -> Mapping[str, float]:
    """The known parts of the average latency in ms, by phase. What the server does not account for
    is the time of the client, as far as that is known, and of network and other.
    """
    parts = dict(_parts(item).parts)
    outside = parts.pop(TimePart.OUTSIDE, 0.0)
    client = item.measurement.value("perf_client_send_recv")
    shown = {_PHASES[part]: time for part, time in parts.items()}
    if not parts.keys() & SERVER_TAGS.keys() - {TimePart.QUEUE}:
        return {phase: time for phase, time in shown.items() if time}
    if client is not None:
        shown[_CLIENT] = client
        outside -= client
    if outside > 0:
        shown[_NETWORK] = outside
    return shown


def missing_breakdown(items: Sequence[MeasuredTrial]) -> str:
    """Why some of these measurements have no breakdown, as a phrase; "" if all have one, or no
    times.
    """
    reasons = (_parts(item).why.removeprefix(NOT_MEASURED) for item in items)
    return next((reason.replace("not known", "not shown", 1) for reason in reasons if reason), "")


def _parts(item: MeasuredTrial) -> TimeParts:
    variants = [work.variant for work in item.trial.workloads]
    return time_parts(variants, item.measurement, uncached=item.trial.setup.uncached)


def _bars(
    bars: Sequence[tuple[str, MeasuredTrial]], places: Places, *, horizontal: bool
) -> dict[str, Any]:
    """The chart: vertical bars for loads, or horizontal bars for variants."""
    labelled = [(_broken(name) if horizontal else name, item) for name, item in bars]
    names = list(dict.fromkeys(name for name, _ in labelled))
    lines = [line for name in names for line in name.split("\n")]
    most = max((name.count("\n") + 1 for name in names), default=1)
    points = _points(labelled, places)
    bar = _bar_axis(names, most, horizontal=horizontal)
    if not horizontal:
        # outer padding keeps a few bars from becoming very wide
        bar["scale"] = {"paddingOuter": 2 / max(1, len(names))}
    time = {
        "field": "time",
        "type": "quantitative",
        "title": "Average time (ms)",
        "axis": {"tickCount": 8},
    }
    layer = {
        "mark": {"type": "bar"},
        "encoding": {
            "x": time if horizontal else bar,
            "y": bar if horizontal else time,
            "color": _colour({point["phase"] for point in points}),
            "order": {"field": "rank"},
        },
    }
    step = max(34, 2 * _HALF_LINE * (most + 1))
    spec = vega_lite(points, [layer], height=step * len(names) + 20 if horizontal else HEIGHT)
    # the reader's font may be wider than the one used for drawing
    return {**spec, "padding": {"left": 5 + 2 * max(map(len, lines), default=0), "right": 5}}


def _points(bars: Sequence[tuple[str, MeasuredTrial]], places: Places) -> list[dict[str, Any]]:
    """A point for each phase of each labelled bar."""
    return [
        {
            "bar": name,
            "phase": phase,
            "rank": rank,
            "time": times[phase],
            "row": places.get(id(item), NO_ROW),
        }
        for name, item in bars
        for times in [phases(item)]
        for rank, phase in enumerate(_COLOURS)
        if phase in times
    ]


def _bar_axis(names: Sequence[str], most_lines: int, *, horizontal: bool) -> dict[str, Any]:
    """The axis with the names of the bars, which have up to `most_lines` lines."""
    common, title = ("", None) if horizontal else _common_part(names)
    return {
        "field": "bar",
        "type": "nominal",
        "sort": names,
        "title": title,
        "axis": {
            "labelExpr": f"split(replace(datum.label, '{common}', ''), '\\n')",
            "labelAngle": 0 if horizontal else _angle([name.replace(common, "") for name in names]),
            "labelOffset": -_HALF_LINE * (most_lines - 1),
        },
    }


def _colour(shown: Collection[str]) -> dict[str, Any]:
    """The colours of the phases, with a legend of those that are shown."""
    present = [phase for phase in _COLOURS if phase in shown]
    colours = [_COLOURS[phase] for phase in present]
    return {**by_kind("phase", present, colours), "sort": present}


def _broken(name: str) -> str:
    """A label for the side of a chart: one line per model, two if the name is long."""
    lines = []
    for part in group_members(name):
        model, infix, number = part.rpartition("_config_")
        lines += [part] if len(part) <= _MAX_LINE or not model else [model, infix + number]
    return "\n".join(lines)


def _common_part(loads: Sequence[str]) -> tuple[str, str | None]:
    """The part that all labels share, and the axis title that replaces it; ("", None) if none."""
    for part, title in (
        ("concurrency ", "Concurrency"),
        (" requests/sec", "Requests per second"),
    ):
        if all(part in load and _BATCH not in load for load in loads):
            return part, title
    return "", None


def _angle(labels: Sequence[str]) -> int:
    """The angle of labels below bars: 0 if they fit, also on a phone."""
    return 0 if sum(map(len, labels)) <= _MAX_FLAT else -30


_FAMILY = "perf_latency"
# The distribution is drawn at these shares of the requests: closely where latencies are long.
_SHARES = (*(percent / 100 for percent in range(0, 96, 5)), 0.97, 0.98, 0.99, 0.995, 0.999, 1.0)
_DIGITS = 3

_HEIGHT = 180
_COLOURS_OF_TWO = ("#d55e00", "#8a8a8a")  # of the selected measurement, and of the other one
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
        "scale": {"range": _COLOURS_OF_TWO},
        "legend": {"title": None, "orient": "bottom", "columns": 1},
    }
    encoding = {"x": x, "y": y, "color": colour, "detail": {"field": "part"}}
    return vega_lite([], [{"mark": {"type": "line"}, "encoding": encoding}], height=_HEIGHT)
