# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The export directory. Only this module writes results, and it writes complete files."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from model_analyzer.errors import OutputError, unwritable
from model_analyzer.writing import check_output, replace_file, write_output

_LONGEST_NAME = 200  # bytes; most file systems allow 255


class ExportDirectory:
    """Writes files below `path`, the value of `option`; creates the directory if needed.

    Only the directory itself may be a symbolic link: links inside it may come from somebody else.
    Raises OutputError if a file cannot be written.
    """

    def __init__(self, path: Path, option: str = "--export-path") -> None:
        """Checks that the directory is writable, before a run of hours starts."""
        self.path = path
        self._option = option
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(error.filename or path, error, option) from error
        try:
            with tempfile.NamedTemporaryFile(dir=path, prefix=".write-test-"):
                pass
        except OSError as error:  # it names a file that nobody knows
            raise unwritable(path, error, option) from error

    def write(self, content: str | bytes, *parts: str) -> Path:
        """Writes `content` to the file named by `parts` below the directory; returns its path."""
        path = self.path.joinpath(*map(safe_name, parts))
        with _explained(path, self._option):
            self._check_links(path.parent)
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, [_bytes(content)])
        return path

    def remove(self, *parts: str) -> None:
        """Removes a file of an earlier run, or a directory of such files, if it exists."""
        path = self.path.joinpath(*map(safe_name, parts))
        with _explained(path, self._option):
            self._check_links(path)
            for file in sorted(path.iterdir()) if path.is_dir() else [path]:
                if file.is_symlink() or not file.is_dir():
                    file.unlink(missing_ok=True)

    def remove_below(self, *parts: str, file: str) -> None:
        """Removes the `file` from each directory in this one, if there are any."""
        path = self.path.joinpath(*map(safe_name, parts))
        with _explained(path, self._option):
            for found in sorted(path.glob(f"*/{file}")):
                self._check_links(found.parent)
                found.unlink()

    def _check_links(self, path: Path) -> None:
        """Raises OutputError if a part of the path is a symbolic link."""
        while path != self.path:
            if path.is_symlink():
                raise OutputError(
                    f"cannot write {path}: it is a symbolic link; remove it, or check"
                    f" {self._option}"
                )
            path = path.parent


def write_file(content: str | bytes, path: Path, option: str) -> None:
    """Writes a file to `path`, the value of `option`. Raises OutputError if that fails."""
    try:
        write_output(path, _bytes(content))
    except OSError as error:
        raise unwritable(path, error, option) from error


def check_destination(path: Path | None, option: str) -> None:
    """Raises OutputError if a file could not be written to `path`, the value of `option`: to be
    asked before something that takes long.
    """
    if path is None:
        return
    try:
        check_output(path)
    except OSError as error:
        raise unwritable(path, error, option) from error


def encoded(text: str) -> bytes:
    """Text as UTF-8; bytes of file names that are not UTF-8 are shown as escapes."""
    return text.encode("utf-8", "backslashreplace")


def _bytes(content: str | bytes) -> bytes:
    return encoded(content) if isinstance(content, str) else content


def safe_name(name: str) -> str:
    """`name` as a single path component that cannot leave its directory."""
    name = re.sub(r"[\x00-\x1f/\\]", "_", name)
    name = os.fsencode(name)[:_LONGEST_NAME].decode(errors="ignore")
    return f"_{name}" if not name or name.startswith(".") else name


@contextlib.contextmanager
def _explained(path: Path, option: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"cannot write {error.filename or path}: {error.strerror}; check {option}"
        ) from error
