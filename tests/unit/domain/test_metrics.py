# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The metric catalogue: which numbers there are, which way is better, how several become one."""

from __future__ import annotations

from collections import Counter

import pytest

from model_analyzer.domain.metrics import ALIASES, METRICS, Better, Reduction, Source

STATISTICS = ("avg", "min", "max", "p99", "p95", "p90", "p75", "p50", "p25")
TIME_TO_FIRST_TOKEN = tuple(f"time_to_first_token_{each}" for each in STATISTICS)
INTER_TOKEN = tuple(f"inter_token_latency_{each}" for each in STATISTICS)

HIGHER_IS_BETTER = {
    "perf_throughput", "perf_goodput", "output_token_throughput", "gpu_free_memory",
    "gpu_total_memory", "gpu_utilization", "cpu_available_ram", "cache_hit_rate",
}  # fmt: skip
LOWER_IS_BETTER = {
    "perf_latency_avg", "perf_latency_p50", "perf_latency_p90", "perf_latency_p95",
    "perf_latency_p99", "perf_sent_latency_p99", "perf_send_lag_p99",
    "perf_client_response_wait", "perf_client_send_recv",
    "perf_server_queue", "perf_server_compute_input", "perf_server_compute_infer",
    "perf_server_compute_output", "gpu_used_memory", "gpu_power_usage", "cpu_used_ram",
    "gpu_metered_power", "energy_per_inference", "idle_energy_per_inference",
    "cost_per_million_inferences", "cost_per_million_tokens",
    *TIME_TO_FIRST_TOKEN, *INTER_TOKEN,
}  # fmt: skip


def test_the_catalogue_holds_these_metrics_and_no_others() -> None:
    assert set(METRICS) == HIGHER_IS_BETTER | LOWER_IS_BETTER
    assert all(tag == metric.tag for tag, metric in METRICS.items())


def test_the_old_name_of_latency_means_p99() -> None:
    assert dict(ALIASES) == {"perf_latency": "perf_latency_p99"}


@pytest.mark.parametrize("tag", sorted(HIGHER_IS_BETTER))
def test_higher_is_better_for_these_metrics(tag: str) -> None:
    assert METRICS[tag].better is Better.HIGHER
    assert METRICS[tag].gain(3, 1) == 2


@pytest.mark.parametrize("tag", sorted(LOWER_IS_BETTER))
def test_lower_is_better_for_these_metrics(tag: str) -> None:
    assert METRICS[tag].better is Better.LOWER
    assert METRICS[tag].gain(3, 1) == -2


@pytest.mark.parametrize(
    ("tag", "header"),
    [
        ("perf_throughput", "Throughput (infer/sec)"),
        ("perf_latency_avg", "Avg Latency (ms)"),
        ("perf_latency_p90", "p90 Latency (ms)"),
        ("perf_latency_p95", "p95 Latency (ms)"),
        ("perf_latency_p99", "p99 Latency (ms)"),
        ("perf_client_response_wait", "Response Wait Time (ms)"),
        ("perf_client_send_recv", "Client Send/Recv (ms)"),
        ("perf_server_queue", "Server Queue time (ms)"),
        ("perf_server_compute_input", "Server Compute Input time (ms)"),
        ("perf_server_compute_infer", "Server Compute Infer time (ms)"),
        ("perf_server_compute_output", "Server Compute Output time (ms)"),
        ("gpu_used_memory", "GPU Memory Usage (MB)"),
        ("gpu_free_memory", "GPU Memory Available (MB)"),
        ("gpu_utilization", "GPU Utilization (%)"),
        ("gpu_power_usage", "GPU Power Usage (W)"),
        ("cpu_used_ram", "RAM Usage (MB)"),
        ("cpu_available_ram", "RAM Available (MB)"),
        ("time_to_first_token_avg", "Avg Time To First Token (ms)"),
        ("time_to_first_token_p99", "p99 Time To First Token (ms)"),
        ("inter_token_latency_max", "Max Inter Token Latency (ms)"),
        ("inter_token_latency_p25", "p25 Inter Token Latency (ms)"),
    ],
)
def test_tables_head_the_metric_with_these_words(tag: str, header: str) -> None:
    assert METRICS[tag].header == header


def test_no_two_metrics_share_a_header() -> None:
    assert max(Counter(metric.header for metric in METRICS.values()).values()) == 1


@pytest.mark.parametrize("tag", sorted(METRICS))
def test_the_source_of_a_metric_shows_in_its_tag(tag: str) -> None:
    expected = {
        "perf": Source.LOAD_GENERATOR,
        "gpu": Source.GPU,
        "cpu": Source.CPU,
        "energy": Source.ENERGY,
        "idle": Source.ENERGY,
        "cost": Source.PRICES,
        "cache": Source.SERVER,
    }
    source = expected.get(tag.partition("_")[0], Source.LLM)
    assert METRICS[tag].source is (Source.REQUESTS if tag == "perf_goodput" else source)


@pytest.mark.parametrize("tag", sorted(METRICS))
def test_throughputs_of_several_models_add_up_and_other_metrics_are_averaged(tag: str) -> None:
    total = tag in ("perf_throughput", "perf_goodput", "output_token_throughput")
    assert METRICS[tag].over_models is (Reduction.SUM if total else Reduction.MEAN)


@pytest.mark.parametrize(
    ("tag", "over_time", "over_gpus"),
    [
        ("gpu_used_memory", Reduction.MAX, Reduction.SUM),
        ("gpu_free_memory", Reduction.MIN, Reduction.SUM),
        ("gpu_total_memory", Reduction.MAX, Reduction.SUM),
        ("gpu_utilization", Reduction.MEAN, Reduction.MEAN),
        ("gpu_power_usage", Reduction.MEAN, Reduction.MEAN),
    ],
)
def test_memory_counts_at_its_tightest_and_adds_up_over_gpus(
    tag: str, over_time: Reduction, over_gpus: Reduction
) -> None:
    assert (METRICS[tag].over_time, METRICS[tag].over_gpus) == (over_time, over_gpus)


def test_memory_of_the_host_counts_at_its_tightest() -> None:
    assert METRICS["cpu_used_ram"].over_time is Reduction.MAX
    assert METRICS["cpu_available_ram"].over_time is Reduction.MIN


@pytest.mark.parametrize(
    ("reduction", "result"),
    [(Reduction.SUM, 9), (Reduction.MEAN, 3), (Reduction.MAX, 5), (Reduction.MIN, 1)],
)
def test_several_values_become_one(reduction: Reduction, result: float) -> None:
    assert reduction.apply(iter([1, 5, 3])) == result


def test_a_header_is_the_name_with_the_unit() -> None:
    metric = METRICS["output_token_throughput"]

    assert metric.header == f"{metric.name} ({metric.unit})"
    assert metric.header == "Output Token Throughput (tokens/sec)"
    assert (metric.unit.short, metric.unit.in_names) == ("tokens/s", "tokens_per_s")
