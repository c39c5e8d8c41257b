# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q5: models without config.pbtxt are profiled if the server can complete what is missing."""

import pytest

# What an ONNX file says of itself, a model of the Python backend can say too ...
TELLS = """
import triton_python_backend_utils as pb

class TritonPythonModel:
    @staticmethod
    def auto_complete_config(config):
        config.add_input({"name": "INPUT", "data_type": "TYPE_FP32", "dims": [4]})
        config.add_output({"name": "OUTPUT", "data_type": "TYPE_FP32", "dims": [4]})
        config.set_max_batch_size(8)
        return config

    def execute(self, requests):
        return [
            pb.InferenceResponse([
                pb.Tensor("OUTPUT", pb.get_input_tensor_by_name(request, "INPUT").as_numpy())
            ])
            for request in requests
        ]
"""
# ... and what a TorchScript file does not say, it can keep to itself.
KEEPS_QUIET = """
class TritonPythonModel:
    def execute(self, requests):
        raise NotImplementedError
"""
LISTED = {"run_config_search_disable": True, "batch_sizes": [4], "concurrency": [4]}


@pytest.fixture
def bare(scenario):
    for name, code in (("tells", TELLS), ("quiet", KEEPS_QUIET)):
        (scenario.scene.models / name / "1").mkdir(parents=True)
        (scenario.scene.models / name / "1" / "model.py").write_text(code)
    return scenario


def check(bare, protocol: str, model: str, **options: str) -> None:
    run = bare.profile(
        "--client-protocol", protocol, "--triton-output-path", "server.log",
        **LISTED, profile_models=[model], **options,
    )  # fmt: skip

    assert (run.status == 0) == (model == "tells"), run.output
    assert "Traceback" not in run.output
    assert (bare.directory / "server.log").stat().st_size > 0


@pytest.mark.parametrize("model", ["tells", "quiet"])
@pytest.mark.parametrize("protocol", ["http", pytest.param("grpc", marks=pytest.mark.slow)])
def test_a_server_of_our_own(bare, protocol: str, model: str) -> None:
    check(bare, protocol, model, triton_install_path="/nonsense")


@pytest.mark.slow
@pytest.mark.parametrize("model", ["tells", "quiet"])
@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_in_a_container(bare, docker_image: str, protocol: str, model: str) -> None:
    check(
        bare, protocol, model,
        triton_launch_mode="docker", triton_docker_image=docker_image,
        triton_server_path="/nonsense", triton_install_path="/nonsense",
    )  # fmt: skip
