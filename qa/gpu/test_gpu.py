# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Profiling on real GPUs. Everything here is skipped, with the reason, where there is none."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.domain.hardware import Device
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.settings import LaunchMode, Protocol, ServerRestart, ServerSettings
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.runner.gpus import VISIBLE_DEVICES, Nvml, TritonMetrics, select, visible
from model_analyzer.runner.repository import ModelRepository, stage
from model_analyzer.runner.runtime import find_tritonserver
from model_analyzer.runner.server.local import LocalLauncher
from model_analyzer.runner.server.log import ServerLog
from model_analyzer.runner.server.triton import TritonServer
from tests.phrases import DID_NOT_LOAD, NEEDS_LESS_MEMORY

MODELS = Path(__file__).parent / "models"
HOLD_MB = 512 * 2**20 / 1e6  # what an instance of gpu_load holds

# A load long enough for a driver that averages utilization over a second.
LOAD = {
    "perf_analyzer_flags": {
        "measurement-mode": "time_windows",
        "measurement-interval": 1000,
        "stability-percentage": 999,
    },
    "monitoring_interval": 0.25,
    "duration_seconds": 1,
}


@pytest.fixture(scope="module")
def seen() -> Sequence[Device]:
    """What CUDA programs see here."""
    with Nvml() as nvml:
        devices = visible(nvml.gpus, os.environ.get(VISIBLE_DEVICES))
    if not devices:
        pytest.skip("no NVIDIA GPU here: the driver tells of none")
    return devices


@pytest.fixture(scope="module")
def chosen(seen: Sequence[Device]) -> Sequence[Device]:
    """What a run uses unless told otherwise."""
    return tuple(select(seen, ["all"]).values())


@pytest.fixture
def gpu_scene(chosen: Sequence[Device], scene):
    """The scene with the model gpu_load, in variants with one and two instances on a GPU."""
    shutil.copytree(MODELS / "gpu_load", scene.models / "gpu_load")
    scene.config |= {**LOAD, "profile_models": gpu_load()}
    return scene


def gpu_load(*counts: int, **parameters: str) -> dict[str, Any]:
    """gpu_load with so many instances, or one and two."""
    sweep: dict[str, Any] = {
        "instance_group": [{"count": list(counts or (1, 2)), "kind": "KIND_GPU"}],
    }
    if parameters:
        sweep["parameters"] = {key: {"string_value": value} for key, value in parameters.items()}
    return {"gpu_load": {"parameters": {"concurrency": [4]}, "model_config_parameters": sweep}}


def rows(scene, name: str) -> list[dict[str, str]]:
    """The rows of a table, as columns by header."""
    text = (scene.directory / "results" / f"metrics-{name}.csv").read_text()
    header, *lines = (line.split(",") for line in text.splitlines() if line)
    return [dict(zip(header, line, strict=True)) for line in lines]


def memory(table: Sequence[dict[str, str]], instances: int) -> float:
    """MB in use on all GPUs, by the variant with so many instances on each."""
    uuids = {row["GPU UUID"] for row in table}
    group = f"{instances * len(uuids)}:GPU"
    return sum(
        float(row["GPU Memory Usage (MB)"])
        for row in table
        if row["Instance Group"] == group and not row["Model Config Path"].endswith("default")
    )


def used_gpus(output: str) -> list[str]:
    return [line.split()[-1] for line in output.splitlines() if "Using GPU" in line]


# ---------------------------------------------------------------------------------- profiling


def test_variants_on_gpus_are_measured_with_their_metrics(gpu_scene, chosen) -> None:
    status, output = gpu_scene.profile("-v")

    assert status == 0, output
    assert used_gpus(output) == [device.uuid for device in chosen]
    assert output.count("Profiling server only metrics...") == 1
    table = rows(gpu_scene, "model-gpu")
    assert len(table) == 3 * len(chosen)  # the default has one instance, too
    assert {row["GPU UUID"] for row in table} == {device.uuid for device in chosen}
    assert len(rows(gpu_scene, "server-only")) == len(chosen)
    assert all(float(row["GPU Memory Usage (MB)"]) > HOLD_MB for row in table)
    if not any(device.is_mig for device in chosen):
        assert all(float(row["GPU Utilization (%)"]) > 0 for row in table)
        assert all(float(row["GPU Power Usage (W)"]) > 0 for row in table)
    page = gpu_scene.directory / "reports" / "summaries" / "gpu_load" / "result_summary.html"
    assert "Total Available GPU Memory" in page.read_text()


