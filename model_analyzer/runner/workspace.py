# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A temporary directory for one run; if the run cannot remove it, the next run does."""

from __future__ import annotations

import fcntl
import os
import shlex
import shutil
import tempfile
from pathlib import Path

from model_analyzer.errors import OutputError
from model_analyzer.runner.leftovers import remove_leftovers

_PREFIX = "model-analyzer-"
_LOCK = "in-use"


class Workspace:
    """A context manager that returns the path of a new directory and removes it at the end.

    It cannot remove it after kill -9. So a run locks its directory, and the next run removes
    directories without a lock, and processes and shared memory of killed runs.
    """

    def __enter__(self) -> Path:
        if not Path("/proc/self/stat").exists():
            raise OutputError("/proc is not mounted, which is needed to watch processes: mount it")
        _sweep()
        remove_leftovers()
        self._path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=_parent()))
        # locked before it has its name: another run removes a directory whose lock is free
        new = self._path / f"new-{_LOCK}"
        self._lock = os.open(new, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        new.rename(self._path / _LOCK)
        return self._path

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._path, ignore_errors=True)
        os.close(self._lock)


def _parent() -> Path:
    """The directory for temporary files, without characters that are special to a shell: the Python
    backend passes the path of a model to one.
    """
    directory = tempfile.gettempdir()
    return Path("/tmp" if shlex.quote(directory) != directory else directory)


def _sweep() -> None:
    """Removes leftovers of killed runs of this user."""
    for path in _parent().glob(f"{_PREFIX}*/{_LOCK}"):
        try:
            lock = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            continue  # of a different user, or just removed
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            continue  # in use
        else:
            if os.fstat(lock).st_uid == os.getuid():
                shutil.rmtree(path.parent, ignore_errors=True)
        finally:
            os.close(lock)
