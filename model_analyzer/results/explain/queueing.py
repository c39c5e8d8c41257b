# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Causes of requests that wait for an instance although the machine could do more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from model_analyzer.domain.arrivals import arrivals_of
from model_analyzer.domain.models import queue_delay_us
from model_analyzer.domain.traffic import Arrivals
from model_analyzer.results.explain.contention import more_instances, most_gained
from model_analyzer.results.explain.finding import AdvisedChange, Cause, FoundCause, explained_wait
from model_analyzer.results.explain.situation import (
    NEGLIGIBLE_MS,
    Situation,
    Station,
    VariantPicture,
    busy_gpus,
    cores_of_executions,
    cpu_line,
    instances,
    is_computing,
    is_full,
    ms,
    percent,
)

# Instances that are busier than that are the limit; under an open load, only beyond the second one:
# up to that, the arrivals are. Below the third one, they are mostly free; below the fourth one,
# nothing waits for them.
_BUSY, _BUSY_ALWAYS, _FREE, _SOME = 0.85, 0.95, 0.5, 0.3
# The share of the latency in the queue that counts.
_WAITING = 0.5
# The part of the configured delay that requests really wait.
_DELAYED = 0.5
# More instances help if they have that multiple of the throughput.
_GAINS = 1.1
# Requests are held back if at least this share of the latency is in the queue, while this part of
# the instances is free, about one of several at least; if requests arrive at random, only beyond
# what that explains.
_HELD, _UNUSED, _ABOUT_ONE, _BEYOND = 0.3, 0.25, 0.75, 2.0
# What gives the queue of a dynamic batcher a policy; and the share of the latency that counts.
_POLICIES = ("priority_levels", "default_queue_policy", "priority_queue_policy")
_LATE = 0.05
# Batches are not filled if they have less than this part of what would fit.
_FILLED = 0.5


def queue_delay(picture: VariantPicture) -> Iterator[FoundCause]:
    """Requests that wait for a batch to fill, while instances are free, under the load that is
    explained: under lower ones, batches cannot fill.
    """
    situation = picture.focus
    for station in situation.stations:
        delay_ms = queue_delay_us(station.variant.config) / 1000
        waiting = situation.times.share(station.waiting_ms)
        if not delay_ms or station.busy > _FREE or waiting < _WAITING:
            continue
        if station.queue_ms < max(_DELAYED * delay_ms, NEGLIGIBLE_MS):
            continue
        yield FoundCause(
            cause=Cause.QUEUE_DELAY,
            under=situation,
            weight=min(waiting, 1.0),
            evidence=(
                f"{situation.under}, a request waits {ms(station.waiting_ms)} of"
                f" {ms(situation.times.total)} in the queue of {station.model}, while its"
                f" instances work {percent(station.busy)} of the time",
                f"max_queue_delay_microseconds is {1000 * delay_ms:.0f}; a batch gets"
                f" {station.batch:.3g} of at most {station.variant.max_batch_size} inferences",
            ),
            advice="lower max_queue_delay_microseconds: 0 still makes batches of what waits",
            change=AdvisedChange(
                model=station.model,
                parameters={"dynamic_batching": {"max_queue_delay_microseconds": 0}},
            ),
        )


def queue_policy(picture: VariantPicture) -> Iterator[FoundCause]:
    """Requests that wait although each one finds a free instance, where the queue has priorities or
    a policy: then Triton wakes its batcher up to half a second late
    (`findings/tritonserver-queue-policies-wait.sh`).
    """
    situation = picture.lowest
    for station in situation.stations:
        batching = station.variant.config.get("dynamic_batching", {})
        policies = [name for name in _POLICIES if batching.get(name)]
        waiting = situation.times.share(station.waiting_ms)
        is_never_full = situation.is_closed and situation.work.load.value <= station.instances
        if not policies or not is_never_full or queue_delay_us(station.variant.config):
            continue
        if waiting < _LATE or station.queue_ms < NEGLIGIBLE_MS:
            continue
        yield FoundCause(
            cause=Cause.QUEUE_POLICY,
            under=situation,
            weight=waiting,
            evidence=(
                f"{situation.under}, a request finds a free instance, but waits"
                f" {ms(station.waiting_ms)} of {ms(situation.times.total)} in the queue of"
                f" {station.model}: that is few requests which wait for half a second",
                f"dynamic_batching has {' and '.join(policies)}: then Triton wakes its batcher too"
                " late for some requests; the next request wakes it, too",
            ),
            advice=f"leave out {' and '.join(policies)} where few requests are in flight: more of"
            " them wait less for this",
        )


