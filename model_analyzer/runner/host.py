# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Describes the machine, for reports and checkpoints."""

from __future__ import annotations

import os
import platform
import socket
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from model_analyzer.domain.hardware import Device, Machine

# How many threads OpenMP uses.
THREADS = "OMP_NUM_THREADS"


def core_count() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def whole_seconds() -> int:
    """The whole seconds since the epoch: no measurement that begins later has an earlier time."""
    return int(time.time())


def describe_host() -> Mapping[str, str]:
    """Name, system, processor and memory of this machine. The processor is as in
    `Machine.processor_text`.
    """
    memory = psutil.virtual_memory().total / 2**30
    return {
        "Host": socket.gethostname(),
        "System": f"{_system()}, Linux {platform.release()}",
        "Processor": f"{processor()}, {core_count()} cores",
        "Memory": f"{memory:.0f} GiB",
    }


def this_machine(devices: Sequence[Device], driver: str, environment: Mapping[str, str]) -> Machine:
    """This machine, as programs see it that this process starts with the environment."""
    return Machine(
        host=socket.gethostname(),
        devices=tuple(devices),
        driver=driver,
        processor=processor(),
        cores=core_count(),
        niceness=os.getpriority(os.PRIO_PROCESS, 0),
        threads=environment.get(THREADS, ""),
    )


def kernel_text(path: Path) -> str:
    """The text of a file of the kernel; "" if it does not exist or is not readable."""
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


def _system() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "unknown system")
    except OSError:
        return "unknown system"


def processor() -> str:
    """The model of the processor, or its architecture."""
    lines = kernel_text(Path("/proc/cpuinfo")).splitlines()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
