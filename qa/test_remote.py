# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Servers that somebody else started: measured, and left as they were found."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.phrases import DID_NOT_LOAD, ONLY_LOADED, died_during
from tests.sizes import small_and_full

ONE = ("--run-config-search-disable", "-c", "1")

# One instance group, one limit, and the default.
SWEEP = {
    "add_sub": {
        "cpu_only": True,
        "parameters": {"concurrency": [1]},
        "model_config_parameters": {"max_batch_size": [2, 4]},
    }
}


def files(directory: Path) -> set[str]:
    """Every file of the variants."""
    return {str(path.relative_to(directory)) for path in directory.glob("*/**/*") if path.is_file()}


@small_and_full("protocol", "grpc", "http")
def test_variants_are_loaded_in_a_server_in_explicit_mode(scene, remote, protocol: str) -> None:
    # a server that completes configurations keeps the batching that the code of add_sub asks for
    server = remote("explicit", "--disable-auto-complete-config")
    server.load("add_sub")
    server.load("sim_gpu")
    before = server.loaded

    status, output = scene.profile(**server.reached(protocol), profile_models=SWEEP)

    assert status == 0, output
    assert len(scene.rows) == 3
    assert "other models loaded: sim_gpu" in output
    assert server.loaded == before
    assert files(scene.directory / "output_model_repository") == {
        f"add_sub_config_{name}/config.pbtxt" for name in ("default", "0", "1")
    }


@pytest.mark.slow
def test_without_a_repository_the_server_says_what_its_models_are(scene, remote) -> None:
    del scene.config["model_repository"]
    server = remote("explicit")

    status, output = scene.profile(
        *ONE, **server.reached(), profile_models={**SWEEP, "ensemble_chain": {}}
    )

    assert status == 0, output
    assert {row[0] for row in scene.rows} == {"add_sub", "ensemble_chain"}
    assert server.loaded == {}
    variant = scene.directory / "output_model_repository" / "add_sub_config_0" / "config.pbtxt"
    assert "preferred_batch_size" not in variant.read_text()


@pytest.mark.slow
def test_a_resumed_run_measures_nothing_again_and_leaves_the_server_unchanged(
    scene, remote
) -> None:
    server = remote("explicit")
    assert scene.profile(*ONE, **server.reached())[0] == 0

    status, output = scene.profile(*ONE, "-v", **server.reached())

    assert status == 0, output
    assert "Profiling add_sub" not in output
    log = (scene.directory / "remote.log").read_text()
    assert log.count("successfully loaded 'add_sub'") == 1


@small_and_full("protocol", "http", "grpc")
def test_a_server_that_may_not_reload_is_measured_as_it_is(scene, remote, protocol: str) -> None:
    server = remote()
    before = server.loaded

    status, output = scene.profile(
        "--reload-model-disable", **server.reached(protocol), profile_models=SWEEP
    )

    assert status == 0, output
    assert [row[3] for row in scene.rows] == ["add_sub_config_default"]
    assert output.count(ONLY_LOADED) == 1
    assert server.loaded == before


@pytest.mark.slow
def test_a_model_that_is_not_loaded_cannot_be_measured_without_loading(scene, remote) -> None:
    server = remote("explicit")

    status, output = scene.profile(*ONE, "--reload-model-disable", **server.reached())

    assert status == 1
    assert "add_sub is not loaded on the server, and reload_model_disable forbids" in output
    assert "Traceback" not in output


@pytest.mark.slow
def test_a_server_in_a_different_mode_is_reported_with_both_solutions(scene, remote) -> None:
    status, output = scene.profile(*ONE, **remote().reached())

    assert status == 1
    (line,) = [line for line in output.splitlines() if line.startswith("model-analyzer:")]
    assert "--model-control-mode=explicit" in line
    assert "--reload-model-disable" in line


