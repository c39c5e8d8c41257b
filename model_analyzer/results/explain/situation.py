# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""One variant under one load: where the time of a request goes, how busy everything is, and what
other programs may have made of it; and all the situations that explain a variant, in the orders in
which they are looked at.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from model_analyzer.domain.arrivals import has_own_times
from model_analyzer.domain.flags import sequences
from model_analyzer.domain.measurements import REQUESTS_FOR_P99, Measurement, NoticeKind
from model_analyzer.domain.models import ModelVariant, is_decoupled
from model_analyzer.domain.trials import LoadKind, Workload, under_load
from model_analyzer.domain.words import counted, number_text
from model_analyzer.noise.pooling import pool
from model_analyzer.results.time_parts import TimeParts, time_parts

_THROUGHPUT = "perf_throughput"
_QUEUE, _INPUT = "perf_server_queue", "perf_server_compute_input"
_COMPUTE, _OUTPUT = "perf_server_compute_infer", "perf_server_compute_output"

# Latencies of parts that are measured apart differ so much (ms) without any reason.
NEGLIGIBLE_MS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Station:
    """A model that executes requests: the variant itself, or one that it calls.

    `busy` is the share (0 to 1) of the time in which its instances executed; `execution_ms` the
    average time of an execution, `batch` the average number of inferences in it. `calls` is the
    number of its inferences for each inference of the top model. `queue_ms` and `compute_ms` are
    average times of its requests; 0 if they are not known (`has_times`), which is so for models
    inside an inner ensemble.
    """

    variant: ModelVariant
    instances: int
    busy: float
    execution_ms: float
    batch: float
    calls: float
    queue_ms: float
    compute_ms: float
    has_times: bool = True

    @property
    def model(self) -> str:
        return self.variant.model

    @property
    def running(self) -> float:
        """The average number of its executions at the same time."""
        return self.busy * self.instances

    @property
    def largest_batch(self) -> int:
        """The number of inferences that the server puts into an execution at most."""
        config = self.variant.config
        is_batching = "dynamic_batching" in config or "sequence_batching" in config
        return max(self.variant.max_batch_size, 1) if is_batching else 1

    @property
    def slots(self) -> float:
        """The number of sequences that can be under way at once; any number without sequences."""
        batching = self.variant.config.get("sequence_batching")
        if batching is None:
            return math.inf
        candidates = batching.get("oldest", {}).get("max_candidate_sequences")
        each = int(candidates or 0) or max(self.variant.max_batch_size, 1)
        return each * self.instances

    @property
    def time_ms(self) -> float:
        """The time that a request of the top model spends in this one, in its queue, too."""
        return (self.queue_ms + self.compute_ms) * self.calls

    @property
    def waiting_ms(self) -> float:
        """The time that a request of the top model waits in the queue of this one."""
        return self.queue_ms * self.calls


