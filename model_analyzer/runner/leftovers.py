# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What stays behind when a guard is killed: processes that never end, and their shared memory.

Every process that runs behind a guard has a variable that names the guard, and so has what it
starts: Triton's stubs too. Shared memory has the process of its run in its name. What names a
process that has ended is ours, and of no use to anybody: it is removed.
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
    """What the names of a server's shared memory begin with: they say whose it is."""
    return f"ma_{name_of_this_process()}_{token}_"


def remove_leftovers(prefix: str = "") -> None:
    """Ends processes whose guard was killed, and removes shared memory that they have left; also
    that with a `prefix` which nobody uses any more. A guard that was stopped goes on: it ends its
    processes itself, if it has to.
    """
    _wake_guards()
    for process in _without_guard():
        regions = regions_of([process.pid])
        try:
            name = process.name()
            process.kill()
        except psutil.Error:
            continue  # it has just ended
        log.info("Ended process %d (%s) that a killed run has left", process.pid, name)
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
    """Processes of this user that a guard which has ended was to end."""
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
