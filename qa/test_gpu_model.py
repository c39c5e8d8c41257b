# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The model of the GPU checks, on the real server with a pretend CUDA driver."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.phrases import DID_NOT_LOAD, NEEDS_LESS_MEMORY

HERE = Path(__file__).parent


@pytest.fixture
def pretend_cuda(scene, tmp_path: Path):
    """The scene with gpu_load on CPUs, which uses memory of the machine as if it were a GPU's."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler here to make a pretend CUDA driver")
    library = tmp_path / "cuda"
    library.mkdir()
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-Wall", "-Werror", "-o", library / "libcuda.so.1",
         HERE.parent / "tests" / "fakes" / "cuda.c"],
        check=True, timeout=60,
    )  # fmt: skip
    shutil.copytree(HERE / "gpu" / "models" / "gpu_load", scene.models / "gpu_load")
    config = scene.models / "gpu_load" / "config.pbtxt"
    text = config.read_text().replace("KIND_GPU", "KIND_CPU")
    config.write_text(text.replace('"512"', '"32"').replace('"1024"', '"64"'))
    scene.config |= {
        "triton_server_environment": {
            "LD_LIBRARY_PATH": f"{library}:$LD_LIBRARY_PATH",
            "FAKE_CUDA_MB": "64",
        },
        "collect_cpu_metrics": True,
    }
    return scene


def gpu_load(hold_mb: list[str]) -> dict:
    sweep = {"parameters": {"hold_mb": {"string_value": hold_mb}}}
    return {
        "gpu_load": {
            "cpu_only": True,
            "parameters": {"concurrency": [2]},
            "model_config_parameters": sweep,
        }
    }


# slow: memory is compared, and other tests beside it disturb that
@pytest.mark.slow
def test_it_uses_the_configured_memory(pretend_cuda) -> None:
    status, output = pretend_cuda.profile(
        "--inference-output-fields", "model_config_path,perf_throughput,cpu_used_ram",
        profile_models=gpu_load(["16", "48"]),
    )  # fmt: skip

    assert status == 0, output
    assert "SIGSEGV" not in output
    values = {row[0]: (float(row[1]), float(row[2])) for row in pretend_cuda.rows}
    assert all(throughput > 0 for throughput, _ in values.values())
    grown = values["gpu_load_config_1"][1] - values["gpu_load_config_0"][1]
    assert grown == pytest.approx(32 * 2**20 / 1e6, abs=12)


def test_too_little_memory_is_reported(pretend_cuda) -> None:
    status, output = pretend_cuda.profile(profile_models=gpu_load(["65"]))

    assert status == 0, output
    assert f"gpu_load_config_0 {DID_NOT_LOAD}" in output
    assert "out of memory" in output
    assert NEEDS_LESS_MEMORY in output
