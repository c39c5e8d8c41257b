# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Reads files from untrusted sources without blocking, and never more than a limit.

A FIFO may block at once, a device may never end, and a program may print any amount.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import BinaryIO, TextIO

_MIB = 2**20
_BLOCK = _MIB


def open_regular(path: Path) -> BinaryIO:
    """Opens a file for reading. Raises OSError, also if it is not a regular file."""
    check_regular(os.stat(path).st_mode, path)  # opening a device may change it
    file = open(path, "rb", opener=_open_at_once)  # noqa: SIM115  the caller closes it
    try:
        check_regular(os.fstat(file.fileno()).st_mode, path)
    except OSError:
        file.close()
        raise
    return file


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)


def check_regular(mode: int, path: Path) -> None:
    """Raises OSError unless it is a file or a directory (for which opening it raises)."""
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise OSError(errno.EINVAL, "Not a regular file", str(path))


def blocks_of(path: Path) -> Iterator[bytes]:
    """The content of a file in blocks, up to its size at the time of opening. Raises OSError."""
    with open_regular(path) as file:
        left = os.fstat(file.fileno()).st_size
        while left > 0 and (block := file.read(min(left, _BLOCK))):
            left -= len(block)
            yield block


def read_regular(path: Path, *, most_bytes: int) -> bytes:
    """The content of a file. Raises OSError, also if it is larger than `most_bytes`."""
    with open_regular(path) as file:
        return _read(file, path, most_bytes)


def read_named(path: Path, *, most_bytes: int) -> bytes:
    """The content of a file that the user named. Unlike `read_regular`, it also reads open files of
    this process, such as `/dev/stdin`, and `/dev/null`.
    """
    if is_open_here(path) or os.path.samefile(path, os.devnull):
        with open(path, "rb") as file:
            return _read(file, path, most_bytes)
    return read_regular(path, most_bytes=most_bytes)


def is_open_here(path: Path) -> bool:
    """Whether the path names an open file of this process."""
    return os.path.realpath(path).startswith(f"/proc/{os.getpid()}/fd/")


@contextmanager
def open_text(path: Path, *, most_bytes: int) -> Iterator[TextIO]:
    """Opens a file in UTF-8 whose lines end as they do in the file. Raises OSError, also if it is
    larger than `most_bytes`.
    """
    with open_regular(path) as file:
        if os.fstat(file.fileno()).st_size > most_bytes:
            raise _too_large(path, most_bytes)
        with TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:
            yield text


def _too_large(path: Path, most_bytes: int) -> OSError:
    return OSError(errno.EFBIG, f"Larger than {_size(most_bytes)}", str(path))


def _read(file: BinaryIO, path: Path, most_bytes: int) -> bytes:
    data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise _too_large(path, most_bytes)
    return data


def read_ends(path: Path, *, most_bytes: int) -> str:
    """The text of a file. If it is larger than `most_bytes`: its first and last `most_bytes / 2`,
    and between them a line with the size of the part that is left out. Raises OSError.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size <= most_bytes:
            return file.read(most_bytes).decode(errors="replace")
        head = file.read(most_bytes // 2)
        file.seek(size - most_bytes // 2)
        tail = file.read(most_bytes // 2)
    cut = f"\n[… {_size(size - len(head) - len(tail))} left out …]\n"
    return head.decode(errors="replace") + cut + tail.decode(errors="replace")


def _size(count: int) -> str:
    if count < 2**10:
        return f"{count} bytes"
    return f"{count / _MIB:.0f} MiB" if count >= _MIB else f"{count / 2**10:.0f} KiB"
