# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A temporary directory for one run, and what else a killed run leaves behind. If a run cannot
remove its directory, the next run does; and it ends processes behind guards that never end, and
removes their shared memory.

Every process behind a guard, and every process that it starts (Triton's stubs too), has a variable
that names the guard. Names of shared memory contain the process of the run. If the named process
has ended, the leftover belongs to a killed run and is removed.

Identifies a process by a text that can be stored and checked later.

The process number alone is not enough: numbers are reused, start again at each boot, and differ in
each container.
"""

from __future__ import annotations

import fcntl
import logging
import os
import re
import shlex
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil

from model_analyzer.errors import OutputError
from model_analyzer.runner.guard import SHM, regions_of, remove_shared_memory, shared_memory

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


log = logging.getLogger(__name__)

VARIABLE = "MODEL_ANALYZER_GUARD"
GUARD = Path(__file__).with_name("guard.py")

_REGION = re.compile(r"ma_([0-9]+-[0-9]+-[0-9]+)_.+")


def shm_prefix(token: str) -> str:
    """The prefix of the names of a server's shared memory; it contains the owner."""
    return f"ma_{name_of_this_process()}_{token}_"


def remove_leftovers(prefix: str = "") -> None:
    """Ends processes whose guard was killed, and removes their shared memory; also shared memory
    with an unused `prefix`. Wakes guards that were stopped, so that they end their processes.
    """
    _wake_guards()
    for process in _without_guard():
        regions = regions_of([process.pid])
        try:
            name = process.name()
            process.kill()
        except psutil.Error:
            continue  # it has just ended
        log.info("Ended process %d (%s), a leftover of a killed run", process.pid, name)
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
    """Processes of this user whose guard has ended."""
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
