# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Charts of where the time of a request goes: in the client, on the way, inside the server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from model_analyzer.domain.groups import group_members
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.reports.loads import load_text
from model_analyzer.reports.plots import (
    HEIGHT,
    NO_PLACES,
    NOWHERE,
    Chart,
    Places,
    evenly,
    load_order,
    vega_lite,
)
from model_analyzer.results.ranking import VariantResult

_IN_SERVER = {
    "Queue": "perf_server_queue",
    "Compute input": "perf_server_compute_input",
    "Compute infer": "perf_server_compute_infer",
    "Compute output": "perf_server_compute_output",
}
_CLIENT, _WAY = "Client send/receive", "Network and the rest"
_COLOURS = {
    "Queue": "#e69f00",
    "Compute input": "#56b4e9",
    "Compute infer": "#009e73",
    "Compute output": "#f0e442",
    _CLIENT: "#cc79a7",
    _WAY: "#9aa1ad",
}

# Of a streamed answer, the server's statistics may tell of its beginning only: times that add up to
# less than this part of the latency would be taken for all of it.
_EXPLAINED = 0.5
_STREAMED = frozenset(
    {"time_to_first_token_p99", "time_to_first_token_avg", "output_token_throughput"}
)

_MOST_BARS = 40  # more have no room for their names

_BATCH = "client batch size"
_FLAT = 20  # letters below a chart
_LINE = 32  # letters beside it
_HALF_LINE = 6  # pixels


def latency_breakdown(result: VariantResult, *, places: Places = NO_PLACES) -> Chart:
    """Where the time goes, for each load of a variant; without data where nothing was told."""
    items = [item for item in result.measured if phases(item.measurement)]
    chosen = evenly(sorted(items, key=load_order), _MOST_BARS)
    bars = [(load_text(item.trial), item) for item in chosen]
    caption = f"Where the time of a request goes on average, by load, for {result.telling_name}."
    return Chart(
        name="latency_breakdown",
        caption=caption + _few(len(chosen), len(items), "loads"),
        spec=_bars(bars, places, horizontal=False),
    )


def breakdown_of_variants(
    results: Sequence[VariantResult], *, places: Places = NO_PLACES
) -> Sequence[Chart]:
    """Where the time goes, for each variant at its best measurement; none if nothing was told."""
    bars = [
        (result.telling_name, result.best) for result in results if phases(result.best.measurement)
    ]
    if not bars:
        return ()
    caption = "Where the time of a request goes on average, for each configuration at its best."
    chosen = bars[:_MOST_BARS]
    chart = Chart(
        name="latency_breakdown",
        caption=caption + _few(len(chosen), len(bars), "configurations"),
        spec=_bars(chosen, places, horizontal=True),
    )
    return (chart,)


def _few(drawn: int, count: int, what: str) -> str:
    """That not all have a bar, for a caption, where it is so."""
    return f" Of {count} {what} {drawn} are drawn." if drawn < count else ""


def phases(measurement: Measurement) -> Mapping[str, float]:
    """The parts of the average latency (ms), as far as they are known; none of a streamed answer
    that they do not explain. What the client waits for and the server does not account for is the
    way between them, and what else there is.
    """
    if explained(measurement) < _EXPLAINED:
        return {}
    inside = _inside(measurement)
    parts = dict(inside)
    client = measurement.value("perf_client_send_recv")
    if client is not None:
        parts[_CLIENT] = client
    wait = measurement.value("perf_client_response_wait")
    # a decoupled or streaming answer, or parts in parallel, take more time in sum than the wait
    if wait is not None and inside and wait > sum(inside.values()):
        parts[_WAY] = wait - sum(inside.values())
    return parts


def explained(measurement: Measurement) -> float:
    """The part of the average latency that times inside the server account for, from 0 to 1: 1 of
    answers that are not streamed, whose other time is spent on the way.
    """
    if all(_STREAMED.isdisjoint(model.values) for model in measurement.models):
        return 1.0
    latency = measurement.value("perf_latency_avg") or measurement.value(
        "perf_client_response_wait"
    )
    inside = _inside(measurement)
    return min(1.0, sum(inside.values()) / latency) if inside and latency else 1.0


