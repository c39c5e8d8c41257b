# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The journal: the outcomes since the newest numbered checkpoint."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from enum import Enum
from pathlib import Path

from model_analyzer.errors import CheckpointError, UnusableCheckpoint, is_wrong_path
from model_analyzer.state.format.codec import OUTCOMES, Entry, encode, with_serial
from model_analyzer.writing import open_own, sync_directory


class Fault(Enum):
    """A change of the journal by another program; the value is for messages."""

    REMOVED = "was removed"
    SHORTENED = "was shortened"
    EXTENDED = "was written to by another program"


class Journal:
    """An append-only file of lines, for the one process that holds the lock.

    The file itself is locked, too, in case somebody removes the lock file.
    """

    _size: int
    _serial: int

    def __init__(self, path: Path) -> None:
        """Opens or creates the file. Call `drop_torn_line` before the first `append`."""
        self._path = path
        self._file = -1
        self._open()

    @property
    def is_empty(self) -> bool:
        return self._size == 0

    @property
    def is_in_place(self) -> bool:
        """Whether the path still leads to the opened file."""
        try:
            current = os.stat(self._path, follow_symlinks=False)
        except OSError:
            return False
        return os.path.samestat(os.fstat(self._file), current)

    @property
    def is_moved(self) -> bool:
        """Whether somebody moved the whole directory; writing continues there."""
        return os.fstat(self._file).st_nlink > 0 and not self._path.parent.exists()

    @property
    def fault(self) -> Fault | None:
        """How another program changed the file since the last write; None if unchanged."""
        size = os.fstat(self._file).st_size
        if not (self.is_in_place or self.is_moved):
            return Fault.REMOVED
        if size == self._size:
            return None
        return Fault.SHORTENED if size < self._size else Fault.EXTENDED

    def append(self, entries: Sequence[Entry]) -> Sequence[bytes]:
        """Appends entries; outcomes get a serial number. When this returns, they are on disk; if it
        raises CheckpointError, none is in the file. Returns their lines without serial numbers.
        """
        lines = [*map(encode, entries)]
        serial = self._serial
        data = b""
        for entry, line in zip(entries, lines, strict=True):
            if entry["entry"] in OUTCOMES:
                serial += 1
                data += with_serial(line, serial)
            else:
                data += line
        try:
            position = 0
            while position < len(data):
                position += os.write(self._file, data[position:])
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
        self._serial = serial
        return lines

    def clear(self) -> None:
        """Empties the journal after all outcomes were written to a numbered checkpoint; opens a new
        file if ours was removed. If that fails, outcomes are in both files, which is harmless.
        """
        if not self.is_in_place:
            try:
                self._open()
            except CheckpointError:
                return  # then every outcome gets its own checkpoint
        if self._cut(0):
            self._size = self._serial = 0

    def drop_torn_line(self) -> None:
        """Removes an incomplete last line: its outcome was never acknowledged."""
        size = end = self._size
        while end > 0:
            start = max(0, end - 65536)
            block = os.pread(self._file, end - start, start)
            newline = block.rfind(b"\n")
            if newline >= 0:
                end = start + newline + 1
                break
            end = start
        if end < size:
            try:
                os.ftruncate(self._file, end)
            except OSError as error:
                raise self._cannot_open(error) from error
        self._size = end

    def close(self) -> None:
        """Closes the file, and removes it if it is empty. Calling it twice is allowed."""
        if self._file < 0:
            return
        self._remove_if_empty()
        os.close(self._file)
        self._file = -1

    def _open(self) -> None:
        """Raises CheckpointError if another process has locked the file."""
        try:
            file = open_own(self._path, os.O_RDWR | os.O_APPEND)
        except OSError as error:
            raise self._cannot_open(error) from error
        try:
            self._lock(file)
            sync_directory(self._path.parent)  # not every file system does that with the file
        except BaseException as error:
            os.close(file)
            if isinstance(error, OSError):
                raise self._cannot_open(error) from error
            raise
        if self._file >= 0:
            os.close(self._file)
        self._file = file
        self._size = os.fstat(file).st_size
        self._serial = 0

    def _lock(self, file: int) -> None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise CheckpointError(
                f"{self._path}: in use by another run, whose lock file was removed; wait for it,"
                " or choose another --checkpoint-directory"
            ) from error
        except OSError:
            pass  # not every file system can; the lock file counts

    def _remove_if_empty(self) -> None:
        try:
            if os.fstat(self._file).st_size == 0 and self.is_in_place:
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

    def _cannot_open(self, error: OSError) -> CheckpointError:
        kind = UnusableCheckpoint if is_wrong_path(error) else CheckpointError
        return kind(f"{self._path}: cannot be opened: {error.strerror}")
