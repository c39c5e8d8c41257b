# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""One writer at a time, on one machine or on several that share the directory.

On one machine the kernel keeps the lock, and drops it when its owner dies. Between machines that
share a directory not every file system does, so an owner also shows that it is alive: the time
of the lock file goes forward while it holds the lock. Readers take no lock.
"""

from __future__ import annotations

import fcntl
import os
import re
import socket
import threading
import time
from pathlib import Path

from model_analyzer.errors import CheckpointError

_SIGN_OF_LIFE_S = 15.0
# an owner on another machine that has shown no life for so long is taken for dead
_DEAD_AFTER_S = 60.0


class Lock:
    """The exclusive right to write, from construction to `release`."""

    def __init__(self, path: Path) -> None:
        """Raises CheckpointError, with the owner's process and machine, where it is taken."""
        self._released = threading.Event()
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise CheckpointError(
                f"{path}: cannot be opened: {error.strerror}; choose another"
                " --checkpoint-directory (--checkpoint-load-directory goes on from this one)"
            ) from error
        try:
            self._take(path)
        except BaseException:
            os.close(self._file)
            raise
        self._signs = threading.Thread(target=self._show_life, daemon=True)
        self._signs.start()

    def release(self) -> None:
        """Gives the right back; twice is fine."""
        if self._released.is_set():
            return
        self._released.set()
        self._signs.join()
        try:
            os.ftruncate(self._file, 0)  # an owner's name in it means that one has died
        except OSError:
            pass  # on a full or vanished disk the name may stay: it names a process that is gone
        os.close(self._file)

    def _take(self, path: Path) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise _taken(path, self._owner()) from error
        owner = self._owner()
        elsewhere = re.fullmatch(r"process \d+ on (.+)", owner)
        age_s = time.time() - os.fstat(self._file).st_mtime
        if elsewhere and elsewhere[1] != socket.gethostname() and age_s < _DEAD_AFTER_S:
            raise _taken(path, owner)
        try:
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
        except OSError as error:
            raise CheckpointError(f"{path}: cannot be written: {error.strerror}") from error

    def _owner(self) -> str:
        return os.pread(self._file, 200, 0).decode(errors="replace").strip()

    def _show_life(self) -> None:
        while not self._released.wait(_SIGN_OF_LIFE_S):
            try:
                os.utime(self._file)
            except OSError:
                pass  # whoever writes next is told what is wrong with the disk


def _taken(path: Path, owner: str) -> CheckpointError:
    return CheckpointError(
        f"{path.parent}: in use by another run ({owner or 'owner unknown'}); wait for it,"
        " or choose another --checkpoint-directory"
    )
