# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q8: libraries of the user are found by the models.

The library is one that every machine has, under a name that only the given path leads to.
"""

import ctypes
import ctypes.util
from pathlib import Path
from typing import Any

import pytest

CUSTOM = """
import ctypes
import triton_python_backend_utils as pb

class TritonPythonModel:
    def initialize(self, args):
        ctypes.CDLL("libplugin.so")

    def execute(self, requests):
        return [
            pb.InferenceResponse([
                pb.Tensor("OUTPUT", pb.get_input_tensor_by_name(request, "INPUT").as_numpy())
            ])
            for request in requests
        ]
"""


@pytest.fixture
def plugins(scenario) -> Path:
    name = ctypes.util.find_library("m")
    ctypes.CDLL(name)
    loaded = {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines()}
    (library,) = (Path(path) for path in loaded if path.endswith(f"/{name}"))
    directory = scenario.directory / "plugins"
    directory.mkdir()
    (directory / "libplugin.so").write_bytes(library.read_bytes())
    return directory


def check(scenario, plugins: Path, **options: Any) -> None:
    scenario.scene.model("custom", CUSTOM)

    run = scenario.profile(
        run_config_search_disable=True,
        triton_output_path="server.log",
        triton_server_environment={
            "LD_PRELOAD": f"{plugins}/libplugin.so",
            "LD_LIBRARY_PATH": f"$LD_LIBRARY_PATH:{plugins}",
        },
        profile_models={
            "custom": {
                "cpu_only": True,
                "model_config_parameters": {
                    "instance_group": [{"count": [1, 2], "kind": "KIND_CPU"}]
                },
            }
        },
        **options,
    )

    assert run.status == 0, run.output
    assert "Profile complete" in run.output
    assert "Profiled 0 configurations" not in run.output
    log = scenario.directory / "server.log"
    text = run.output + (log.read_text() if log.exists() else "")
    for trouble in ("symbol lookup error", "Traceback", "Failed to load"):
        assert trouble not in text


def test_a_server_of_our_own(scenario, plugins: Path) -> None:
    check(scenario, plugins)


@pytest.mark.slow
def test_a_server_inside_perf_analyzer(scenario, plugins: Path) -> None:
    check(scenario, plugins, triton_launch_mode="c_api")


@pytest.mark.slow
def test_in_a_container(scenario, plugins: Path, docker_image: str) -> None:
    check(
        scenario, plugins,
        triton_launch_mode="docker", triton_docker_image=docker_image,
        triton_docker_mounts=[f"{plugins}:{plugins}:ro"],
    )  # fmt: skip