def test_memory_grows_by_what_another_instance_holds(gpu_scene, chosen) -> None:
    status, output = gpu_scene.profile()

    assert status == 0, output
    table = rows(gpu_scene, "model-gpu")
    idle = sum(float(row["GPU Memory Usage (MB)"]) for row in rows(gpu_scene, "server-only"))
    first, second = memory(table, 1), memory(table, 2)
    expected = HOLD_MB * len(chosen)
    # a process also needs a CUDA context, of some hundred MB
    assert expected < first - idle < expected + 1500 * len(chosen)
    assert expected < second - first < expected + 1500 * len(chosen)


def test_memory_is_given_back_when_there_are_fewer_instances(gpu_scene) -> None:
    status, output = gpu_scene.profile(profile_models=gpu_load(2, 1))

    assert status == 0, output
    table = rows(gpu_scene, "model-gpu")
    assert memory(table, 1) < memory(table, 2) - 0.9 * HOLD_MB


def test_a_bound_on_gpu_memory_separates_the_variants(gpu_scene) -> None:
    gpu_scene.profile()
    table = rows(gpu_scene, "model-gpu")
    between = (memory(table, 1) + memory(table, 2)) / 2

    status, output = gpu_scene.profile(
        constraints={"gpu_used_memory": {"max": between}}, objectives=["perf_throughput"]
    )

    assert status == 0, output
    assert {row[3]: row[6] for row in gpu_scene.rows} == {
        "gpu_load_config_default": "Yes",
        "gpu_load_config_0": "Yes",
        "gpu_load_config_1": "No",
    }


def test_an_instance_that_does_not_fit_fails_with_what_to_do(gpu_scene, chosen) -> None:
    too_much = round(2 * max(device.memory for device in chosen) * 1e6 / 2**20)

    status, output = gpu_scene.profile(
        profile_models=gpu_load(1, hold_mb=str(too_much), work_mb="1")
    )

    assert status == 0, output
    assert f"gpu_load_config_0 {DID_NOT_LOAD}" in output
    assert NEEDS_LESS_MEMORY in output
    assert [row[3] for row in gpu_scene.rows] == ["gpu_load_config_default"]


# -------------------------------------------------------------------------------- which GPUs


@pytest.mark.parametrize("by", ["index", "UUID"])
def test_one_gpu_is_used_when_one_is_requested(gpu_scene, seen, by: str) -> None:
    last = len(seen) - 1

    status, output = gpu_scene.profile("--gpus", str(last) if by == "index" else seen[last].uuid)

    assert status == 0, output
    assert used_gpus(output) == [seen[last].uuid]
    assert {row["GPU UUID"] for row in rows(gpu_scene, "model-gpu")} == {seen[last].uuid}
    assert {row[4] for row in gpu_scene.rows} == {"1:GPU", "2:GPU"}


def test_instances_count_on_each_of_several_gpus(gpu_scene, chosen) -> None:
    if len(chosen) < 2:
        pytest.skip("only one GPU here")

    status, output = gpu_scene.profile()

    assert status == 0, output
    assert {row[4] for row in gpu_scene.rows} == {f"{len(chosen)}:GPU", f"{2 * len(chosen)}:GPU"}
    idle = {
        row["GPU UUID"]: float(row["GPU Memory Usage (MB)"])
        for row in rows(gpu_scene, "server-only")
    }
    for row in rows(gpu_scene, "model-gpu"):
        assert float(row["GPU Memory Usage (MB)"]) > idle[row["GPU UUID"]] + HOLD_MB


def test_a_mig_device_is_used_by_its_uuid(gpu_scene, seen) -> None:
    slices = [device for device in seen if device.is_mig]
    if not slices:
        pytest.skip("no MIG device here: no GPU is in MIG mode")

    status, output = gpu_scene.profile("--gpus", slices[-1].uuid)

    assert status == 0, output
    assert used_gpus(output) == [slices[-1].uuid]
    table = rows(gpu_scene, "model-gpu")
    assert {row["GPU UUID"] for row in table} == {slices[-1].uuid}
    assert memory(table, 2) > memory(table, 1) + HOLD_MB


