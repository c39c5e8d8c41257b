# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Launch mode docker, whole runs: pretend programs in a stand-in for the Docker engine."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import psutil
import pytest

from tests.phrases import died_during

IMAGE = "tritonserver:test"


@pytest.fixture
def docker(setting, engine, pretend, mark, monkeypatch) -> None:
    """The configuration of `setting`, in a container."""
    monkeypatch.setenv("DOCKER_HOST", engine.host)
    variables = [f"PATH={pretend.directory}:{os.defpath}", f"MODEL_ANALYZER_TEST={mark.value}"]
    engine.plan(images={IMAGE: {"Env": variables}, "other:1": {"Env": variables}})
    setting.config.update(
        triton_launch_mode="docker",
        triton_docker_image=IMAGE,
        triton_server_path="/nonsense/tritonserver",
        triton_install_path="/nonsense",
    )


def measuring_slowly(setting, pretend) -> None:
    setting.config["perf_analyzer_path"] = str(pretend.perf_analyzer({"sleep_s": 300}))


def test_a_run_needs_no_server_on_this_machine(docker, setting, engine) -> None:
    setting.succeeds()

    assert len(setting.rows) == 10
    assert len(engine.created) == 1
    assert engine.containers == []
    assert IMAGE in (setting.directory / "reports/summaries/m/result_summary.html").read_text()


@pytest.mark.parametrize("path", ["models", "./checkpoints/../models/"])
def test_a_relative_repository_is_mounted_at_its_whole_path(
    docker, setting, engine, path: str
) -> None:
    (setting.directory / "checkpoints").mkdir()
    setting.succeeds("--run-config-search-disable", model_repository=path)

    (mount,) = engine.created[0]["HostConfig"]["Mounts"]
    assert mount["Source"] == mount["Target"] == str(setting.directory / "models")


def test_models_with_other_arguments_get_other_containers(
    docker, setting, engine, make_model
) -> None:
    make_model("n")

    setting.succeeds(
        "--run-config-search-disable",
        triton_docker_args={"mem_limit": "1g", "labels": ["a=b"]},
        triton_docker_labels={"team": "vision"},
        profile_models={"m": {}, "n": {"triton_docker_args": {"image": "other:1"}}},
    )

    first, second = engine.created
    assert (first["Image"], second["Image"]) == (IMAGE, "other:1")
    assert first["HostConfig"]["Memory"] == 2**30
    assert "Memory" not in second["HostConfig"]
    assert {"a": "b", "team": "vision"}.items() <= first["Labels"].items()
    assert second["Labels"]["team"] == "vision"


def test_another_image_is_another_measurement(docker, setting) -> None:
    setting.succeeds("--run-config-search-disable")

    output = setting.succeeds("--run-config-search-disable", triton_docker_image="other:1")

    assert "Existing measurement found" not in output
    _, output = setting.profile(
        "--run-config-search-disable",
        triton_docker_labels={"other": "label"}, triton_docker_args={"name": "other-name"},
    )  # fmt: skip
    assert output.count("Existing measurement found") == 1


def test_a_container_that_is_killed_in_a_trial_is_replaced(
    docker, setting, engine, pretend
) -> None:
    setting.config["perf_analyzer_path"] = str(pretend.perf_analyzer({}, {"sleep_s": 300}, {}))
    process = setting.start()
    setting.wait_until(lambda: len(pretend.launches) == 2)

    os.kill(engine.containers[0].attrs["State"]["Pid"], signal.SIGKILL)
    output, _ = process.communicate(timeout=180)

    assert process.returncode == 0, output
    assert died_during("m_config_default") in output
    assert len(setting.rows) == 10
    assert len(engine.created) == 2


def test_the_third_interrupt_removes_the_container(docker, setting, engine, pretend) -> None:
    pretend.tritonserver(deaf=True)
    measuring_slowly(setting, pretend)
    process = setting.start()
    setting.wait_until(lambda: len(pretend.launches) == 1)

    output = setting.interrupt(process, 3)
    began = time.monotonic()
    output += process.communicate(timeout=180)[0]

    assert time.monotonic() - began < 60  # the load takes five minutes
    assert "Traceback" not in output
    assert engine.containers == []


@pytest.mark.parametrize("moment", ["is created", "starts", "measures"])
def test_the_container_goes_though_we_are_killed(
    docker, setting, engine, pretend, moment: str
) -> None:
    reached = {
        "is created": lambda: engine.created,
        "starts": lambda: pretend.server_calls,
        "measures": lambda: pretend.launches,
    }
    pretend.tritonserver(start_s=300 if moment == "starts" else 0)
    engine.plan(create_s=0.5 if moment == "is created" else 0)
    measuring_slowly(setting, pretend)
    process = setting.start()
    setting.wait_until(lambda: bool(reached[moment]()))

    process.kill()
    process.communicate()

    assert setting.mark.gone()
    assert engine.containers == []


def test_what_a_run_killed_with_all_its_children_leaves_is_removed_by_the_next(
    docker, setting, engine, pretend
) -> None:
    measuring_slowly(setting, pretend)
    process = setting.start()
    setting.wait_until(lambda: bool(pretend.launches))
    ours = psutil.Process(process.pid)
    for child in (ours, *ours.children(recursive=True)):
        child.kill()
    process.communicate()
    (left,) = engine.containers
    pretend.perf_analyzer({})

    output = setting.succeeds("--run-config-search-disable")

    assert f"Removing container {left.name}" in output
    assert engine.containers == []


def test_an_engine_that_dies_ends_the_run_with_its_name(docker, setting, engine, pretend) -> None:
    measuring_slowly(setting, pretend)
    process = setting.start()
    setting.wait_until(lambda: bool(pretend.launches))
    owner = psutil.Process(engine.containers[0].attrs["State"]["Pid"]).parent()
    assert owner is not None

    owner.terminate()
    output, _ = process.communicate(timeout=180)

    assert process.returncode == 1
    assert "Traceback" not in output
    assert "no Docker engine answers" in output


def test_without_the_sdk_its_installation_is_told(
    docker, setting, tmp_path: Path, monkeypatch
) -> None:
    hidden = tmp_path / "hidden" / "docker"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("raise ImportError('not installed')\n")
    before = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", f"{hidden.parent}:{before}")

    output = setting.fails(2)

    assert output.splitlines()[-1].endswith(
        "launch mode docker needs the package docker: not installed "
        "(pip install 'docker>=7.1' 'urllib3>=2')"
    )
    assert "Traceback" not in output


def test_without_an_engine_nothing_is_touched(docker, setting, monkeypatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent.sock")

    output = setting.fails(1)

    assert "no Docker engine answers at unix:///nonexistent.sock" in output.splitlines()[-1]
    assert "Traceback" not in output
    assert not (setting.directory / "output_model_repository").exists()


def test_a_model_without_a_configuration_is_completed_in_a_container(
    docker, setting, engine
) -> None:
    (setting.directory / "models" / "m" / "config.pbtxt").unlink()

    setting.succeeds("--run-config-search-disable")

    completes, measures = (body["Cmd"] for body in engine.created)
    assert "--disable-auto-complete-config" not in completes
    assert "--disable-auto-complete-config" in measures
    assert engine.containers == []
