# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Calls a function periodically in a separate thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import TypeVar

S = TypeVar("S", bound="Sampler")


class Sampler:
    """While entered, calls `sample` at once and then every `interval_s` seconds; and once more when
    the block ends without an error, so that short loads get a sample, too.

    An exception of `sample` ends the sampling and is raised at the end of the block.
    """

    def __init__(self, sample: Callable[[], None], interval_s: float) -> None:
        self._sample = sample
        self._interval_s = interval_s
        self._stop = threading.Event()
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)

    def __enter__(self: S) -> S:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()
        if kind is not None:
            return
        if self._error is not None:
            raise self._error
        self._sample()

    def _run(self) -> None:
        try:
            while True:
                self._sample()
                if self._stop.wait(self._interval_s):
                    return
        except Exception as error:  # noqa: BLE001 (raised in the other thread)
            self._error = error
