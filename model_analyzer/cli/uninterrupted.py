# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Interrupts before there is anything to stop: they are heard, and cut no import in two."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


def hear_interrupts() -> None:
    """Ends the program on SIGINT and SIGTERM, also where it was started with these ignored.

    A shell without job control starts `COMMAND &` with SIGINT ignored, and so do many CI runners;
    whoever then sends one with `kill -INT` means this program.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGTERM) is signal.SIG_IGN:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


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
