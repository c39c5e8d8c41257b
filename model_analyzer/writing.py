# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Writes whole files or nothing, and never follows a link that the user did not name.

`write_output` writes to any output that the user names. A directory may be untrusted and contain
links with the names of our files: `replace_file`, `create_file` and `open_own` accept only regular
files there.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

_MOST_LINKS = 40  # the limit of the kernel
# errors of file systems without hard links, or with hard links in one directory only
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EXDEV})


def write_output(path: Path, content: bytes) -> None:
    """Writes to an output that the user named. Raises OSError.

    A regular file is replaced; if the path is a link, the target of the link is replaced. The
    content goes to a device, a pipe or an open file of this process (`/dev/stdout`) directly.
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


def check_output(path: Path) -> None:
    """Raises OSError if `write_output` could not write there now."""
    if _descriptor(path) is None and _is_file_or_new(path):
        target = Path(os.path.realpath(path))
        if target.is_dir():
            _check_regular(stat.S_IFDIR, path)
        with _temporary(target, (), is_durable=False):
            pass


def empty_output(path: Path) -> None:
    """Empties or creates the file that the user named, unless it is a device, a pipe or an open
    file of this process. Raises OSError.
    """
    if _descriptor(path) is None and _is_file_or_new(path):
        path.write_bytes(b"")


def replace_file(path: Path, chunks: Iterable[bytes]) -> None:
    """Writes a file, and replaces an existing one. Raises OSError, also if the existing one is not
    a regular file.
    """
    with contextlib.suppress(FileNotFoundError):
        _check_regular(os.lstat(path).st_mode, path)
    with _temporary(path, chunks, is_durable=False) as temporary:
        os.replace(temporary, path)


def create_file(path: Path, chunks: Iterable[bytes]) -> None:
    """Writes a new file, which is on disk when this returns. Raises OSError; FileExistsError if the
    name exists, which then stays unchanged.
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
    """Opens or creates a file with a name that model-analyzer uses. Raises OSError, also if it is a
    link or not a regular file.
    """
    flags |= os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        file = os.open(path, flags, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _not_regular(path, "Is a symbolic link") from error
        raise
    try:
        _check_regular(os.fstat(file).st_mode, path)
    except OSError:
        os.close(file)
        raise
    return file


def sync_directory(directory: Path) -> None:
    """Makes the entries of a directory durable. Raises OSError."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _temporary(path: Path, chunks: Iterable[bytes], *, is_durable: bool) -> Iterator[Path]:
    """A temporary file beside `path` with the content. It is removed at the end, unless it was
    renamed.
    """
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
            error.filename = str(path)  # users do not know the temporary name
        raise
    finally:
        temporary.unlink(missing_ok=True)


def _is_file_or_new(path: Path) -> bool:
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return True
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)  # writing then refuses a directory


def _descriptor(path: Path) -> int | None:
    """The descriptor of the open file of this process that a path like `/dev/stdout` names."""
    open_files = f"/proc/{os.getpid()}/fd"
    for _ in range(_MOST_LINKS):
        if path.name.isdecimal() and os.path.realpath(path.parent) == open_files:
            return int(path.name)
        if not path.is_symlink():
            break
        path = path.parent / os.readlink(path)
    return None


def _check_regular(mode: int, path: Path) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if stat.S_ISLNK(mode):
        raise _not_regular(path, "Is a symbolic link")
    if not stat.S_ISREG(mode):
        raise _not_regular(path, "Not a regular file")


def _not_regular(path: Path, reason: str) -> OSError:
    return OSError(errno.EINVAL, reason, str(path))
