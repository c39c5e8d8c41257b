# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""One variant under one load: where the time of a request goes, and how busy everything is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from model_analyzer.domain.loads import under_load
from model_analyzer.domain.measurements import Measurement, NoticeKind
from model_analyzer.domain.models import ModelVariant, is_decoupled
from model_analyzer.domain.pooling import pool
from model_analyzer.domain.trials import LoadKind, Workload

_THROUGHPUT, _AVERAGE = "perf_throughput", "perf_latency_avg"
_QUEUE, _INPUT = "perf_server_queue", "perf_server_compute_input"
_COMPUTE, _OUTPUT = "perf_server_compute_infer", "perf_server_compute_output"

# Latencies of parts that are measured apart differ so much (ms) without any reason.
NEGLIGIBLE_MS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """The average time of a request in ms, by place: waiting in the queue of a model, copying
    inputs, executing, copying outputs; the rest is outside the models (client, network, server).
    """

    queue: float
    inputs: float
    compute: float
    outputs: float
    outside: float

    @property
    def total(self) -> float:
        return self.queue + self.inputs + self.compute + self.outputs + self.outside

    def share(self, part: float) -> float:
        """A part of the total, 0 to 1."""
        return part / self.total if self.total else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Station:
    """A model that executes requests: the variant itself, or one that it calls.

    `busy` is the share (0 to 1) of the time in which its instances executed; `execution_ms` the
    average time of an execution, `batch` the average number of inferences in it. `calls` is the
    number of its inferences for each inference of the top model. `queue_ms` and `compute_ms` are
    average times of its requests.
    """

    variant: ModelVariant
    instances: int
    busy: float
    execution_ms: float
    batch: float
    calls: float
    queue_ms: float
    compute_ms: float

    @property
    def model(self) -> str:
        return self.variant.model

    @property
    def running(self) -> float:
        """The average number of its executions at the same time."""
        return self.busy * self.instances


@dataclass(frozen=True, kw_only=True)
class Situation:
    """The measurements (`runs`) of one variant under one load, on a machine with so many `cores`
    (None if unknown) and `gpus`.
    """

    work: Workload
    runs: tuple[Measurement, ...]
    cores: int | None = None
    gpus: int = 0

    @cached_property
    def measurement(self) -> Measurement:
        """All measurements as one."""
        return pool(self.runs)

    def value(self, tag: str) -> float:
        """A metric; 0 if it was not measured."""
        return self.measurement.value(tag) or 0.0

    @property
    def variant(self) -> ModelVariant:
        return self.work.variant

    @property
    def throughput(self) -> float:
        return self.value(_THROUGHPUT)

    @property
    def requests_per_s(self) -> float:
        return self.throughput / self.work.load.batch_size

    @property
    def is_closed(self) -> bool:
        """Whether each request waits for a response to an earlier one."""
        return self.work.load.kind is LoadKind.CONCURRENCY

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
    def times(self) -> Times:
        """Where the time of an average request goes."""
        if self.variant.is_ensemble:
            inputs = outputs = 0.0
            queue = sum(station.queue_ms * station.calls for station in self.stations)
            compute = sum(station.compute_ms * station.calls for station in self.stations)
        else:
            queue, compute = self.value(_QUEUE), self.value(_COMPUTE)
            inputs, outputs = self.value(_INPUT), self.value(_OUTPUT)
        outside = max(self.value(_AVERAGE) - queue - inputs - compute - outputs, 0.0)
        return Times(queue=queue, inputs=inputs, compute=compute, outputs=outputs, outside=outside)

    @cached_property
    def stations(self) -> tuple[Station, ...]:
        """The models that execute, the variant itself first; empty without statistics."""
        if is_decoupled(self.variant.config):
            return ()  # the server counts only the time until the first response is begun
        stations = map(self._station, self.variant.served)
        return tuple(station for station in stations if station is not None)

    @property
    def top(self) -> Station | None:
        """The station of the variant itself; an ensemble has none."""
        return next((each for each in self.stations if each.variant is self.variant), None)

    @property
    def called(self) -> tuple[Station, ...]:
        """The stations of the models that the variant calls."""
        return tuple(each for each in self.stations if each.variant is not self.variant)

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
        )

    def _values_of(self, variant: ModelVariant) -> Mapping[str, float]:
        (model,) = self.measurement.models
        return model.values if variant is self.variant else model.composing.get(variant.model, {})

    # -- the machine ------------------------------------------------------------------------------

    @property
    def cpu(self) -> float | None:
        """The share (0 to 1) of all cores that server and load generator used; None if unknown."""
        use = self.measurement.resources
        if use is None or not self.cores:
            return None
        return (use.server_cores + use.client_cores) / self.cores

    @property
    def is_full(self) -> bool:
        """Whether server and load generator used nearly all cores."""
        return self.cpu is not None and self.cpu > _FULL

    @property
    def gpu_share(self) -> float | None:
        """The share (0 to 1) of the time in which the GPUs of the variant were busy; None if it
        uses none, or if it is unknown.
        """
        utilization = self.measurement.value("gpu_utilization")
        if utilization is None or not self.variant.uses_gpus(gpus=self.gpus):
            return None
        return utilization / 100

    @property
    def has_busy_gpus(self) -> bool:
        """Whether the GPUs of the variant were busy nearly all the time."""
        return self.gpu_share is not None and self.gpu_share > _BUSY_GPU

    @property
    def cores_of_executions(self) -> float | None:
        """The cores that the server used for each execution that ran; None if unknown. 1 means that
        executions compute all the time, 0 that they wait.
        """
        use = self.measurement.resources
        running = sum(station.running for station in self.stations)
        return None if use is None or not running else use.server_cores / running


# GPUs that are busy for that share of the time have nothing left: readings are noisy.
_BUSY_GPU = 0.95

# So much of all cores is as good as all of them: perf_analyzer's start is idle.
_FULL = 0.8
