# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A response surface: a configuration of the product, and the result of measuring it.

The configuration is the YAML of a real run, so any search mode, and other programs, can use it. The
results come from a machine of formulas, a simulated server or a recorded table.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol
from zlib import crc32

import numpy as np

from benchmarks.search.durations import CAREFUL_S, LAUNCH_S, one_round
from benchmarks.search.machine import Client, Point, Response, Setting
from model_analyzer.config.resolve import resolve_profile
from model_analyzer.config.sources import parse_yaml
from model_analyzer.domain.goals import Constraint, Goal
from model_analyzer.domain.measurements import (
    BatchStatistics,
    Measurement,
    ModelMeasurement,
    ModelStatistics,
    Outcome,
    ServerStatistics,
)
from model_analyzer.domain.models import ModelFacts, freeze
from model_analyzer.domain.settings import ProfileSettings, SearchMode
from model_analyzer.domain.trials import Failure, FailureReason, LoadKind, ServerSetup
from model_analyzer.search.plan import SearchedModel, Subject

# The supported metrics, and the field of a response with each.
THROUGHPUT, AVERAGE, P99 = "perf_throughput", "perf_latency_avg", "perf_latency_p99"
MEMORY = "cpu_used_ram"

_WINDOWS = 3

# The time in seconds over which the server counts.
_COUNTED_S = 5.0


