# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a trial gives: values for each model and device, and what to know about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from model_analyzer.domain.metrics import ALIASES, METRICS, Better, Source
from model_analyzer.domain.models import empty
from model_analyzer.domain.trials import Failure

# Metric values by tag, in catalogue units.
Values = Mapping[str, float]


class NoticeKind(Enum):
    """What the user should know about a result."""

    UNSTABLE = "unstable"
    FEW_REQUESTS = "few requests"
    UNVERIFIED = "unverified"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A remark that travels with a measurement; `text` is one sentence with what to do."""

    kind: NoticeKind
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelMeasurement:
    """What one model of a trial did.

    `requests` is the number of requests behind the latencies, if known. `windows` holds the
    throughput (inferences per second) of each measurement window that the result is made of:
    their spread is the noise of the measurement. `composing` holds server-side values of the
    models that an ensemble or BLS model called.
    """

    values: Values
    requests: int | None = None
    windows: tuple[float, ...] = ()
    composing: Mapping[str, Values] = field(default_factory=empty)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What a monitor saw of the machine: values of the whole server (`host`), and of each GPU
    by its UUID.
    """

    host: Values = field(default_factory=empty)
    gpus: Mapping[str, Values] = field(default_factory=empty)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """All values of one trial.

    `models` is in the order of the trial's workloads; `gpus` maps a GPU's UUID to its values;
    `host` holds values of the whole server (memory). `started` is in seconds since the epoch.
    """

    models: tuple[ModelMeasurement, ...]
    gpus: Mapping[str, Values] = field(default_factory=empty)
    host: Values = field(default_factory=empty)
    notices: tuple[Notice, ...] = ()
    commands: tuple[str, ...] = ()
    started: float = 0.0
    duration_s: float = 0.0

    def value(self, tag: str) -> float | None:
        """The metric over all models and GPUs, or None where it was not measured."""
        metric = METRICS[ALIASES.get(tag, tag)]
        match metric.source:
            case Source.GPU:
                values = [gpu.get(metric.tag) for gpu in self.gpus.values()]
                reduction = metric.over_gpus
            case Source.CPU:
                values = [self.host.get(metric.tag)]
                reduction = metric.over_models
            case _:
                values = [model.values.get(metric.tag) for model in self.models]
                reduction = metric.over_models
        present = [value for value in values if value is not None]
        return reduction.apply(present) if present else None

    def model_value(self, index: int, tag: str) -> float | None:
        """The metric of one model of the trial; device metrics are the whole server's."""
        metric = METRICS[ALIASES.get(tag, tag)]
        if metric.is_of_the_server:
            return self.value(tag)
        return self.models[index].values.get(metric.tag)


Outcome = Measurement | Failure


def best_value(measurements: Iterable[Measurement], tag: str) -> float | None:
    """The best value of the metric among the measurements, or None where none has it."""
    values = [value for item in measurements if (value := item.value(tag)) is not None]
    is_higher_better = METRICS[ALIASES.get(tag, tag)].better is Better.HIGHER
    return (max if is_higher_better else min)(values, default=None)
