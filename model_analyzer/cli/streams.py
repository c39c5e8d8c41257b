# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Standard streams that never break a command: closed, full, or left by whoever read them.

What a command does, above all measuring, must not depend on who watches it. Little is imported
here: it comes before anything else.
"""

import errno
import os
import sys
from io import BufferedWriter, FileIO, TextIOWrapper

TYPE_CHECKING = False  # as checkers know it: to import typing takes time

if TYPE_CHECKING:
    from typing import IO

    from _typeshed import ReadableBuffer

# the reader or the terminal has gone: nobody misses the output
_NOBODY_READS = (errno.EPIPE, errno.ECONNRESET, errno.EIO)


def open_streams() -> None:
    """Gives this process its three standard streams, whatever it was started with.

    A closed one would become the next file that is opened, a journal for example. Closed outputs
    are opened such that writing still fails, as it should.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDONLY), True)
    if sys.stdin is None:
        sys.stdin = os.fdopen(0, closefd=False)
    # tests have others in their place
    if sys.stdout is sys.__stdout__:
        sys.stdout = _text_stream(1, sys.stdout)
    if sys.stderr is sys.__stderr__:
        sys.stderr = _text_stream(2, sys.stderr)


def lost_output() -> str:
    """Why standard output has not taken everything, or nothing.

    A reader that has seen enough (`| head`) is no reason.
    """
    sys.stdout.flush()
    output = _raw_output(sys.stdout)
    failure = output.failure if output is not None else None
    return "" if failure is None or failure.errno in _NOBODY_READS else str(failure.strerror)


def write_now(stream: "IO[str]", line: str) -> None:
    """Writes a line past the buffers, from a signal handler that came in the middle of a line."""
    raw = _raw_output(stream)
    if raw is not None:
        raw.write(f"{line}\n".encode(errors="backslashreplace"))


def _raw_output(stream: "IO[str]") -> "_Output | None":
    """Where a stream of ours writes to; tests have others."""
    raw = getattr(getattr(stream, "buffer", None), "raw", None)
    return raw if isinstance(raw, _Output) else None


class _Output(FileIO):
    """Takes everything, and drops what follows a failure.

    It waits for a pipe that does not block but is full: another program may have made it so.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number, "w", closefd=False)
        self.failure: OSError | None = None

    def write(self, data: "ReadableBuffer", /) -> int:
        rest = memoryview(data)
        size = len(rest)
        try:
            while rest and self.failure is None:
                rest = rest[self._write_some(rest) :]
        except OSError as error:
            self.failure = error
        return size

    def _write_some(self, data: memoryview) -> int:
        written: int | None = super().write(data)
        if written is None:
            import select

            select.select([], [self], [])
        return written or 0


def _text_stream(number: int, usual: "TextIOWrapper | None") -> TextIOWrapper:
    """A stream like the usual one, that also writes characters which its encoding does not have."""
    return TextIOWrapper(
        BufferedWriter(_Output(number)),
        encoding="utf-8" if usual is None else usual.encoding,
        errors="backslashreplace",
        line_buffering=usual is None or usual.line_buffering,
    )
