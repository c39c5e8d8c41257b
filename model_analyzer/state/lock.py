# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""One writer at a time, on one machine or on several that share the directory.

On one machine the kernel keeps the lock, and releases it when the owner dies. Not every file system
does so between machines. So an owner also shows that it is alive: while it holds the lock, it
updates the modification time of the lock file. On release it removes the file. Readers take no
lock.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import socket
import threading
import time
from pathlib import Path

from model_analyzer.errors import CheckpointError, UnusableCheckpoint, is_wrong_path
from model_analyzer.reading.untrusted import open_regular
from model_analyzer.writing import open_own

_HEARTBEAT_S = 15.0
# an owner on another machine without a heartbeat for this time counts as dead
_DEAD_AFTER_S = 60.0
_MOST_OWNER = 200
_OWNER = re.compile(r"process ([0-9]{1,10}) on (.+)")


class Lock:
    """The exclusive right to write, from construction to `release`."""

    _file: int

    def __init__(self, path: Path, *, heartbeat_s: float = _HEARTBEAT_S) -> None:
        """Raises CheckpointError with the owner's process and machine if the lock is taken.

        `heartbeat_s` is the time in seconds between two updates of the lock file.
        """
        self._path = path
        self._heartbeat_s = heartbeat_s
        self._name = f"process {os.getpid()} on {socket.gethostname()}"
        self._released = threading.Event()
        while not self._take():
            pass  # the previous owner has just removed the opened file
        self._heartbeat = threading.Thread(target=self._beat, daemon=True)
        self._heartbeat.start()

    def renew(self, *, is_guarded: bool) -> None:
        """Takes the lock again if somebody has removed the file.

        Raises CheckpointError if another process has taken it meanwhile. On this machine, that is
        no problem if the written file has its own lock (`is_guarded`): it refuses the other one.
        """
        if self._is_in_place():
            if self._owner() != self._name:
                raise _in_use(self._path, self._owner())
            return
        removed = self._file
        try:
            while not self._take():
                pass
        except CheckpointError:
            self._file = removed
            if not (is_guarded and self._is_taken_here()):
                raise
        else:
            os.close(removed)

    def release(self) -> None:
        """Releases the lock; calling it twice is fine."""
        if self._released.is_set():
            return
        self._released.set()
        self._heartbeat.join()
        self._remove_file()
        os.close(self._file)

    def _take(self) -> bool:
        """Opens the file, locks it and writes our name into it; False if the file was removed
        meanwhile.
        """
        try:
            self._file = open_own(self._path, os.O_RDWR)
        except OSError as error:
            kind = UnusableCheckpoint if is_wrong_path(error) else CheckpointError
            raise kind(
                f"{self._path}: cannot be opened: {error.strerror}; choose another"
                " --checkpoint-directory (--checkpoint-load-directory resumes from this one)"
            ) from error
        is_taken = False
        try:
            self._lock_file()
            is_taken = self._is_in_place()
            if is_taken:
                self._replace_owner()
        except BaseException:
            os.close(self._file)
            raise
        if not is_taken:
            os.close(self._file)
        return is_taken

    def _lock_file(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise _in_use(self._path, self._owner()) from error

    def _replace_owner(self) -> None:
        """Replaces the name of a dead owner by ours. An owner on another machine may be alive."""
        owner = self._owner()
        age_s = time.time() - os.fstat(self._file).st_mtime
        if _machine(owner) not in ("", socket.gethostname()) and age_s < _DEAD_AFTER_S:
            raise _in_use(self._path, owner)
        try:
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"{self._name}\n".encode(), 0)
        except OSError as error:
            raise CheckpointError(f"{self._path}: cannot be written: {error.strerror}") from error

    def _is_taken_here(self) -> bool:
        """Whether the owner of the file at the path is on this machine, or is not yet written."""
        try:
            owner = _owner_in(self._path)
        except OSError:
            return True  # it has just been released
        return _machine(owner) in ("", socket.gethostname())

    def _is_in_place(self) -> bool:
        """Whether the path is still the file that we opened."""
        try:
            return os.path.samestat(os.fstat(self._file), os.stat(self._path))
        except FileNotFoundError:
            return False
        except OSError as error:
            if error.errno == errno.ESTALE:  # on a network file system: the file was removed
                return False
            raise CheckpointError(f"{self._path}: cannot be read: {error.strerror}") from error

    def _remove_file(self) -> None:
        """Removes the file while we hold the lock, unless it belongs to somebody else by now: to a
        run that considered us dead, or that saw no lock file.
        """
        try:
            if self._owner() == self._name and self._is_in_place():
                os.unlink(self._path)
        except (OSError, CheckpointError):
            pass  # on a missing or read-only disk it stays: it names a process that has ended

    def _owner(self) -> str:
        return os.pread(self._file, _MOST_OWNER, 0).decode(errors="replace").strip()

    def _beat(self) -> None:
        while not self._released.wait(self._heartbeat_s):
            try:
                os.utime(self._file)
            except OSError:
                pass  # the next write reports the problem of the disk


def living_owner(path: Path) -> str:
    """The owner of a lock file, if it is another process and alive; otherwise ""."""
    try:
        owner = _owner_in(path)
        age_s = time.time() - path.stat().st_mtime
    except OSError:
        return ""
    match = _OWNER.fullmatch(owner)
    if match is None or age_s >= _DEAD_AFTER_S:
        return ""
    process, machine = match.groups()
    if machine != socket.gethostname():
        return owner
    is_other = int(process) != os.getpid()
    return owner if is_other and os.path.exists(f"/proc/{process}") else ""


def _owner_in(path: Path) -> str:
    """The owner in a lock file. Raises OSError, also for a device or a pipe in its place."""
    with open_regular(path) as file:
        return file.read(_MOST_OWNER).decode(errors="replace").strip()


def _machine(owner: str) -> str:
    """The machine of an owner; "" if unknown."""
    match = _OWNER.fullmatch(owner)
    return match[2] if match else ""


def _in_use(path: Path, owner: str) -> CheckpointError:
    return CheckpointError(
        f"{path.parent}: in use by another run ({owner or 'owner unknown'}); wait for it,"
        " or choose another --checkpoint-directory"
    )
