# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Starts one child process and makes sure that no part of it outlives model-analyzer.

A separate program: process.py runs `python -I -S guard.py LIFELINE ENDED`. LIFELINE is the read end
of a pipe. Its first message says what to run; then model-analyzer keeps it open. When it closes for
any reason (kill -9 included), the guard kills the whole process group of the child. A child that
needs to clean up first gets SIGHUP and some seconds.

When the child itself ends, the guard also kills the rest of the group: Triton's Python backend
leaves stubs behind when the server is killed under load, and they never end. Then it removes shared
memory regions with the given prefix, and regions of the Python backend that the killed processes
had mapped, since a server inside perf_analyzer has no prefix. It forwards signals to the group.

ENDED is the write end of a pipe that only the guard holds: it closes when everything has ended.

The message on the lifeline is its length as ten digits, then byte strings, each ended by a NUL
byte: the directory to run in and the file for the output (empty: those that the guard has), the
shared memory prefix (may be empty), the seconds for cleaning up, the number of arguments, the
arguments, and NAME=VALUE pairs.

A guard may be started before there is anything to run: it waits for its message. It imports little,
and only the standard library: it starts once for every perf_analyzer.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import time

SHM = "/dev/shm"
_BACKEND_PREFIX = "triton_python_backend_shm_region_"
_PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_CANNOT_START = 127
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG


def main(lifeline: int, ended: int) -> int:
    os.set_inheritable(lifeline, False)
    os.set_inheritable(ended, False)
    message = _read_message(lifeline)
    if message is None:
        return _CANNOT_START
    place, prefix, farewell_s, command, environment = message
    if not _enter(*place):
        return _CANNOT_START

    wakeup, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    for number in (*_PASSED_ON, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)
    child = os.fork()
    if child == 0:
        _become(command, environment)
    try:
        os.setpgid(child, child)  # parent and child both do this, to avoid a race
    except OSError:
        pass  # the child has done it, or has ended
    try:
        _watch(child, lifeline, wakeup)
        _say_farewell(child, wakeup, farewell_s)
    finally:
        # While the child is not reaped, the number of its group is not reused.
        regions = regions_of(_members(child))
        _signal_group(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        remove_shared_memory(prefix, regions)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _enter(directory: bytes, output: bytes) -> bool:
    """Goes to the directory, and writes to the file from now on; returns whether that works."""
    try:
        if directory:
            os.chdir(directory)
        if output:
            file = os.open(output, os.O_WRONLY | os.O_APPEND)
            os.dup2(file, 1)
            os.dup2(file, 2)
            os.close(file)
    except OSError:
        return False  # the directory for temporary files was removed
    return True


def _become(command: list[bytes], environment: dict[bytes, bytes]) -> None:
    """Runs in the child: becomes the command, in a new process group that dies with the guard.

    Never returns.
    """
    try:
        os.setpgid(0, 0)
        for number in (*_PASSED_ON, signal.SIGCHLD, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        os.execvpe(command[0], command, environment)
    except OSError as error:
        os.write(2, os.fsencode(f"{os.fsdecode(command[0])}: {error.strerror}\n"))
    finally:
        os._exit(_CANNOT_START)


def _watch(child: int, lifeline: int, wakeup: int) -> None:
    """Returns when the child has ended or must be killed."""
    while True:
        ready, _, _ = select.select([lifeline, wakeup], [], [])
        if lifeline in ready and not os.read(lifeline, 1):
            return
        if wakeup in ready:
            for number in os.read(wakeup, 64):
                if number != signal.SIGCHLD:
                    _signal_group(child, number)
        if _has_ended(child):
            return


def _say_farewell(child: int, wakeup: int, most_s: float) -> None:
    """Gives the child at most `most_s` seconds to clean up."""
    deadline = time.monotonic() + most_s
    if most_s and not _has_ended(child):
        _signal_group(child, signal.SIGHUP)
    while not _has_ended(child) and (left := deadline - time.monotonic()) > 0:
        if select.select([wakeup], [], [], left)[0]:
            os.read(wakeup, 64)


def _has_ended(child: int) -> bool:
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _read_message(
    lifeline: int,
) -> tuple[tuple[bytes, bytes], str, float, list[bytes], dict[bytes, bytes]] | None:
    length = _read(lifeline, 10)
    data = _read(lifeline, int(length)) if length else None
    if not data:
        return None
    directory, output, prefix, farewell_s, count, *words = data[:-1].split(b"\0")
    command = words[: int(count)]
    environment = dict(pair.split(b"=", 1) for pair in words[int(count) :])
    return (directory, output), os.fsdecode(prefix), float(farewell_s), command, environment


def _read(lifeline: int, size: int) -> bytes | None:
    """Exactly `size` bytes, or None if the other end is closed."""
    data = b""
    while len(data) < size:
        more = os.read(lifeline, size - len(data))
        if not more:
            return None
        data += more
    return data


def _signal_group(leader: int, number: int) -> None:
    try:
        os.killpg(leader, number)
    except (ProcessLookupError, PermissionError):
        pass  # the group has ended, or does not exist yet


def regions_of(processes: list[int]) -> set[str]:
    """The Python backend's regions that these processes have mapped."""
    present = [name for name in shared_memory() if name.startswith(_BACKEND_PREFIX)]
    if not present:
        return set()
    mapped = {line.rpartition("/")[2] for process in processes for line in _maps_of(process)}
    return mapped.intersection(present)


def _members(leader: int) -> list[int]:
    members = []
    for entry in os.listdir("/proc"):
        try:
            if entry.isdecimal() and os.getpgid(int(entry)) == leader:
                members.append(int(entry))
        except ProcessLookupError:
            pass  # it has just ended
    return members


def _maps_of(process: int) -> list[str]:
    try:
        with open(f"/proc/{process}/maps", errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        return []


def shared_memory() -> list[str]:
    try:
        return os.listdir(SHM)
    except OSError:
        return []


def remove_shared_memory(prefix: str, regions: set[str]) -> None:
    for name in shared_memory():
        if name in regions or (prefix and name.startswith(prefix)):
            try:
                os.unlink(f"{SHM}/{name}")
            except OSError:
                pass


if __name__ == "__main__":
    os._exit(main(int(sys.argv[1]), int(sys.argv[2])))  # at once: nothing is left to tidy up
