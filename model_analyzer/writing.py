# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Writing files: as a whole or not at all, and never behind a link that nobody named.

What a user names as an output is written to, whatever it is: `write_output`. A directory can come
from anybody, with links in the place of our files: in there, `replace_file`, `create_file` and
`open_own` refuse everything but regular files.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

_MOST_LINKS = 40  # as many as the kernel follows
# where a file system has no links, or only in one directory
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EXDEV})


def write_output(path: Path, content: bytes) -> None:
    """Writes what the user named. Raises OSError.

    A regular file is replaced as a whole, at its own place if the path is a link to it. A device,
    a pipe or an open file of ours (`/dev/stdout`) is written to.
    """
    descriptor = _descriptor(path)
    if descriptor is None and _is_file_or_new(path):
        replace_file(Path(os.path.realpath(path)), [content])
        return
    if descriptor is None:
        file = os.open(path, os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC)
    else:
        file = os.dup(descriptor)
    with open(file, "wb") as stream:
        stream.write(content)


def empty_output(path: Path) -> None:
    """Makes what the user named a file without content, unless it is a device, a pipe or an open
    file of ours. Raises OSError.
    """
    if _descriptor(path) is None and _is_file_or_new(path):
        path.write_bytes(b"")


def replace_file(path: Path, chunks: Iterable[bytes]) -> None:
    """Writes a file in the place of the one that may be there. Raises OSError, also where that is
    no regular file.
    """
    with contextlib.suppress(FileNotFoundError):
        _check_regular(os.lstat(path).st_mode, path)
    with _temporary(path, chunks, is_durable=False) as temporary:
        os.replace(temporary, path)


def create_file(path: Path, chunks: Iterable[bytes]) -> None:
    """Writes a new file, which is on disk when this returns. Raises OSError, FileExistsError where
    something has that name: then it is as it was.
    """
    with _temporary(path, chunks, is_durable=True) as temporary:
        try:
            os.link(temporary, path)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC))
            os.replace(temporary, path)
    sync_directory(path.parent)


def open_own(path: Path, flags: int) -> int:
    """Opens a file that has one of our names, or creates it. Raises OSError, also where it is a
    link, or no regular file.
    """
    flags |= os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        file = os.open(path, flags, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _no_regular_file(path, "Is a symbolic link") from error
        raise
    try:
        _check_regular(os.fstat(file).st_mode, path)
    except OSError:
        os.close(file)
        raise
    return file


def sync_directory(directory: Path) -> None:
    """Makes durable which files a directory has."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _temporary(path: Path, chunks: Iterable[bytes], *, is_durable: bool) -> Iterator[Path]:
    """A file beside `path`, with the content; it is gone at the end, if it still has that name."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.writelines(chunks)
            file.flush()
            if is_durable:
                os.fsync(file.fileno())
        yield temporary
    except OSError as error:
        if error.filename is not None:
            error.filename = str(path)  # nobody knows the other name
        raise
    finally:
        temporary.unlink(missing_ok=True)


def _is_file_or_new(path: Path) -> bool:
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return True
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)  # a directory is refused as a file is written


def _descriptor(path: Path) -> int | None:
    """The number of the open file of this process that a path like `/dev/stdout` stands for."""
    own = f"/proc/{os.getpid()}/fd"
    for _ in range(_MOST_LINKS):
        if path.name.isdecimal() and os.path.realpath(path.parent) == own:
            return int(path.name)
        if not path.is_symlink():
            break
        path = path.parent / os.readlink(path)
    return None


def _check_regular(mode: int, path: Path) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if stat.S_ISLNK(mode):
        raise _no_regular_file(path, "Is a symbolic link")
    if not stat.S_ISREG(mode):
        raise _no_regular_file(path, "Not a regular file")


def _no_regular_file(path: Path, reason: str) -> OSError:
    return OSError(errno.EINVAL, reason, str(path))
