# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Profiling: what is measured, in which order, and what comes out."""

from __future__ import annotations

import json

import pytest

SMALL = {
    "run_config_search_max_concurrency": 2,
    "run_config_search_max_instance_count": 2,
    "run_config_search_max_model_batch_size": 1,
}
COUNTS = {"instance_group": [{"count": [1, 2], "kind": "KIND_CPU"}]}


@pytest.mark.parametrize(
    ("config", "model", "rows"),
    [
        (
            {"run_config_search_disable": True, "concurrency": [1]},
            {"model_config_parameters": COUNTS},
            3,
        ),
        (SMALL, {"model_config_parameters": COUNTS}, 6),
        (SMALL, {}, 6),
        (SMALL, {"parameters": {"concurrency": [1]}}, 3),
        (SMALL, {"parameters": {"concurrency": [1]}, "model_config_parameters": COUNTS}, 3),
    ],
)
def test_the_number_of_measurements_is_known(scene, config, model, rows) -> None:
    models = {"add_sub": {"cpu_only": True, **model}}

    for _ in range(2):  # the second run finds everything in the checkpoint
        status, output = scene.profile(**config, profile_models=models)
        assert status == 0, output
        assert len(scene.rows) == rows
    assert scene.checkpoints == ["0.ckpt"]


def test_a_cpu_model_without_batching_is_swept_over_instances(scene) -> None:
    scene.model("plain", PASS_ON, max_batch_size=0)

    status, output = scene.profile(
        "-v",
        profile_models={"plain": {"cpu_only": True}},
        run_config_search_max_concurrency=4,
        run_config_search_max_instance_count=2,
        run_config_search_max_model_batch_size=1,
    )

    assert status == 0, output
    assert len(scene.rows) == 9
    assert all(len(row) == 9 for row in scene.rows)
    # one instance is what it has by default: that is not measured twice
    assert output.count("Profiling plain_config") == 6


PASS_ON = """
import triton_python_backend_utils as pb

class TritonPythonModel:
    def execute(self, requests):
        return [
            pb.InferenceResponse(output_tensors=[
                pb.Tensor("OUTPUT", pb.get_input_tensor_by_name(request, "INPUT").as_numpy())
            ])
            for request in requests
        ]
"""


def test_batch_sizes_and_concurrencies_are_combined(scene) -> None:
    status, output = scene.profile(
        "--skip-summary-reports",
        "-b", "1,2",
        "-c", "1,2",
        "--run-config-search-disable",
        profile_models=["add_sub", "scale"],
    )  # fmt: skip

    assert status == 0, output
    assert output.count("Profiling add_sub_config_default") == 4
    assert output.count("Profiling scale_config_default") == 4
    assert not (scene.directory / "results").exists()
    assert scene.checkpoints == ["0.ckpt", "1.ckpt"]


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_both_protocols_measure(scene, protocol: str) -> None:
    status, output = scene.profile(
        "--client-protocol", protocol, "--run-config-search-disable", "-b", "4", "-c", "4"
    )

    assert status == 0, output
    assert float(scene.rows[0][7]) > 0


def test_an_ensemble_is_measured_with_its_parts(scene) -> None:
    status, output = scene.profile(profile_models=["ensemble_chain"], concurrency=[1, 2])

    assert status == 0, output
    assert len(scene.rows) == 2
    entries = (scene.directory / "checkpoints" / "0.ckpt").read_text().splitlines()
    measured = [json.loads(line) for line in entries if '"entry":"measurement"' in line]
    parts = measured[0]["models"][0]["composing"]
    assert set(parts) == {"scale", "add_sub"}
    assert parts["scale"]["perf_server_compute_infer"] > 0


def test_the_variants_and_the_best_are_ready_to_serve(scene) -> None:
    status, output = scene.profile(**SMALL)
    assert status == 0, output
    best = (scene.directory / "best" / "add_sub" / "config.pbtxt").read_text()
    assert (scene.models / "add_sub" / "config.pbtxt").read_text() != best

    # the written variants can be profiled themselves: they are a model repository
    output_repository = scene.directory / "output_model_repository"
    again = output_repository.rename(scene.directory / "variants")
    for config in again.glob("*/config.pbtxt"):
        text = config.read_text().replace('name: "add_sub"', f'name: "{config.parent.name}"')
        config.write_text(text)
    status, output = scene.profile(
        "--run-config-search-disable", "-s", "other-checkpoints",
        model_repository=str(again),
        profile_models=["add_sub_config_0", "add_sub_config_1"],
    )  # fmt: skip
    assert status == 0, output


def test_the_users_repository_is_left_as_it_was(scene) -> None:
    def listing() -> list[tuple[str, int]]:
        return sorted(
            (str(path.relative_to(scene.models)), path.stat().st_mtime_ns)
            for path in scene.models.rglob("*")
        )

    before = listing()
    status, output = scene.profile(**SMALL)

    assert status == 0, output
    assert listing() == before


def test_memory_of_the_variants_is_measured(scene) -> None:
    status, output = scene.profile(
        "--collect-cpu-metrics",
        "--inference-output-fields", "model_config_path,instance_group,cpu_used_ram",
        profile_models={
            "sim_gpu": {
                "parameters": {"concurrency": [2]},
                "model_config_parameters": {
                    "instance_group": [[{"count": [3, 1], "kind": "KIND_CPU"}]]
                },
            }
        },
    )  # fmt: skip

    assert status == 0, output
    used = {row[1]: float(row[2]) for row in scene.rows if row[0] != "sim_gpu_config_default"}
    # each instance holds 16 MiB; one that has just been removed must not count
    assert 30 < used["3:CPU"] - used["1:CPU"] < 120
