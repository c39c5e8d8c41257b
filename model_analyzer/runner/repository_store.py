# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A model repository in a store that fsspec reaches: what is there, and downloads.

Names in a store may be anything. Those that would lead outside the directory of a download are
refused.
"""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from model_analyzer.domain.models import fingerprint
from model_analyzer.domain.secrets import masked_url
from model_analyzer.domain.words import counted, size_text
from model_analyzer.errors import RepositoryError
from model_analyzer.reading.untrusted import blocks_of
from model_analyzer.runner.file_trees import IGNORED
from model_analyzer.urls import find_all, open_url, reporting

# What stores call the checksums and versions of an object: the first counts that there is. Without
# any, times do.
_CHECKSUMS = (
    "md5Hash", "content_md5", "md5", "crc32c", "checksum", "ETag", "etag", "e_tag", "generation",
    "VersionId", "version_id",
)  # fmt: skip
_TIMES = ("LastModified", "last_modified", "updated", "modified", "mtime", "created")

# Files are fetched in groups of this size: stores with asynchronous clients fetch them in parallel.
_GROUP = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """A file as the store describes it. The `path` is that in the store. `size` is in bytes, None
    if the store does not know it. The `mark` changes with the content; "" if the store has none.
    """

    path: str
    size: int | None
    mark: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """All files of a repository, and its directories, by their paths below the URL."""

    files: Mapping[str, StoredFile]
    directories: tuple[str, ...]

    @property
    def size(self) -> int:
        """The bytes of all files, as far as they are known."""
        return sum(file.size or 0 for file in self.files.values())

    def __str__(self) -> str:
        return f"{counted(len(self.files), 'file')}, {size_text(self.size)}"

    def digest(self, url: str) -> str:
        """A fingerprint (32 hex digits) of what the store tells; a new one each time, if it tells
        nothing that changes with the content of each file.
        """
        state = [[name, file.size, file.mark] for name, file in sorted(self.files.items())]
        is_telling = all(file.mark for file in self.files.values())
        once = "" if is_telling else uuid.uuid4().hex
        return fingerprint([masked_url(url), state, sorted(self.directories), once])

    def difference(self, other: Listing) -> str:
        """The first file that differs; "" if there is none."""
        names = sorted({*self.files, *other.files})
        return next((n for n in names if self.files.get(n) != other.files.get(n)), "")


class RepositoryStore:
    """The repository that a URL names. Errors are RepositoryErrors of one line."""

    def __init__(self, url: str) -> None:
        """Raises ConfigError if the URL cannot be used, or if a package is missing."""
        self._url = url
        self._files, folder = open_url(url, "model repositories")
        self._folder = folder.rstrip("/")

    def __str__(self) -> str:
        return masked_url(self._url)

    def listing(self) -> Listing:
        """All files at this time."""
        with self._reporting("cannot be listed"):
            try:
                entries = find_all(self._files, self._folder)
            except FileNotFoundError:  # others return nothing
                entries = {}
            files, directories = {}, []
            for path, entry in entries.items():
                name = self._relative(path)
                if name is None:
                    continue
                if self._is_directory(path, entry):
                    directories.append(name)
                else:
                    files[name] = self._file(path, entry)
        if not files:
            raise RepositoryError(
                f"{self}: no files there, or none that may be listed: check --model-repository"
            )
        return Listing(files=files, directories=tuple(directories))

    def download(self, listing: Listing, target: Path) -> str:
        """Fetches all files into a new directory; returns a fingerprint of their contents (64 hex
        digits). Raises RepositoryError if one is not as listed.
        """
        with self._reporting("cannot be fetched"):
            target.mkdir(parents=True)
            for name in listing.directories:
                (target / name).mkdir(parents=True, exist_ok=True)
            digest = hashlib.sha256()
            names = iter(sorted(listing.files))
            while group := list(islice(names, _GROUP)):
                paths = [listing.files[name].path for name in group]
                for name in group:
                    (target / name).parent.mkdir(parents=True, exist_ok=True)
                self._files.get(paths, [str(target / name) for name in group])
                for name in group:
                    digest.update(os.fsencode(name) + b"\0")
                    digest.update(self._checked(target / name, name, listing))
        return digest.hexdigest()

    def _checked(self, copy: Path, name: str, listing: Listing) -> bytes:
        """The digest of a copy, which must have the size of its original."""
        digest = hashlib.sha256()
        for block in blocks_of(copy):
            digest.update(block)
        size, listed = copy.stat().st_size, listing.files[name].size
        if listed not in (size, None):
            raise changed(self, name)
        return digest.digest()

    def _relative(self, path: str) -> str | None:
        """The path below the URL; None for the URL itself and what is left out of a repository.
        Raises RepositoryError for a name that is no such path.
        """
        if path.rstrip("/") == self._folder:
            return None
        inside = path.startswith(f"{self._folder}/") or not self._folder
        name = path.removeprefix(f"{self._folder}/").removesuffix("/")
        parts = name.split("/")
        if not inside or {"", ".", ".."} & {*parts} or "\0" in name:
            raise RepositoryError(
                f"{self}: {name!r} is no path inside a directory: rename or remove it"
            )
        return None if {*parts} & {*IGNORED} else name

    def _is_directory(self, path: str, entry: Mapping[str, Any]) -> bool:
        """Whether it is a directory, or an empty object that stands for one."""
        return entry.get("type") == "directory" or (path.endswith("/") and not entry.get("size"))

    def _file(self, path: str, entry: Mapping[str, Any]) -> StoredFile:
        if entry.get("type", "file") != "file":  # a link
            entry = self._files.info(path)
        if entry.get("type", "file") != "file":
            raise RepositoryError(
                f"{self}: {path} is a link to a directory, or no file: replace it, or give a path"
                " instead of a URL"
            )
        marks = [f"{key}={entry[key]}" for key in _CHECKSUMS if entry.get(key)][:1]
        marks = marks or [f"{key}={entry[key]}" for key in _TIMES if entry.get(key)]
        size = entry.get("size")
        return StoredFile(path=path, size=None if size is None else int(size), mark=";".join(marks))

    def _reporting(self, problem: str) -> AbstractContextManager[None]:
        return reporting(self._url, problem, RepositoryError)


def changed(store: RepositoryStore, name: str) -> RepositoryError:
    """The error for a file that was written while it was fetched."""
    return RepositoryError(
        f"{store}: {name} was changed while it was fetched: run again when nobody writes there"
    )
