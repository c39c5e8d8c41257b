# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Models, servers and load generators that fail, hang or die."""

from __future__ import annotations

import os
import random
import re
import select
import socket
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.runner.load.ended import OUTPUT
from model_analyzer.runner.load.output import is_loaded
from tests.phrases import DID_NOT_LOAD, died_during
from tests.sizes import small_and_full

STUB = "triton_python_backend_stub"

# Ten seconds on a machine at rest; 600 are the time limit of perf_analyzer.
NOTICED_S = 60

FAILING = {
    "an exception while loading": "raise ValueError('no luck today')\n",
    "an import that is missing": "import nosuchmodule\n",
    "a syntax error": "def (:\n",
}


@small_and_full("kind", *FAILING)
def test_a_model_that_does_not_load_is_given_up_with_its_reason(scene, kind: str) -> None:
    scene.model("bad", FAILING[kind])

    status, output = scene.profile("--run-config-search-disable", profile_models=["bad", "add_sub"])

    assert status == 1
    assert f"bad_config_default {DID_NOT_LOAD}" in output
    assert "Traceback (most" not in output
    words = {"an exception while loading": "no luck today", "an import that is missing":
             "No module named 'nosuchmodule'", "a syntax error": "SyntaxError"}  # fmt: skip
    assert words[kind] in output
    assert {row[0] for row in scene.rows} == {"add_sub"}


def test_a_variant_that_the_server_refuses_fails_alone(scene) -> None:
    status, output = scene.profile(
        profile_models={
            "add_sub": {
                "parameters": {"concurrency": [1]},
                "model_config_parameters": {
                    "max_batch_size": 4,
                    "dynamic_batching": {"preferred_batch_size": [[2], [4]]},
                    "instance_group": [
                        [{"kind": "KIND_CPU", "count": 1}],
                        [{"kind": "KIND_GPU", "count": 1, "gpus": [63]}],
                    ],
                },
            }
        }
    )

    assert status == 0, output
    assert len(scene.rows) == 3
    assert output.count(DID_NOT_LOAD) == 1
    assert output.count("was not tried: the server has no GPU") == 1
    assert "set cpu_only for the model" in output


def test_a_server_that_is_killed_in_a_trial_is_replaced(scene) -> None:
    flags = {**scene.config["perf_analyzer_flags"], "measurement-interval": 1500}
    process = scene.start("--run-config-search-disable", "-c", "1,2", perf_analyzer_flags=flags)
    scene.wait_until(lambda: scene.measuring)
    time.sleep(0.5)

    load = scene.held()
    (server,) = scene.processes("bin/tritonserver")
    server.kill()
    load.resume()
    output, _ = process.communicate(timeout=600)

    assert process.returncode == 0, output
    assert died_during("add_sub_config_default") in output
    assert len(scene.rows) == 2


def test_a_perf_analyzer_that_is_killed_in_a_trial_gets_another_try(scene) -> None:
    flags = {**scene.config["perf_analyzer_flags"], "measurement-interval": 1500}
    process = scene.start("--run-config-search-disable", "-c", "1", perf_analyzer_flags=flags)

    scene.held().kill()
    output, _ = process.communicate(timeout=600)

    assert process.returncode == 0, output
    assert "perf_analyzer was killed by SIGKILL" in output
    assert len(scene.rows) == 1


DIED = re.compile(
    r"the Python backend process of model (\w+) died during the measurement \(killed by SIGKILL\)"
)

# Each is killed in a model that streams (its requests hang for ever), or whose requests fail.
KILLED_IN: Mapping[str, Mapping[str, Any]] = {
    "one of three instances": {"profile_models": {"scale": {"cpu_only": True}}},
    "a model that streams": {"profile_models": {"sim_llm": {"cpu_only": True}}},
    "a part of an ensemble": {
        "profile_models": {"ensemble_chain": {"cpu_only": True}},
        "cpu_only_composing_models": ["scale", "add_sub"],
    },
    "a model that is called": {
        "profile_models": {"bls_chain": {"cpu_only": True}},
        "bls_composing_models": ["scale", "add_sub"],
    },
    "a server in perf_analyzer": {"triton_launch_mode": "c_api"},
}


