# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""To which process something belongs, as text that can be left beside it and judged later.

A process number alone will not do: numbers are used again, start anew at each boot, and mean
something else in each container.
"""

from __future__ import annotations

import os
from pathlib import Path

_PROC = Path("/proc")
_OVER = ("Z", "X")


def this_process() -> str:
    """The owner text of this process."""
    return owner_of(os.getpid())


def owner_of(pid: int) -> str:
    """The owner text of a process that runs."""
    return " ".join((_boot(), _namespace(), str(pid), _start(pid)))


def has_ended(owner: str) -> bool:
    """Whether that process is over; False where it cannot be known from here."""
    words = owner.split()
    if len(words) != 4 or not words[2].isdecimal():
        return False
    boot, namespace, pid, start = words
    if boot != _boot():
        return True
    return namespace == _namespace() and start != _start(int(pid))


def name_of_this_process() -> str:
    """The same for names of files in a place that is empty after a boot."""
    return "-".join((_digits(_namespace()), str(os.getpid()), _start(os.getpid())))


def name_has_ended(name: str) -> bool:
    """Whether the process with this name is over; False where it cannot be known from here."""
    namespace, pid, start = name.split("-")
    return namespace == _digits(_namespace()) and start != _start(int(pid))


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


def _boot() -> str:
    return (_PROC / "sys/kernel/random/boot_id").read_text().strip()


def _namespace() -> str:
    return os.readlink(_PROC / "self/ns/pid")


def _start(pid: int) -> str:
    """When the process started, in clock ticks since boot; "" where it is over."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text()
    except OSError:
        return ""
    # the name before the last parenthesis may hold anything
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] in _OVER else fields[19]
