# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A pretend NVML: put this directory first on the Python path.

FAKE_NVML names a JSON file, read anew at each call:

    {"error": NAME,          why NVML does not start: an exception of this module
     "gpus": [GPU, …]}

A GPU has `uuid`, `name`, `total` and `used` (bytes), and may have `utilization` (percent), `power`
(milliwatts), `energy` (millijoules since the driver was loaded; true: grows with time by its
power), `slices` (a list of the same, which puts it into MIG mode), `lost` (nothing can be read),
`old` (a driver without the second version of memory information), `programs` (numbers of processes
that compute on it). A list of numbers is gone through, one for each look; its last number stays.
"""

from __future__ import annotations

import json
import os
import time
from types import SimpleNamespace
from typing import Any

NVML_DEVICE_MIG_ENABLE = 1
nvmlMemory_v2 = 2


class NVMLError(Exception):
    pass


class NVMLError_LibraryNotFound(NVMLError):
    pass


class NVMLError_DriverNotLoaded(NVMLError):
    pass


class NVMLError_LibRmVersionMismatch(NVMLError):
    pass


class NVMLError_NotSupported(NVMLError):
    pass


class NVMLError_NotFound(NVMLError):
    pass


_looks: dict[tuple[str, str], int] = {}
_open = 0


def _plan() -> dict[str, Any]:
    path = os.environ.get("FAKE_NVML")
    if not path:
        return {"error": "NVMLError_LibraryNotFound"}
    with open(path) as file:
        plan: dict[str, Any] = json.load(file)
    return plan


def _gpus() -> list[dict[str, Any]]:
    assert _open > 0, "NVML is not initialized"
    gpus: list[dict[str, Any]] = _plan()["gpus"]
    return gpus


def _device(uuid: str) -> dict[str, Any]:
    for gpu in _gpus():
        for device in (gpu, *gpu.get("slices", ())):
            if device["uuid"] == uuid:
                if gpu.get("lost"):
                    raise NVMLError("GPU is lost")
                return device
    raise NVMLError_NotFound("Not Found")


def _reading(uuid: str, key: str) -> float:
    value = _device(uuid).get(key)
    if value is None:
        raise NVMLError_NotSupported("Not Supported")
    if isinstance(value, list):
        look = _looks.get((uuid, key), 0)
        _looks[uuid, key] = look + 1
        value = value[min(look, len(value) - 1)]
    return value


def nvmlInit() -> None:
    global _open
    error = _plan().get("error")
    if error:
        raise globals()[error](error)
    _open += 1


def nvmlShutdown() -> None:
    global _open
    _open -= 1


def nvmlDeviceGetCount() -> int:
    return len(_gpus())


def nvmlDeviceGetHandleByIndex(index: int) -> str:
    uuid: str = _gpus()[index]["uuid"]
    _device(uuid)
    return uuid


def nvmlSystemGetDriverVersion() -> str:
    assert _open > 0, "NVML is not initialized"
    return "999.99"


def nvmlDeviceGetHandleByUUID(uuid: str) -> str:
    _device(uuid)
    return uuid


def nvmlDeviceGetComputeRunningProcesses(handle: str) -> list[SimpleNamespace]:
    return [SimpleNamespace(pid=pid) for pid in _device(handle).get("programs", ())]


def nvmlDeviceGetUUID(handle: str) -> str:
    return handle


def nvmlDeviceGetName(handle: str) -> str:
    name: str = _device(handle)["name"]
    return name


def nvmlDeviceGetMigMode(handle: str) -> list[int]:
    if _device(handle).get("old"):
        raise NVMLError_NotSupported("Not Supported")
    mode = int("slices" in _device(handle))
    return [mode, mode]


def nvmlDeviceGetMaxMigDeviceCount(handle: str) -> int:
    return 7


def nvmlDeviceGetMigDeviceHandleByIndex(handle: str, index: int) -> str:
    slices = _device(handle)["slices"]
    if index >= len(slices):
        raise NVMLError_NotFound("Not Found")
    uuid: str = slices[index]["uuid"]
    return uuid


def nvmlDeviceGetMemoryInfo(handle: str, version: int | None = None) -> SimpleNamespace:
    if version is not None and _device(handle).get("old"):
        raise NVMLError("Function Not Found")
    used, total = _reading(handle, "used"), _device(handle)["total"]
    return SimpleNamespace(used=used, total=total, free=total - used)


def nvmlDeviceGetUtilizationRates(handle: str) -> SimpleNamespace:
    return SimpleNamespace(gpu=_reading(handle, "utilization"), memory=0)


def nvmlDeviceGetPowerUsage(handle: str) -> int:
    return int(_reading(handle, "power"))


def nvmlDeviceGetTotalEnergyConsumption(handle: str) -> int:
    energy = _reading(handle, "energy")
    return int(_device(handle)["power"] * time.monotonic() if energy is True else energy)
