# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The metric catalogue: one row for each number that a measurement can hold.

Values have the unit that the header names: milliseconds, inferences per second, megabytes
(10^6 bytes), percent, watts, joules. The code that reads a number from outside converts it once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType


class Better(Enum):
    """Whether higher or lower values are better."""

    HIGHER = "higher"
    LOWER = "lower"


class Source(Enum):
    """Where a metric comes from, so that "no data" can be explained."""

    LOAD_GENERATOR = "perf_analyzer"
    REQUESTS = "times of single requests"
    SERVER = "the server's statistics"
    LLM = "perf_analyzer's profile export"
    GPU = "GPU monitor"
    CPU = "CPU monitor"
    ENERGY = "energy counter of the GPUs"
    PRICES = "prices"


class Unit(Enum):
    """The unit of a metric: its text in reports, its short text, and its part of field names."""

    INFERENCES_PER_SECOND = ("infer/sec", "infer/s", "infer_per_s")
    TOKENS_PER_SECOND = ("tokens/sec", "tokens/s", "tokens_per_s")
    MILLISECONDS = ("ms", "ms", "ms")
    MEGABYTES = ("MB", "MB", "mb")
    PERCENT = ("%", "%", "percent")
    WATTS = ("W", "W", "w")
    JOULES = ("J", "J", "j")
    CURRENCY = ("currency", "", "currency")

    def __init__(self, text: str, short: str, in_names: str) -> None:
        self.text, self.short, self.in_names = text, short, in_names

    def __str__(self) -> str:
        return self.text