def batches(picture: VariantPicture) -> Iterator[FoundCause]:
    """Requests that wait although one execution could take several of them."""
    situation = picture.highest
    top, limit = situation.top, situation.variant.max_batch_size
    if top is None or limit <= 1 or not _is_limit(situation, top):
        return
    config = situation.variant.config
    if "dynamic_batching" in config or "sequence_batching" in config:
        return
    if top.batch > max(_FILLED * limit, situation.work.load.batch_size):
        return
    yield FoundCause(
        cause=Cause.BATCHES,
        under=situation,
        weight=situation.times.share(situation.times.queue),
        evidence=(
            f"{situation.under}, {percent(situation.times.share(situation.times.queue))} of"
            f" the latency is in the queue, but a batch gets {top.batch:.3g} of at most {limit}"
            " inferences",
            "dynamic_batching is not set: each execution gets one request",
        ),
        advice="set dynamic_batching {}: requests that wait are executed together, which gains"
        " nothing if the model processes them one by one",
        change=AdvisedChange(model=situation.variant.model, parameters={"dynamic_batching": {}}),
    )


def arrivals(picture: VariantPicture) -> Iterator[FoundCause]:
    """Requests that wait because several come at once, although instances are free on average."""
    situation = picture.focus
    top, times = situation.top, situation.times
    if top is None or arrivals_of(situation.work) in (Arrivals.CLOSED, Arrivals.CONSTANT):
        return
    if not _SOME < top.busy < _BUSY_ALWAYS or times.share(times.queue) < _WAITING:
        return
    explained = explained_wait(situation, top)
    if explained is not None and (
        # in the long run, requests would wait less; or they wait for something else
        explained.usual < times.total - times.queue or times.queue > _BEYOND * explained.longest
    ):
        return
    yield FoundCause(
        cause=Cause.ARRIVALS,
        under=situation,
        weight=times.share(times.queue),
        evidence=(
            f"{situation.under}, the instances work {percent(top.busy)} of the time, but"
            f" {percent(times.share(times.queue))} of the latency is in the queue: requests come at"
            " random, several at once",
            *(
                []
                if explained is None
                else [
                    f"such arrivals explain {ms(explained.usual)} in the queue, measured:"
                    f" {ms(times.queue)}"
                ]
            ),
        ),
        advice=f"plan for less load on each instance: {instances(top.instances + 1)} instead of"
        f" {top.instances}, or more replicas (model-analyzer capacity)",
        change=more_instances(top.variant, top.instances + 1),
    )


def held_back(picture: VariantPicture) -> Iterator[FoundCause]:
    """Requests that wait although instances are free, and neither the arrivals nor a delay for
    batches explains it.
    """
    situation = picture.highest
    for station in situation.stations:
        waiting = situation.requests_per_s * station.waiting_ms / 1000
        # between two executions, an instance is neither free nor busy
        taken = station.running * (1 + NEGLIGIBLE_MS / station.execution_ms)
        free = station.instances - taken
        lacks_slots = station is situation.top and situation.lacks_slots
        if waiting < _ABOUT_ONE:
            continue
        if not lacks_slots and (station.instances < 2 or free < _ABOUT_ONE):
            continue
        if free < _UNUSED * station.instances:
            continue
        if situation.times.share(station.waiting_ms) < _HELD or _waits_for_batches(station):
            continue
        if not (situation.is_closed or lacks_slots):
            explained = explained_wait(situation, station)
            if explained is None or station.queue_ms < _BEYOND * explained.longest + NEGLIGIBLE_MS:
                continue
        reason, advice = _holder(situation, station)
        yield FoundCause(
            cause=Cause.HELD_BACK,
            under=situation,
            weight=min(situation.times.share(station.waiting_ms), 1.0),
            evidence=(
                f"{situation.under}, {waiting:.2g} requests wait for {station.model} on average,"
                f" while {_free_text(station, free)}",
                *reason,
            ),
            advice=advice,
        )


