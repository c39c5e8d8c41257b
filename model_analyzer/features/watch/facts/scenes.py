# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""From what all servers told to a scene for each model: windows, replicas, and who is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median

from model_analyzer.features.watch.facts.deviations import Scene, ServerFound
from model_analyzer.features.watch.facts.promised_service import PromisedService
from model_analyzer.features.watch.facts.server_counts import Look, ReplicaSeen, joined, spans_of

# The whole time is cut into so many windows. The newest third is judged, but at least so many
# windows and seconds.
_WINDOWS, _JUDGED, _FEWEST, _LEAST_S = 30, 3, 5, 30.0

# A server that could not be read so many times is missing.
_MISSED = 3


def scenes_of(
    looks: Sequence[Look],
    services: Mapping[str, PromisedService],
    found: Mapping[str, Sequence[ServerFound]],
    wanted: int | None = None,
    version: str | None = None,
    *,
    are_replicas: bool,
) -> Sequence[Scene]:
    """A scene for each model with a promise, from looks in order of time. If all servers
    `are_replicas`, those without the model are missing; otherwise they are for something else, and
    new ones take the places of those that have gone.
    """
    by_server: dict[str, list[Look]] = {}
    for look in looks:
        by_server.setdefault(look.server, []).append(look)
    begin, end = min(look.at for look in looks), max(look.at for look in looks)
    window_s = (end - begin) / _WINDOWS
    seen: dict[str, list[ReplicaSeen]] = {name: [] for name in services}
    missing: dict[str, list[tuple[str, str]]] = {name: [] for name in services}
    for name in services:
        for server, own in by_server.items():
            if not are_replicas and not any(name in look.models for look in own):
                continue
            reason = _why_missing(own, name, end)
            if reason:
                missing[name].append((server, reason))
            else:
                seen[name].append(_replica(own, name, window_s))
        if not are_replicas:
            known = [own[0].at for own in by_server.values() if name in own[-1].models]
            new = [at for at in known if at > begin + _FEWEST * window_s]
            missing[name] = missing[name][len(new) :]
        if not seen[name] and not missing[name]:
            missing[name].append(("", "no server has the model"))
    requests = {name: sum(each.total("requests") for each in seen[name]) for name in services}
    return [
        Scene(
            promise=service, replicas=seen[name], missing=missing[name],
            found=found.get(name, ()), share=requests[name] / (sum(requests.values()) or 1.0),
            wanted=wanted, version=version,
        )
        for name, service in services.items()
    ]  # fmt: skip


def _why_missing(looks: Sequence[Look], model: str, end: float) -> str:
    """Why a server is no replica at the end; "" if it is one."""
    if all(look.why_not for look in looks[-_MISSED:]):
        return looks[-1].why_not
    if model not in [look for look in looks if not look.why_not][-1].models:
        return "the server does not have the model"
    every_s = median([later.at - first.at for first, later in pairwise(looks)] or [end])
    silent_s = end - looks[-1].at
    return f"silent for {silent_s:.0f} s" if silent_s > (_MISSED + 0.5) * every_s else ""


def _replica(looks: Sequence[Look], model: str, window_s: float) -> ReplicaSeen:
    spans = [*spans_of(looks, model)]
    windows = [*joined(spans, window_s)]
    newest = sum(looks[-1].at - window.began <= _LEAST_S for window in windows)
    judged = windows[-max(len(windows) // _JUDGED, _FEWEST, newest) :]
    return ReplicaSeen(
        server=looks[0].server,
        windows=judged,
        every=windows,
        spans=[span for span in spans if judged and span.began >= judged[0].began],
        gauges=[(look.at, look.gauges) for look in looks if look.gauges],
    )
