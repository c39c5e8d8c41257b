# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Latency breakdown charts: time in the client, on the network and inside the server."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from model_analyzer.domain.groups import group_members
from model_analyzer.domain.loads import load_text
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.parts import add_up
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.reports.plots import (
    HEIGHT,
    NO_PLACES,
    NO_ROW,
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

# The times in the server: name, metric and colour of each.
SERVER_TIMES = tuple((phase, tag, _COLOURS[phase]) for phase, tag in _IN_SERVER.items())

# For streamed responses, the server's statistics may cover only the start of the response. Below
# this share of the latency (0 to 1), the breakdown would be misleading, so it is not shown.
_MIN_COVERAGE = 0.5
_STREAMED = frozenset(
    {"time_to_first_token_p99", "time_to_first_token_avg", "output_token_throughput"}
)

_MOST_BARS = 40  # more leave no space for their labels

_BATCH = "client batch size"
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
    """The known parts of the average latency in ms: of a language model, queue, first token and
    further tokens; otherwise empty if the server's times do not add up, or cover too little of a
    streamed response. Client waiting time that the server does not account for counts as network
    and other.
    """
    measurement = item.measurement
    tokens = _of_tokens(measurement)
    if tokens:
        return tokens
    if not _adds_up(item) or covered_share(measurement) < _MIN_COVERAGE:
        return {}
    inside = _inside(measurement)
    parts = dict(inside)
    client = measurement.value("perf_client_send_recv")
    if client is not None:
        parts[_CLIENT] = client
    wait = measurement.value("perf_client_response_wait")
    # the server also counts requests that the client leaves out, so the sum may exceed the wait
    if wait is not None and inside and wait > sum(inside.values()):
        parts[_NETWORK] = wait - sum(inside.values())
    return parts


def _adds_up(item: MeasuredTrial) -> bool:
    """Whether the server's times of each model are parts of a request."""
    uncached = item.trial.setup.uncached
    return all(add_up(work.variant, uncached=uncached) for work in item.trial.workloads)


def _of_tokens(measurement: Measurement) -> Mapping[str, float]:
    """The time in the queue, from there to the first token, and to the last; empty if unknown."""
    latency = measurement.value("perf_latency_avg")
    first = measurement.value("time_to_first_token_avg")
    if latency is None or first is None or first > latency:
        return {}
    queue = min(measurement.value("perf_server_queue") or 0.0, first)
    parts = {"Queue": queue, _FIRST_TOKEN: first - queue, _TOKENS: latency - first}
    return {phase: time for phase, time in parts.items() if time}


def covered_share(measurement: Measurement) -> float:
    """The share of the average latency that server times account for (0 to 1). It is 1 without
    streaming, where the remaining time is network time.
    """
    if all(_STREAMED.isdisjoint(model.values) for model in measurement.models):
        return 1.0
    latency = measurement.value("perf_latency_avg") or measurement.value(
        "perf_client_response_wait"
    )
    inside = _inside(measurement)
    return min(1.0, sum(inside.values()) / latency) if inside and latency else 1.0


def missing_breakdown(items: Sequence[MeasuredTrial]) -> str:
    """Why some of these measurements have no breakdown, as a phrase; "" if all have one."""
    others = [item for item in items if not _of_tokens(item.measurement)]
    if not all(map(_adds_up, others)):
        return (
            "not shown: the server's times are no parts of a request, since steps run at the same"
            " time, after the response, or only if the response cache has no answer"
        )
    least = min((covered_share(item.measurement) for item in others), default=1.0)
    if least >= _MIN_COVERAGE:
        return ""
    return (
        f"not shown: server times cover only {100 * least:.0f} % of the average latency of a"
        " streamed response"
    )


def _inside(measurement: Measurement) -> Mapping[str, float]:
    """The known server times in ms."""
    return {
        phase: value
        for phase, tag in _IN_SERVER.items()
        if (value := measurement.value(tag)) is not None
    }


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
    return {
        "field": "phase",
        "type": "nominal",
        "sort": present,
        "scale": {"domain": present, "range": [_COLOURS[phase] for phase in present]},
        "legend": {"title": None, "orient": "bottom"},
    }


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
        ("concurrency=", "Concurrent requests"),
        (" requests/sec", "Requests per second"),
    ):
        if all(part in load and _BATCH not in load for load in loads):
            return part, title
    return "", None


def _angle(labels: Sequence[str]) -> int:
    """The angle of labels below bars: 0 if they fit, also on a phone."""
    return 0 if sum(map(len, labels)) <= _MAX_FLAT else -30
