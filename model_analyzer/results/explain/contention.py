# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Causes of a throughput that more load or more instances do not raise: instances share a lock or
cores, and batches cost more than they gain.

Causes in models that call others: one of them limits all, or the calls wait for each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

from model_analyzer.domain.goals import DEFAULT_OBJECTIVE
from model_analyzer.domain.measurements import BatchStatistics, added
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.words import number_text
from model_analyzer.results.explain.finding import (
    AdvisedChange,
    Cause,
    FoundCause,
    change_between,
    fell,
    rose,
)
from model_analyzer.results.explain.over_time import slowdown
from model_analyzer.results.explain.situation import (
    NEGLIGIBLE_MS,
    Pair,
    Situation,
    Station,
    VariantPicture,
    busy_gpus,
    cpu_line,
    instances,
    is_computing,
    is_crowded,
    is_full,
    latest,
    ms,
    noise_ms,
    percent,
)

# An execution takes so many times as long when others run at the same time.
_SLOWER = 1.6
# Of the executions that were added, at most this share was won as throughput.
_WON = 0.5
# A part of an instance that is not worth another one.
_NEARLY = 0.1
# Instances that are worth no more than so many without a lock have one.
_GROWS = 1.3
# Other instances are as good with this part of the throughput, and better with that multiple.
_AS_GOOD, _BETTER = 0.95, 1.1
# Instances that are busier than that are the limit.
_BUSY = 0.8

# A batch size counts if it was executed so often; smaller batches are better if their inferences
# take at most this part of the time.
_OFTEN, _CHEAPER = 5, 0.7
# A throughput falls if it is at most this part of a better one under a lower load.
_FALLEN = 0.8

_WITHOUT_LOCK = (
    "look for what executions share in the model: a lock, a file, a connection, a device; until it"
    " is gone, more than one instance gains nothing"
)


def contention(picture: VariantPicture) -> Iterator[FoundCause]:
    """Executions that take longer the more of them run at the same time: of the variant, or of a
    model that it calls.
    """
    low, high = latest(picture.lowest), latest(picture.highest)
    if _have_others_the_cores(low, high):
        return
    for after in high.stations:
        before = low.station(after.model)
        if before is not None and after.instances > 1:
            yield from _contended(picture, low, high, before, after)


def _contended(
    picture: VariantPicture, low: Situation, high: Situation, before: Station, after: Station
) -> Iterator[FoundCause]:
    own = after.execution_ms - _called_ms(high, after) + _called_ms(low, before) - noise_ms(high)
    # what larger batches, and time, explain
    factor = max(after.batch / before.batch, 1.0) * slowdown(picture, low, high)
    slower, more = own / before.execution_ms / factor, after.running / max(before.running, 0.01)
    rate = high.throughput / low.throughput if low.throughput else 0.0
    is_slow = own - before.execution_ms * factor > NEGLIGIBLE_MS
    if slower < _SLOWER or more < _SLOWER or not is_slow or rate - 1 > _WON * (more - 1):
        return
    # executions at the same time that would have this throughput without slowing each other down
    worth = rate * before.running
    useful = max(math.ceil(worth - _NEARLY), 1)
    evidence = [
        f"an execution{_of(high, after)} takes {ms(before.execution_ms)} {low.under}, and"
        f" {ms(after.execution_ms)} {high.under}, when {after.running:.2g} run at the same"
        f" time: {rate:.2g} x the throughput for {more:.2g} x the executions"
    ]
    if cpu_line(high):
        evidence.append(cpu_line(high))
    if is_full(high):
        useful = min(useful, high.cores or useful)
    if busy_gpus(high):
        evidence.append(busy_gpus(high))
    is_lock = worth < _GROWS and not is_full(high) and not busy_gpus(high)
    fewer = _fewer(picture)
    if fewer is not None and not is_lock:
        evidence.append(_as_good(fewer))
    yield FoundCause(
        cause=Cause.LOCK if is_lock else Cause.TOO_MANY_INSTANCES,
        under=high,
        weight=1 - 1 / slower,
        evidence=tuple(evidence),
        advice=_WITHOUT_LOCK
        if is_lock
        else f"use fewer instances{_of(high, after)}: {useful} instead of {after.instances}; the"
        " others only make each execution slower",
        change=None
        if is_lock or useful >= after.instances
        else more_instances(after.variant, useful),
    )


def _called_ms(situation: Situation, station: Station) -> float:
    """The time of an execution in which a caller waits for other models."""
    if station.variant is not situation.variant:
        return 0.0
    return station.batch * sum(each.time_ms for each in situation.called)


def _of(situation: Situation, station: Station) -> str:
    return "" if station.variant is situation.variant else f" of {station.model}"


def too_many(picture: VariantPicture) -> Iterator[FoundCause]:
    """Another variant with fewer instances that is better."""
    fewer = _fewer(picture)
    if fewer is None:
        return
    own, other = (each.value("perf_latency_p99") for each in (fewer.own, fewer.other))
    throughput = change_between(fewer.own, fewer.other, DEFAULT_OBJECTIVE)
    p99 = change_between(fewer.own, fewer.other, "perf_latency_p99")
    is_faster = fewer.gain >= _BETTER and rose(throughput)
    are_known = own is not None and other is not None
    sooner = 1 - other / own if own and other is not None else 0.0
    if not is_faster and not (are_known and sooner >= 1 - 1 / _BETTER and fell(p99)):
        return
    yield FoundCause(
        cause=Cause.TOO_MANY_INSTANCES,
        under=fewer.own,
        weight=max(sooner, 1 - 1 / fewer.gain),
        evidence=(_as_good(fewer),),
        advice=f"use the configuration of {fewer.other.variant.name}",
    )


