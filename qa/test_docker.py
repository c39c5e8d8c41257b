# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Launch mode docker, with the real tritonserver and the real perf_analyzer.

Tests with `containers` use a fake Docker engine, which implements the engine's API and runs the
server as a process of this machine. The last test uses the real engine, if there is one.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from model_analyzer.runner.runtime import installed_runtime
from tests.sizes import small_and_full

IN_CONTAINER = {
    "triton_launch_mode": "docker",
    "triton_server_path": "/nonsense/tritonserver",
    "triton_install_path": "/nonsense",
    "triton_output_path": "server.log",
    "run_config_search_disable": True,
}
BATCHES_OF_FOUR = {"batch_sizes": [4], "concurrency": [4]}


@small_and_full("protocol", "grpc", "http")
def test_models_are_measured_in_a_container(scene, containers, protocol: str) -> None:
    """The engine is a fake."""
    status, output = scene.profile(
        **IN_CONTAINER, **BATCHES_OF_FOUR, client_protocol=protocol,
        profile_models=["add_sub", "ensemble_chain"], collect_cpu_metrics=True,
        inference_output_fields=["model_config_path", "perf_throughput", "cpu_used_ram"],
    )  # fmt: skip

    assert status == 0, output
    assert [row[0] for row in scene.rows] == [
        "add_sub_config_default",
        "ensemble_chain_config_default: scale_config_default, add_sub_config_default",
    ]
    assert all(float(value) > 0 for row in scene.rows for value in row[1:])
    assert "successfully loaded 'add_sub'" in (scene.directory / "server.log").read_text()
    assert len(containers.created) == 1  # the ensemble calls add_sub, which is loaded already
    assert containers.containers == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("values", "each"),
    [({"start": 2, "stop": 4, "step": 2}, 2), (["2", "4"], 2), ("2,4", 2), ("2", 1)],
)
def test_every_batch_size_is_measured_at_every_concurrency(
    scene, containers, values, each: int
) -> None:
    """The engine is a fake."""
    status, output = scene.profile(
        **IN_CONTAINER, batch_sizes=values, concurrency=values, profile_models="add_sub"
    )

    assert status == 0, output
    assert len(scene.rows) == each * each
    assert len(containers.created) == 1


@pytest.mark.slow
def test_libraries_of_the_user_are_found_by_the_models(scene, containers) -> None:
    """The engine is a fake, so the mount has the same path on both sides."""
    plugins = scene.directory / "plugins"
    plugins.mkdir()
    real = installed_runtime(scene.mark.environment)
    (library,) = (path for path in real.libraries.glob("libb64-*.so*"))
    (plugins / "libplugin.so").symlink_to(library)
    scene.model("custom", CUSTOM)

    status, output = scene.profile(
        **IN_CONTAINER, concurrency=[1],
        profile_models={
            "custom": {
                "model_config_parameters": {
                    "instance_group": [{"kind": "KIND_CPU", "count": [1, 2]}]
                }
            }
        },
        triton_docker_mounts=[f"{plugins}:{plugins}:ro"],
        triton_server_environment={
            "LD_PRELOAD": f"{plugins}/libplugin.so",
            "LD_LIBRARY_PATH": f"$LD_LIBRARY_PATH:{plugins}",
        },
    )  # fmt: skip

    assert status == 0, output
    assert "Profile complete" in output
    assert len(scene.rows) == 3
    text = (scene.directory / "server.log").read_text()
    assert f"path {real.libpython}:{plugins}" in text
    assert "symbol lookup error" not in text
    assert "Traceback" not in text
    assert "Failed to load" not in text


# Says what it was given, and fails where the library cannot be found by its name.
CUSTOM = """
import ctypes, os, sys
import triton_python_backend_utils as pb_utils

class TritonPythonModel:
    def initialize(self, args):
        ctypes.CDLL("libplugin.so")
        print("path", os.environ["LD_LIBRARY_PATH"], flush=True)

    def execute(self, requests):
        return [
            pb_utils.InferenceResponse([pb_utils.Tensor(
                "OUTPUT", pb_utils.get_input_tensor_by_name(request, "INPUT").as_numpy())])
            for request in requests
        ]
"""


@pytest.mark.slow
def test_a_model_that_does_not_load_in_a_container_says_why(scene, containers) -> None:
    """The engine is a fake."""
    scene.model("bad", "import nosuchmodule\n")

    status, output = scene.profile(**IN_CONTAINER, profile_models=["bad", "add_sub"])

    assert status == 1
    assert "No module named 'nosuchmodule'" in output
    assert {row[0] for row in scene.rows} == {"add_sub"}
    assert containers.containers == []


# ---------------------------------------------------------------------------- the real engine


def docker(*arguments: str) -> tuple[int, str]:
    try:
        done = subprocess.run(
            ["docker", *arguments], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return 127, str(error)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
def test_models_are_measured_on_the_real_engine(scene, tmp_path: Path) -> None:
    """Uses any local Triton image; it pulls none, since they are large."""
    status, output = docker("info")
    if status != 0:
        pytest.skip(f"no Docker engine: {output.strip().splitlines()[-1]}")
    _, output = docker("images", "--format", "{{.Repository}}:{{.Tag}}")
    images = [line for line in output.split() if "/tritonserver:" in line and "sdk" not in line]
    if not images:
        pytest.skip("the Docker engine has no image of tritonserver")

    status, output = scene.profile(
        **IN_CONTAINER, **BATCHES_OF_FOUR, triton_docker_image=images[0], client_max_retries=300
    )

    assert status == 0, output
    assert len(scene.rows) == 1
    assert docker("ps", "-aq", "--filter", "label=model-analyzer.owner") == (0, "")
