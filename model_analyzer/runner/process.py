# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Child processes behind a guard: waiting needs no polling, and they end when we end."""

from __future__ import annotations

import logging
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, NoReturn

import psutil

from model_analyzer.runner.workspace import GUARD, VARIABLE, owner_of, remove_leftovers

log = logging.getLogger(__name__)

# The limit for the output of short commands.
_MOST_OUTPUT = 16 * 2**20


class Guard:
    """A guard without a child. Starting one takes 20 ms: it may be ready before it is needed."""

    def __init__(
        self,
        output: IO[bytes] | int = subprocess.DEVNULL,
        directory: Path | None = None,
        errors: IO[bytes] | int = subprocess.STDOUT,
    ) -> None:
        lifeline, self.lifeline = os.pipe()
        self.ended, ended = os.pipe()
        try:
            # -I and -S: without site-packages and PYTHON* variables, so it starts fast
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(GUARD), str(lifeline), str(ended)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                cwd=directory,
                pass_fds=(lifeline, ended),
                start_new_session=True,
            )
        except OSError:
            os.close(self.lifeline)
            os.close(self.ended)
            raise
        finally:
            os.close(lifeline)
            os.close(ended)

    @property
    def is_ready(self) -> bool:
        return self.process.poll() is None

    def close(self) -> None:
        """Ends a guard that is not used."""
        os.close(self.lifeline)
        os.close(self.ended)
        self.process.send_signal(signal.SIGCONT)  # it may be stopped
        self.process.wait()


class ReadyGuard:
    """Keeps a guard ready for the next child, while it is entered."""

    def __init__(self) -> None:
        self._is_entered = False
        self._guard: Guard | None = None

    def __enter__(self) -> ReadyGuard:
        self._is_entered = True
        return self

    def __exit__(self, *_: object) -> None:
        self._is_entered = False
        guard, self._guard = self._guard, None
        if guard is not None:
            guard.close()

    def prepare(self) -> None:
        """Starts a guard, without waiting for it, unless one is ready."""
        if self._is_entered and self._guard is None:
            try:
                self._guard = Guard()
            except OSError as error:
                log.debug("No guard is ready: %s", error)

    def take(self) -> Guard | None:
        """The guard; None if there is none, or if somebody has killed it."""
        guard, self._guard = self._guard, None
        if guard is not None and not guard.is_ready:
            guard.close()
            return None
        return guard


class Process:
    """A running child with all processes in its process group.

    Its output (both streams) is appended to `output`, a file or an open descriptor, which is closed
    here; with `errors`, a file, standard error goes there, behind a new guard only. A context
    manager: leaving it kills running processes. At the end, shared memory whose name begins with
    `shm_prefix` is removed. Before the child is killed, or if model-analyzer ends,
    it gets SIGHUP and `farewell_s` seconds. It runs behind `guard`, or behind a new one.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        output: Path | int,
        directory: Path | None = None,
        shm_prefix: str = "",
        farewell_s: float = 0,
        guard: Guard | None = None,
        errors: Path | None = None,
    ) -> None:
        place = ("", "") if guard is None else (str(directory or ""), str(output))
        try:
            with open(output, "ab") as file, open(errors or os.devnull, "ab") as other:
                guard = guard or Guard(file, directory, other if errors else subprocess.STDOUT)
        except OSError:
            if guard is not None:
                guard.close()
            raise
        self._lifeline, self._ended, self._guard = guard.lifeline, guard.ended, guard.process
        environment = {**environment, VARIABLE: owner_of(self._guard.pid)}
        self._tell([*place, shm_prefix, str(farewell_s), str(len(command)), *command], environment)
        self._shm_prefix = shm_prefix

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def is_running(self) -> bool:
        return self._guard.poll() is None

    @property
    def status(self) -> int | None:
        """The exit status, 128 + N after signal N, or None while it runs."""
        return self._guard.poll()

    def wait(self, timeout_s: float) -> int | None:
        """The exit status, or None if it still runs after `timeout_s` seconds."""
        if self._ended >= 0:
            select.select([self._ended], [], [], max(timeout_s, 0))
        return self._guard.wait() if self._has_ended() else self._guard.poll()

    def send(self, number: signal.Signals) -> None:
        """Sends a signal to the child and its process group."""
        self._guard.send_signal(number)

    def terminate(self) -> None:
        """Asks it to end, without waiting."""
        self.send(signal.SIGTERM)

    def stop(self, grace_s: float) -> int | None:
        """Asks it to end, and kills it after `grace_s` seconds if it still runs."""
        if self.is_running:
            self.terminate()
            self.wait(grace_s)
        self.kill()
        return self.status

    def kill(self) -> None:
        """Ends it at once, with its process group. Killing twice is fine."""
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1
        self._guard.send_signal(signal.SIGCONT)  # it may be stopped
        if self._guard.wait() < 0:  # the guard was killed, so it did not clean up
            remove_leftovers(self._shm_prefix)
        if self._ended >= 0:
            os.close(self._ended)
            self._ended = -1

    def tree(self) -> Sequence[psutil.Process]:
        """The child and all its running descendants."""
        try:
            return psutil.Process(self._guard.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []

    def _has_ended(self) -> bool:
        """Whether the guard has closed its end of the `ended` pipe."""
        return self._ended < 0 or bool(select.select([self._ended], [], [], 0)[0])

    def _tell(self, words: Sequence[str], environment: Mapping[str, str]) -> None:
        parts = [*words, *(f"{name}={value}" for name, value in environment.items())]
        body = b"".join(os.fsencode(part) + b"\0" for part in parts)
        message = b"%010d" % len(body) + body
        try:
            while message:
                message = message[os.write(self._lifeline, message) :]
        except BrokenPipeError:
            pass  # the guard could not start: its exit status shows it


def describe_status(status: int) -> str:
    """An exit status in words."""
    if status > 128:
        try:
            return f"killed by {signal.Signals(status - 128).name}"
        except ValueError:
            pass
    return f"exit status {status}"


def run(
    command: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
    timeout_s: float,
) -> tuple[int, str]:
    """Runs a command to its end; returns its exit status and both streams as text.

    If it cannot be started, does not end in time, or prints too much: 127 and the reason.
    """
    environment = os.environ if environment is None else environment
    reader, writer = os.pipe()
    try:
        with Process(command, environment=environment, output=writer, directory=directory) as child:
            output = _output_of(reader, time.monotonic() + timeout_s)
    except _Endless:
        return 127, f"{command[0]}: prints more than {_MOST_OUTPUT // 2**20} MiB"
    except TimeoutError:
        return 127, f"{command[0]}: still running after {timeout_s:g} s"
    except OSError as error:
        return 127, f"{command[0]}: {error.strerror}"
    finally:
        os.close(reader)
    return child.status or 0, output.decode(errors="replace")


def become(command: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    """Replaces this process by a program, which gets its streams and its signals, and whose exit
    status is that of the process. Raises OSError if it cannot start.
    """
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, programs should not
    os.execve(command[0], [*command], environment)


class _Endless(Exception):
    """A program prints too much."""


def _output_of(reader: int, deadline: float) -> bytes:
    """The complete output of a child, whose guard closes the other end when all has ended."""
    output = bytearray()
    while select.select([reader], [], [], max(deadline - time.monotonic(), 0))[0]:
        block = os.read(reader, 2**16)
        if not block:
            return bytes(output)
        output += block
        if len(output) > _MOST_OUTPUT:
            raise _Endless
    raise TimeoutError
