# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Directories: is there room, and may we read and write; shared memory too."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from model_analyzer.runner.checks.finding import Finding, ok, problem, warning

_MIB = 2**20
_LEAST_SHM_MIB = 64
_LEAST_DISK_MIB = 500
_LEAST_INODES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A directory that is to be written, and the nearest one above it that exists.

    `free_mib` is room for us, `inodes` how many more files (None: the file system does not count
    them). `reason` says why nothing can be written, or is "".
    """

    path: Path
    existing: Path
    free_mib: float
    inodes: int | None
    reason: str


def read_place(path: Path) -> Place:
    """Looks without writing anything."""
    path = Path(os.path.abspath(path))
    existing = next((one for one in (path, *path.parents) if os.path.lexists(one)), path)
    reason = ""
    try:
        system = os.statvfs(existing)
    except OSError as error:
        return Place(
            path=path,
            existing=existing,
            free_mib=0,
            inodes=None,
            reason=error.strerror or str(error),
        )
    if not existing.is_dir():
        reason = f"{existing} is not a directory"
    elif not system.f_blocks:
        reason = f"{existing} is not on a disk"
    elif system.f_flag & os.ST_RDONLY:
        reason = "its file system is read-only"
    elif not os.access(existing, os.W_OK | os.X_OK):
        reason = f"user {os.geteuid()} may not write to {existing}"
    return Place(
        path=path,
        existing=existing,
        free_mib=system.f_bavail * system.f_frsize / _MIB,
        inodes=system.f_favail if system.f_files else None,
        reason=reason,
    )


def judge_place(name: str, option: str, place: Place, *, needed_mib: float = 0) -> Finding:
    """`needed_mib` is what is sure to be written there; `option` names another place."""
    found = f"{place.path}, {_room(place.free_mib)} free"
    other = f"or choose another directory with {option}"
    if place.reason:
        return problem(
            name,
            f"{place.path} cannot be written: {place.reason}",
            f"see `ls -ld {place.existing}`, {other}",
        )
    if place.free_mib < needed_mib:
        return problem(
            name, f"{found}, but the models alone take {_room(needed_mib)}", f"make room, {other}"
        )
    if place.free_mib < _LEAST_DISK_MIB:
        return warning(name, found, f"make room, {other}")
    if place.inodes is not None and place.inodes < _LEAST_INODES:
        return warning(
            name,
            f"{found}, but only {place.inodes} more files (inodes)",
            f"remove files there, {other}",
        )
    return ok(name, found)


def size_mib(directories: Sequence[Path]) -> float:
    """What the files in these directories take together."""
    total = 0
    for directory in directories:
        for root, _, files in os.walk(directory):
            for name in files:
                try:
                    total += os.stat(os.path.join(root, name)).st_size
                except OSError:
                    continue  # what cannot be read is told by the check of the repository
    return total / _MIB


def check_readable(name: str, path: Path, models: Sequence[str] | None) -> Finding:
    """Whether every file of these models (None: of all) can be read."""
    try:
        inside = sorted(entry for entry in os.listdir(path) if not entry.startswith("."))
    except OSError as error:
        return problem(
            name, f"{path} cannot be read: {error.strerror}", "check --model-repository"
        )  # fmt: skip
    unreadable = [
        found
        for model in (inside if models is None else models)
        for found in _unreadable(path / model)
    ]
    if unreadable:
        more = f" and {len(unreadable) - 1} more" if len(unreadable) > 1 else ""
        return problem(
            name,
            f"user {os.geteuid()} may not read {unreadable[0]}{more}",
            f"`chmod -R a+rX {path}`, as their owner",
        )
    return ok(name, f"{path} can be read")


def _unreadable(path: Path) -> Iterator[Path]:
    for root, directories, files in os.walk(path):
        for name in (*directories, *files):
            found = Path(root, name)
            needed = os.R_OK | os.X_OK if name in directories else os.R_OK
            if found.exists() and not os.access(found, needed):
                yield found


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedMemory:
    """/dev/shm: its size and what is free in MiB; `reason` why it cannot be used, or ""."""

    size_mib: float
    free_mib: float
    reason: str


def read_shared_memory(path: Path = Path("/dev/shm")) -> SharedMemory:
    try:
        system = os.statvfs(path)
    except OSError as error:
        return SharedMemory(size_mib=0, free_mib=0, reason=error.strerror or str(error))
    return SharedMemory(
        size_mib=system.f_blocks * system.f_frsize / _MIB,
        free_mib=system.f_bavail * system.f_frsize / _MIB,
        reason="" if os.access(path, os.W_OK | os.X_OK) else "not writable",
    )


def judge_shared_memory(memory: SharedMemory) -> Finding:
    name = "/dev/shm"
    if memory.reason == "not writable":
        return problem(name, memory.reason, "`chmod 1777 /dev/shm` (as root)")
    if memory.reason:
        return problem(
            name,
            f"cannot be used: {memory.reason}",
            "models of the Python backend need it: `mount -t tmpfs tmpfs /dev/shm` (as root)",
        )
    found = f"{_room(memory.size_mib)}, of which {_room(memory.free_mib)} are free"
    if memory.free_mib < _LEAST_SHM_MIB:
        return warning(
            name,
            f"{found}: each instance of a Python model takes 1 MiB and its tensors",
            "remove what others have left there; in a container: `docker run --shm-size 1g`",
        )
    return ok(name, found)


def _room(mib: float) -> str:
    return f"{mib / 1024:.1f} GiB" if mib >= 1024 else f"{mib:.0f} MiB"
