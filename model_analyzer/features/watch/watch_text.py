# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What was seen, in sentences, as a table, as a page, for programs, and as a load that `profile`
measures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timezone
from statistics import fmean, variance
from typing import Any

from model_analyzer import __version__
from model_analyzer.domain.metrics import METRICS
from model_analyzer.domain.trials import under
from model_analyzer.domain.words import MOST_RATE, counted, number_text
from model_analyzer.features.watch.facts.deviations import (
    SeenDeviation,
    WatchClass,
    Watched,
    range_text,
)
from model_analyzer.features.watch.facts.server_counts import RATIOS, Estimate, Span, joined
from model_analyzer.features.watch.server_readings import WatchReport
from model_analyzer.noise.noise import Interval
from model_analyzer.reports.html import render_page
from model_analyzer.reports.tables import Table
from model_analyzer.reports.templating import Commented, yaml_documents

# The columns: one of `RATIOS`, its header, and what was measured of it.
_COLUMNS = {
    "requests_per_s": "Requests/s",
    "inferences_per_request": "Inferences",
    "mean_batch": "Batch",
    "in_flight": "In flight",
    "queue_ms": "Queue ms",
    "compute_ms": "Compute ms",
    "failed_share": "Failed",
}

# The version of the document; increased when readers of the last version would misread this one.
WATCH_VERSION = 1

_SCRIPTS = ("dom.js", "theme.js")
# How the page shows a class; the others are bad.
_STATES = {WatchClass.AS_PROMISED: "good", WatchClass.NOT_CHECKED: "unsure"}

# Told of the measurement that is nearest to the traffic.
_TOLD = ("perf_latency_p99", "perf_throughput")


def verdict_line(report: WatchReport) -> str:
    """The class in one line."""
    seen = report.watched
    text = f"{seen.model}: {seen.kind.value}"
    if seen.kind is not WatchClass.NOT_CHECKED:
        return f"{text}: {_sentence(seen.deviations[0])}" if seen.deviations else text
    replicas = seen.scene.replicas
    requests = sum(each.total("requests") for each in replicas)
    seconds = max((each.total("seconds") for each in replicas), default=0.0)
    return f"{text}: {requests:,.0f} requests in {seconds:.0f} s are too few: watch longer"


def other_lines(report: WatchReport) -> Iterator[str]:
    """What to look at first, what else differs, and what the checkpoint knows of such traffic."""
    seen, scene = report.watched, report.watched.scene
    for suspect in seen.deviations[0].suspects if seen.deviations else ():
        yield f"look first at {suspect}"
    for deviation in seen.deviations[1:]:
        yield f"also {deviation.kind.value}: {_sentence(deviation)}"
    if scene.busy:
        expected = scene.expected(scene.busy[0])
        if expected is None:
            yield "such requests were not measured: --write-load writes them as a load for profile"
        else:
            known = ((METRICS[tag], expected.item.measurement.value(tag)) for tag in _TOLD)
            values = [f"{each.name} {number_text(v)} {each.unit}" for each, v in known if v]
            yield f"measured {under(expected.item.trial)}: {', '.join(values)}"
    if report.needed is not None:
        count = len(scene.replicas)
        needed = counted(report.needed, "replica")
        rate = number_text(sum(each.value("requests_per_s") for each in scene.replicas))
        be = "is" if count == 1 else "are"
        yield f"{rate} requests/s with 20 % headroom need {needed}; {count} {be} seen"
    for found in scene.found:
        if found.why_not:
            yield f"the configuration of {found.server} was not compared: {found.why_not}"
    unread = len(scene.replicas) - len(scene.found)
    if scene.found and unread > 0:
        yield (
            f"the configuration of {counted(unread, 'replica')} was not compared: give a"
            " --server-url for each"
        )
    if not scene.found:
        yield "the configuration was not compared: --server-url HOST:PORT does that"


def seen_table(report: WatchReport) -> Table:
    """What each replica does, beside what was measured at such a rate."""
    scene = report.watched.scene
    rows: list[tuple[str | None, ...]] = []
    for each in scene.replicas:
        seen = [each.of(name) for name in _COLUMNS]
        rows.append((each.server, *(number_text(one.value) if one else None for one in seen)))
    expected = scene.expected(scene.busy[0]) if scene.busy else None
    if expected is not None:
        rates = [point.rate for point in scene.promise.points]
        ranges = {
            "requests_per_s": Interval(low=min(rates), high=max(rates)),
            "mean_batch": expected.batch,
            "queue_ms": expected.queue,
            "compute_ms": expected.compute,
        }
        found = map(ranges.get, _COLUMNS)
        rows.append(("measured", *(None if each is None else range_text(each) for each in found)))
    return Table(headers=("Replica", *_COLUMNS.values()), rows=tuple(rows))


