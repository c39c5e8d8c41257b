# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Identifies a process by a text that can be stored and checked later.

The process number alone is not enough: numbers are reused, start again at each boot, and differ in
each container.
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
    """The owner text of a running process."""
    return " ".join((boot_id(), _namespace(), str(pid), _start(pid)))


def has_ended(owner: str) -> bool:
    """Whether the process of an owner text has ended; False if unknown."""
    words = owner.split()
    if len(words) != 4 or not words[2].isdecimal():
        return False
    boot, namespace, pid, start = words
    if boot != boot_id():
        return True
    return namespace == _namespace() and start != _start(int(pid))


def name_of_this_process() -> str:
    """A shorter owner text for file names in a directory that is empty after a boot."""
    return "-".join((_digits(_namespace()), str(os.getpid()), _start(os.getpid())))


def name_has_ended(name: str) -> bool:
    """Whether the process of a name from `name_of_this_process` has ended; False if unknown."""
    namespace, pid, start = name.split("-")
    return namespace == _digits(_namespace()) and start != _start(int(pid))


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


def boot_id() -> str:
    """Identifies this machine since its last boot, in all containers alike."""
    return (_PROC / "sys/kernel/random/boot_id").read_text().strip()


def _namespace() -> str:
    return os.readlink(_PROC / "self/ns/pid")


def _start(pid: int) -> str:
    """The start of the process in clock ticks since boot; "" if it has ended."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text()
    except OSError:
        return ""
    # the name before the last parenthesis may contain any character
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] in _OVER else fields[19]
