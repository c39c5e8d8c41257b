# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Launch mode c_api: the real server library inside the real perf_analyzer."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.phrases import DID_NOT_LOAD

C_API = ("--triton-launch-mode", "c_api", "--run-config-search-disable")
COUNTS = {"instance_group": [[{"count": [1, 2], "kind": "KIND_CPU"}]]}


def regions() -> set[Path]:
    return set(Path("/dev/shm").glob("triton_python_backend_shm_region_*"))


def measured(scene) -> list[dict]:
    lines = (scene.directory / "checkpoints" / "0.ckpt").read_text().splitlines()
    return [json.loads(line) for line in lines if '"entry":"measurement"' in line]


def test_variants_are_measured_without_a_separate_server(scene) -> None:
    status, output = scene.profile(
        *C_API, "-c", "2", "--collect-cpu-metrics", "--client-protocol", "http",
        "--inference-output-fields",
        "model_config_path,instance_group,perf_throughput,cpu_used_ram",
        profile_models={"add_sub": {"cpu_only": True, "model_config_parameters": COUNTS}},
        triton_server_environment={"OMP_NUM_THREADS": "1"},
    )  # fmt: skip

    assert status == 0, output
    assert "Profile complete. Profiled 3 configurations" in output
    assert "Traceback" not in output
    rows = {row[0]: row for row in scene.rows}
    assert rows["add_sub_config_1"][1] == "2:CPU"
    assert all(float(row[2]) > 0 for row in rows.values())
    # the models' processes count, too
    assert float(rows["add_sub_config_1"][3]) > float(rows["add_sub_config_default"][3]) + 5


@pytest.mark.slow
def test_a_variant_is_measured_with_its_composing_models_alone(scene) -> None:
    status, output = scene.profile(*C_API, "-c", "2", profile_models=["ensemble_chain"])

    assert status == 0, output
    (measurement,) = measured(scene)
    assert set(measurement["models"][0]["composing"]) == {"scale", "add_sub"}


@pytest.mark.slow
def test_a_stream_is_measured_with_the_times_of_its_tokens(scene) -> None:
    status, output = scene.profile(*C_API, "-c", "1", model_type="LLM", profile_models=["sim_llm"])

    assert status == 0, output
    (measurement,) = measured(scene)
    assert measurement["models"][0]["values"]["time_to_first_token_min"] >= 30


@pytest.mark.slow
def test_a_model_that_does_not_load_gives_one_line_and_the_run_continues(scene) -> None:
    """perf_analyzer itself would retry forever."""
    scene.model("broken", "raise ValueError('no such weights')\n")
    began = time.monotonic()

    status, output = scene.profile(*C_API, "-c", "1", profile_models=["broken", "add_sub"])

    assert status == 1
    assert f"broken_config_default {DID_NOT_LOAD}: ValueError: no such weights" in output
    assert [row[0] for row in scene.rows] == ["add_sub"]
    assert time.monotonic() - began < 30


@pytest.mark.slow
def test_nothing_is_left_when_perf_analyzer_is_killed_with_the_server_inside(
    scene, crasher
) -> None:
    crasher("hang")
    before = regions()

    status, output = scene.profile(
        *C_API, "-c", "1", "--perf-analyzer-timeout", "5", profile_models=["crasher"]
    )

    assert status == 1
    assert "did not finish within 5 s" in output
    assert scene.mark.gone()
    assert not regions() - before


@pytest.mark.slow
@pytest.mark.parametrize("place", ["nosuch", "models"])
def test_a_place_without_the_library_is_refused(scene, place: str) -> None:
    status, output = scene.profile(*C_API, "--triton-install-path", place)

    assert status == 2
    assert "triton_install_path: " in output
    assert "model-analyzer runtime install" in output


@pytest.mark.slow
def test_the_install_path_does_not_matter_in_other_launch_modes(scene) -> None:
    status, output = scene.profile(
        "--run-config-search-disable", "-c", "1", "--triton-install-path", "nosuch"
    )

    assert status == 0, output


@pytest.mark.slow
def test_a_model_without_a_configuration_is_completed_by_a_separate_server(scene) -> None:
    scene.add("untold")

    status, output = scene.profile(
        "--triton-launch-mode", "c_api", "--run-config-search-disable", "-c", "2",
        profile_models=["untold"],
    )  # fmt: skip

    assert status == 0, output
    assert {row[3] for row in scene.rows} == {"untold_config_default"}
