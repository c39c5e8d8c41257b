# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The GPUs of this machine, by NVML."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from model_analyzer.domain.profiles import Device

log = logging.getLogger(__name__)

_MB = 1e6


def devices() -> Sequence[Device]:
    """The GPUs that CUDA programs may use here; none without a driver."""
    import pynvml  # at the moment of use: most machines that run the tests have no driver

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        log.debug("No GPU: %s", error)
        return ()
    try:
        return [
            _device(pynvml.nvmlDeviceGetHandleByIndex(i))
            for i in range(pynvml.nvmlDeviceGetCount())
        ]
    finally:
        pynvml.nvmlShutdown()


def _device(handle: object) -> Device:
    import pynvml

    return Device(
        uuid=str(pynvml.nvmlDeviceGetUUID(handle)),
        name=str(pynvml.nvmlDeviceGetName(handle)),
        memory=pynvml.nvmlDeviceGetMemoryInfo(handle).total / _MB,
    )