def _waits_for_batches(station: Station) -> bool:
    """Whether the delay for batches explains how long requests wait."""
    return station.queue_ms < 2 * queue_delay_us(station.variant.config) / 1000


def _free_text(station: Station, free: float) -> str:
    if station.instances == 1:
        return f"its instance is free for {percent(free)} of the time"
    return f"{free:.2g} of its {instances(station.instances)} are free"


def _holder(situation: Situation, station: Station) -> tuple[Sequence[str], str]:
    """What in a configuration holds requests back: evidence and advice."""
    config = station.variant.config
    if any("rate_limiter" in group for group in config.get("instance_group", ())):
        return (
            ["rate_limiter in instance_group lets instances wait for a resource"],
            "give the resource of the rate limiter a higher count, or let an instance need less"
            " of it, if more executions at the same time are allowed",
        )
    if station is situation.top and situation.lacks_slots:
        is_oldest = "oldest" in config["sequence_batching"]
        what = "max_candidate_sequences" if is_oldest else "max_batch_size"
        return (
            [
                f"there are {situation.sequences} sequences at once, and slots for"
                f" {station.slots:.0f}: the others wait for the end of one"
            ],
            f"raise {what}, or send fewer sequences at once",
        )
    if "sequence_batching" in config:
        return (
            ["sequence_batching executes the requests of a sequence one after the other"],
            "there are more sequences than slots, or too few for the instances: raise"
            " max_batch_size or max_candidate_sequences, or send more sequences at once",
        )
    return [], "look for what the server waits for: its log, priorities, other models"


def instance_limit(picture: VariantPicture) -> Iterator[FoundCause]:
    """Instances that are always busy: whether more of them would help, and why."""
    situation = picture.highest
    top = situation.top
    if top is None or not _is_limit(situation, top):
        return
    more = most_gained(picture)
    if more is not None and more.gain < _GAINS:
        return  # measured: more instances do not help
    waiting = situation.times.share(situation.times.queue)
    evidence = [
        f"{situation.under}, {instances(top.instances)} worked {percent(top.busy)} of the time,"
        f" and a request waited {ms(situation.times.queue)} of {ms(situation.times.total)} in the"
        " queue"
    ]
    if cpu_line(situation):
        evidence.append(cpu_line(situation))
    if more is not None:
        evidence.append(
            f"{more.other.variant.name} has {instances(more.added)} more and {more.gain:.2g} x"
            " the throughput"
        )
    if busy_gpus(situation):
        yield FoundCause(
            cause=Cause.GPU_FULL,
            under=situation,
            weight=waiting * 0.9,
            evidence=(*evidence, busy_gpus(situation)),
            advice="use more GPUs, larger batches, or a cheaper model (quantized, compiled); more"
            " instances help only if the GPU can execute them side by side",
        )
        return
    cores, computes = cores_of_executions(situation), is_computing(situation)
    if is_full(situation) or (computes and top.instances >= (situation.cores or 1)):
        yield FoundCause(
            cause=Cause.MACHINE_FULL,
            under=situation,
            weight=waiting * 0.9,
            evidence=tuple(evidence),
            advice="this load is more than the machine can serve: use more machines, or a cheaper"
            " model (quantized, compiled)",
        )
    elif computes:
        wanted = situation.cores or top.instances + 1
        yield FoundCause(
            cause=Cause.SINGLE_CORE,
            under=situation,
            weight=waiting,
            evidence=(*evidence, f"an execution of {ms(top.execution_ms)} used {cores:.2g} cores"),
            advice=f"use an instance for each core ({wanted}); a loop in Python is faster in numpy"
            " or compiled",
            change=more_instances(top.variant, wanted),
        )
    else:
        wanted = 2 * top.instances
        yield FoundCause(
            cause=Cause.TOO_FEW_INSTANCES,
            under=situation,
            weight=waiting,
            evidence=tuple(evidence),
            advice=f"use more instances: {wanted} instead of {top.instances}",
            change=more_instances(top.variant, wanted),
        )


def _is_limit(situation: Situation, top: Station) -> bool:
    """Whether requests wait because all instances are busy."""
    times = situation.times
    busy = _BUSY if situation.is_closed else _BUSY_ALWAYS
    return top.busy > busy and times.share(times.queue) >= _WAITING and times.queue > NEGLIGIBLE_MS
