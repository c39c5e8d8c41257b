# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Copies, links and fingerprints directory trees."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from model_analyzer.errors import RepositoryError
from model_analyzer.reading.untrusted import blocks_of, check_regular, open_regular

CONFIG = "config.pbtxt"
IGNORED = ("__pycache__", ".git")

# No model has more. Links to directories may multiply files, and some system files are endless.
_MOST_FILES = 1_000_000
_DEEPEST = 100
_LARGEST_BYTES = 16 * 2**40


def files_under(path: Path) -> Iterator[Path]:
    """Every file below `path`, relative to it, in a fixed order, without the directories `IGNORED`.
    Links are followed.

    Raises RepositoryError for anything that is not a file or directory (a FIFO would block), for
    link cycles, and for trees that are too large.
    """
    with _as_repository_error(path):
        for count, relative in enumerate(_walk(path, Path(), ()), start=1):
            if count > _MOST_FILES:
                raise OSError(errno.EFBIG, f"Has more than {_MOST_FILES} files", str(path))
            yield relative


def _walk(root: Path, inside: Path, above: tuple[os.stat_result, ...]) -> Iterator[Path]:
    """The files below `root / inside`; `above` are the parents of this directory."""
    directory = root / inside
    current = os.stat(directory)
    if any(os.path.samestat(current, parent) for parent in above):
        raise OSError(errno.ELOOP, "Is a link to its own parent directory", str(directory))
    if len(above) > _DEEPEST:
        raise OSError(errno.ELOOP, "Is nested too deeply", str(directory))
    directories = []
    for name in sorted(os.listdir(directory)):
        status = os.stat(directory / name)
        check_regular(status.st_mode, directory / name)
        if stat.S_ISREG(status.st_mode):
            if status.st_size > _LARGEST_BYTES:
                raise OSError(errno.EFBIG, "Is larger than 16 TiB", str(directory / name))
            yield inside / name
        elif name not in IGNORED:
            directories.append(inside / name)
    for below in directories:
        yield from _walk(root, below, (*above, current))


def why_unreadable(path: Path) -> str:
    """Why a file or the files of a directory cannot be read; "" if they can."""
    try:
        with _as_repository_error(path):
            if not path.is_dir():
                open_regular(path).close()
        for _ in files_under(path) if path.is_dir() else ():
            pass
    except RepositoryError as error:
        return str(error)
    return ""


def copy_writable(source: Path, target: Path) -> None:
    """Copies a directory, without the directories `IGNORED`. The copy is writable even if the
    source is read-only.
    """
    _mirror(source, target, _copy)


def link_tree(source: Path, target: Path) -> None:
    """Mirrors `source` in `target`: real directories with links to the files."""
    _mirror(source, target, _link)


def _mirror(source: Path, target: Path, put: Callable[[Path, Path], None]) -> None:
    """Creates the directories of `source` below `target`, and calls `put` for each file."""
    target.mkdir(parents=True, exist_ok=True)
    for entry in os.scandir(source):
        if entry.name in IGNORED:
            continue
        if entry.is_dir():
            _mirror(Path(entry.path), target / entry.name, put)
        else:
            put(Path(entry.path), target / entry.name)


def _copy(source: Path, target: Path) -> None:
    with open(target, "wb") as copy:
        copy.writelines(blocks_of(source))


def _link(source: Path, target: Path) -> None:
    target.symlink_to(os.path.realpath(source))


def fingerprint_files(path: Path) -> str:
    """A fingerprint (32 hex digits) of the names and contents of all files under `path`, except the
    top-level config.pbtxt. `path` may be a file. Raises RepositoryError.
    """
    digest = hashlib.sha256()
    with _as_repository_error(path):
        if not path.is_dir():
            _digest_file(path, digest)
        else:
            for relative in files_under(path):
                if str(relative) != CONFIG:
                    digest.update(os.fsencode(relative) + b"\0")
                    _digest_file(path / relative, digest)
    return digest.hexdigest()[:32]


@contextmanager
def _as_repository_error(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RepositoryError(
            f"{error.filename or path}: cannot be read: {error.strerror}"
        ) from error


def _digest_file(path: Path, digest: hashlib._Hash) -> None:
    for block in blocks_of(path):
        digest.update(block)


def words_of(error: OSError | shutil.Error) -> str:
    """The system's error message, without the error number."""
    return getattr(error, "strerror", None) or str(error)
