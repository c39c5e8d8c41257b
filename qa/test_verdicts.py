# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The real programs accept and refuse what our checks of input data and ensembles say."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from model_analyzer.runner.runtime import find_perf_analyzer
from tests.ensemble_cases import ENSEMBLES, Part, write_repository
from tests.input_cases import CASES, MODELS

# Answers zeros to anything.
CODE = """
import json
import numpy as np
import triton_python_backend_utils as pb

class TritonPythonModel:
    def initialize(self, args):
        self.config = json.loads(args["model_config"])

    def execute(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        batch = [request.inputs()[0].shape()[0]] if self.config["max_batch_size"] else []
        shape = [*batch, *(abs(int(size)) for size in self.config["output"][0]["dims"])]
        return pb.InferenceResponse([pb.Tensor("o", np.zeros(shape, dtype=np.float32))])
"""


def add_models(directory: Path) -> None:
    """The models of `MODELS`."""
    for name, model in MODELS.items():
        inputs = [
            f"{tensor['name']} {tensor['data_type'].removeprefix('TYPE_')}"
            f" {','.join(map(str, tensor['dims']))}"
            + (" optional: true" if tensor.get("optional") else "")
            for tensor in model["input"]
        ]
        more = "sequence_batching { }" if "sequence_batching" in model else ""
        batch = model.get("max_batch_size", 8)
        Part(inputs=inputs, outputs=["o FP32 1"], batch=batch, more=more).write(
            directory / name, CODE
        )


@pytest.mark.slow
def test_perf_analyzer_accepts_what_we_accept(scene, remote, tmp_path: Path) -> None:
    add_models(scene.models)
    server = remote("explicit", "--disable-auto-complete-config")
    for name in MODELS:
        server.load(name)
    program = find_perf_analyzer(None, os.environ)
    other: list[object] = []

    for model, raw, is_accepted, flags in CASES:
        (tmp_path / "in.json").write_bytes(raw)
        reached = ["-i", "grpc", "-u", f"127.0.0.1:{server.grpc}", "--request-count", "2"]
        done = subprocess.run(
            [str(program.path), "-m", model, *reached, "--input-data", "in.json", *flags],
            cwd=tmp_path, env={**os.environ, **program.environment}, capture_output=True,
            timeout=60, check=False,
        )  # fmt: skip
        if (done.returncode == 0) is not is_accepted:
            other.append((model, raw, flags, done.returncode, done.stderr))

    assert other == []


@pytest.mark.slow
def test_the_server_loads_the_ensembles_that_we_accept(scene, remote) -> None:
    write_repository(scene.models, CODE)
    server = remote("explicit", "--disable-auto-complete-config")
    answers = {
        name: server.call("POST", f"/v2/repository/models/{name}/load", {}) for name in ENSEMBLES
    }

    assert {name for name, answer in answers.items() if answer is None} == {
        name for name, ensemble in ENSEMBLES.items() if not ensemble.words
    }


PICKY = """
import triton_python_backend_utils as pb

class TritonPythonModel:
    def execute(self, requests):
        for request in requests:
            values = pb.get_input_tensor_by_name(request, "INPUT").as_numpy()
            if not ((values > 0) & (values < 100)).all():
                raise ValueError("INPUT must be between 0 and 100")
        return [pb.InferenceResponse([pb.Tensor("OUTPUT", request.inputs()[0].as_numpy())])
                for request in requests]
"""


@pytest.mark.slow
def test_doctor_finds_a_model_that_refuses_random_input(scene) -> None:
    scene.model("picky", PICKY)
    (scene.directory / "in.json").write_text('{"data": [{"INPUT": [1.0, 2.0, 3.0, 4.0]}]}')
    text = "model_repository: models\nprofile_models:\n  picky: {cpu_only: true%s}\n"
    (scene.directory / "a.yaml").write_text(text % "")
    (scene.directory / "b.yaml").write_text(text % ", perf_analyzer_flags: {input-data: in.json}")

    status, output = scene.run("doctor", "-q", "-f", "a.yaml")
    assert status == 1
    assert "INPUT must be between 0 and 100" in " ".join(output.split())
    status, output = scene.run("doctor", "-f", "b.yaml")
    assert status == 0, output
    assert "model picky: loads, and answers a request" in output
