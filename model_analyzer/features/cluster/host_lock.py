# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""One run at a time measures on a host. The slots of this run share the host.

The kernel keeps the lock (flock) and releases it when the last slot of the run ends, however it
ends. The first slot writes the run into the lock file while it holds the lock alone; then all hold
it together. flock does not change from alone to together in one step, so whoever has the lock
reads again whose it is.

The place of the file does not depend on variables such as TMPDIR, which may differ between two
runs of a user. Its name has the boot of the machine, in case machines share the directory. Anybody
can take the name of a directory in /tmp: then the file is in the user's home.
"""

from __future__ import annotations

import fcntl
import os
import pwd
import select
import stat
import time
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path

from model_analyzer.errors import ClusterError
from model_analyzer.runner.owner import boot_id
from model_analyzer.writing import open_own

# The slots of a killed driver end within seconds: its next run waits for them.
WAIT_S = 8.0

_PAUSE_S = 0.05
_MOST_HOLDER = 200


class _Held(Enum):
    """Who has the lock."""

    BY_US = "us"
    BY_ANOTHER_RUN = "another run"
    UNKNOWN = "a process that is taking it"


def _usual_directories() -> Iterator[Path]:
    user = os.getuid()
    yield Path("/tmp", f"model-analyzer-user-{user}")
    try:
        yield Path(pwd.getpwuid(user).pw_dir, ".cache", "model-analyzer")
    except KeyError:
        pass  # in a container, a user may have neither name nor home


def _is_own(directory: Path) -> bool:
    """Whether it is a directory of this user; it is created if nothing has its name."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = os.lstat(directory)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()


class HostLock:
    """A context manager: within it, only slots of this `run` measure on this host.

    The lock file is in the first of the `directories` that belongs to this user. Raises
    ClusterError if another run still measures after `wait_s` seconds.
    """

    def __init__(
        self, run: str, *, directories: Sequence[Path] = (), wait_s: float = WAIT_S
    ) -> None:
        self._run = run
        self._directories = directories or [*_usual_directories()]
        self._wait_s = wait_s
        self._file = -1

    def __enter__(self) -> HostLock:
        deadline = time.monotonic() + self._wait_s
        self._open()
        try:
            while (held := self._try()) is not _Held.BY_US:
                fcntl.flock(self._file, fcntl.LOCK_UN)  # two that wait must not hinder each other
                if time.monotonic() > deadline:
                    raise self._taken(held)
                select.select([], [], [], _PAUSE_S)
                if not self._is_in_place():
                    os.close(self._file)
                    self._open()
        except BaseException:
            self.release()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Releases the lock; calling it twice is fine. The file stays."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _open(self) -> None:
        own = next(filter(_is_own, self._directories), None)
        if own is None:
            first = self._directories[0]
            raise ClusterError(f"{first}: is not a directory of this user: remove it")
        path = own / f"measuring-{boot_id()}"
        try:
            self._file = open_own(path, os.O_RDWR)
        except OSError as error:
            raise ClusterError(
                f"{path}: cannot be opened: {error.strerror}; it keeps two runs from measuring on"
                " one host"
            ) from error

    def _try(self) -> _Held:
        if self._lock(fcntl.LOCK_EX):
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"{self._run} process {os.getpid()}".encode(), 0)
        is_locked = self._lock(fcntl.LOCK_SH)
        run = self._holder().partition(" ")[0]
        if run not in ("", self._run):
            return _Held.BY_ANOTHER_RUN
        return _Held.BY_US if is_locked and run and self._is_in_place() else _Held.UNKNOWN

    def _lock(self, kind: int) -> bool:
        try:
            fcntl.flock(self._file, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            raise ClusterError(f"its lock file cannot be locked: {error.strerror}") from error
        return True

    def _holder(self) -> str:
        return os.pread(self._file, _MOST_HOLDER, 0).decode(errors="replace")

    def _is_in_place(self) -> bool:
        """Whether nobody has removed the file."""
        return os.fstat(self._file).st_nlink > 0

    def _taken(self, held: _Held) -> ClusterError:
        _, _, process = self._holder().partition(" ")
        who = f"{held.value}, {process}" if process else held.value
        return ClusterError(
            f"{os.uname().nodename}: in use by {who}; wait for it, or leave this host out with"
            " --slot-label"
        )
