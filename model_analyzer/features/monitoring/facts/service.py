# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What one server with the recommended configuration was measured to do, in the terms of Triton's
own metrics, by request and model; and questions about one model to Prometheus, of the counters that
each Triton server exports.

Questions are about each replica (`instance`): an answer was measured on one server. A server counts
for each version of a model and, of models on GPUs, for each GPU, so the counts are added up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.models import is_decoupled
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.domain.trials import under_load
from model_analyzer.results.answer import Answer
from model_analyzer.results.ranking import VariantResult

# The parts of a request's time in the server.
_PARTS = (
    "perf_server_queue",
    "perf_server_compute_input",
    "perf_server_compute_infer",
    "perf_server_compute_output",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredService:
    """What one model was measured to do on one server, under a `load` in words.

    `requests_per_s` is the rate of its requests, `server_ms` the mean time of a request in the
    server, from its arrival to its response, and `mean_batch` the mean number of inferences that
    an execution computes together. None where it is unknown.
    """

    model: str
    variant: str
    load: str
    requests_per_s: float | None
    server_ms: float | None
    mean_batch: float | None


def services_of(answer: Answer) -> Sequence[MeasuredService]:
    """One service for each model that is measured together; empty without an answer."""
    if answer.best is None:
        return ()
    most = _most(answer.best, answer.ranking.goal)
    return [_service(most, index) for index in range(len(most.trial.workloads))]


def _most(result: VariantResult, goal: Goal) -> MeasuredTrial:
    """The measurement of most requests that meets the constraints, with batches as in the best one,
    which may have a lower load: the limit of what is known to work. If none meets them, the best.
    """
    sizes = _batch_sizes(result.best)
    fit = [
        item
        for item in result.measured
        if goal.passes(item.measurement) and _batch_sizes(item) == sizes
    ]
    return max(
        fit, key=lambda item: item.measurement.value("perf_throughput") or 0.0, default=result.best
    )


def _batch_sizes(item: MeasuredTrial) -> Sequence[int]:
    return [load.batch_size for load in item.trial.load]


def _service(item: MeasuredTrial, index: int) -> MeasuredService:
    work, measurement = item.trial.workloads[index], item.measurement
    variant = work.variant
    throughput = measurement.model_value(index, "perf_throughput")
    statistics = measurement.statistics.get(variant.model)
    parts = [measurement.model_value(index, tag) for tag in _PARTS]
    known = [part for part in parts if part is not None]
    # of a stream, the server counts the time until the first response is begun
    has_times = known and not is_decoupled(variant.config)
    return MeasuredService(
        model=variant.model,
        variant=variant.name,
        load=under_load(work.load, work.traffic),
        requests_per_s=None if throughput is None else throughput / work.load.batch_size,
        server_ms=sum(known) if has_times else None,
        mean_batch=None if statistics is None else statistics.mean_batch,
    )


SUCCESSES = "nv_inference_request_success"
FAILURES = "nv_inference_request_failure"
_INFERENCES, _EXECUTIONS = "nv_inference_count", "nv_inference_exec_count"
_REQUEST_US, _QUEUE_US = "nv_inference_request_duration_us", "nv_inference_queue_duration_us"


def label_of(model: str) -> str:
    """The label of the series of a model, for a query of Prometheus."""
    escaped = model.replace("\\", "\\\\").replace('"', '\\"')
    return f'model="{escaped}"'


@dataclass(frozen=True, slots=True)
class ModelQueries:
    """The questions about a `model`, over the last `window` (as Prometheus writes it)."""

    model: str
    window: str

    @property
    def requests_per_s(self) -> str:
        """The rate of requests that are answered, by replica."""
        return self._rate(SUCCESSES)

    @property
    def failed_share(self) -> str:
        """The share (0 to 1) of requests that fail, by replica."""
        failed = self._rate(FAILURES)
        return f"{failed} / ({failed} + {self._rate(SUCCESSES)})"

    @property
    def server_ms(self) -> str:
        """The mean time of a request in the server, by replica."""
        return f"{self._rate(_REQUEST_US)} / {self._rate(SUCCESSES)} / 1000"

    @property
    def queue_ms(self) -> str:
        """The mean time of a request in the queue, by replica."""
        return f"{self._rate(_QUEUE_US)} / {self._rate(SUCCESSES)} / 1000"

    @property
    def mean_batch(self) -> str:
        """The mean number of inferences in an execution, by replica."""
        return f"{self._rate(_INFERENCES)} / {self._rate(_EXECUTIONS)}"

    @property
    def is_missing(self) -> str:
        """Whether no replica has the model."""
        return f"absent({SUCCESSES}{{{label_of(self.model)}}})"

    def _rate(self, counter: str) -> str:
        return f"sum by (instance) (rate({counter}{{{label_of(self.model)}}}[{self.window}]))"