class Source(Protocol):
    """Gives responses without noise."""

    def respond(
        self, settings: Mapping[str, Setting], clients: Sequence[Client]
    ) -> Response | None:
        """The response to each client; None if the server cannot load these settings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """The relative standard deviation of throughput. Latencies follow throughput, and p99 has the
    same noise again. A share of the measurements are outliers, slower by up to a third.
    """

    sigma: float = 0.0
    outliers: float = 0.0

    def factors(
        self, seed: int, point: str, repetition: int
    ) -> tuple[float, float, Sequence[float]]:
        """What throughput and p99 are multiplied by, and the deviations of the windows.

        The same for the same seed, thing measured and repetition, in whatever order.
        """
        random = np.random.default_rng([seed, crc32(point.encode()), repetition])
        normal = np.clip(random.standard_normal(2 + _WINDOWS), -3, 3)
        speed = float(np.exp(self.sigma * normal[0]))
        if random.random() < self.outliers:
            speed *= random.uniform(0.67, 0.9)
        windows = self.sigma * (normal[2:] - normal[2:].mean())
        return speed, float(np.exp(self.sigma * normal[1])), [float(window) for window in windows]


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """The values to choose from for a model: instances, batch limits, queue delays (us)."""

    instances: Sequence[int]
    batch_limits: Sequence[int]
    delays_us: Sequence[int] = (0,)

    def settings(self) -> Sequence[Setting]:
        return [
            Setting(instances=count, batch_limit=limit, forms_batches=True, delay_us=delay)
            for count in self.instances
            for limit in self.batch_limits
            for delay in self.delays_us
        ]


@dataclass(frozen=True, kw_only=True)
class Surface:
    """A response surface. `facts` are the profiled models, `options` is the YAML without the mode,
    `axes` has the choices for each model with instances, and `loads` the choices for the load.
    """

    name: str
    family: str
    facts: tuple[ModelFacts, ...]
    options: Mapping[str, Any]
    axes: Mapping[str, Axis]
    loads: Sequence[int]
    source: Source
    noise: Noise = field(default_factory=Noise)
    load_kind: LoadKind = LoadKind.CONCURRENCY

    def settings(self, mode: SearchMode | None) -> ProfileSettings:
        """The settings of the run in this mode."""
        text = json.dumps(
            {**self.options, **({"run_config_search_mode": mode.value} if mode else {})}
        )
        return resolve_profile((), parse_yaml(text, self.name), Path("/")).settings

    def subject(self, settings: ProfileSettings) -> Subject:
        facts = {fact.name: fact for fact in self.facts}
        return Subject(
            models=tuple(
                SearchedModel(facts=facts[model.name], settings=model, composing=settings.composing)
                for model in settings.models
            ),
            setup=ServerSetup(),
        )

    @cached_property
    def goal(self) -> Goal:
        return self.subject(self.settings(None)).goal

    def within(self, *constraints: Constraint) -> Surface:
        """This surface with constraints on every model."""
        said = {
            constraint.tag: {
                **({} if constraint.minimum is None else {"min": constraint.minimum}),
                **({} if constraint.maximum is None else {"max": constraint.maximum}),
            }
            for constraint in constraints
        }
        return replace(self, options={**self.options, "constraints": said})

    def response(self, point: Point) -> Response | None:
        """The response without noise."""
        return self.source.respond(point.settings, point.clients)

    def measure(
        self, point: Point, seed: int, repetition: int = 0, round_s: float | None = None
    ) -> Outcome:
        """The outcome of a measurement; `repetition` counts measurements of the same point. A
        round lasts `round_s`, and until the last request is answered.
        """
        response = self.response(point)
        if response is None:
            return Failure(
                reason=FailureReason.MODEL_NOT_LOADED, message="out of memory while loading"
            )
        if response.fails[0]:
            return Failure(reason=FailureReason.REQUEST_FAILED, message="out of memory")
        speed, tail, windows = self.noise.factors(seed, self.name + point.text, repetition)
        if round_s is None:
            measured = measurement(response, speed=speed, tail=tail, windows=windows)
        else:
            random = np.random.default_rng([seed, crc32(point.text.encode()), repetition, 1])
            drifted = measurement(response, speed=speed, tail=tail, windows=())
            measured = _round(drifted, point.clients, round_s, random)
        # the measured throughput is the seed for the remaining noise
        random = np.random.default_rng(crc32(repr(measured.models).encode()))
        return replace(measured, statistics=self._statistics(response, speed, random))

    def _statistics(
        self, response: Response, speed: float, random: np.random.Generator
    ) -> ServerStatistics:
        """The server's statistics of an ensemble and its steps, if everything is `speed` times as
        fast; the time of each step has additional noise.
        """
        if not response.steps:
            return {}
        inferences = round(float(response.throughput[0][0]) * speed * _COUNTED_S)
        counted = {self.facts[0].name: _counted(inferences, 1.0, 0.0)}
        for name, work in response.steps.items():
            noise = float(np.exp(self.noise.sigma * random.standard_normal()))
            batch_ms = float(work.batch_ms[0]) / speed * noise
            counted[name] = _counted(inferences, float(work.batch[0]), batch_ms)
        return counted


def measurement(
    response: Response, *, speed: float, tail: float, windows: Sequence[float]
) -> Measurement:
    """The measurement at the first load of a response, if everything is `speed` times as fast."""
    models = []
    for throughput, average, p99 in zip(
        response.throughput, response.latency_avg, response.latency_p99, strict=True
    ):
        x, avg = float(throughput[0]) * speed, float(average[0]) / speed
        values = {
            THROUGHPUT: x,
            AVERAGE: avg,
            P99: max(float(p99[0]) / speed * tail, avg),
            "perf_latency_p50": 0.97 * avg,
            "perf_latency_p90": 1.04 * avg,
            "perf_latency_p95": 1.08 * avg,
        }
        models.append(
            ModelMeasurement(
                values=values, requests=1000, windows=tuple(x * (1 + window) for window in windows)
            )
        )
    return Measurement(models=tuple(models), host={MEMORY: response.memory}, duration_s=CAREFUL_S)


def _round(
    drifted: Measurement, clients: Sequence[Client], seconds: float, random: np.random.Generator
) -> Measurement:
    """A round of a server with the values `drifted`."""
    true = [
        (model.values[THROUGHPUT], model.values[AVERAGE], model.values[P99])
        for model in drifted.models
    ]
    sizes = [client.batch_size for client in clients]
    models = [
        one_round(values, size, seconds, random) for values, size in zip(true, sizes, strict=True)
    ]
    last_s = max(average for _, average, _ in true) / 1000
    return replace(drifted, models=tuple(models), duration_s=LAUNCH_S + seconds + last_s)


def _counted(inferences: int, batch: float, batch_ms: float) -> ModelStatistics:
    """Statistics with the two batch sizes nearest to the mean, which need the same time."""
    size, larger = int(batch), batch - int(batch)
    executions = round(inferences / batch)
    counts = {size: round(executions * (1 - larger)), size + 1: round(executions * larger)}
    return ModelStatistics(
        inferences=inferences,
        executions=executions,
        batches=tuple(
            BatchStatistics(size, count, count * batch_ms)
            for size, count in counts.items()
            if count
        ),
    )


def single(name: str, *, max_batch_size: int = 8, batches: bool = True) -> ModelFacts:
    """The facts of a model; its default does not batch dynamically."""
    limit = {"max_batch_size": max_batch_size} if batches else {}
    tensors = [{"data_type": "TYPE_FP32", "dims": [16]}]
    config = {
        "name": name,
        "backend": "python",
        **limit,
        "input": [{"name": "INPUT0", **tensors[0]}],
        "output": [{"name": "OUTPUT0", **tensors[0]}],
        "instance_group": [{"count": 1, "kind": "KIND_CPU"}],
    }
    return ModelFacts(name=name, config=freeze(config), files="files")


def ensemble(name: str, parts: Sequence[ModelFacts]) -> ModelFacts:
    """The facts of an ensemble with one step for each part."""
    steps = [
        {
            "model_name": part.name,
            "model_version": -1,
            "input_map": {"INPUT0": f"t{index}"},
            "output_map": {"OUTPUT0": f"t{index + 1}"},
        }
        for index, part in enumerate(parts)
    ]
    config = {
        "name": name,
        "platform": "ensemble",
        "max_batch_size": min(int(part.config["max_batch_size"]) for part in parts),
        "input": [{"name": "t0", "data_type": "TYPE_FP32", "dims": [16]}],
        "output": [{"name": f"t{len(parts)}", "data_type": "TYPE_FP32", "dims": [16]}],
        "ensemble_scheduling": {"step": steps},
    }
    return ModelFacts(name=name, config=freeze(config), files="files", composing=tuple(parts))