@small_and_full("where", *KILLED_IN)
def test_a_models_process_that_is_killed_in_a_trial_is_noticed_and_the_trial_repeated(
    scene, where: str
) -> None:
    config = scene.models / "scale" / "config.pbtxt"
    if "instances" in where:
        config.write_text(config.read_text().replace("count: 1", "count: 3"))
    flags = {**scene.config["perf_analyzer_flags"], "measurement-interval": 4000}
    changes = {"perf_analyzer_timeout": 600, "perf_analyzer_flags": flags, **KILLED_IN[where]}
    process = scene.start("--run-config-search-disable", "-c", "4", **changes)

    kill_stub(scene, of=3 if "instances" in where else 1)
    killed = time.monotonic()
    words = read_until(process, DIED)
    noticed_s = time.monotonic() - killed
    output, _ = process.communicate(timeout=600)

    assert process.returncode == 0, words + output
    assert noticed_s < NOTICED_S
    assert output.count("trying once more") == 0  # once, and that was in `words`
    assert scene.rows


@pytest.mark.slow
def test_a_models_process_that_dies_each_time_is_reported_as_a_failure(scene, crasher) -> None:
    crasher("kill")

    status, output = scene.profile(
        "--run-config-search-disable", profile_models=["crasher", "add_sub"]
    )

    assert status == 1
    assert output.count("Python backend process of model crasher died during the measurement") == 2
    assert {row[0] for row in scene.rows} == {"add_sub"}


@pytest.mark.slow
@small_and_full("count", 3, 1)
def test_interrupts_keep_their_limits_when_a_models_process_is_dead(scene, count: int) -> None:
    flags = {**scene.config["perf_analyzer_flags"], "measurement-interval": 4000}
    process = scene.start(
        "--run-config-search-disable", "-c", "2,4",
        profile_models={"sim_llm": {"cpu_only": True}},
        perf_analyzer_timeout=600, perf_analyzer_flags=flags,
    )  # fmt: skip

    kill_stub(scene)
    output = scene.interrupt(process, count)
    began = time.monotonic()
    output += process.communicate(timeout=600)[0]

    assert process.returncode == 1, output
    # the first: notice, measure once more and save; the third: save
    assert time.monotonic() - began < (120 if count == 1 else 30)
    assert "Traceback" not in output
    if count == 1:
        assert len(scene.rows) == 1


def is_loaded_everywhere(scene) -> bool:
    """Whether perf_analyzers run that can send: a server in one of them has loaded its model."""
    return bool(scene.measuring) and all(
        "triton_c_api" not in " ".join(analyzer.cmdline())
        or is_loaded(Path(analyzer.cwd(), OUTPUT).read_text(errors="replace"))
        for analyzer in scene.measuring
    )


def kill_stub(scene, of: int = 1) -> None:
    """Kills one of so many processes of Python models while perf_analyzer puts a load on them."""
    scene.wait_until(lambda: is_loaded_everywhere(scene) and len(scene.processes(STUB)) >= of)
    time.sleep(1.5)  # in the midst of its requests
    random.choice(scene.processes(STUB)).kill()


def read_until(process: subprocess.Popen[str], words: re.Pattern[str]) -> str:
    """What a run has written when it says this."""
    assert process.stdout is not None
    written = b""
    while not words.search(written.decode(errors="replace")):
        assert select.select([process.stdout], [], [], 60)[0], written
        part = os.read(process.stdout.fileno(), 65536)
        assert part, written
        written += part
    return written.decode(errors="replace")


# How a request fails, and what is said of it.
FAILED = {"error": "error reply, as asked", "raise": "exception in execute"}


@small_and_full("mode", *FAILED)
def test_failed_requests_are_reported_and_the_run_continues(scene, crasher, mode: str) -> None:
    crasher(mode)

    status, output = scene.profile(
        "--run-config-search-disable", profile_models=["crasher", "add_sub"]
    )

    assert status == 1
    assert FAILED[mode] in output
    assert {row[0] for row in scene.rows} == {"add_sub"}


