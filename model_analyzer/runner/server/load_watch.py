# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Detects loads that never end because the process of a Python model has died."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from model_analyzer.runner.stubs import ProcessState, read_state

_LOOK_S = 1.0
# The time that a stub may wait for its server: if it failed, other instances may still start.
_COLLECTED_S = 10.0


class LoadWatch:
    """While entered, ends a server if one of its stubs has died: Triton would wait for it forever.

    `stubs` returns the process numbers of the stubs, which start during the load; `end` ends the
    server. Afterwards, `has_ended_it` tells whether that was necessary.
    """

    def __init__(
        self,
        stubs: Callable[[], Sequence[int]],
        end: Callable[[], None],
        *,
        read: Callable[[int], ProcessState | None] = read_state,
        look_s: float = _LOOK_S,
        collected_s: float = _COLLECTED_S,
    ) -> None:
        self._stubs = stubs
        self._end = end
        self._read = read
        self._look_s = look_s
        self._collected_s = collected_s
        self._is_loaded = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.has_ended_it = False

    def __enter__(self) -> LoadWatch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_loaded.set()
        self._thread.join()

    def _watch(self) -> None:
        first_seen: dict[tuple[int, int], float] = {}
        while not self._is_loaded.wait(self._look_s):
            time_s = time.monotonic()
            zombies = [
                (pid, state.started)
                for pid in self._stubs()
                if (state := self._read(pid)) is not None and state.is_zombie
            ]
            first_seen = {stub: first_seen.get(stub, time_s) for stub in zombies}
            if any(time_s - seen > self._collected_s for seen in first_seen.values()):
                self.has_ended_it = True
                self._end()
                return
