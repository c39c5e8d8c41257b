# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Causes in models that call others: one of them limits all, or the calls wait for each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from model_analyzer.domain.models import ModelVariant
from model_analyzer.results.explain.finding import Cause, Change, Finding
from model_analyzer.results.explain.picture import Picture
from model_analyzer.results.explain.situation import NEGLIGIBLE_MS
from model_analyzer.results.explain.texts import instances, ms, percent

# Instances that are busier than that make their callers wait; others are idle compared with them.
_BUSY, _IDLE = 0.8, 0.65

# The share of the latency in the queue from which more instances may help.
_WAITING = 0.3

# The share of the time of a call that calls one after the other take; the longest of them takes at
# most so much: if one call is nearly everything, calling others at the same time gains nothing.
_SERIAL, _LONGEST = 0.75, 0.75


def bottleneck(picture: Picture) -> Iterator[Finding]:
    """A called model whose instances are always busy, while the others are not."""
    situation = picture.highest
    stations = sorted(situation.called, key=lambda each: each.busy)
    if not stations or stations[-1].busy < _BUSY:
        return
    *others, busiest = stations
    if any(each.busy > _IDLE * busiest.busy for each in others):
        return
    spent = (busiest.queue_ms + busiest.compute_ms) * busiest.calls
    latency = situation.times.total
    yield Finding(
        cause=Cause.COMPOSING_MODEL,
        under=situation,
        weight=min(max(spent / latency if latency else 0.0, busiest.busy / 2), 1.0),
        evidence=(
            f"{situation.under}, {instances(busiest.instances)} of {busiest.model}"
            f" worked {percent(busiest.busy)} of the time"
            + "".join(f", those of {each.model} {percent(each.busy)}" for each in others),
            f"a request waits {ms(busiest.queue_ms)} for {busiest.model}, of {ms(latency)}",
        ),
        advice=f"give {busiest.model} more instances ({busiest.instances} now), or make it faster;"
        " more instances of other models change nothing",
        change=more_instances(busiest.variant, 2 * busiest.instances),
    )


def serial_calls(picture: Picture) -> Iterator[Finding]:
    """A model that calls others one after the other, and does nothing else meanwhile."""
    situation = picture.calmest
    top, called = situation.top, situation.called
    if top is None or not called:
        return
    calls = [(each.queue_ms + each.compute_ms) * each.calls for each in called]
    longest = max((each.queue_ms + each.compute_ms) * min(each.calls, 1.0) for each in called)
    count, spent = sum(each.calls for each in called), sum(calls)
    own = top.execution_ms / top.batch
    waiting = picture.highest.times
    is_waiting = waiting.share(waiting.queue) > _WAITING
    if count < 1.5 or spent < NEGLIGIBLE_MS or not _SERIAL * own < spent < own / _SERIAL:
        return
    if longest > _LONGEST * own:
        return
    yield Finding(
        cause=Cause.SERIAL_CALLS,
        under=picture.highest,
        weight=situation.times.share(own - longest),
        evidence=(
            f"an execution of {top.model} takes {ms(own)}; its {count:.3g} calls take"
            f" {ms(spent)} together, the longest one {ms(longest)}",
            f"{picture.highest.under}, the called models worked"
            f" {percent(max(each.busy for each in picture.highest.called))} of the time at most",
        ),
        advice="call models that do not need each other's outputs at the same time (async_exec and"
        f" asyncio.gather): about {ms(longest)} instead of {ms(spent)}; more instances of"
        f" {top.model} answer more requests, but none sooner",
        change=more_instances(top.variant, 2 * top.instances) if is_waiting else None,
    )


def more_instances(variant: ModelVariant, count: int) -> Change:
    """The change that gives the first instance group of a variant so many instances."""
    groups: list[Mapping[str, Any]] = [*variant.config.get("instance_group", ())] or [{}]
    changed = [{**groups[0], "count": count}, *groups[1:]]
    return Change(model=variant.model, parameters={"instance_group": changed})
