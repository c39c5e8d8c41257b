# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A pretend production: counters of servers under random traffic, and what was measured before."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from model_analyzer.domain.measurements import Measurement, ModelStatistics
from model_analyzer.domain.profiles import MeasuredTrial, TrialRecord
from model_analyzer.domain.trials import LoadKind
from model_analyzer.features.watch.facts.deviations import (
    LoadPoint,
    PromisedService,
    Watched,
    scenes_of,
    watched,
)
from model_analyzer.features.watch.facts.server_counts import Counts, Look
from model_analyzer.noise.noise import Interval
from tests.features.capacity.replicas import open_load
from tests.unit.builders import measurement, trial, variant

DEPLOYED = variant(
    "m_config_0",
    max_batch_size=4,
    dynamic_batching={},
    instance_group=[{"count": 2, "kind": "KIND_CPU"}],
)


def promise(carries: float | None = None, **changes: Any) -> PromisedService:
    """2 instances, measured at 50 to 150 requests/s: 1 ms in the queue, 7 ms computed."""
    points = tuple(
        LoadPoint(
            item=MeasuredTrial(
                trial(DEPLOYED, kind=LoadKind.REQUEST_RATE, concurrency=rate), measurement(rate, 20)
            ),
            rate=rate,
            size=1,
            is_open=True,
            cv=1.0,
            queue=Interval(low=0.8, high=1.2),
            compute=Interval(low=6.8, high=7.2),
            batch=1.2,
        )
        for rate in (50, 100, 150)
    )
    known = PromisedService(
        variant=DEPLOYED, points=points, carries=carries, share=1.0, triton="2.51.0", gpus=0
    )
    return replace(known, **changes)


def measured(rate: int) -> TrialRecord:
    """The same as a record of a checkpoint."""
    times: dict[str, Any] = {
        "queue": 1.0,
        "compute_input": 0.1,
        "compute_infer": 6.8,
        "compute_output": 0.1,
    }
    values = {f"perf_server_{name}": value for name, value in times.items()}
    record = open_load(rate, 20, of=DEPLOYED, **values)
    assert isinstance(record.outcome, Measurement)
    statistics = {"m": ModelStatistics(inferences=120, executions=100)}
    return record._replace(outcome=replace(record.outcome, statistics=statistics))


@dataclass
class Server:
    """Counters under traffic at a `rate`, with bursts if its `cv` is above 1. Values by second may
    be functions of the time.
    """

    name: str = "a:8002"
    rate: Any = 100.0
    cv: float = 1.0
    size: float = 1.0
    batch: float = 1.2
    queue_ms: float = 1.0
    compute_ms: float = 7.0
    failed: float = 0.0
    cancelled: float = 0.0
    hits: float = 0.0
    version: Any = "1"
    memory: Any = 1e9
    until: float = 1e9
    draws: random.Random = field(default_factory=lambda: random.Random(3))
    counts: dict[str, float] = field(default_factory=dict)

    def look(self, at: float, every: float) -> Look:
        if at > self.until:
            return Look(at, self.name, {}, {}, "cannot be read: Connection refused")
        rate = self.rate(at) if callable(self.rate) else self.rate
        mean = rate * every
        requests = max(0, round(self.draws.gauss(mean, self.cv * mean**0.5)))
        broken, cancelled = round(requests * self.failed), round(requests * self.cancelled)
        answered = requests - broken - cancelled
        computed = answered * (1 - self.hits)
        slower = self.draws.gauss(1, 0.03)
        version = self.version(at) if callable(self.version) else self.version
        memory = self.memory(at) if callable(self.memory) else self.memory
        for name, count in {
            "answered": answered,
            "failed": broken + cancelled,
            "failed:BACKEND": broken,
            "failed:CANCELED": cancelled,
            "inferences": computed * self.size,
            "executions": computed * self.size / self.batch,
            "hits": answered - computed,
            "queue_us": computed * self.queue_ms * 1e3 * self.draws.lognormvariate(0, 0.3),
            "compute_us": computed * self.compute_ms * 1e3 * slower,
            "request_us": computed * (self.queue_ms + self.compute_ms) * 1e3,
            f"version:{version}": answered,
        }.items():
            self.counts[name] = self.counts.get(name, 0.0) + count
        gauges = {"memory": memory, "memory_total": 24e9, "cpu": 0.2}
        return Look(at, self.name, {"m": dict(self.counts)}, gauges)


def looks(*servers: Server, seconds: float = 120, every: float = 1.0) -> Iterator[Look]:
    for step in range(int(seconds / every) + 1):
        yield from (server.look(1e6 + step * every, every) for server in servers)


def seen(
    given: Sequence[Look],
    known: PromisedService | None = None,
    found: Mapping[str, Any] | None = None,
    **wanted: Any,
) -> Watched:
    """The verdict on the model."""
    services = {"m": known or promise()}
    (scene,) = scenes_of(given, services, found or {}, are_replicas=True, **wanted)
    return watched(scene)


def metrics_text(counts: Counts) -> str:
    """The counters as Triton writes them."""
    names = {
        "answered": "request_success", "inferences": "count", "executions": "exec_count",
        "queue_us": "queue_duration_us", "compute_us": "compute_infer_duration_us",
        "request_us": "request_duration_us",
    }  # fmt: skip
    lines = [
        f'nv_inference_{name}{{model="m",version="1"}} {counts[key]}' for key, name in names.items()
    ]
    failed = 'nv_inference_request_failure{model="m",version="1",reason="BACKEND"} '
    return "\n".join([*lines, f"{failed}{counts['failed']}", "nv_cpu_utilization 0.5", ""])
