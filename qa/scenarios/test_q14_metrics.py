# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q14: which metrics are collected, and which are shown."""

import pytest

COLUMNS = ["model_name", "batch_size", "concurrency", "model_config_path", "instance_group"]
MEMORY = [*COLUMNS, "max_batch_size", "perf_throughput", "perf_latency_p99", "cpu_used_ram"]
LATENCIES = [
    *COLUMNS, "satisfies_constraints", "perf_throughput", "perf_latency_avg", "perf_latency_p90",
    "perf_latency_p95", "perf_latency_p99",
]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "columns"),
    [
        ({"collect_cpu_metrics": True, "inference_output_fields": MEMORY}, 9),
        pytest.param({}, 9, marks=pytest.mark.slow),
        ({"inference_output_fields": LATENCIES}, 11),
    ],
    ids=["memory", "default", "latencies"],
)
def test_metrics_and_columns(scenario, options, columns: int) -> None:
    run = scenario.profile(
        run_config_search_disable=True,
        concurrency=[1],
        profile_models={
            "add_sub": {
                "model_config_parameters": {
                    "instance_group": [{"count": 1, "kind": scenario.kind}],
                    "dynamic_batching": {},
                }
            }
        },
        **options,
    )

    assert run.status == 0, run.output
    assert scenario.tables == scenario.expected(2, columns, 10, 5)
    assert all(float(row[-1]) > 0 for row in scenario.rows())