class Reduction(Enum):
    """How several values become one."""

    SUM = "sum"
    MEAN = "mean"
    MAX = "max"
    MIN = "min"

    def apply(self, values: Iterable[float]) -> float:
        """One value for all `values`, which must not be empty."""
        numbers = list(values)
        match self:
            case Reduction.SUM:
                return sum(numbers)
            case Reduction.MEAN:
                return sum(numbers) / len(numbers)
            case Reduction.MAX:
                return max(numbers)
            case Reduction.MIN:
                return min(numbers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A number that a measurement may hold.

    `over_models` reduces the models of one trial, `over_time` the samples of one device
    and `over_gpus` several GPUs.
    """

    tag: str
    name: str
    unit: Unit
    better: Better
    source: Source
    over_models: Reduction
    over_time: Reduction = Reduction.MEAN
    over_gpus: Reduction = Reduction.MEAN

    @property
    def header(self) -> str:
        """The name with the unit, for tables."""
        return f"{self.name} ({self.unit})"

    @property
    def is_of_the_server(self) -> bool:
        """Whether there is one value for the whole server, and none for each model."""
        return self.source is Source.GPU or self.is_of_the_host

    @property
    def is_of_the_host(self) -> bool:
        """Whether there is one value for the whole server, and none for each model or GPU."""
        return self.source in (Source.CPU, Source.ENERGY, Source.PRICES)

    def gain(self, new: float, old: float) -> float:
        """How much better `new` is than `old`, in the metric's unit; negative if worse."""
        return new - old if self.better is Better.HIGHER else old - new


def _rate(tag: str, name: str, unit: Unit, source: Source) -> Metric:
    return Metric(
        tag=tag,
        name=name,
        unit=unit,
        better=Better.HIGHER,
        source=source,
        over_models=Reduction.SUM,
    )


def _latency(tag: str, name: str, source: Source = Source.LOAD_GENERATOR) -> Metric:
    return Metric(
        tag=tag,
        name=name,
        unit=Unit.MILLISECONDS,
        better=Better.LOWER,
        source=source,
        over_models=Reduction.MEAN,
    )


def _device(
    tag: str,
    name: str,
    unit: Unit,
    better: Better,
    source: Source,
    over_time: Reduction,
    over_gpus: Reduction,
) -> Metric:
    return Metric(
        tag=tag,
        name=name,
        unit=unit,
        better=better,
        source=source,
        over_models=Reduction.MEAN,
        over_time=over_time,
        over_gpus=over_gpus,
    )


def _llm_latencies(tag: str, name: str) -> list[Metric]:
    statistics = {"avg": "Avg", "min": "Min", "max": "Max"}
    statistics |= {f"p{p}": f"p{p}" for p in (99, 95, 90, 75, 50, 25)}
    return [
        _latency(f"{tag}_{short}", f"{shown} {name}", Source.LLM)
        for short, shown in statistics.items()
    ]


_ROWS = [
    _rate("perf_throughput", "Throughput", Unit.INFERENCES_PER_SECOND, Source.LOAD_GENERATOR),
    _rate("perf_goodput", "Goodput", Unit.INFERENCES_PER_SECOND, Source.REQUESTS),
    _latency("perf_latency_avg", "Avg Latency"),
    _latency("perf_latency_p50", "p50 Latency"),
    _latency("perf_latency_p90", "p90 Latency"),
    _latency("perf_latency_p95", "p95 Latency"),
    _latency("perf_latency_p99", "p99 Latency"),
    _latency("perf_sent_latency_p99", "p99 Latency From Sending"),
    _latency("perf_send_lag_p99", "p99 Send Lag"),
    _latency("perf_client_response_wait", "Response Wait Time"),
    _latency("perf_client_send_recv", "Client Send/Recv"),
    _latency("perf_server_queue", "Server Queue time"),
    _latency("perf_server_compute_input", "Server Compute Input time"),
    _latency("perf_server_compute_infer", "Server Compute Infer time"),
    _latency("perf_server_compute_output", "Server Compute Output time"),
    Metric(
        tag="cache_hit_rate", name="Cache Hit Rate", unit=Unit.PERCENT, better=Better.HIGHER,
        source=Source.SERVER, over_models=Reduction.MEAN,
    ),
    _device(
        "gpu_used_memory", "GPU Memory Usage", Unit.MEGABYTES, Better.LOWER,
        Source.GPU, Reduction.MAX, Reduction.SUM,
    ),
    _device(
        "gpu_free_memory", "GPU Memory Available", Unit.MEGABYTES, Better.HIGHER,
        Source.GPU, Reduction.MIN, Reduction.SUM,
    ),
    _device(
        "gpu_total_memory", "GPU Memory Total", Unit.MEGABYTES, Better.HIGHER,
        Source.GPU, Reduction.MAX, Reduction.SUM,
    ),
    _device(
        "gpu_utilization", "GPU Utilization", Unit.PERCENT, Better.HIGHER,
        Source.GPU, Reduction.MEAN, Reduction.MEAN,
    ),
    _device(
        "gpu_power_usage", "GPU Power Usage", Unit.WATTS, Better.LOWER,
        Source.GPU, Reduction.MEAN, Reduction.MEAN,
    ),
    _device(
        "gpu_metered_power", "GPU Metered Power", Unit.WATTS, Better.LOWER,
        Source.GPU, Reduction.MEAN, Reduction.SUM,
    ),
    _device(
        "energy_per_inference", "GPU Energy Per Inference", Unit.JOULES, Better.LOWER,
        Source.ENERGY, Reduction.MEAN, Reduction.SUM,
    ),
    _device(
        "idle_energy_per_inference", "GPU Idle Energy Per Inference", Unit.JOULES, Better.LOWER,
        Source.ENERGY, Reduction.MEAN, Reduction.SUM,
    ),
    _device(
        "cost_per_million_inferences", "Cost Per Million Inferences", Unit.CURRENCY, Better.LOWER,
        Source.PRICES, Reduction.MEAN, Reduction.SUM,
    ),
    _device(
        "cost_per_million_tokens", "Cost Per Million Tokens", Unit.CURRENCY, Better.LOWER,
        Source.PRICES, Reduction.MEAN, Reduction.SUM,
    ),
    _device(
        "cpu_available_ram", "RAM Available", Unit.MEGABYTES, Better.HIGHER,
        Source.CPU, Reduction.MIN, Reduction.MEAN,
    ),
    _device(
        "cpu_used_ram", "RAM Usage", Unit.MEGABYTES, Better.LOWER,
        Source.CPU, Reduction.MAX, Reduction.MEAN,
    ),
    *_llm_latencies("time_to_first_token", "Time To First Token"),
    *_llm_latencies("inter_token_latency", "Inter Token Latency"),
    _rate(
        "output_token_throughput", "Output Token Throughput", Unit.TOKENS_PER_SECOND, Source.LLM
    ),
]  # fmt: skip

METRICS: Mapping[str, Metric] = MappingProxyType({metric.tag: metric for metric in _ROWS})

# The metrics that are percentiles: their name without the percentile, and its share (0 to 1).
PERCENTILES: Mapping[str, tuple[str, float]] = MappingProxyType(
    {
        tag: (match[1], int(match[2]) / 100)
        for tag in METRICS
        if (match := re.fullmatch(r"(.+)_p(\d\d)", tag))
    }
)

# Names of metrics in older configurations.
ALIASES: Mapping[str, str] = MappingProxyType({"perf_latency": "perf_latency_p99"})


def canonical(tag: str) -> str:
    """The name of a metric today; other names stay as they are."""
    return ALIASES.get(tag, tag)


def metric_of(tag: str) -> Metric:
    """The metric with this name, which may be that of an older configuration."""
    return METRICS[canonical(tag)]


def is_best_high(column: str) -> bool:
    """Whether the highest value of a column is its best; false if it is not a metric."""
    metric = METRICS.get(canonical(column))
    return metric is not None and metric.better is Better.HIGHER
