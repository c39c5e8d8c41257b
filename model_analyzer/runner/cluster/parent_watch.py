# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Ends this process when its parent has died.

A slot runs in a process of its node's raylet. When the raylet is killed, Ray reports the slot as
dead, but the process and its server go on. Another slot would then measure beside them.
"""

from __future__ import annotations

import logging
import os
import select
import threading
from collections.abc import Callable
from types import TracebackType

log = logging.getLogger(__name__)

EXIT_STATUS = 1
_CHECK_MS = 500  # where the kernel does not report the death


def end_at_once() -> None:
    """Ends this process without any clean-up. The guards of its servers see it and clean up."""
    os._exit(EXIT_STATUS)


class ParentWatch:
    """A context manager with a thread, which calls `end` when the parent has died."""

    def __init__(self, end: Callable[[], None] = end_at_once) -> None:
        self._end = end
        self._parent = os.getppid()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> ParentWatch:
        self._left, self._leave = os.pipe()
        try:
            self._death: int | None = os.pidfd_open(self._parent)
        except OSError:
            self._death = None  # it has just died, or this kernel cannot do it
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._leave)
        self._thread.join()
        os.close(self._left)
        if self._death is not None:
            os.close(self._death)

    def _watch(self) -> None:
        poll = select.poll()
        poll.register(self._left, select.POLLHUP)
        if self._death is not None:
            poll.register(self._death, select.POLLIN)
        # after the death, the kernel gives the process another parent
        while os.getppid() == self._parent:
            ready = poll.poll(_CHECK_MS if self._death is None else None)
            if any(descriptor == self._left for descriptor, _ in ready):
                return
        log.error("Process %d, the parent of this slot, has died: ending", self._parent)
        self._end()
