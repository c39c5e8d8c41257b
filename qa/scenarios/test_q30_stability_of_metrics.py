# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q30: memory and GPU metrics are there in every run, and say something."""

import shutil

import pytest

FIELDS = ["model_name", "batch_size", "concurrency"]


def measure(scenario, *arguments: str, **options: object) -> None:
    """A fresh run, and a second one on its checkpoint, which writes the tables."""
    shutil.rmtree(scenario.directory / "checkpoints", ignore_errors=True)
    for more in ({"skip_summary_reports": True}, {}):
        run = scenario.profile(
            *arguments,
            run_config_search_disable=True,
            batch_sizes=[4],
            concurrency=[4],
            collect_cpu_metrics=True,
            profile_models=["add_sub"],
            **options,
            **more,
        )
        assert run.status == 0, run.output


def values(scenario, title: str) -> list[float]:
    rows = scenario.rows(title)
    assert rows
    return [float(cell) for row in rows for cell in row[len(FIELDS) :]]


@pytest.mark.slow
def test_memory(scenario) -> None:
    for _ in range(3):
        measure(scenario, inference_output_fields=[*FIELDS, "cpu_used_ram"])
        assert all(round(value, 2) > 0 for value in values(scenario, "Models (Inference)"))


@pytest.mark.slow
def test_gpu_metrics(scenario) -> None:
    if not scenario.gpus:
        pytest.skip("no GPU")
    for _ in range(3):
        fields = [*FIELDS, "gpu_used_memory", "gpu_utilization"]
        measure(scenario, "--gpus", "0", gpu_output_fields=fields)
        assert all(round(value, 2) > 0 for value in values(scenario, "Models (GPU Metrics)"))
