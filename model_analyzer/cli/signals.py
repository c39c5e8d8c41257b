# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""First, second and third interrupt."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from model_analyzer.errors import Interrupted

MOST = 3
_TERMINATE_S = 30
_AGAIN_S = 0.5


class SignalInterrupts:
    """Counts interrupts. The first two ask to stop after the running trial; the third raises
    `Interrupted` inside it. SIGTERM and SIGHUP count as the first, and as the third 30 s later.

    Handlers only count, and raise nowhere but inside `interruptible`: outside of it, finished
    measurements are on their way to disk. Python calls a handler once for signals that arrive
    together; the wakeup pipe has a byte for each, so it is what we count.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._arrived, self._wakeup = os.pipe()
        os.set_blocking(self._arrived, False)
        os.set_blocking(self._wakeup, False)
        self._count = 0
        self._leave_now = False
        self._ends_in_time = False
        self._inside = False

    def install(self) -> None:
        """Takes over the signals of this process, but for a SIGHUP that `nohup` has it ignore."""
        signal.set_wakeup_fd(self._wakeup, warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
            signal.signal(number, self._handle)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            signal.signal(signal.SIGHUP, self._handle)

    @property
    def requested(self) -> bool:
        """Whether to stop after the running trial."""
        return self._count > 0

    def further(self) -> Callable[[], bool]:
        """A question: has there been another interrupt since now, or one to leave at once?"""
        before = self._count
        return lambda: self._leave_now or self._count > before

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Inside, the third interrupt raises `Interrupted`."""
        self._inside = True
        try:
            if self._leave_now:
                raise Interrupted("interrupted")
            yield
        finally:
            self._inside = False
            if self._leave_now:
                signal.setitimer(signal.ITIMER_REAL, 0)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        try:
            arrived = os.read(self._arrived, 4096)
        except BlockingIOError:
            return  # counted already, together with one that came before
        for one in arrived:
            match one:
                case signal.SIGINT:
                    self._interrupt()
                case signal.SIGTERM | signal.SIGHUP:
                    self._terminate(signal.Signals(one).name)
                case signal.SIGALRM if not self._leave_now:
                    self._say("Time is up. Saving state and exiting immediately.")
                    self._leave_now = True
        if self._leave_now:
            self._leave()

    def _interrupt(self) -> None:
        self._count += 1
        if self._count < MOST:
            self._say(
                f"Received SIGINT {self._count}/{MOST}. Will attempt to exit after current"
                " measurement."
            )
        elif self._count == MOST:
            self._say(f"Received SIGINT {self._count}/{MOST}.")  # scripts count these lines
            self._say(
                "Received SIGINT maximum number of times. Saving state and exiting immediately."
            )
            self._leave_now = True

    def _terminate(self, name: str) -> None:
        if not self._ends_in_time:
            self._ends_in_time = True
            self._count = max(self._count, 1)
            self._say(
                f"Received {name}. Will attempt to exit after current measurement, at the latest"
                f" in {_TERMINATE_S} s."
            )
            signal.alarm(_TERMINATE_S)

    def _leave(self) -> None:
        if self._inside:
            # Python drops what is raised inside a destructor: then it is said again
            signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
            raise Interrupted("interrupted")