@dataclass(frozen=True, kw_only=True)
class Situation:
    """The measurements (`runs`) of one variant under one load, on a machine with so many `cores`
    (None if unknown) and `gpus`; `uncached` as in `ServerSetup`, and `server` is its version.
    """

    work: Workload
    runs: tuple[Measurement, ...]
    cores: int | None = None
    gpus: int = 0
    uncached: bool = False
    server: str = ""

    @cached_property
    def measurement(self) -> Measurement:
        """All measurements as one."""
        return pool(self.runs)

    def value(self, tag: str) -> float | None:
        """A metric; None if it was not measured."""
        return self.measurement.value(tag)

    @property
    def variant(self) -> ModelVariant:
        return self.work.variant

    @property
    def throughput(self) -> float:
        """In inferences per second; 0 if unknown."""
        return self.value(_THROUGHPUT) or 0.0

    @property
    def requests_per_s(self) -> float:
        return self.throughput / self.work.load.batch_size

    @property
    def requests(self) -> int:
        """The number of requests behind its values; 0 if unknown."""
        return self.measurement.models[0].requests or 0

    @property
    def is_closed(self) -> bool:
        """Whether each request waits for a response to an earlier one."""
        return self.work.load.kind is LoadKind.CONCURRENCY

    @property
    def is_first_look(self) -> bool:
        """Whether too few requests were measured for a p99, because it was only looked at."""
        is_short = self.measurement.is_round and not has_own_times(self.work)
        return is_short and self.requests < REQUESTS_FOR_P99

    @property
    def under(self) -> str:
        """The load as a phrase, such as `with 8 concurrent requests`."""
        return under_load(self.work.load, self.work.traffic)

    @property
    def disturbed(self) -> int:
        """The number of measurements that other programs disturbed."""
        return sum(
            NoticeKind.BUSY_MACHINE in [notice.kind for notice in run.notices] for run in self.runs
        )

    @cached_property
    def times(self) -> TimeParts:
        """Where the time of an average request goes."""
        return time_parts([self.variant], self.measurement, uncached=self.uncached)

    @cached_property
    def stations(self) -> tuple[Station, ...]:
        """The models that execute, the variant itself first; empty without statistics."""
        if is_decoupled(self.variant.config):
            return ()  # the server counts only the time until the first response is begun
        each_once = {variant.model: variant for variant in reversed(self.variant.served)}
        stations = map(self._station, reversed(each_once.values()))
        return tuple(station for station in stations if station is not None)

    @property
    def top(self) -> Station | None:
        """The station of the variant itself; an ensemble has none."""
        return next((each for each in self.stations if each.variant is self.variant), None)

    @property
    def called(self) -> tuple[Station, ...]:
        """The stations of the models that the variant calls."""
        return tuple(each for each in self.stations if each.variant is not self.variant)

    @property
    def sequences(self) -> int:
        """The number of sequences that perf_analyzer has under way, if the variant is for them."""
        if self.is_closed:
            return self.work.load.value
        return sequences(self.work.flags)

    @property
    def lacks_slots(self) -> bool:
        """Whether sequences wait for the end of another one, while the instances are free."""
        return self.top is not None and self.sequences > self.top.slots

    def station(self, model: str) -> Station | None:
        """The station of a model, if it has one."""
        return next((each for each in self.stations if each.model == model), None)

    def _station(self, variant: ModelVariant) -> Station | None:
        statistics = self.measurement.statistics
        own, top = statistics.get(variant.model), statistics.get(self.variant.model)
        if own is None or top is None or not (own.executions and own.busy_ms and top.served):
            return None
        instances = sum(count for count, _ in variant.instances(gpus=self.gpus))
        calls = own.served / top.served
        values = self._values_of(variant)
        return Station(
            variant=variant,
            instances=instances,
            busy=own.busy_ms / top.served * self.throughput / 1000 / max(instances, 1),
            execution_ms=own.busy_ms / own.executions,
            batch=own.inferences / own.executions,
            calls=calls,
            queue_ms=values.get(_QUEUE, 0.0),
            compute_ms=sum(values.get(tag, 0.0) for tag in (_INPUT, _COMPUTE, _OUTPUT)),
            has_times=_QUEUE in values,
        )

    def _values_of(self, variant: ModelVariant) -> Mapping[str, float]:
        (model,) = self.measurement.models
        return model.values if variant is self.variant else model.composing.get(variant.model, {})


def percent(share: float) -> str:
    """A share (0 to 1); measured shares may be a little above 1."""
    return f"{100 * min(share, 1.0):.0f} %"


def ms(time: float | None) -> str:
    """A time in ms."""
    return "unknown" if time is None else f"{number_text(time)} ms"


def instances(count: int) -> str:
    return counted(count, "instance")


