# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Directories and shared memory: whether there is space, and whether we may read and write."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from model_analyzer.domain.secrets import masked_url
from model_analyzer.errors import ConfigError, RepositoryError
from model_analyzer.features.doctor.findings import Finding, ok, problem, warning
from model_analyzer.runner.host import Destination
from model_analyzer.runner.repository import LAYOUT
from model_analyzer.runner.repository_copy import list_repository

_MIB = 2**20
_LEAST_SHM_MIB = 64
_LEAST_DISK_MIB = 500
_LEAST_INODES = 1000
_FIX_REPOSITORY = "check --model-repository"


def judge_place(name: str, option: str, place: Destination, *, needed_mib: float = 0) -> Finding:
    """`needed_mib` is the least space that the run needs there; `option` sets the directory."""
    state = f"{place.path}, {_room(place.free_mib)} free"
    choose = f"or choose another directory with {option}"
    if place.reason:
        return problem(
            name,
            f"{place.path} cannot be written: {place.reason}",
            f"see `ls -ld {place.existing}`, {choose}",
        )
    if place.free_mib < needed_mib:
        return problem(
            name,
            f"{state}, but the models alone need {_room(needed_mib)}",
            f"free some space, {choose}",
        )
    if place.free_mib < _LEAST_DISK_MIB:
        return warning(name, state, f"free some space, {choose}")
    if place.inodes is not None and place.inodes < _LEAST_INODES:
        return warning(
            name,
            f"{state}, but only for {place.inodes} more files (inodes)",
            f"remove files there, {choose}",
        )
    return ok(name, state)


def size_mib(directories: Sequence[Path]) -> float:
    """The total size of the files in these directories, in MiB."""
    total = 0
    for directory in directories:
        for root, _, files in os.walk(directory):
            for name in files:
                try:
                    total += os.stat(os.path.join(root, name)).st_size
                except OSError:
                    continue  # the check of the repository reports unreadable files
    return total / _MIB


def check_store(url: str, environment: Mapping[str, str]) -> Finding:
    """Whether this machine can list the model repository that a URL names."""
    name = "model repository"
    try:
        listing = list_repository(url, environment)
    except (RepositoryError, ConfigError) as error:
        return problem(name, str(error), f"{_FIX_REPOSITORY}, and the credentials on this machine")
    return ok(name, f"{masked_url(url)}: {listing}")


def check_readable(name: str, path: Path, models: Sequence[str] | None) -> Finding:
    """Whether every file of these models (None: of all models) is readable."""
    try:
        inside = sorted(entry for entry in os.listdir(path) if not entry.startswith("."))
    except FileNotFoundError:
        return problem(name, f"{path} does not exist", _FIX_REPOSITORY)
    except OSError as error:
        return problem(name, f"{path} cannot be read: {error.strerror}", _FIX_REPOSITORY)
    if not any(os.path.isdir(path / entry) for entry in inside):
        return problem(name, f"{path} contains no model", f"{_FIX_REPOSITORY}; {LAYOUT}")
    unreadable = [
        file
        for model in (inside if models is None else models)
        for file in _unreadable(path / model)
    ]
    if unreadable:
        more = f" and {len(unreadable) - 1} more" if len(unreadable) > 1 else ""
        return problem(
            name,
            f"user {os.geteuid()} may not read {unreadable[0]}{more}",
            f"`chmod -R a+rX {path}` (as their owner)",
        )
    return ok(name, f"{path} is readable")


def _unreadable(path: Path) -> Iterator[Path]:
    for root, directories, files in os.walk(path):
        for name in (*directories, *files):
            entry = Path(root, name)
            needed = os.R_OK | os.X_OK if name in directories else os.R_OK
            if entry.exists() and not os.access(entry, needed):
                yield entry


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedMemory:
    """/dev/shm: its size and free space in MiB. `reason` says why it cannot be used, or is ""."""

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
    state = f"{_room(memory.size_mib)}, of which {_room(memory.free_mib)} are free"
    if memory.free_mib < _LEAST_SHM_MIB:
        return warning(
            name,
            f"{state}: each instance of a Python model needs 1 MiB plus its tensors",
            "remove old files there; in a container: `docker run --shm-size 1g`",
        )
    return ok(name, state)


def _room(mib: float) -> str:
    return f"{mib / 1024:.1f} GiB" if mib >= 1024 else f"{mib:.0f} MiB"
