# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Causes of requests that wait for an instance although the machine could do more."""

from __future__ import annotations

from collections.abc import Iterator

from model_analyzer.domain.arrivals import arrivals_of
from model_analyzer.domain.models import queue_delay_us
from model_analyzer.domain.traffic import Arrivals
from model_analyzer.results.explain.contention import most_gained
from model_analyzer.results.explain.finding import Cause, Change, Finding
from model_analyzer.results.explain.picture import Picture
from model_analyzer.results.explain.pipeline import more_instances
from model_analyzer.results.explain.situation import NEGLIGIBLE_MS, Situation, Station
from model_analyzer.results.explain.texts import gpu_line, instances, ms, percent

# Instances that are busier than that are the limit; below the second one, they are mostly free.
_BUSY, _FREE = 0.85, 0.5
# The share of the latency in the queue that counts.
_WAITING = 0.5
# The part of the configured delay that requests really wait.
_DELAYED = 0.5
# More instances help if they have that multiple of the throughput.
_GAINS = 1.1
# The cores of an execution that computes all the time.
_COMPUTING = 0.6
# Batches are not filled if they have less than this part of what would fit.
_FILLED = 0.5


def queue_delay(picture: Picture) -> Iterator[Finding]:
    """Requests that wait for a batch to fill, while instances are free."""
    for situation in picture.loads:
        top, times = situation.top, situation.times
        delay_ms = queue_delay_us(situation.variant.config) / 1000
        if top is None or not delay_ms or top.busy > _FREE:
            continue
        waiting = times.share(times.queue)
        if times.queue < max(_DELAYED * delay_ms, NEGLIGIBLE_MS) or waiting < _WAITING:
            continue
        yield Finding(
            cause=Cause.QUEUE_DELAY,
            under=situation,
            weight=waiting,
            evidence=(
                f"{situation.under}, a request waits {ms(times.queue)} of {ms(times.total)}"
                f" in the queue, while the instances work {percent(top.busy)} of the time",
                f"max_queue_delay_microseconds is {1000 * delay_ms:.0f}; a batch gets"
                f" {top.batch:.3g} of at most {situation.variant.max_batch_size} inferences",
            ),
            advice="lower max_queue_delay_microseconds: 0 still makes batches of what waits",
            change=Change(
                model=situation.variant.model,
                parameters={"dynamic_batching": {"max_queue_delay_microseconds": 0}},
            ),
        )
        return


def batches(picture: Picture) -> Iterator[Finding]:
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
    yield Finding(
        cause=Cause.BATCHES,
        under=situation,
        weight=situation.times.share(situation.times.queue),
        evidence=(
            f"{situation.under}, {percent(situation.times.share(situation.times.queue))} of"
            f" the latency is in the queue, but a batch gets {top.batch:.3g} of at most {limit}"
            " inferences",
            "dynamic_batching is not set: each execution gets one request",
        ),
        advice="set dynamic_batching {}: requests that wait are executed together",
        change=Change(model=situation.variant.model, parameters={"dynamic_batching": {}}),
    )


def arrivals(picture: Picture) -> Iterator[Finding]:
    """Requests that wait because several come at once, although instances are free on average."""
    situation = picture.focus
    top, times = situation.top, situation.times
    if top is None or arrivals_of(situation.work) in (Arrivals.CLOSED, Arrivals.CONSTANT):
        return
    if not 0.3 < top.busy < _BUSY or times.share(times.queue) < 0.4:
        return
    yield Finding(
        cause=Cause.ARRIVALS,
        under=situation,
        weight=times.share(times.queue),
        evidence=(
            f"{situation.under}, the instances work {percent(top.busy)} of the time, but"
            f" {percent(times.share(times.queue))} of the latency is in the queue: requests come at"
            " random, several at once",
        ),
        advice=f"plan for less load on each instance: {instances(top.instances + 1)} instead of"
        f" {top.instances}, or more replicas (model-analyzer capacity)",
        change=more_instances(top.variant, top.instances + 1),
    )


def instance_limit(picture: Picture) -> Iterator[Finding]:
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
    if situation.cpu is not None:
        evidence.append(f"all programs used {percent(situation.cpu)} of {situation.cores} cores")
    if more is not None:
        evidence.append(
            f"{more.other.variant.name} has {instances(more.added)} more and {more.gain:.2g} x"
            " the throughput"
        )
    if situation.has_busy_gpus:
        yield Finding(
            cause=Cause.GPU_FULL,
            under=situation,
            weight=waiting * 0.9,
            evidence=(*evidence, gpu_line(situation)),
            advice="use more GPUs, larger batches, or a cheaper model (quantized, compiled); more"
            " instances help only if the GPU can execute them side by side",
        )
        return
    cores = situation.cores_of_executions
    is_computing = cores is not None and cores > _COMPUTING and not situation.gpus
    if situation.is_full or (is_computing and top.instances >= (situation.cores or 1)):
        yield Finding(
            cause=Cause.MACHINE_FULL,
            under=situation,
            weight=waiting * 0.9,
            evidence=tuple(evidence),
            advice="this load is more than the machine can serve: use more machines, or a cheaper"
            " model (quantized, compiled)",
        )
    elif is_computing:
        wanted = situation.cores or top.instances + 1
        yield Finding(
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
        yield Finding(
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
    return top.busy > _BUSY and times.share(times.queue) >= _WAITING and times.queue > NEGLIGIBLE_MS