@pytest.mark.slow
def test_an_unknown_model_is_named_with_those_that_are_there(scene, remote) -> None:
    del scene.config["model_repository"]

    status, output = scene.profile(*ONE, **remote("explicit").reached(), profile_models=["add_sun"])

    assert status == 2
    assert "the server has no model 'add_sun' (did you mean 'add_sub'?)" in output


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["grpc", "http"])
def test_an_endpoint_without_a_server_is_reported_with_its_option(
    scene, remote, protocol: str
) -> None:
    server = remote("explicit")
    server.process.terminate()
    server.process.wait(20)
    began = time.monotonic()

    status, output = scene.profile(*ONE, "-r", "2", **server.reached(protocol))

    assert status == 1
    (line,) = [line for line in output.splitlines() if line.startswith("model-analyzer:")]
    assert f"check triton_{protocol}_endpoint" in line
    assert "not ready within 2 s" in line
    assert time.monotonic() - began < 15
    assert not (scene.directory / "output_model_repository").exists()


@pytest.mark.slow
def test_a_server_with_one_protocol_only_will_do(scene, remote) -> None:
    for allowed, other in (("grpc", "http"), ("http", "grpc")):
        server = remote("explicit", f"--allow-{other}=false", "--allow-metrics=false")
        status, output = scene.profile(
            *ONE, **server.reached(allowed), checkpoint_directory=allowed
        )
        assert status == 0, output


@pytest.mark.slow
def test_a_server_that_goes_away_in_a_trial_ends_the_run_and_nothing_is_lost(scene, remote) -> None:
    server = remote("explicit")
    flags = {**scene.config["perf_analyzer_flags"], "measurement-interval": 1500}
    process = scene.start(
        "--run-config-search-disable", "-c", "1,2", "-r", "2",
        **server.reached(), perf_analyzer_flags=flags,
    )  # fmt: skip
    journal = scene.directory / "checkpoints" / "journal"
    scene.wait_until(lambda: journal.exists() and "measurement" in journal.read_text())
    scene.wait_until(lambda: scene.measuring)
    time.sleep(0.5)

    server.process.terminate()
    server.process.wait(30)
    output, _ = process.communicate(timeout=60)

    assert process.returncode == 1, output
    assert died_during("add_sub_config_default") in output
    assert "was not ready within 2 s" in output
    assert "Traceback" not in output

    # as soon as there is one again, the run goes on where it was
    status, output = scene.profile(
        "--run-config-search-disable", "-c", "1,2", "-v", **remote("explicit").reached(),
        perf_analyzer_flags=flags,
    )  # fmt: skip
    assert status == 0, output
    assert output.count("Profiling add_sub_config_default") == 1
    assert len(scene.rows) == 2


@pytest.mark.slow
def test_a_variant_that_fails_leaves_the_server_as_it_was(scene, remote) -> None:
    server = remote("explicit")
    server.load("add_sub")
    before = server.loaded
    models = {
        "add_sub": {
            "parameters": {"concurrency": [1]},
            "model_config_parameters": {
                "instance_group": [
                    [{"kind": "KIND_CPU", "count": 1}],
                    [{"kind": "KIND_GPU", "count": 1, "gpus": [63]}],
                ]
            },
        }
    }

    status, output = scene.profile(**server.reached(), profile_models=models)

    assert status == 0, output
    assert output.count(DID_NOT_LOAD) == 1
    assert server.loaded == before


@pytest.mark.slow
def test_a_run_that_is_broken_off_leaves_the_server_as_it_was(scene, remote) -> None:
    server = remote("explicit")
    server.load("add_sub")
    before = server.loaded
    flags = {**scene.config["perf_analyzer_flags"], "measurement-interval": 5000}
    process = scene.start(
        "--run-config-search-disable",
        **server.reached(),
        perf_analyzer_flags=flags,
        profile_models=SWEEP,
    )
    scene.wait_until(lambda: scene.measuring)

    output = scene.interrupt(process, 3)
    output += process.communicate(timeout=60)[0]

    assert process.returncode == 1, output
    assert server.loaded == before


@pytest.mark.slow
def test_a_model_without_a_configuration_is_completed_by_the_server_itself(scene, remote) -> None:
    scene.add("untold")
    server = remote("explicit")

    status, output = scene.profile(*ONE, **server.reached(), profile_models=["untold"])

    assert status == 0, output
    assert {row[0] for row in scene.rows} == {"untold"}
    assert server.loaded == {}
