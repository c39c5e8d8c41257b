# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Copies numbered checkpoints to a store in the background of a run."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

from model_analyzer.domain.secrets import masked_command
from model_analyzer.state.format.layout import index_of, prefix_of
from model_analyzer.state.stores.checkpointer import Checkpointer, copy
from model_analyzer.urls import store_thread

log = logging.getLogger(__name__)

_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 60.0
# a longer wait is explained
_SILENT_S = 1.0
_LOOK_S = 0.1


class Uploads:
    """A context manager: `add` takes a path and returns at once; leaving it waits some time for
    pending uploads.

    Failed uploads are repeated, with growing pauses, until the run ends. Files that could not be
    uploaded are a warning at the end.
    """

    def __init__(
        self,
        store: Checkpointer,
        *,
        impatience: Callable[[], Callable[[], bool]] = lambda: lambda: False,
        patience_s: float = 30.0,
        first_pause_s: float = _FIRST_PAUSE_S,
    ) -> None:
        """Leaving waits at most `patience_s`. `impatience` is called then: the wait ends when the
        function that it returns is true, because the user wants to leave.
        """
        self._store = store
        self._impatience = impatience
        self._patience_s = patience_s
        self._first_pause_s = first_pause_s
        self._changed = threading.Condition()
        # under the condition
        self._pending: deque[Path] = deque()
        self._unreadable: dict[Path, str] = {}
        self._reason = ""
        self._is_closing = False
        self._is_over = False
        self._thread = store_thread(self._work)

    def __enter__(self) -> Uploads:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        self._wait()
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
            missing = [*self._unreadable, *self._pending]
            reasons = [*self._unreadable.values()]
            if self._pending:
                reasons.append(self._reason or "not finished in time")
        if missing:
            self._warn(missing, reasons)

    def add(self, path: Path) -> None:
        """Uploads a numbered checkpoint."""
        with self._changed:
            self._pending.append(path)
            self._changed.notify_all()

    def _wait(self) -> None:
        is_over = self._impatience()
        started = time.monotonic()
        is_explained = False
        while self._thread.is_alive() and not is_over():
            waited = time.monotonic() - started
            if waited >= self._patience_s:
                return
            if waited >= _SILENT_S and not is_explained:
                is_explained = True
                log.info(
                    "Uploading to %s: waiting up to %.0f s for it; an interrupt leaves at once",
                    self._store,
                    self._patience_s,
                )
            self._thread.join(_LOOK_S)

    def _warn(self, missing: list[Path], reasons: list[str]) -> None:
        prefix = prefix_of(missing[-1])
        command = [
            *("model-analyzer", "checkpoint", "upload"),
            *("--checkpoint-directory", str(missing[-1].parent)),
            *(("--checkpoint-prefix", prefix) if prefix else ()),
            *("--to", str(self._store)),
        ]
        log.warning(
            "Not uploaded to %s: %s (%s). By hand: %s",
            self._store,
            ", ".join(map(str, missing)),
            "; ".join(dict.fromkeys(reasons)),
            masked_command(command),
        )

    def _work(self) -> None:
        pause_s = self._first_pause_s
        while (path := self._next()) is not None:
            stage = self._stage
            try:
                data = path.read_bytes()
            except OSError as error:
                self._finish(path, unreadable=f"{path}: cannot be read: {error.strerror}")
                continue
            try:
                index = copy(index_of(path), data, self._store)
            except Exception as error:  # noqa: BLE001  a store is code of others
                if self._wait_after_failure(
                    path, str(error) or type(error).__name__, pause_s, stage
                ):
                    pause_s = self._first_pause_s
                else:
                    pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
                continue
            number = "" if index == index_of(path) else f" as number {index}"
            log.info("Uploaded %s to %s%s", path, self._store, number)
            pause_s = self._first_pause_s
            self._finish(path)

    def _next(self) -> Path | None:
        """Waits for the next path to upload; None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._pending or self._is_closing)
            return self._pending[0] if self._pending and not self._is_over else None

    def _finish(self, path: Path, *, unreadable: str = "") -> None:
        with self._changed:
            self._pending.popleft()
            self._reason = ""
            if unreadable:
                self._unreadable[path] = unreadable

    @property
    def _stage(self) -> tuple[bool, bool]:
        """Whether the run is ending, or has ended."""
        return self._is_closing, self._is_over

    def _wait_after_failure(
        self, path: Path, reason: str, pause_s: float, stage: tuple[bool, bool]
    ) -> bool:
        """Waits before the next attempt; returns whether the run has left the `stage` in which the
        attempt started.
        """
        with self._changed:
            if not self._reason:
                log.warning("%s is not uploaded yet; the upload is tried again: %s", path, reason)
            self._reason = reason
            return self._changed.wait_for(lambda: self._stage != stage, timeout=pause_s)
