# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Causes of a bad latency or throughput, and what was found in the measurements; and what a tested
advice really changed.

What chance, the arrivals and the load would give, so that a rule speaks only beyond it. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from enum import Enum
from heapq import heapify, heapreplace
from statistics import fmean, pstdev
from types import MappingProxyType
from typing import Any

from model_analyzer.domain.arrivals import variation
from model_analyzer.domain.goals import DEFAULT_OBJECTIVE
from model_analyzer.domain.models import (
    ModelFacts,
    ModelVariant,
    VariantNames,
    apply_parameters,
    empty,
)
from model_analyzer.domain.trials import Failure, Workload
from model_analyzer.noise.noise import ratio_noise
from model_analyzer.noise.pooling import histogram_of
from model_analyzer.noise.round_noise import RoundNoise
from model_analyzer.results.change import Change, change
from model_analyzer.results.explain.situation import Situation, Station


class Cause(Enum):
    """Why requests are slow, or more of them are not answered: with its name in words."""

    COLD_START = "cold start"
    MEMORY_GROWTH = "memory keeps growing"
    SLOWING_DOWN = "slower and slower under load"
    CLIENT = "the client is the limit"
    TENSORS = "large tensors"
    COMPOSING_MODEL = "one composing model is the bottleneck"
    SERIAL_CALLS = "calls of other models one after the other"
    QUEUE_DELAY = "queue delay too long"
    QUEUE_POLICY = "Triton lets requests wait: its queue has a policy"
    BATCHES = "batches are not filled"
    LARGE_BATCHES = "large batches are slower"
    ARRIVALS = "requests arrive in bursts"
    HELD_BACK = "requests wait although instances are free"
    TOO_FEW_INSTANCES = "too few instances"
    TOO_MANY_INSTANCES = "too many instances"
    LOCK = "instances wait for each other"
    COLLAPSE = "the throughput falls under more load"
    SINGLE_CORE = "each execution computes on one core"
    MACHINE_FULL = "the machine is full"
    GPU_FULL = "the GPU is always busy"
    SLOW_REQUESTS = "some requests are slow in the model"
    NOISE = "noise of the machine"


