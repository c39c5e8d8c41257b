# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Imports that no interrupt cuts in two."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Inside, SIGINT waits; what it means is up to the handler that is there at the end.

    For imports: packages in C take a KeyboardInterrupt in them for a broken installation, print a
    traceback of their own, and raise something else.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
