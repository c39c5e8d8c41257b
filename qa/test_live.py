# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Two real servers, measured in turn."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

# One request at a time, and a number of it back.
DELAY = """
import time
import triton_python_backend_utils as pb_utils

class TritonPythonModel:
    def execute(self, requests):
        responses = []
        for request in requests:
            time.sleep({delay})
            data = pb_utils.get_input_tensor_by_name(request, "INPUT").as_numpy()
            answer = pb_utils.Tensor("OUTPUT", data * data.dtype.type({factor}))
            responses.append(pb_utils.InferenceResponse([answer]))
        return responses
"""


def repository(scene, name: str, delay: float = 0.02, factor: float = 1.0) -> str:
    """A directory with a model `m`; returns its path."""
    scene.model("m", DELAY.format(delay=delay, factor=factor), max_batch_size=0)
    (scene.directory / name).mkdir()
    shutil.move(scene.models / "m", scene.directory / name / "m")
    return str(scene.directory / name)


def compared(scene, *arguments: str) -> tuple[int, dict, str]:
    path = scene.directory / "compared.json"
    status, output = scene.run("compare", "--live", *arguments, "--format", "json", "-o", str(path))
    return status, json.loads(path.read_text()) if path.exists() else {}, output


def test_a_slower_model_breaks_a_rule(scene) -> None:
    rule = ("--fail-on", "perf_throughput<-5%")

    base, slow = repository(scene, "base"), repository(scene, "slow", delay=0.08)

    status, document, output = compared(scene, base, slow, *rule)

    assert status == 3, output
    assert document["rules"][0]["status"] == "failed"
    (model,) = document["models"]
    assert model["live"]["outputs"]["verdict"] == "passed"
    assert model["live"]["pairs"] >= 5
    assert model["best"]["metrics"]["perf_throughput"]["verdict"] == "worse"
    assert {each["what"] for each in model["live"]["once"]} == {
        "Server ready (s)", "Memory of the server (MB)",
    }  # fmt: skip
    assert "m: perf_throughput<-5%: failed" in output
    assert not scene.processes("tritonserver")


def test_other_outputs_are_a_regression_without_any_rule(scene) -> None:
    base, other = repository(scene, "base"), repository(scene, "other", factor=1.01)

    status, output = scene.run("compare", "--live", base, other, "--budget", "1m")

    assert status == 3, output
    assert (
        "m: other outputs: output OUTPUT differs from that of BASE, for single requests" in output
    )
    assert not scene.processes("tritonserver")


def test_equal_servers_that_run_already_are_left_as_they_are(scene, remote) -> None:
    scene.model("m", DELAY.format(delay=0.02, factor=1.0), max_batch_size=0)
    server = remote("explicit")
    server.load("m")
    before = server.loaded
    url = f"grpc://localhost:{server.grpc}"
    rule = ("--fail-on", "perf_throughput<-90%")

    status, document, output = compared(scene, url, url, *rule, "--budget", "2m")

    assert status == 0, output
    (model,) = document["models"]
    assert model["live"]["outputs"]["verdict"] == "passed"
    assert model["best"]["metrics"]["perf_throughput"]["verdict"] != "worse"
    assert server.loaded == before


def test_an_interrupt_ends_it_with_what_is_known(scene) -> None:
    base = repository(scene, "base")
    process = subprocess.Popen(
        [scene.program, "compare", "--live", base, base, "--outputs", "off"],
        cwd=scene.directory, env=scene.environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    scene.started.append(process)
    scene.wait_until(lambda: scene.measuring)

    begun = scene.interrupt(process, 1)
    rest, _ = process.communicate(timeout=300)

    assert process.returncode == 1, begun + rest
    assert "nothing was compared" in rest or "m at concurrency" in rest
    assert not scene.processes("tritonserver")


def test_configurations_to_deploy_count_in_place_of_those_of_the_repository(scene) -> None:
    base = repository(scene, "base")
    best = scene.directory / "best"
    (best / "m").mkdir(parents=True)
    text = (Path(base) / "m" / "config.pbtxt").read_text().replace("count: 1", "count: 2")
    (best / "m" / "config.pbtxt").write_text(text)

    status, document, output = compared(
        scene, base, str(best), "--model-repository", base, "--budget", "1m", "--concurrency", "4",
        "--fail-on", "perf_throughput<-10%",
    )  # fmt: skip

    assert status == 0, output
    assert {"what": "m: instances", "base": "1:CPU", "new": "2:CPU"} in document["differences"]
