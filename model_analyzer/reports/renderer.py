# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Runs engines.py in a child process: a crash there costs one picture only."""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from model_analyzer.domain.words import one_line
from model_analyzer.reports.engines import SVG, append

# The child gets the parent's import path, so it finds the same packages in an environment, a
# directory of PYTHONPATH or an archive.
_PROGRAM = """\
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from model_analyzer.reports.engines import main
main(*map(int, sys.argv[2:]))
"""

# A small chart: drawing it makes the engine of charts start.
_SMALL = json.dumps(
    {"data": {"values": [{"x": 1}]}, "mark": "point", "encoding": {"x": {"field": "x"}}}
)
_BEGIN_S = 10.0

_LONGEST_REASON = 200
_RESERVED = 70 * 10**9  # bytes of address space that V8 reserves
_MOST_STDERR = 65536  # bytes of the child's output that are read
_OUT_OF_MEMORY = ("out of memory", "memoryerror", "cannot allocate", "failed to map", "bad_alloc")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of a child: `seconds` per picture, `memory` in bytes, and the number of `starts`."""

    seconds: float = 60
    memory: int = 4 << 30
    starts: int = 3


@dataclass(frozen=True, slots=True)
class Picture:
    """The bytes of a picture, or None and the reason (`why`)."""

    content: bytes | None
    why: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """A picture to draw: its kind (SVG, PNG or PDF), and the input of the engine."""

    kind: str
    text: str


class Renderer:
    """Draws in a child process, which the first order starts, or `begin` ahead of it. A context
    manager: leaving it ends the child.

    Orders are drawn one after the other in the background. If the child ends, the current picture
    is lost; a new child continues with the next one, up to a limit of starts.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._child: _Child | None = None
        self._waiting: deque[Order] = deque()
        self._drawn: dict[Order, Picture] = {}
        self._starts = 0
        self._gave_up = ""
        self._first: Order | None = None

    def __enter__(self) -> Renderer:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def begin(self) -> None:
        """Starts the child, without waiting for it, and its engine of charts, which needs a part of
        a second.
        """
        self._first = self.order(SVG, _SMALL)

    def rest(self) -> None:
        """Waits until a child that `begin` started uses no more CPU time."""
        if self._first is not None:
            self.take(self._first, min(self._limits.seconds, _BEGIN_S))
            self._first = None

    def order(self, kind: str, text: str) -> Order:
        """Orders a picture, without waiting for it."""
        if self._child is not None and not self._waiting and self._child.has_ended:
            self._end()  # somebody has killed it since the last picture
        order = Order(kind, text)
        if self._gave_up:
            self._drawn[order] = Picture(None, self._gave_up)
            return order
        self._waiting.append(order)
        if self._child is None:
            self._start()
        else:
            self._send([order])
        return order

    def take(self, order: Order, within_s: float | None = None) -> Picture:
        """Waits for the picture of an order. Call it once for each order. Each picture before it
        may take `within_s` seconds, by default those of the limits.
        """
        while order not in self._drawn:
            self._receive(self._limits.seconds if within_s is None else within_s)
        return self._drawn.pop(order)

    def _receive(self, within_s: float) -> None:
        """Receives the picture of the oldest order."""
        assert self._child is not None
        picture = self._child.receive(within_s)
        if picture is not None:
            self._drawn[self._waiting.popleft()] = picture
            if not self._waiting:
                self._child.forget()
            return
        self._lose(self._child.reason_of_end(self._waiting[0], self._limits))

    def _lose(self, why: str) -> None:
        """Gives up the current order, and all others if the child has ended too often."""
        self._end()
        self._drawn[self._waiting.popleft()] = Picture(None, why)
        if self._starts >= self._limits.starts:
            self._give_up(why)
        elif self._waiting:
            self._start()

    def _give_up(self, why: str) -> None:
        """Gives up all orders, future ones included."""
        self._end()
        self._gave_up = why
        for order in self._waiting:
            self._drawn[order] = Picture(None, why)
        self._waiting.clear()

    def _start(self) -> None:
        self._starts += 1
        try:
            self._child = _Child(self._limits.memory)
        except OSError as error:
            self._lose(f"the renderer cannot be started: {error.strerror}")
            return
        self._send([*self._waiting])

    def _send(self, orders: Sequence[Order]) -> None:
        assert self._child is not None
        try:
            for order in orders:
                self._child.send(order)
        except OSError as error:  # out of memory, or a file size limit
            self._give_up(f"cannot send charts to the renderer: {error.strerror}")

    def _end(self) -> None:
        if self._child is not None:
            self._child.end()
            self._child = None


