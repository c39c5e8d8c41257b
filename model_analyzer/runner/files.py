# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Trees of files: copied so that they can be changed, and told apart by their content."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path
from typing import NoReturn

from model_analyzer.errors import RepositoryError

CONFIG = "config.pbtxt"
IGNORED = ("__pycache__", ".git")


def copy_writable(source: Path, target: Path) -> None:
    """Copies a directory, without what nobody needs; the copy can be changed and removed even if
    the source is read-only.
    """
    target.mkdir(parents=True, exist_ok=True)
    for entry in os.scandir(source):
        if entry.name in IGNORED:
            continue
        if entry.is_dir():
            copy_writable(Path(entry.path), target / entry.name)
        else:
            shutil.copyfile(entry.path, target / entry.name)


def fingerprint_files(path: Path) -> str:
    """32 hex digits over names and contents of all files under `path`, but for config.pbtxt
    at its top. `path` may be a single file.
    """
    digest = hashlib.sha256()
    try:
        if path.is_file():
            _digest_file(path, digest)
        else:
            for root, directories, files in os.walk(path, followlinks=True, onerror=_raise):
                directories[:] = sorted(name for name in directories if name not in IGNORED)
                for name in sorted(files):
                    file = Path(root, name)
                    relative = file.relative_to(path)
                    if str(relative) != CONFIG:
                        digest.update(os.fsencode(relative) + b"\0")
                        _digest_file(file, digest)
    except OSError as error:
        raise RepositoryError(
            f"{error.filename or path}: cannot be read: {error.strerror}"
        ) from error
    return digest.hexdigest()[:32]


def _raise(error: OSError) -> NoReturn:
    raise error


def _digest_file(path: Path, digest: hashlib._Hash) -> None:
    with open(path, "rb") as file:
        while block := file.read(2**20):
            digest.update(block)


def words_of(error: OSError | shutil.Error) -> str:
    """What the system says, without the number."""
    return getattr(error, "strerror", None) or str(error)
