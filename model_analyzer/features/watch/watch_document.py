# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What was seen, for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from model_analyzer.features.watch.facts.server_counts import RATIOS, Estimate
from model_analyzer.features.watch.watch_text import other_lines, verdict_line
from model_analyzer.features.watch.watching import WatchReport
from model_analyzer.noise.noise import Interval

# The version of the layout; increased when readers of the last version would misread this one.
WATCH_VERSION = 1


def watch_document(reports: Sequence[WatchReport], seconds: float) -> dict[str, Any]:
    """All models, with unrounded numbers; null is unknown."""
    models = [_model(report) for report in reports]
    return {"version": WATCH_VERSION, "watched_s": seconds, "models": models}


def _model(report: WatchReport) -> dict[str, Any]:
    seen, scene = report.watched, report.watched.scene
    return {
        "model": seen.model,
        "variant": scene.promise.variant.name,
        "verdict": seen.kind.value,
        "sentence": verdict_line(report),
        "remarks": [*other_lines(report)],
        "deviations": [
            {
                "verdict": each.kind.value,
                "name": each.name,
                "server": each.server or None,
                "sentence": each.text,
                "seen": _estimate(each.seen),
                "promised": _interval(each.promised),
                "suspects": [*each.suspects],
            }
            for each in seen.deviations
        ],
        "replicas": [
            {
                "server": each.server,
                "requests": each.total("requests"),
                "seconds": each.total("seconds"),
                **{name: _estimate(each.of(name)) for name in RATIOS},
                "versions": [*each.parts("version")],
            }
            for each in scene.replicas
        ],
        "replicas_needed": report.needed,
        "replica_carries": scene.promise.carries,
        "cv": _estimate(seen.cv),
    }


def _estimate(estimate: Estimate | None) -> dict[str, Any] | None:
    if estimate is None:
        return None
    return {"value": estimate.value, "interval": _interval(estimate.interval)}


def _interval(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [interval.low, interval.high]
