# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The traffic that production has, as a load that `profile` measures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, variance
from typing import Any

from model_analyzer.domain.numbers import MOST_RATE, number_text
from model_analyzer.features.watch.facts.deviations import Watched
from model_analyzer.features.watch.facts.server_counts import Span, joined
from model_analyzer.features.watch.watching import WatchReport
from model_analyzer.reports.templating import Commented, yaml_documents

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