def shared_lock(picture: VariantPicture) -> Iterator[FoundCause]:
    """More than one instance, measured, gained nothing, while cores and GPUs were free. From two
    on, this may only mean that their number is right.
    """
    more = most_gained(picture)
    if more is None or more.gain >= _BETTER:
        return
    own, other = more.own.top, more.other.top
    if own is None or other is None or own.instances > 1:
        return
    if own.busy < _BUSY or is_full(more.other) or busy_gpus(more.other):
        return
    if _have_others_the_cores(more.own, more.other):
        return
    slower = _slower(own, other)
    if slower < _SLOWER or other.execution_ms - own.execution_ms < NEGLIGIBLE_MS:
        return
    yield FoundCause(
        cause=Cause.LOCK,
        under=more.own,
        weight=max(1 - 1 / slower, more.own.times.share(more.own.times.queue)),
        evidence=(
            f"{more.own.under}, {instances(other.instances)} ({more.other.variant.name}) have"
            f" {more.gain:.2g} x the throughput of {own.instances}, and an execution takes"
            f" {ms(other.execution_ms)} instead of {ms(own.execution_ms)}",
            *filter(None, [cpu_line(more.other)]),
        ),
        advice=_WITHOUT_LOCK,
    )


def most_gained(picture: VariantPicture) -> Pair | None:
    """The variant with more instances that gains most; None if there is none."""
    more = [pair for pair in picture.by_instances if pair.added > 0]
    return max(more, key=lambda pair: pair.gain, default=None)


def _have_others_the_cores(few: Situation, many: Situation) -> bool:
    """Whether other programs explain that many executions at once gain nothing over few."""
    return is_computing(few) and is_crowded(many)


def _slower(before: Station, after: Station) -> float:
    """By which factor an execution takes longer, without what larger batches explain."""
    return after.execution_ms / before.execution_ms / max(after.batch / before.batch, 1.0)


def _fewer(picture: VariantPicture) -> Pair | None:
    """The best variant with fewer instances and as much throughput."""
    good = [
        pair
        for pair in picture.by_instances
        if pair.added < 0
        and pair.gain >= _AS_GOOD
        and pair.other.variant.identity not in picture.worse
    ]
    return max(good, key=lambda pair: pair.gain, default=None)


def _as_good(fewer: Pair) -> str:
    own, other = fewer.own, fewer.other
    return (
        f"{own.under}, {other.variant.name} with {instances(-fewer.added)} fewer has"
        f" {number_text(other.throughput)} infer/s at p99 {ms(other.value('perf_latency_p99'))},"
        f" instead of {number_text(own.throughput)} infer/s at {ms(own.value('perf_latency_p99'))}"
    )


def large_batches(picture: VariantPicture) -> Iterator[FoundCause]:
    """Batches that cost more than they gain: with smaller ones, more requests are answered."""
    situation = picture.highest
    for station in situation.stations:
        best = _best_batch(picture, station.model)
        if best is None or station.batch <= best.size:
            continue
        own, other = station.execution_ms / station.batch, best.ms / best.count / best.size
        if other > _CHEAPER * own or own - other < NEGLIGIBLE_MS / station.batch:
            continue
        limit = station.variant.max_batch_size
        yield FoundCause(
            cause=Cause.LARGE_BATCHES,
            under=situation,
            weight=1 - other / own,
            evidence=(
                f"{situation.under}, an execution of {station.model} takes"
                f" {ms(station.execution_ms)} for {station.batch:.3g} inferences on average; one"
                f" of {best.size} takes {ms(best.ms / best.count)}",
                *_fallen(picture),
            ),
            advice=f"make max_batch_size {best.size} instead of {limit}",
            change=AdvisedChange(
                model=station.model,
                parameters={
                    "max_batch_size": best.size,
                    **_preferred_up_to(best.size, station.variant.config),
                },
            ),
        )


def _best_batch(picture: VariantPicture, model: str) -> BatchStatistics | None:
    """The batch size with the most inferences for its time, of those that were often executed."""
    counts = added(each.measurement.statistics for each in picture.loads).get(model)
    often = [each for each in counts.batches if each.count >= _OFTEN] if counts else []
    return min(often, key=lambda each: each.ms / each.count / each.size, default=None)


def _preferred_up_to(size: int, config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Preferred batch sizes that a lower limit allows."""
    preferred = config.get("dynamic_batching", {}).get("preferred_batch_size", ())
    if not preferred:
        return {}
    allowed = [each for each in preferred if int(each) <= size]
    return {"dynamic_batching": {"preferred_batch_size": allowed}}


def collapse(picture: VariantPicture) -> Iterator[FoundCause]:
    """A throughput that falls when the load rises."""
    best = max(picture.loads, key=lambda each: each.throughput)
    for text in _fallen(picture):
        yield FoundCause(
            cause=Cause.COLLAPSE,
            under=picture.highest,
            weight=1 - picture.highest.throughput / best.throughput,
            evidence=(text,),
            advice=f"keep the load at what it is {best.under}: let the client, a queue limit"
            " (max_queue_size) or a rate limiter hold back the rest",
        )


def _fallen(picture: VariantPicture) -> Iterator[str]:
    """That the throughput falls under the highest load, by more than noise."""
    high = picture.highest
    best = max(picture.loads, key=lambda each: each.throughput)
    change = change_between(best, high, DEFAULT_OBJECTIVE)
    if high.throughput < _FALLEN * best.throughput and fell(change):
        yield (
            f"the throughput falls from {number_text(best.throughput)} infer/s {best.under} to"
            f" {number_text(high.throughput)} infer/s {high.under}"
        )


# Instances that are busier than that make their callers wait.
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
