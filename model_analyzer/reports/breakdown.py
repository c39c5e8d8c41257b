# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Latency breakdown charts: time in the client, on the network and inside the server."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from model_analyzer.domain.models import group_members
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.domain.trials import load_text
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
