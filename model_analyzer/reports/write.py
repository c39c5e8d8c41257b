# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The export directory: the only place that writes results, and always whole files."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from model_analyzer.errors import OutputError
from model_analyzer.writing import replace_file, write_output

_LONGEST_NAME = 200  # bytes; most file systems take 255


class ExportDirectory:
    """Writes files below `path`, which the user chose by `option`, creating it if needed.

    Only the directory itself may be a symbolic link: whoever gave it to the user may have put
    others into it.
    """

    def __init__(self, path: Path, option: str = "--export-path") -> None:
        """Makes sure that it can be written to, so that nobody finds out after hours."""
        self.path = path
        self._option = option
        with _explained(path, option):
            path.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path, prefix=".write-test-"):
                pass

    def write(self, content: str | bytes, *parts: str) -> Path:
        """Writes `content` to the file named by `parts` below the directory; its path."""
        path = self.path.joinpath(*map(safe_name, parts))
        with _explained(path, self._option):
            self._check_links(path.parent)
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, [_bytes(content)])
        return path

    def remove(self, *parts: str) -> None:
        """Removes a file that we wrote earlier, or a directory of such files, if it is there."""
        path = self.path.joinpath(*map(safe_name, parts))
        with _explained(path, self._option):
            self._check_links(path)
            for file in sorted(path.iterdir()) if path.is_dir() else [path]:
                file.unlink(missing_ok=True)

    def _check_links(self, path: Path) -> None:
        """Refuses a path that leads out of the directory by a link."""
        while path != self.path:
            if path.is_symlink():
                raise OutputError(
                    f"cannot write {path}: it is a symbolic link; remove it, or check"
                    f" {self._option}"
                )
            path = path.parent


def write_file(content: str | bytes, path: Path, option: str) -> None:
    """Writes the one file that the user named by `option`."""
    try:
        write_output(path, _bytes(content))
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror}; check {option}") from error


def encoded(text: str) -> bytes:
    """UTF-8. Names of files need not be: what is not is shown by its bytes."""
    return text.encode("utf-8", "backslashreplace")


def _bytes(content: str | bytes) -> bytes:
    return encoded(content) if isinstance(content, str) else content


def safe_name(name: str) -> str:
    """`name` as one path component that stays where it is put."""
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