# A cause that explains others: these are only consequences of it.
_LIMITS = {Cause.TOO_FEW_INSTANCES, Cause.SINGLE_CORE, Cause.MACHINE_FULL, Cause.GPU_FULL}
CONSEQUENCES: Mapping[Cause, Set[Cause]] = MappingProxyType(
    {
        Cause.CLIENT: {Cause.NOISE, Cause.MACHINE_FULL},
        Cause.TENSORS: {
            *_LIMITS, Cause.CLIENT, Cause.TOO_MANY_INSTANCES, Cause.LOCK, Cause.COLLAPSE,
        },
        Cause.MEMORY_GROWTH: {Cause.SLOWING_DOWN},
        Cause.COMPOSING_MODEL: {
            Cause.TOO_FEW_INSTANCES, Cause.SERIAL_CALLS, Cause.BATCHES, Cause.ARRIVALS,
        },
        Cause.SERIAL_CALLS: {Cause.TOO_FEW_INSTANCES, Cause.ARRIVALS},
        Cause.QUEUE_DELAY: {
            Cause.BATCHES, Cause.ARRIVALS, Cause.TOO_FEW_INSTANCES, Cause.HELD_BACK,
        },
        Cause.QUEUE_POLICY: {Cause.HELD_BACK, Cause.ARRIVALS, Cause.SLOW_REQUESTS},
        Cause.HELD_BACK: {Cause.ARRIVALS, Cause.TOO_FEW_INSTANCES, Cause.COMPOSING_MODEL},
        # whether a batch takes less than its requests one by one is not known: more instances help
        Cause.BATCHES: {Cause.MACHINE_FULL, Cause.GPU_FULL},
        Cause.LARGE_BATCHES: {
            *_LIMITS, Cause.LOCK, Cause.TOO_MANY_INSTANCES, Cause.COLLAPSE,
            Cause.COMPOSING_MODEL,
        },
        Cause.SLOW_REQUESTS: {Cause.HELD_BACK},
        Cause.LOCK: {
            Cause.TOO_FEW_INSTANCES, Cause.SINGLE_CORE, Cause.TOO_MANY_INSTANCES,
            Cause.COMPOSING_MODEL, Cause.COLLAPSE,
        },
        Cause.TOO_MANY_INSTANCES: {*_LIMITS, Cause.COMPOSING_MODEL, Cause.COLLAPSE},
        Cause.SINGLE_CORE: {Cause.TOO_FEW_INSTANCES},
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvisedChange:
    """A change that tests an advice: `parameters` of the configuration of a `model` (the variant's
    own or one that it calls), and perf_analyzer's `flags`.
    """

    model: str
    parameters: Mapping[str, Any] = field(default_factory=empty)
    flags: Mapping[str, Any] = field(default_factory=empty)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundCause:
    """A cause, the measured numbers that speak for it, and what to do about it.

    `under` is the load under which it shows most. `weight` is the share (0 to 1) of the latency or
    of the lost throughput that it stands for. `change` tests the advice; None if that takes more
    than another configuration.
    """

    cause: Cause
    under: Situation
    weight: float
    evidence: tuple[str, ...]
    advice: str
    change: AdvisedChange | None = None


# Parts of a distribution of latencies, each with its middle.
_PARTS = 200

# Simulated measurements, and the fewest and most requests of each.
_RUNS, _FEWEST, _MOST = 20, 50, 2000


def change_between(before: Situation, after: Situation, tag: str) -> Change:
    """The change of a metric, with the 95 % interval that the noise of both allows: the windows of
    a throughput, the number of requests behind a percentile.
    """
    noise = RoundNoise([before.runs, after.runs])
    both = ratio_noise(noise.of(before.runs, tag), noise.of(after.runs, tag))
    return change(before.measurement.value(tag), after.measurement.value(tag), both)


def rose(change: Change) -> bool:
    """Whether a value rose by more than chance."""
    return change.interval is not None and change.interval.low > 0


def fell(change: Change) -> bool:
    """Whether a value fell by more than chance."""
    return change.interval is not None and change.interval.high < 0


def window_noise(situation: Situation) -> float:
    """The standard deviation of the throughput of a window, as a fraction: the spread of the
    latencies, divided by the root of the number of requests. 0 if it is unknown.
    """
    (model,) = situation.measurement.models
    histogram = histogram_of(model, "perf_latency")
    windows = max(len(model.windows), 1)
    if histogram is None or histogram.total < _FEWEST:
        return 0.0
    latencies = [histogram.quantile((place + 0.5) / _PARTS) for place in range(_PARTS)]
    return pstdev(latencies) / fmean(latencies) / math.sqrt(histogram.total / windows)


@dataclass(frozen=True, slots=True)
class Wait:
    """The average time (ms) in a queue that random arrivals explain: `usual` in many measurements
    of this length, and the longest in 20 of them.
    """

    usual: float
    longest: float


def explained_wait(situation: Situation, station: Station) -> Wait | None:
    """The wait for a station under the rate and the arrivals of a situation, simulated: executions
    take their average time, and take what waits as a batch. None if the arrivals are unknown.
    """
    cv = variation(situation.work)
    rate = situation.requests_per_s * max(station.calls, 1.0)
    if cv is None or not rate:
        return None
    count = min(max(situation.requests, _FEWEST), _MOST)
    limit = station.largest_batch // situation.work.load.batch_size
    waits = [
        fmean(_waits(_times(rate, cv, count, seed), station, max(limit, 1)))
        for seed in range(_RUNS)
    ]
    return Wait(usual=fmean(waits), longest=max(waits))


def _times(rate: float, cv: float, count: int, seed: int) -> Sequence[float]:
    """When requests arrive, in ms."""
    import numpy as np  # slow to import

    gap = 1000 / rate
    if not cv:
        return [gap * place for place in range(count)]
    shape = 1 / cv**2
    times: list[float] = (
        np.random.default_rng(seed).gamma(shape, gap / shape, count).cumsum().tolist()
    )
    return times


def _waits(times: Sequence[float], station: Station, limit: int) -> Iterator[float]:
    """How long each request waits for one of the instances."""
    free = [0.0] * max(station.instances, 1)
    heapify(free)
    place = 0
    while place < len(times):
        begin = max(times[place], free[0])
        batch = [time for time in times[place : place + limit] if time <= begin]
        yield from (begin - time for time in batch)
        place += len(batch)
        heapreplace(free, begin + station.execution_ms)


# Smaller changes (percent) do not matter; an interval that reaches further says nothing.
_REAL, _VAGUE = 5.0, 25.0


class Effect(Enum):
    """What a change did."""

    HELPS = "it helps"
    NOTHING = "it changes nothing"
    HARMS = "it makes it worse"
    MIXED = "one gets better, the other worse"
    UNSURE = "the measurements differ too much to say"
    FAILED = "it could not be measured"


# The same throughput confirms these: fewer instances are enough, or memory is copied elsewhere.
_WITHOUT_GAIN = {Cause.TOO_MANY_INSTANCES, Cause.TENSORS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """The advice of a finding, tested: the situation before and after the change, or why there is
    none.
    """

    finding: FoundCause
    work: Workload
    before: Situation
    after: Situation | Failure

    @property
    def throughput(self) -> Change | None:
        """The change of the throughput, with its interval; None if it could not be measured."""
        return self._change(DEFAULT_OBJECTIVE)

    @property
    def p99(self) -> Change | None:
        """The same for the p99 latency."""
        return self._change("perf_latency_p99")

    @property
    def effect(self) -> Effect:
        """Judged by throughput and p99: a change counts if chance does not explain it."""
        throughput, p99 = self.throughput, self.p99
        if throughput is None or p99 is None:
            return Effect.FAILED
        signs = {_sign(throughput), -_sign(p99)}
        if signs == {1, -1}:
            return Effect.MIXED
        if signs != {0}:
            return Effect.HELPS if 1 in signs else Effect.HARMS
        # an open load is answered anyway: latencies show an effect
        decisive = throughput if self.before.is_closed else p99
        interval = decisive.interval
        if interval is None or max(-interval.low, interval.high) > _VAGUE:
            return Effect.UNSURE
        return Effect.NOTHING

    @property
    def refutes(self) -> bool:
        """Whether the change shows that the cause is none."""
        is_confirmed = self.finding.cause in _WITHOUT_GAIN
        return self.effect is Effect.HARMS or (self.effect is Effect.NOTHING and not is_confirmed)

    def _change(self, tag: str) -> Change | None:
        if isinstance(self.after, Failure):
            return None
        return change_between(self.before, self.after, tag)


def _sign(change: Change) -> int:
    """1 if a value rose by more than noise, -1 if it fell, 0 otherwise."""
    if abs(change.percent or 0.0) < _REAL:
        return 0
    return rose(change) - fell(change)


def changed(work: Workload, change: AdvisedChange, names: VariantNames) -> Workload:
    """The workload with a change of its variant, or of one that it calls, and of its flags."""
    variant = _changed(work.variant, change, names)
    flags: Mapping[str, Any] = work.flags
    if change.flags:
        replaced = ("sync", "max-threads") if "async" in change.flags else ()
        kept = {name: value for name, value in work.flags.items() if name not in replaced}
        flags = {**kept, **change.flags}
    return replace(work, variant=variant, flags=flags)


def _changed(variant: ModelVariant, change: AdvisedChange, names: VariantNames) -> ModelVariant:
    parts = [_changed(part, change, names) for part in variant.composing]
    parameters = change.parameters if variant.model == change.model else {}
    config = apply_parameters(variant.config, parameters)
    if config == variant.config and parts == list(variant.composing):
        return variant
    facts = ModelFacts(name=variant.model, config=variant.config, files=variant.files)
    return names.variant(facts, parameters, parts)
