# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""GPUs: the driver, the GPUs that CUDA programs see, MIG, and other programs that use them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from model_analyzer.domain.words import counted
from model_analyzer.errors import ConfigError
from model_analyzer.features.doctor.findings import Finding, ok, problem, warning
from model_analyzer.runner.gpus import VISIBLE_DEVICES, Gpu, Nvml, nvml_answer, select, visible


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuState:
    """A GPU, and the number of `programs` that compute on it now; None if unknown."""

    gpu: Gpu
    programs: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver:
    """The NVIDIA driver according to NVML. If NVML is missing (`is_missing`), `on_host` says
    whether the kernel has the driver. `error` is the reason why NVML does not start, or "".
    """

    version: str = ""
    gpus: tuple[GpuState, ...] = ()
    is_missing: bool = False
    on_host: bool = False
    error: str = ""


def read_driver(root: Path = Path("/")) -> Driver:
    import pynvml  # only when used, as in the monitor

    try:
        pynvml.nvmlInit()
    except (pynvml.NVMLError_LibraryNotFound, pynvml.NVMLError_DriverNotLoaded):
        on_host = (root / "proc/driver/nvidia/version").exists()
        return Driver(is_missing=True, on_host=on_host)
    except pynvml.NVMLError as error:
        return Driver(error=str(error))
    try:
        with Nvml() as nvml:
            return Driver(
                version=str(nvml_answer(pynvml.nvmlSystemGetDriverVersion) or "of unknown version"),
                gpus=tuple(map(_state, nvml.gpus)),
            )
    finally:
        pynvml.nvmlShutdown()


def _state(gpu: Gpu) -> GpuState:
    import pynvml

    handle = nvml_answer(pynvml.nvmlDeviceGetHandleByUUID, gpu.device.uuid)
    programs = nvml_answer(pynvml.nvmlDeviceGetComputeRunningProcesses, handle)
    return GpuState(
        gpu=gpu,
        programs=None if programs is None else len(programs),
    )


def judge_driver(
    driver: Driver, *, requested: Sequence[str], variable: str | None
) -> Iterator[Finding]:
    """`requested` are the GPUs of the options; `variable` is CUDA_VISIBLE_DEVICES, if set."""
    if driver.error:
        yield warning(
            "GPU driver",
            f"does not answer: {driver.error}",
            "check the output of `nvidia-smi`; reboot after an update of the driver",
        )
    elif driver.on_host:
        yield warning(
            "GPU driver",
            "the kernel has an NVIDIA driver, but its libraries are missing",
            "start the container with `docker run --gpus all` (NVIDIA Container Toolkit)",
        )
    elif driver.gpus:
        yield ok("GPU driver", driver.version)
    for state in driver.gpus:
        yield _gpu(state)
    yield _chosen([state.gpu for state in driver.gpus], requested, variable)


def _gpu(state: GpuState) -> Finding:
    gpu = state.gpu
    name = "GPU"
    mig = "" if gpu.slices is None else f", MIG mode with {len(gpu.slices)} devices"
    text = f"{gpu.device.name}, {gpu.device.uuid}{mig}"
    if gpu.slices == ():
        return warning(
            name,
            f"{text}: programs cannot use it",
            "`nvidia-smi -mig 0` ends MIG mode (as root); or create a device:"
            " `nvidia-smi mig -lgip` lists the profiles, and `nvidia-smi mig -cgi 0 -C` creates a"
            " device with profile 0",
        )
    if state.programs:
        count = counted(state.programs, "program")
        return warning(
            name,
            f"{text}, in use by {count}: measurements will be noisy",
            "`nvidia-smi` lists the programs; stop them",
        )
    return ok(name, text)


def _chosen(present: Sequence[Gpu], requested: Sequence[str], variable: str | None) -> Finding:
    name = "GPUs of a run"
    try:
        chosen = select(visible(present, variable), requested)
    except ConfigError as error:
        (first, *_) = error.problems
        return problem(name, first.message, first.hint)
    if chosen:
        return ok(name, ", ".join(device.uuid for device in chosen.values()))
    if requested and any(gpu.usable for gpu in present) and variable is not None:
        return warning(
            name,
            f"none: {VISIBLE_DEVICES}={variable!r} hides all GPUs",
            f"`unset {VISIBLE_DEVICES}`, or name existing GPUs in it",
        )
    return ok(name, "none: the search uses instances of KIND_CPU")


def check_gpus(requested: Sequence[str], variable: str | None) -> Iterator[Finding]:
    yield from judge_driver(read_driver(), requested=requested, variable=variable)