@dataclass(frozen=True, kw_only=True)
class VariantPicture:
    """The measurements of a variant, and what else is known.

    `loads` has the situations with arrivals and client batch size as in `focus`, by ascending
    load: each once, repetitions pooled. `focus` is the one to explain. `course` has the single
    measurements of the variant while it stayed loaded, in order of time. `others` are other
    variants under loads like these; those that rank lower by the goal are `worse` (their
    identities).
    """

    loads: tuple[Situation, ...]
    focus: Situation
    course: tuple[Situation, ...]
    others: tuple[Situation, ...] = ()
    worse: frozenset[str] = frozenset()

    @property
    def variant(self) -> ModelVariant:
        return self.focus.variant

    @property
    def lowest(self) -> Situation:
        """The situation under the lowest load."""
        return self.loads[0]

    @property
    def highest(self) -> Situation:
        """The situation under the highest load."""
        return self.loads[-1]

    @cached_property
    def calmest(self) -> Situation:
        """The situation in which requests wait least for each other, among those with requests
        enough for a tail; the lowest load if none has enough.
        """
        many = [each for each in self.loads if _requests(each) >= _ENOUGH] or [self.lowest]
        return min(many, key=lambda each: each.times.share(each.times.queue))

    @cached_property
    def calm(self) -> Situation:
        """The situation with the most requests, among those in which requests hardly wait: rare
        slow ones may be missing among few.
        """
        waiting = self.calmest.times.share(self.calmest.times.queue)
        calm = [each for each in self.loads if each.times.share(each.times.queue) < waiting + _CALM]
        return max(calm, key=_requests)

    def without(self, unusual: Sequence[Situation]) -> VariantPicture:
        """The picture without measurements that are not representative; the picture itself if
        nothing would be left.
        """
        left = tuple(
            each for each in self.loads if not any(_is_of(each, other) for other in unusual)
        )
        if not left:
            return self
        course = tuple(each for each in self.course if each not in unusual)
        focus = self.focus if self.focus in left else left[-1]
        return replace(self, loads=left, focus=focus, course=course)

    @cached_property
    def by_instances(self) -> Sequence[Pair]:
        """The variant with each one that differs from it in nothing but the number of instances,
        under the highest load that both have.
        """
        own = {each.work.load: each for each in self.loads}
        pairs: dict[str, Pair] = {}
        for each in sorted(self.others, key=lambda each: each.work.load.value):
            if each.work.load in own and _but_instances(self.variant) == _but_instances(
                each.variant
            ):
                pair = Pair(own=own[each.work.load], other=each)
                if pair.added:
                    pairs[each.variant.identity] = pair
        return list(pairs.values())


def earliest(situation: Situation) -> Situation:
    """The situation by its first measurement."""
    first = min(situation.runs, key=lambda run: run.started)
    return replace(situation, runs=(first,))


def latest(situation: Situation) -> Situation:
    """The situation by its last measurement. If loads were measured again, in another order, what
    only time changed is no effect of the load.
    """
    last = max(situation.runs, key=lambda run: run.started)
    return replace(situation, runs=(last,))


# Requests for a 99th percentile that is more than the slowest few.
_ENOUGH = 100

