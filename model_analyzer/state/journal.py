# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The journal: what has been measured since the newest numbered checkpoint."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from model_analyzer.errors import CheckpointError
from model_analyzer.state.files import sync_directory


class Journal:
    """An append-only file of lines, for the one process that holds the lock."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            sync_directory(path.parent)  # not every file system does that with the file
            self._size = self._drop_torn_line()
        except OSError as error:
            raise CheckpointError(f"{path}: cannot be opened: {error.strerror}") from error

    @property
    def is_empty(self) -> bool:
        return self._size == 0

    def append(self, lines: Sequence[bytes]) -> None:
        """Appends lines; they are on disk when this returns, or not in the file at all."""
        data = b"".join(lines)
        try:
            written = 0
            while written < len(data):
                written += os.pwrite(self._file, data[written:], self._size + written)
            os.fsync(self._file)
        except BaseException as error:
            self._cut(self._size)
            if not isinstance(error, OSError):
                raise
            raise CheckpointError(
                f"{self._path}: cannot be written: {error.strerror}; everything measured before"
                " is kept: make room and run again"
            ) from error
        self._size += len(data)

    @property
    def is_removed(self) -> bool:
        """Whether somebody has removed the file: what is in it goes when we close it."""
        return os.fstat(self._file).st_nlink == 0

    def clear(self) -> None:
        """Empties the journal: its outcomes are in a numbered checkpoint now.

        Should that fail they are in both, which does no harm.
        """
        if self._cut(0):
            self._size = 0

    def close(self) -> None:
        """Closes the file, and removes it where nothing is in it; twice is fine."""
        if self._file < 0:
            return
        self._remove_if_empty()
        os.close(self._file)
        self._file = -1

    def _remove_if_empty(self) -> None:
        try:
            ours = os.fstat(self._file)
            if ours.st_size == 0 and os.path.samestat(ours, os.stat(self._path)):
                os.unlink(self._path)
        except OSError:
            pass  # an empty journal does no harm

    def _cut(self, size: int) -> bool:
        try:
            os.ftruncate(self._file, size)
            os.fsync(self._file)
        except OSError:
            return False
        return True

    def _drop_torn_line(self) -> int:
        size = os.fstat(self._file).st_size
        end = size
        while end > 0:
            start = max(0, end - 65536)
            block = os.pread(self._file, end - start, start)
            newline = block.rfind(b"\n")
            if newline >= 0:
                end = start + newline + 1
                break
            end = start
        if end < size:
            os.ftruncate(self._file, end)
        return end
