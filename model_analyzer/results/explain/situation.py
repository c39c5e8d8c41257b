# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""One variant under one load: where the time of a request goes, and how busy everything is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from model_analyzer.domain.arrivals import has_own_times
from model_analyzer.domain.flags import sequences
from model_analyzer.domain.loads import under_load
from model_analyzer.domain.measurements import REQUESTS_FOR_P99, Measurement, NoticeKind
from model_analyzer.domain.models import ModelVariant, is_decoupled
from model_analyzer.domain.numbers import number_text
from model_analyzer.domain.trials import LoadKind, Workload
from model_analyzer.domain.words import counted
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