class _Child:
    """A running engines.py, with files in memory for orders, results and its stderr.

    Files, not pipes: neither side has to wait until the other one reads.
    """

    def __init__(self, memory: int) -> None:
        self._orders, self._results, self._stderr = (
            os.memfd_create(f"model-analyzer-{name}") for name in ("orders", "results", "stderr")
        )
        self._is_late = False
        numbers = (self._orders, self._results, os.getpid(), memory)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", _PROGRAM, json.dumps(sys.path), *map(str, numbers)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                bufsize=0,
                pass_fds=(self._orders, self._results),
                start_new_session=True,  # Ctrl-C must not end it: the reports are still written
            )
        except OSError:
            self._close()
            raise

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def send(self, order: Order) -> None:
        content = order.text.encode()
        line = f"{order.kind} {append(self._orders, content)} {len(content)}\n"
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode())
        except BrokenPipeError:
            pass  # the child has ended: receive() notices it

    def receive(self, within_s: float) -> Picture | None:
        """The next answer; None if the child has ended or takes too long."""
        assert self._process.stdout is not None
        if not select.select([self._process.stdout], [], [], within_s)[0]:
            self._is_late = True
            return None
        words = self._process.stdout.readline().decode().split()
        if not words:
            return None
        content = os.pread(self._results, int(words[2]), int(words[1]))
        return Picture(content) if words[0] == "done" else Picture(None, _short(content.decode()))

    def forget(self) -> None:
        """Frees memory after all pictures have been taken."""
        os.ftruncate(self._orders, 0)
        os.ftruncate(self._results, 0)

    def reason_of_end(self, order: Order, limits: Limits) -> str:
        """Why the child did not answer an order."""
        if self._is_late:
            return f"it took longer than {limits.seconds:g} s"
        status = self._process.wait()
        stderr = os.pread(self._stderr, _MOST_STDERR, 0).decode(errors="replace").lower()
        if status == -signal.SIGKILL or any(sign in stderr for sign in _OUT_OF_MEMORY):
            return f"the renderer ran out of memory ({_memory_limit(order, limits)})"
        if status < 0:
            return f"the renderer was ended by {signal.Signals(-status).name}"
        return f"the renderer ended with status {status}"

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        self._close()

    def _close(self) -> None:
        for file in (self._orders, self._results, self._stderr):
            os.close(file)


def _memory_limit(order: Order, limits: Limits) -> str:
    """The memory limit that the child probably reached."""
    addresses, _ = resource.getrlimit(resource.RLIMIT_AS)
    if addresses == resource.RLIM_INFINITY:
        return f"limit {_gigabytes(limits.memory)} GB"
    limit = f"ulimit -v is {_gigabytes(addresses)} GB"
    if order.kind == SVG and addresses < _RESERVED:
        return f"{limit}; V8, which draws charts, needs about 70 GB of address space"
    return limit


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:.1f}"


def _short(reason: str) -> str:
    """The message of an engine, without its stack trace."""
    lines = takewhile(lambda line: not line.startswith("at "), map(str.strip, reason.splitlines()))
    return one_line(" ".join(lines))[:_LONGEST_REASON]
