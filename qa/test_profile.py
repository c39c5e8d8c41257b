# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Profiling: what is measured, in which order, and what comes out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

SMALL = {
    "run_config_search_max_concurrency": 2,
    "run_config_search_max_instance_count": 2,
    "run_config_search_max_model_batch_size": 1,
}


@pytest.mark.slow
def test_an_ensemble_is_measured_with_its_parts(scene) -> None:
    status, output = scene.profile(profile_models=["ensemble_chain"], concurrency=[1, 2])

    assert status == 0, output
    assert len(scene.rows) == 2
    entries = (scene.directory / "checkpoints" / "0.ckpt").read_text().splitlines()
    measured = [json.loads(line) for line in entries if '"entry":"measurement"' in line]
    parts = measured[0]["models"][0]["composing"]
    assert set(parts) == {"scale", "add_sub"}
    assert parts["scale"]["perf_server_compute_infer"] > 0


def listing(directory: Path) -> list[tuple[str, int]]:
    """Its files, and when they were written."""
    return sorted((str(path), path.stat().st_mtime_ns) for path in directory.rglob("*"))


def test_the_variants_and_the_best_are_ready_to_serve(scene) -> None:
    before = listing(scene.models)
    status, output = scene.profile(**SMALL)
    assert status == 0, output
    assert listing(scene.models) == before, "the user's repository is left as it was"
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


@pytest.mark.slow
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


# Instances that know how many they are, and write it down.
COUNTING = """
import json
import triton_python_backend_utils as pb

class TritonPythonModel:
    def initialize(self, args):
        (group,) = json.loads(args["model_config"])["instance_group"]
        with open({path!r}, "a") as file:
            file.write(f"{{group['count']}}\\n")

    def execute(self, requests):
        tensors = [pb.get_input_tensor_by_name(one, "INPUT").as_numpy() for one in requests]
        return [pb.InferenceResponse([pb.Tensor("OUTPUT", tensor)]) for tensor in tensors]
"""


@pytest.mark.slow
def test_every_instance_of_a_variant_is_initialized_for_it(scene) -> None:
    """Triton keeps instances where nothing but their number changes."""
    path = scene.directory / "initialized"
    scene.model("counting", COUNTING.format(path=str(path)))

    status, output = scene.profile(
        profile_models={
            "counting": {
                "parameters": {"concurrency": [1]},
                "model_config_parameters": {
                    "instance_group": [[{"count": [3, 1, 2], "kind": "KIND_CPU"}]]
                },
            }
        },
    )

    assert status == 0, output
    counts = path.read_text().split()
    assert {count: counts.count(count) for count in ("3", "2")} == {"3": 3, "2": 2}
