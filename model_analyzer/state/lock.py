# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""One writer at a time, on one machine or on several that share the directory.

On one machine, the kernel releases the lock when its owner dies. Not every file system locks across
machines, so the owner also updates the time of the lock file regularly (a heartbeat). The owner
removes the file when it releases the lock. Readers take no lock.
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

from model_analyzer.errors import CheckpointError
from model_analyzer.writing import open_own

_HEARTBEAT_S = 15.0
# an owner on another machine without a heartbeat for this long counts as dead
_DEAD_AFTER_S = 60.0
_MOST_OWNER = 200


class Lock:
    """The exclusive right to write, from construction to `release`."""

    _file: int

    def __init__(self, path: Path) -> None:
        """Raises CheckpointError, with the owner's process and machine, if the lock is taken."""
        self._path = path
        self._name = f"process {os.getpid()} on {socket.gethostname()}"
        self._released = threading.Event()
        while not self._take():
            pass  # its last owner has just removed the file that was opened
        self._heartbeat = threading.Thread(target=self._beat, daemon=True)
        self._heartbeat.start()

    def renew(self, *, is_guarded: bool) -> None:
        """Takes the lock again if somebody removed the file.

        Raises CheckpointError if another run has the lock now. A run on this machine is no reason
        to raise if the journal `is_guarded` by a lock of its own: that run will be refused.
        """
        if self._is_in_place():
            if self._owner() != self._name:
                raise _taken(self._path, self._owner())
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
        """Releases the lock. Calling it twice is allowed."""
        if self._released.is_set():
            return
        self._released.set()
        self._heartbeat.join()
        self._remove_file()
        os.close(self._file)

    def _take(self) -> bool:
        """Opens the file, takes the lock and writes our name into it. False if the file was removed
        or replaced in between.
        """
        try:
            self._file = open_own(self._path, os.O_RDWR)
        except OSError as error:
            raise CheckpointError(
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
            raise _taken(self._path, self._owner()) from error

    def _replace_owner(self) -> None:
        """Writes our name in place of a dead owner's; on another machine it may be alive."""
        owner = self._owner()
        age_s = time.time() - os.fstat(self._file).st_mtime
        if _machine(owner) not in ("", socket.gethostname()) and age_s < _DEAD_AFTER_S:
            raise _taken(self._path, owner)
        try:
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"{self._name}\n".encode(), 0)
        except OSError as error:
            raise CheckpointError(f"{self._path}: cannot be written: {error.strerror}") from error

    def _is_taken_here(self) -> bool:
        """Whether the file at the path is that of an owner on this machine, or has none yet."""
        try:
            owner = self._path.read_text(errors="replace")[:_MOST_OWNER].strip()
        except OSError:
            return True  # it has just been given back
        return _machine(owner) in ("", socket.gethostname())

    def _is_in_place(self) -> bool:
        """Whether the path still leads to the opened file."""
        try:
            return os.path.samestat(os.fstat(self._file), os.stat(self._path))
        except FileNotFoundError:
            return False
        except OSError as error:
            if error.errno == errno.ESTALE:  # on a network file system that is how it is removed
                return False
            raise CheckpointError(f"{self._path}: cannot be read: {error.strerror}") from error

    def _remove_file(self) -> None:
        """Removes the file, unless another run owns it now (because we seemed dead, or because our
        file was removed).
        """
        try:
            if self._owner() == self._name and self._is_in_place():
                os.unlink(self._path)
        except (OSError, CheckpointError):
            pass  # a file that stays is harmless: it names a dead process

    def _owner(self) -> str:
        return os.pread(self._file, _MOST_OWNER, 0).decode(errors="replace").strip()

    def _beat(self) -> None:
        while not self._released.wait(_HEARTBEAT_S):
            try:
                os.utime(self._file)
            except OSError:
                pass  # the next write reports the problem


def _machine(owner: str) -> str:
    """The machine of an owner; "" where it is not known."""
    match = re.fullmatch(r"process \d+ on (.+)", owner)
    return match[1] if match else ""


def _taken(path: Path, owner: str) -> CheckpointError:
    return CheckpointError(
        f"{path.parent}: in use by another run ({owner or 'owner unknown'}); wait for it,"
        " or choose another --checkpoint-directory"
    )