# Refuses one request, in the last window of perf_analyzer: it tells measurements from the warming
# up by what is not zero.
LATE = """
import time
import triton_python_backend_utils as pb

class TritonPythonModel:
    def initialize(self, args):
        self.refuses_at = None

    def execute(self, requests):
        time.sleep(0.001)
        return [self.answer(request) for request in requests]

    def answer(self, request):
        values = pb.get_input_tensor_by_name(request, "INPUT").as_numpy()
        if self.refuses_at is None and values.any():
            self.refuses_at = time.monotonic() + 2.5
        if self.refuses_at is not None and time.monotonic() > self.refuses_at:
            self.refuses_at = float("inf")
            return pb.InferenceResponse(output_tensors=[], error=pb.TritonError("just this one"))
        return pb.InferenceResponse(output_tensors=[pb.Tensor("OUTPUT", values)])
"""


@pytest.mark.slow
def test_a_table_without_the_failed_requests_is_not_a_measurement(scene) -> None:
    scene.model("late", LATE)
    flags = {**scene.config["perf_analyzer_flags"], "measurement-interval": 1000}

    status, output = scene.profile(
        "--run-config-search-disable", "-c", "4",
        profile_models=["late", "add_sub"], perf_analyzer_flags=flags,
    )  # fmt: skip

    assert status == 1
    assert "a request failed: just this one" in output
    assert {row[0] for row in scene.rows} == {"add_sub"}


# Two of its instances cannot work at the same time: the second one kills itself.
JEALOUS = """
import fcntl, os, time
import triton_python_backend_utils as pb

class TritonPythonModel:
    def initialize(self, args):
        path = os.path.join(args["model_repository"], "busy")
        self.busy = os.open(path, os.O_CREAT | os.O_RDWR)

    def execute(self, requests):
        try:
            fcntl.flock(self.busy, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os._exit(1)
        time.sleep(0.02)
        fcntl.flock(self.busy, fcntl.LOCK_UN)
        inputs = [pb.get_input_tensor_by_name(request, "INPUT").as_numpy() for request in requests]
        return [pb.InferenceResponse(output_tensors=[pb.Tensor("OUTPUT", one)]) for one in inputs]
"""


@pytest.mark.slow
def test_a_model_that_dies_of_two_requests_at_once_is_measured_with_one(scene) -> None:
    scene.model("jealous", JEALOUS)

    status, output = scene.profile(
        profile_models={
            "jealous": {
                "parameters": {"concurrency": [1, 2]},
                "model_config_parameters": {"instance_group": [{"kind": "KIND_CPU", "count": 2}]},
            }
        },
    )

    assert status == 0, output
    assert "Python backend process of model jealous died during the measurement" in output
    assert [row[2] for row in scene.rows if row[3] == "jealous_config_0"] == ["1"]


@pytest.mark.slow
def test_a_model_that_hangs_is_stopped_in_time(scene, crasher) -> None:
    crasher("hang")

    began = time.monotonic()
    status, output = scene.profile(
        "--run-config-search-disable", "--perf-analyzer-timeout", "10",
        profile_models=["crasher", "add_sub"],
    )  # fmt: skip

    assert status == 1
    assert "perf_analyzer did not finish within 10 s" in output
    assert {row[0] for row in scene.rows} == {"add_sub"}
    assert time.monotonic() - began < 300  # without a limit, ten minutes


@pytest.mark.slow
def test_a_port_in_use_by_another_server_is_not_used(scene) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        endpoint = f"localhost:{free.getsockname()[1]}"
    flags = {**scene.config["perf_analyzer_flags"], "measurement-interval": 3000}
    first = scene.start("--triton-grpc-endpoint", endpoint, perf_analyzer_flags=flags)
    scene.wait_until(lambda: scene.measuring)

    status, output = scene.run(
        "profile", "-m", str(scene.models), "--profile-models", "add_sub",
        "--triton-grpc-endpoint", endpoint, "-s", "others",
        "--output-model-repository-path", "other",
    )  # fmt: skip

    assert status == 1
    assert f"cannot listen on {endpoint.replace('localhost', '127.0.0.1')}" in output
    assert not Path(scene.directory, "other").exists()
    first.kill()
    first.communicate()