def watch_page(reports: Sequence[WatchReport], seconds: float, until: float) -> str:
    """The same as a page; `until` is the time of the last reading, in seconds since the epoch."""
    models = [
        {
            "name": report.watched.model,
            "variant": report.watched.scene.promise.variant.name,
            "kind": report.watched.kind.value,
            "state": _STATES.get(report.watched.kind, "bad"),
            "lines": [*verdict_line(report).split(": ", 2)[2:], *other_lines(report)],
            "table": seen_table(report),
        }
        for report in reports
    ]
    ended = f"{datetime.fromtimestamp(until, timezone.utc):%Y-%m-%d %H:%M:%S} UTC"
    values = {"models": models, "seconds": seconds, "until": ended, "version": __version__}
    return render_page("watch.html.j2", _SCRIPTS, has_charts=False, **values)


def watch_document(reports: Sequence[WatchReport], seconds: float) -> dict[str, Any]:
    """All models for programs, with unrounded numbers; null is unknown."""
    models = [_document(report) for report in reports]
    return {"version": WATCH_VERSION, "watched_s": seconds, "models": models}


def _document(report: WatchReport) -> dict[str, Any]:
    seen, scene = report.watched, report.watched.scene
    return {
        "model": seen.model,
        "variant": scene.promise.variant.name,
        "verdict": seen.kind.value,
        "sentence": verdict_line(report),
        "remarks": [*other_lines(report)],
        "deviations": [{**asdict(each), "kind": each.kind.value} for each in seen.deviations],
        "replicas": [
            {
                "server": each.server,
                "requests": each.total("requests"),
                "seconds": each.total("seconds"),
                "versions": [*each.parts("version")],
                **{name: _plain(each.of(name)) for name in RATIOS},
            }
            for each in scene.replicas
        ],
        "replicas_needed": report.needed,
        "replica_carries": scene.promise.carries,
        "cv": _plain(seen.cv),
    }


def _plain(estimate: Estimate | None) -> dict[str, Any] | None:
    return None if estimate is None else asdict(estimate)


def _sentence(deviation: SeenDeviation) -> str:
    return f"{deviation.server}: {deviation.text}" if deviation.server else deviation.text


# A measurement with stages takes so many seconds; they keep their rates.
_STAGES, _STAGES_S = 12, 60.0
# The variance of counts by their mean, which is 1 for independent users: more is no chance.
_DIFFER = 3.0
_MOST_CV = 10.0


def traffic_file(reports: Sequence[WatchReport]) -> str | None:
    """A configuration with the load of a replica for each model; None if there was too little."""
    seen = [report.watched for report in reports if report.watched.scene.busy]
    if not seen:
        return None
    remarks = [
        "What each replica gets in production, as a load for profile:",
        "    model-analyzer profile -f THIS_FILE --model-repository MODELS --latency-budget MS",
        "Goals and bounds are not in it: at a given rate, all that keeps up is as fast.",
    ]
    models = {each.model: _options(each) for each in seen}
    return yaml_documents(remarks, [{"profile_models": models}])


def _options(seen: Watched) -> Mapping[str, Any]:
    sizes = [each.value("inferences_per_request") for each in seen.scene.busy]
    options: dict[str, Any] = {"load": _load(seen)}
    if round(max(sizes)) > 1:
        batch = Commented(round(max(sizes)), f"{number_text(max(sizes))} inferences on average")
        options["parameters"] = {"batch_sizes": [batch]}
    return options


def _load(seen: Watched) -> Mapping[str, Any]:
    busiest, cv = seen.scene.busy[0], seen.cv
    rates = [min(max(1, round(busiest.value("requests_per_s"))), MOST_RATE)]
    if cv is not None and cv.interval is not None and not cv.interval.low <= 1 <= cv.interval.high:
        value = float(f"{min(max(cv.value, 0.05), _MOST_CV):.2g}")
        return {"arrivals": "gamma", "cv": value, "rate": rates}
    stages = [*_stages(busiest.every)]
    return {"stages": stages} if stages else {"arrivals": "poisson", "rate": rates}


def _stages(windows: Sequence[Span]) -> Iterator[Mapping[str, Any]]:
    """The rates over the whole time in fewer seconds, if they differ by more than chance."""
    whole = windows[-1].ended - windows[0].began
    parts = [*joined(windows, whole / _STAGES)]
    counts = [part.number("requests") for part in parts]
    if len(parts) < 3 or variance(counts) < _DIFFER * fmean(counts):
        return
    factor = _STAGES_S / sum(part.number("seconds") for part in parts)
    for part in parts:
        seconds = f"{max(part.number('seconds') * factor, 0.1):.1f}s"
        if part.rate:
            yield {"rate": float(f"{min(part.rate, MOST_RATE):.3g}"), "for": seconds}