def test_no_gpu_is_used_when_none_is_requested(gpu_scene) -> None:
    status, output = gpu_scene.profile(
        "--gpus", "[]", "--run-config-search-disable", profile_models=["scale"]
    )

    assert status == 0, output
    assert "No GPUs requested" in output
    assert not (gpu_scene.directory / "results" / "metrics-model-gpu.csv").exists()


def test_a_checkpoint_does_not_match_different_gpus(gpu_scene) -> None:
    status, output = gpu_scene.profile(profile_models=gpu_load(1))
    assert status == 0, output

    on_cpus = {"scale": {"cpu_only": True}}
    status, output = gpu_scene.profile("--gpus", "[]", profile_models=on_cpus)

    assert status == 1
    assert "GPU devices do not match checkpoint" in output


# ------------------------------------------------------------------------------------ readings


def test_the_driver_reports_the_same_as_to_nvidia_smi(seen: Sequence[Device]) -> None:
    if shutil.which("nvidia-smi") is None:
        pytest.skip("no nvidia-smi here to compare with")
    whole = [device for device in seen if not device.is_mig]
    if not whole:
        pytest.skip("nvidia-smi lists whole GPUs, and here are only MIG devices")
    fields = "uuid,name,memory.total,memory.used,memory.free,power.draw,utilization.gpu"
    reported = subprocess.run(
        ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader,nounits"],
        check=True, capture_output=True, text=True, timeout=60,
    ).stdout  # fmt: skip
    lines = {
        words[0]: words[1:]
        for words in ([word.strip() for word in line.split(",")] for line in reported.splitlines())
    }
    with Nvml() as nvml:
        ours = nvml.read(whole)
    for device in whole:
        name, *numbers = lines[device.uuid]
        assert device.name == name
        tags = ("gpu_total_memory", "gpu_used_memory", "gpu_free_memory")
        for tag, number in zip(tags, numbers, strict=False):
            assert ours[device.uuid][tag] == pytest.approx(float(number) * 2**20 / 1e6, abs=64)
        if numbers[3].replace(".", "").isdecimal():
            assert ours[device.uuid]["gpu_power_usage"] == pytest.approx(float(numbers[3]), rel=0.5)
        if numbers[4].isdecimal():
            assert 0 <= ours[device.uuid]["gpu_utilization"] <= 100


def test_the_server_reports_the_same_as_the_driver(
    chosen: Sequence[Device], tmp_path: Path
) -> None:
    environment = {**os.environ, VISIBLE_DEVICES: ",".join(device.uuid for device in chosen)}
    repository = ModelRepository(MODELS)
    facts = repository.facts("gpu_load")
    settings = ServerSettings(
        launch=LaunchMode.LOCAL,
        path=None,
        install_path=Path("/opt/tritonserver"),
        reload_disable=False,
        protocol=Protocol.GRPC,
        http_endpoints=(),
        grpc_endpoints=(),
        metrics_urls=(),
        log=None,
        ready_timeout_s=60,
        load_timeout_s=60,
        restart=ServerRestart.AUTO,
    )
    launcher = LocalLauncher(
        find_tritonserver(None, environment), settings, stage(repository, [facts], tmp_path / "m")
    )
    setup = ServerSetup(
        devices=tuple(device.uuid for device in chosen), flags={"metrics-interval-ms": 100}
    )
    log = ServerLog(tmp_path / "server.log")
    with TritonServer(launcher, settings, log, settles=True) as server, Nvml() as nvml:
        assert server.serve([VariantNames().default(facts)], setup) is None
        server.rest(1)
        served, ours = TritonMetrics(server.metrics_url, {}).read(chosen), nvml.read(chosen)
    if not served:
        pytest.skip("this server tells nothing about its GPUs")
    for device in chosen:
        mine = ours[device.uuid]
        for tag, value in served[device.uuid].items():
            if tag in ("gpu_used_memory", "gpu_free_memory", "gpu_total_memory"):
                # some count what the driver has reserved for itself
                assert value == pytest.approx(mine[tag], abs=0.02 * mine["gpu_total_memory"])