def unexplained(measurements: Sequence[Measurement]) -> str:
    """Why there is no breakdown of some of these, in a sentence; "" if there is."""
    least = min(map(explained, measurements), default=1.0)
    if least >= _EXPLAINED:
        return ""
    return (
        f"not shown: the server's own times cover only {100 * least:.0f} % of the"
        " average latency of a streamed answer"
    )


def _inside(measurement: Measurement) -> Mapping[str, float]:
    """The times inside the server (ms), as far as they are known."""
    return {
        phase: value
        for phase, tag in _IN_SERVER.items()
        if (value := measurement.value(tag)) is not None
    }


def _bars(
    bars: Sequence[tuple[str, MeasuredTrial]], places: Places, *, horizontal: bool
) -> dict[str, Any]:
    """A bar for each load, side by side; or, horizontal, for each variant."""
    labels = {name: _broken(name) if horizontal else name for name, _ in bars}
    said, title = ("", None) if horizontal else _common_part([name for name, _ in bars])
    points = [
        {
            "bar": labels[name],
            "phase": phase,
            "rank": rank,
            "time": times[phase],
            "row": places.get(id(item), NOWHERE),
        }
        for name, item in bars
        for times in [phases(item.measurement)]
        for rank, phase in enumerate(_COLOURS)
        if phase in times
    ]
    names = list(dict.fromkeys(labels.values()))
    lines = [line for name in names for line in name.split("\n")]
    present = [phase for phase in _COLOURS if any(point["phase"] == phase for point in points)]
    most = max((name.count("\n") + 1 for name in names), default=1)
    bar = {
        "field": "bar",
        "type": "nominal",
        "sort": names,
        "title": title,
        "axis": {
            "labelExpr": f"split(replace(datum.label, '{said}', ''), '\\n')",
            "labelAngle": 0 if horizontal else _angle([name.replace(said, "") for name in names]),
            "labelOffset": -_HALF_LINE * (most - 1),
        },
    }
    time = {
        "field": "time",
        "type": "quantitative",
        "title": "Average time (ms)",
        "axis": {"tickCount": 8},
    }
    layer = {
        "mark": {"type": "bar"},
        "encoding": {
            # a few bars are not to be as wide as they could
            "x": time if horizontal else {**bar, "scale": {"paddingOuter": 2 / max(1, len(names))}},
            "y": bar if horizontal else time,
            "color": {
                "field": "phase", "type": "nominal", "sort": present,
                "scale": {"domain": present, "range": [_COLOURS[phase] for phase in present]},
                "legend": {"title": None, "orient": "bottom"},
            },
            "order": {"field": "rank"},
        },
    }  # fmt: skip
    step = max(34, 2 * _HALF_LINE * (most + 1))
    spec = vega_lite(points, [layer], height=step * len(names) + 20 if horizontal else HEIGHT)
    # a reader's font may be wider than the one it was drawn with
    return {**spec, "padding": {"left": 5 + 2 * max(map(len, lines), default=0), "right": 5}}


def _broken(name: str) -> str:
    """A name for the side of a chart, on a line for each model, and two where it is long."""
    lines = []
    for part in group_members(name):
        model, infix, number = part.rpartition("_config_")
        lines += [part] if len(part) <= _LINE or not model else [model, infix + number]
    return "\n".join(lines)


def _common_part(loads: Sequence[str]) -> tuple[str, str | None]:
    """What the axis may say instead of each label below it, and in which words."""
    for part, title in (
        ("concurrency=", "Concurrent requests"),
        (" requests/sec", "Requests per second"),
    ):
        if all(part in load and _BATCH not in load for load in loads):
            return part, title
    return "", None


def _angle(labels: Sequence[str]) -> int:
    """Labels below bars lie flat as long as there is room for them, on a phone, too."""
    return 0 if sum(map(len, labels)) <= _FLAT else -30
