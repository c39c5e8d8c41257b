# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Causes in models that call others: one of them limits all, or the calls wait for each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

from model_analyzer.domain.models import ModelVariant
from model_analyzer.results.explain.finding import AdvisedChange, Cause, FoundCause
from model_analyzer.results.explain.situation import (
    NEGLIGIBLE_MS,
    Situation,
    Station,
    VariantPicture,
    instances,
    ms,
    noise_ms,
    percent,
)

# Instances that are busier than that make their callers wait.
_BUSY = 0.8
# The share of the latency in a queue from which more instances may help. One model limits only if
# requests wait less than this part of that for any other, and if others are less busy by this.
_WAITING, _LESS, _AS_BUSY = 0.3, 0.5, 0.9

# The share of the time of a call that calls one after the other take; the longest of them takes at
# most so much: if one call is nearly everything, calling others at the same time gains nothing.
_SERIAL, _LONGEST = 0.75, 0.75


def bottleneck(picture: VariantPicture) -> Iterator[FoundCause]:
    """A called model for which requests wait, because its instances are always busy."""
    situation = picture.highest
    latency = situation.times.total
    stations = sorted(_with_queues(situation), key=lambda each: each.waiting_ms)
    if not stations or stations[-1].busy < _BUSY:
        return
    *others, worst = stations
    wait = worst.waiting_ms - noise_ms(situation)
    if wait < max(_WAITING * latency, NEGLIGIBLE_MS):
        return
    # of parts that are equally busy, requests may wait for the first one only
    queues = [
        each
        for each in others
        if each.waiting_ms > _LESS * worst.waiting_ms or each.busy > _AS_BUSY * worst.busy
    ]
    evidence = [
        f"{situation.under}, {instances(worst.instances)} of {worst.model}"
        f" worked {percent(worst.busy)} of the time"
        + "".join(f", those of {each.model} {percent(each.busy)}" for each in others),
        f"a request waits {'' if worst.has_times else 'up to '}{ms(worst.waiting_ms)} for"
        f" {worst.model}, of {ms(latency)}",
    ]
    if queues:
        names = " and ".join(each.model for each in (*queues, worst))
        yield FoundCause(
            cause=Cause.TOO_FEW_INSTANCES,
            under=situation,
            weight=min(wait / latency, 1.0),
            evidence=tuple(evidence),
            advice=f"give {names} more instances; those of one of them alone change little",
        )
        return
    yield FoundCause(
        cause=Cause.COMPOSING_MODEL,
        under=situation,
        weight=min(worst.time_ms / latency, 1.0),
        evidence=tuple(evidence),
        advice=f"give {worst.model} more instances ({worst.instances} now), or make it faster;"
        " more instances of other models change nothing",
        change=more_instances(worst.variant, 2 * worst.instances),
    )


def _with_queues(situation: Situation) -> Sequence[Station]:
    """The called models. If queues are not known, the busiest of these models has all the time that
    may be in them: other time is short while requests wait for instances that are always busy.
    """
    hidden = [each for each in situation.called if not each.has_times]
    if situation.times.are_known or not hidden:
        return situation.called
    busiest = max(hidden, key=attrgetter("busy"))
    waiting = situation.times.outside - sum(each.waiting_ms for each in situation.called)
    others = [each for each in situation.called if each is not busiest]
    return [*others, replace(busiest, queue_ms=max(waiting, 0.0) / busiest.calls)]


def serial_calls(picture: VariantPicture) -> Iterator[FoundCause]:
    """A model that calls others one after the other, and does nothing else meanwhile."""
    situation = picture.calmest
    top, called = situation.top, situation.called
    if top is None or not called:
        return
    longest = max((each.queue_ms + each.compute_ms) * min(each.calls, 1.0) for each in called)
    count, spent = (sum(each.calls for each in called), sum(each.time_ms for each in called))
    own = top.execution_ms / top.batch
    if count < 1.5 or spent < NEGLIGIBLE_MS or not _SERIAL * own < spent < own / _SERIAL:
        return
    if longest > _LONGEST * own:
        return
    yield FoundCause(
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
    )


def more_instances(variant: ModelVariant, count: int) -> AdvisedChange:
    """The change that gives the first instance group of a variant so many instances."""
    groups: list[Mapping[str, Any]] = [*variant.config.get("instance_group", ())] or [{}]
    changed = [{**groups[0], "count": count}, *groups[1:]]
    return AdvisedChange(model=variant.model, parameters={"instance_group": changed})