# Requests wait hardly longer if the share of the queue differs by less.
_CALM = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The variant and one with another number of instances, under the same load."""

    own: Situation
    other: Situation

    @property
    def added(self) -> int:
        """How many instances the other one has more; negative if it has fewer."""
        return _instances(self.other) - _instances(self.own)

    @property
    def gain(self) -> float:
        """The throughput of the other one, as a multiple of the own."""
        return self.other.throughput / self.own.throughput if self.own.throughput else 1.0


def _requests(situation: Situation) -> int:
    return situation.measurement.models[0].requests or 0


def _is_of(pooled: Situation, single: Situation) -> bool:
    """Whether a situation contains a single measurement."""
    return pooled.work == single.work and (pooled.measurement.started == single.measurement.started)


def _instances(situation: Situation) -> int:
    return sum(count for count, _ in situation.variant.instances(gpus=situation.gpus))


def _but_instances(variant: ModelVariant) -> tuple[object, ...]:
    config = {key: value for key, value in variant.config.items() if key != "instance_group"}
    return variant.model, config, variant.files, [part.identity for part in variant.composing]


# GPUs that are busy for so many percent of the time have nothing left: readings are noisy.
_BUSY_GPU = 95.0

# So much of all cores is as good as all of them: perf_analyzer's start is idle.
_FULL = 0.8

# A measurement with that part of noise shows nothing about time.
_MUCH_NOISE = 0.2

# The share of the requests that are the fastest, and the time (ms) that a program computes at most
# before Linux lets others have the core.
_FASTEST, _SLICE_MS = 0.05, 3.0

# The cores of an execution that computes all the time.
_COMPUTING = 0.6

# What an execution that computes gets of a core at least, whatever other programs do.
_SHARE_OF_A_CORE = 0.75

# Other programs never take everything: the scheduler shares.
_MOST_OF_OTHERS = 0.8


def _cores(situation: Situation) -> tuple[float, float]:
    """The shares (0 to 1) of all cores that server and load generator, and that other programs
    used; 0 if unknown.
    """
    use = situation.measurement.resources
    if use is None or not situation.cores:
        return 0.0, 0.0
    own, others = use.server_cores + use.client_cores, use.other_cores
    return own / situation.cores, min(others / situation.cores, 1.0)


def is_full(situation: Situation) -> bool:
    """Whether server and load generator used nearly all cores."""
    own, _ = _cores(situation)
    return own > _FULL


def is_crowded(situation: Situation) -> bool:
    """Whether nearly all cores were used only because of other programs."""
    own, others = _cores(situation)
    return own <= _FULL < own + others


def is_computing(situation: Situation) -> bool:
    """Whether executions compute most of their time, on cores. Other programs may make them
    wait for a core, but they leave a share of it.
    """
    _, others = _cores(situation)
    cores, left = cores_of_executions(situation), max(1 - others, _SHARE_OF_A_CORE)
    return cores is not None and cores > _COMPUTING * left and not situation.gpus


def noise_ms(situation: Situation) -> float:
    """The time by which other programs may have made an average request longer.

    Server and load generator compute so long for a request; that takes longer by the share of
    the cores that others had. Time in which an execution waits does not grow. The load
    generator also computes before it sends, so it counts as what is outside the model at most.
    """
    use = situation.measurement.resources
    if use is None or not situation.requests_per_s:
        return 0.0
    others = min(_cores(situation)[1], _MOST_OF_OTHERS)
    longer = 1000 / situation.requests_per_s * others / (1 - others)
    client = min(use.client_cores * longer, situation.times.outside)
    return min(use.server_cores * longer + client, situation.times.total)


def disturbance_ms(situation: Situation) -> float:
    """The part of `noise_ms` that the latencies allow: the fastest requests met hardly any
    noise, so that an average one is slower by what it met. If executions compute for long,
    other programs have the cores during the fastest ones, too.
    """
    histogram = situation.measurement.models[0].histograms.get("perf_latency")
    if histogram is None or histogram.is_approximate or histogram.is_empty:
        return noise_ms(situation)
    fastest = histogram.quantile(_FASTEST)
    if is_computing(situation) and fastest > _SLICE_MS:
        return noise_ms(situation)
    return min(noise_ms(situation), max(situation.times.total - fastest, 0.0))


def cores_of_executions(situation: Situation) -> float | None:
    """The cores that the server used for each execution that ran; None if unknown. 1 means that
    executions compute all the time, 0 that they wait.
    """
    use = situation.measurement.resources
    running = sum(station.running for station in situation.stations)
    return None if use is None or not running else use.server_cores / running


def is_disturbed_much(situation: Situation) -> bool:
    """Whether most of its time may be noise."""
    return noise_ms(situation) > _MUCH_NOISE * situation.times.total


def cpu_line(situation: Situation) -> str:
    """How busy the cores of a situation were; empty if unknown."""
    own, other = _cores(situation)
    others = f", other programs {percent(other)}" if other > 0.05 else ""
    line = f"server and client used {percent(own)} of {situation.cores} cores{others}"
    return line if own else ""


def busy_gpus(situation: Situation) -> str:
    """How busy the GPUs of a variant were, if they were nearly all the time; otherwise empty."""
    utilization = situation.measurement.value("gpu_utilization") or 0.0
    if utilization <= _BUSY_GPU or not situation.variant.uses_gpus(gpus=situation.gpus):
        return ""
    gpus = "the GPU was" if situation.gpus == 1 else "the GPUs were"
    return f"{gpus} busy {percent(utilization / 100)} of the time"
