# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""GPU output is left out on a machine without GPU, or for models that do not use them."""

from __future__ import annotations

import pytest

SMALL = {
    "run_config_search_disable": True,
    "concurrency": 1,
    "profile_models": ["add_sub"],
    "collect_cpu_metrics": True,
}


def no_gpu(scene) -> None:
    results = {path.name for path in (scene.directory / "results").iterdir()}
    assert "metrics-model-inference.csv" in results
    assert not results & {"metrics-model-gpu.csv", "metrics-server-only.csv"}
    for path in scene.directory.glob("reports/*/*/*.html"):
        page = path.read_text()
        assert "GPU Memory Usage" not in page
        assert "GPU Utilization" not in page
        assert "Total Available GPU Memory" not in page


def test_models_on_cpus_have_no_gpu_tables_and_no_gpu_columns(scene) -> None:
    models = {"add_sub": {"cpu_only": True}}

    status, output = scene.profile("-v", **{**SMALL, "profile_models": models})

    assert status == 0, output
    assert "Initializing GPUDevice handles" in output
    assert output.count("Profiling server only metrics") == 1
    assert "Models (GPU Metrics):" not in output
    assert "Server Only:" not in output
    assert "GPU output field" not in output
    no_gpu(scene)

    status, output = scene.profile(**{**SMALL, "profile_models": models})
    assert status == 0, output
    assert "GPU devices match checkpoint" in output
    assert "Profiling server only metrics" not in output


@pytest.mark.slow
def test_no_gpus_can_be_requested(scene) -> None:
    status, output = scene.profile("--gpus", "[]", **SMALL)

    assert status == 0, output
    assert "No GPUs requested" in output
    no_gpu(scene)


@pytest.mark.slow
def test_a_gpu_that_no_machine_has_is_a_usage_error(scene) -> None:
    status, output = scene.profile("--gpus", "GPU-00000000-no-such", **SMALL)

    assert status == 2
    assert "gpus: there is no GPU GPU-00000000-no-such here" in output
    assert "Traceback" not in output


@pytest.mark.slow
@pytest.mark.parametrize("field", ["gpu_used_memory", "gpu_power_usage"])
def test_gpu_metrics_without_data_are_left_out_with_one_message(scene, field: str) -> None:
    status, output = scene.profile(
        "--gpus", "[]", "--inference-output-fields", f"model_name,{field}", **SMALL
    )

    assert status == 0, output
    assert output.count(f'Inference output field "{field}", has no data') == 1
    assert scene.rows == [["add_sub"]]
