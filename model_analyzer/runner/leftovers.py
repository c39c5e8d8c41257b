# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Removes leftovers of killed guards: processes that never end, and their shared memory.

Every process behind a guard, and every process that it starts (Triton's stubs too), has a variable
that names the guard. Names of shared memory contain the process of the run. If the named process
has ended, the leftover belongs to a killed run and is removed.
"""

from __future__ import annotations

import logging
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

import psutil

from model_analyzer.runner.guard import SHM, regions_of, remove_shared_memory, shared_memory
from model_analyzer.runner.owner import has_ended, name_has_ended, name_of_this_process

log = logging.getLogger(__name__)

VARIABLE = "MODEL_ANALYZER_GUARD"
GUARD = Path(__file__).with_name("guard.py")

_REGION = re.compile(r"ma_([0-9]+-[0-9]+-[0-9]+)_.+")


def shm_prefix(token: str) -> str:
    """The prefix of the names of a server's shared memory; it contains the owner."""
    return f"ma_{name_of_this_process()}_{token}_"


def remove_leftovers(prefix: str = "") -> None:
    """Ends processes whose guard was killed, and removes their shared memory; also shared memory
    with an unused `prefix`. Wakes guards that were stopped, so that they end their processes.
    """
    _wake_guards()
    for process in _without_guard():
        regions = regions_of([process.pid])
        try:
            name = process.name()
            process.kill()
        except psutil.Error:
            continue  # it has just ended
        log.info("Ended process %d (%s), a leftover of a killed run", process.pid, name)
        remove_shared_memory("", regions)
    remove_shared_memory(prefix, {name for name in shared_memory() if _is_left(name)})


def _wake_guards() -> None:
    for process in psutil.process_iter():
        try:
            if (
                process.status() == psutil.STATUS_STOPPED
                and process.uids().real == os.getuid()
                and str(GUARD) in process.cmdline()
            ):
                process.resume()
        except psutil.Error:
            continue  # it has just ended


def _without_guard() -> Iterator[psutil.Process]:
    """Processes of this user whose guard has ended."""
    this = psutil.Process()
    spared = {this.pid, *(parent.pid for parent in this.parents())}
    for process in psutil.process_iter():
        try:
            is_ours = process.pid not in spared and process.uids().real == os.getuid()
            guard = process.environ().get(VARIABLE, "") if is_ours else ""
        except (psutil.Error, OSError):
            continue
        if guard and has_ended(guard):
            yield process


def _is_left(name: str) -> bool:
    match = _REGION.fullmatch(name)
    if not (match and name_has_ended(match[1])):
        return False
    try:
        status = os.lstat(f"{SHM}/{name}")
    except OSError:
        return False
    return status.st_uid == os.getuid() and stat.S_ISREG(status.st_mode)
