# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Twelve things that the real server and the real perf_analyzer do to the unwary.

Each test shows that a run does not fall into one of them.
"""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path

import pytest

from model_analyzer.runner.runtime import installed_runtime
from model_analyzer.state.checkpoint import load
from tests.phrases import NO_MODEL_FILE
from tests.sizes import small_and_full

ONE = ("--run-config-search-disable", "-c", "1")


def commands(scene) -> list[str]:
    profile = load(scene.directory / "checkpoints").profile
    return [command for record in profile.records for command in record.outcome.commands]


def test_1_numpy_2_for_the_models_stops_the_run_instead_of_measuring_nonsense(scene) -> None:
    """With numpy 2 this server's models answer with empty tensors and report no error."""
    import numpy

    assert numpy.__version__.startswith("2"), "this environment is meant to have numpy 2"

    status, output = scene.profile(
        *ONE, triton_server_environment={"PATH": f"{Path(sys.executable).parent}:$PATH"}
    )

    assert status == 1
    assert "answers with empty tensors" in output
    assert "Profile complete" not in output


def test_2_models_run_with_the_python_of_the_runtime(scene, mark) -> None:
    """The first python3 on the server's PATH is that of the models."""
    scene.model("tells", "import sys\nraise ValueError('prefix ' + sys.prefix)\n")

    _, output = scene.profile(*ONE, profile_models=["tells"])

    root = installed_runtime(mark.environment).root
    assert f"prefix {root}/python" in output


def test_3_a_model_process_that_cannot_start_does_not_hang_the_run(scene) -> None:
    """A stub without a Python makes a load hang for ever."""
    began = time.monotonic()

    status, output = scene.profile(
        *ONE, "--model-load-timeout", "2", triton_server_environment={"PATH": "/nonexistent"}
    )

    assert status == 1
    assert "add_sub_config_default was not loaded within 2 s" in output
    assert "model-analyzer doctor" in output
    assert time.monotonic() - began < 300


@pytest.mark.slow
def test_3_a_version_without_its_model_file_is_refused_before_it_hangs(scene) -> None:
    (scene.models / "add_sub" / "1" / "model.py").unlink()

    status, output = scene.profile(*ONE)

    assert status == 2
    assert NO_MODEL_FILE in output


def test_4_a_crashed_model_process_costs_a_server_and_not_the_next_variant(scene, crasher) -> None:
    """It is never started again, and every request to it takes a second to fail."""
    crasher("none")

    status, output = scene.profile(
        profile_models={
            "crasher": {
                "parameters": {"concurrency": [1]},
                "model_config_parameters": {
                    "parameters": {"mode": {"string_value": ["kill", "none"]}}
                },
            }
        }
    )

    assert status == 0, output
    assert "the Python backend process of model crasher died" in output
    rows = {row[3]: float(row[7]) for row in scene.rows}
    assert set(rows) == {"crasher_config_default", "crasher_config_1"}
    assert rows["crasher_config_1"] > 5


def test_5_a_killed_server_leaves_no_model_processes(scene) -> None:
    """Killed under load, it leaves stubs that never end, with their shared memory."""
    flags = {**scene.config["perf_analyzer_flags"], "measurement-interval": 5000}
    process = scene.start("--run-config-search-disable", "-c", "8", perf_analyzer_flags=flags)
    scene.wait_until(lambda: scene.measuring)
    time.sleep(0.5)
    stubs = {process.pid for process in scene.processes("triton_python_backend_stub")}
    assert stubs

    scene.processes("bin/tritonserver")[0].kill()

    scene.wait_until(lambda: not stubs & set(scene.mark.processes()))
    process.kill()
    process.communicate()


def test_6_a_variant_is_loaded_as_a_whole_configuration(scene) -> None:
    """An override is not merged: a part of one would lose inputs, outputs and everything else."""
    status, output = scene.profile(
        profile_models={
            "sim_gpu": {
                "parameters": {"concurrency": [4]},
                # it would be lost with the other parameters, and the model not be slow
                "model_config_parameters": {"parameters": {"base_ms": {"string_value": "40"}}},
            }
        }
    )

    assert status == 0, output
    rows = {row[3]: float(row[7]) for row in scene.rows}
    assert set(rows) == {"sim_gpu_config_default", "sim_gpu_config_0"}
    assert 0 < rows["sim_gpu_config_0"] < 30  # one at a time, 40 ms and more for each


def test_7_8_9_and_11_variants_are_changed_in_place_completed_once_and_measured_by_time(
    scene,
) -> None:
    """To unload takes more than a second for each instance, and so does each completion of a
    configuration. --request-count rounds the time up to whole seconds; with random floats, an
    export can be empty while the exit status is 0.
    """
    status, output = scene.profile(
        "--triton-output-path", "server.log",
        profile_models={
            "add_sub": {
                "parameters": {"concurrency": [1]},
                "model_config_parameters": {"max_batch_size": [1, 2, 4, 16]},
            }
        },
    )  # fmt: skip

    assert status == 0, output
    log = (scene.directory / "server.log").read_text()
    assert log.count("Started GRPCInferenceService") == 1
    assert log.count("successfully loaded 'add_sub'") == 5
    (line,) = [line for line in log.splitlines() if "strict_model_config" in line]
    assert line.split("|")[2].strip() == "1"
    assert commands(scene)
    for flag in ("--request-count", "--profile-export-file"):
        assert all(flag not in command for command in commands(scene))


@pytest.mark.slow
def test_9_throughput_does_not_come_from_a_request_count(scene) -> None:
    """With one request at a time, throughput is one by latency (Little's law), however busy the
    machine is; what a model of 7 ms would give by a count in whole seconds is a third less.
    """
    status, output = scene.profile(*ONE, profile_models=["sim_gpu"])

    assert status == 0, output
    profile = load(scene.directory / "checkpoints").profile
    (measured,) = (item.measurement for item in profile.measured)
    throughput, latency_ms = map(measured.value, ("perf_throughput", "perf_latency_avg"))
    assert throughput is not None
    assert latency_ms is not None
    assert throughput * latency_ms / 1000 == pytest.approx(1, rel=0.2)


def test_10_an_unstable_measurement_is_tried_longer_and_then_kept_with_a_notice(scene) -> None:
    """perf_analyzer ends with status 2 and without any table."""
    flags = {"measurement-mode": "time_windows", "measurement-interval": 50,
             "stability-percentage": 0.01, "max-trials": 3}  # fmt: skip

    status, output = scene.profile(*ONE, perf_analyzer_flags=flags)

    assert status == 0, output
    # on a busy machine the first windows may be too small for any request
    assert re.search(r"measurement window is not stable, increased to \d+ ms", output), output
    page = scene.directory / "reports" / "summaries" / "add_sub" / "result_summary.html"
    assert "windows differ by" in page.read_text()


def test_12_perf_analyzer_is_watched(scene, crasher) -> None:
    """It has no time limit of its own when a model hangs."""
    crasher("hang")
    began = time.monotonic()

    status, output = scene.profile(*ONE, "--perf-analyzer-timeout", "2", profile_models=["crasher"])

    assert status == 1
    assert "did not finish within 2 s" in output
    assert time.monotonic() - began < 300  # without a limit, ten minutes


@small_and_full("command", ["runtime", "show"], ["doctor"])
def test_the_machine_has_the_right_numpy(scene, command: list[str]) -> None:
    status, output = scene.run(*command)

    assert status == 0, output
    assert json.dumps("numpy 1.26.4") in json.dumps(output) or "numpy 1" in output
