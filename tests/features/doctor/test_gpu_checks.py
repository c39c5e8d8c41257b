# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What it means how the GPU driver answers."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from model_analyzer.domain.hardware import Device
from model_analyzer.features.doctor.findings import Finding, Level
from model_analyzer.features.doctor.gpu_checks import Driver, GpuState, judge_driver
from model_analyzer.runner.gpus import Gpu


def device(uuid: str) -> Device:
    return Device(uuid=uuid, name="NVIDIA Pretend", memory=16_000)


def state(
    uuid: str = "GPU-0",
    *,
    slices: Sequence[str] | None = None,
    programs: int | None = 0,
) -> GpuState:
    parts = None if slices is None else tuple(map(device, slices))
    return GpuState(gpu=Gpu(device(uuid), parts), programs=programs)


def judged(
    *states: GpuState, requested: Sequence[str] = ("all",), variable: str | None = None
) -> list[Finding]:
    driver = Driver(version="999.99", gpus=states)
    return list(judge_driver(driver, requested=requested, variable=variable))


def test_no_gpu_is_ok() -> None:
    (finding,) = judge_driver(Driver(is_missing=True), requested=["all"], variable=None)

    assert finding.level is Level.OK
    assert "instances of KIND_CPU" in finding.found


def test_a_gpu_that_was_asked_for_and_is_not_there_is_a_problem() -> None:
    (finding,) = judge_driver(Driver(is_missing=True), requested=["0"], variable=None)

    assert finding.level is Level.PROBLEM
    assert "there is no GPU 0" in finding.found


def test_a_driver_of_the_host_that_the_container_does_not_see() -> None:
    driver = Driver(is_missing=True, on_host=True)

    first, _ = judge_driver(driver, requested=["all"], variable=None)

    assert first.level is Level.WARNING
    assert "--gpus all" in first.fix


def test_a_driver_that_does_not_answer() -> None:
    first, _ = judge_driver(
        Driver(error="Driver/library version mismatch"), requested=["all"], variable=None
    )

    assert first.level is Level.WARNING
    assert "version mismatch" in first.found


def test_a_gpu_in_order() -> None:
    driver, gpu, chosen = judged(state())

    assert {finding.level for finding in (driver, gpu, chosen)} == {Level.OK}
    assert driver.found == "999.99"
    assert chosen.found == "GPU-0"


@pytest.mark.parametrize(
    ("gpu", "words", "fix"),
    [
        (state(programs=2), "in use by 2 programs", "nvidia-smi"),
        (state(slices=[]), "MIG mode with 0 devices", "-cgi"),
    ],
)
def test_conditions_that_make_measurements_worse_get_a_warning(
    gpu: GpuState, words: str, fix: str
) -> None:
    finding = judged(gpu)[1]

    assert finding.level is Level.WARNING
    assert words in finding.found
    assert fix in finding.fix


def test_an_old_driver_without_an_answer_is_ok() -> None:
    assert judged(state(programs=None))[1].level is Level.OK


def test_mig_devices_are_reported() -> None:
    _, gpu, chosen = judged(state(slices=["MIG-a", "MIG-b"]))

    assert gpu.found.endswith("MIG mode with 2 devices")
    assert chosen.found == "MIG-a"


def test_a_variable_that_leaves_no_gpu_gets_a_warning() -> None:
    finding = judged(state(), variable="7")[-1]

    assert finding.level is Level.WARNING
    assert "CUDA_VISIBLE_DEVICES='7' hides all GPUs" in finding.found


def test_gpus_that_are_not_requested_are_ok() -> None:
    assert judged(state(), requested=())[-1].level is Level.OK
