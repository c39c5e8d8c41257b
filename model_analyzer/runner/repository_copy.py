# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Copies of model repositories in the cache directory, fetched once from the store of a URL.

A copy has the name of a fingerprint of what the store told about its files. It gets that name when
it is complete. Whoever uses a copy holds its lock together with others; whoever fetches or removes
it holds the lock alone.

Names in a store may be anything. Those that would lead outside the directory of a download are
refused.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import os
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from model_analyzer.domain.foreign_json import MOST_BYTES, parse_json
from model_analyzer.domain.models import fingerprint, step_models
from model_analyzer.domain.secrets import cache_directory, masked_url
from model_analyzer.domain.words import counted, size_text
from model_analyzer.errors import RepositoryError
from model_analyzer.reading.untrusted import blocks_of, read_regular
from model_analyzer.runner.file_trees import CONFIG, IGNORED
from model_analyzer.runner.model_config import parse_text
from model_analyzer.urls import find_all, open_url, reporting
from model_analyzer.writing import open_own

log = logging.getLogger(__name__)

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


_DIRECTORY = "repositories"
_MODELS, _RECORD = "models", "record.json"
_PARTIAL = ".partial"
_MOST_CONFIG_BYTES = 2**19

_ELSEWHERE = "choose another place with XDG_CACHE_HOME"

# A copy that was just fetched may be removed by a run that has fetched a newer one.
_ATTEMPTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A state of a repository: fingerprints of what the store told about its files (`listing`), and
    of their contents.
    """

    listing: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryCopy:
    """The `path` of a complete copy of the repository that the `url` names."""

    url: str
    path: Path
    snapshot: Snapshot


@contextmanager
def repository_copy(
    url: str, environment: Mapping[str, str], snapshot: Snapshot | None = None
) -> Iterator[RepositoryCopy]:
    """A block in which a copy of the repository exists: of the given `snapshot`, or as it is now.

    It is fetched unless the cache directory has it. `environment` has the credentials for the
    store. Raises RepositoryError, and ConfigError for a URL that cannot be used.
    """
    listing: Listing | None = None
    if snapshot is None:
        listing = list_repository(url, environment)
        key = listing.digest(url)
    else:
        key = snapshot.listing
    entry = _Entry(cache_directory(environment) / _DIRECTORY, key)
    for _ in range(_ATTEMPTS):
        with entry.held(fcntl.LOCK_SH):
            content, exists = entry.content, entry.path.exists()
            if content and (snapshot is None or content == snapshot.content):
                held = Snapshot(listing=key, content=content)
                yield RepositoryCopy(url=url, path=entry.models, snapshot=held)
                return
        # whoever uses a copy that was changed may use it for hours
        with suppress(BlockingIOError), entry.held(fcntl.LOCK_EX, waits=not exists):
            if entry.content == content:  # no other process has fetched it meanwhile
                with _variables(environment):
                    _fetch(url, entry, listing, snapshot)
    raise RepositoryError(
        f"{entry.path}: was changed while another run uses it: run again when that has ended"
    )


def list_repository(url: str, environment: Mapping[str, str]) -> Listing:
    """What the store tells about the repository now. Raises what `repository_copy` raises."""
    with _variables(environment):
        return RepositoryStore(url).listing()


@contextmanager
def _variables(environment: Mapping[str, str]) -> Iterator[None]:
    """A block in which the variables of this process are these: libraries of stores look for
    credentials there. The process of a slot has other variables than the user.
    """
    before = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


class _Entry:
    """A place for a copy. The lock is beside it, since the copy itself is renamed and removed."""

    def __init__(self, root: Path, key: str) -> None:
        self.root, self.key = root, key
        self.path = root / key
        self.models = self.path / _MODELS
        self.partial = root / f".{key}{_PARTIAL}"

    @contextmanager
    def held(self, kind: int, *, waits: bool = True) -> Iterator[None]:
        """A block with the lock: together with others (LOCK_SH) or alone (LOCK_EX). Without
        `waits`, raises BlockingIOError if others hold it.
        """
        with self._lock() as lock:
            try:
                fcntl.flock(lock, kind | fcntl.LOCK_NB)
            except BlockingIOError:
                if not waits:
                    raise
                log.info("Waiting for another process that fetches into %s", self.path)
                fcntl.flock(lock, kind)
            yield

    def remove_unless_held(self) -> None:
        """Removes the copy, and what is left of a download, unless another process uses it."""
        with self._lock() as lock, suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.remove()

    def remove(self) -> None:
        """Removes the copy, and what is left of a download. Only whoever holds the lock alone may
        call it.
        """
        shutil.rmtree(self.partial, ignore_errors=True)
        if self.path.exists():
            self.path.rename(self.partial)
            shutil.rmtree(self.partial, ignore_errors=True)

    @property
    def content(self) -> str:
        """The fingerprint of the contents; "" without a copy, or if somebody has changed it."""
        record = _record(self.path)
        is_same = record is not None and _states(self.models) == record["files"]
        return str(record["content"]) if record is not None and is_same else ""

    def complete(self, url: str, content: str) -> None:
        """Makes the finished download the copy."""
        record = {
            "url": masked_url(url),
            "content": content,
            "files": _states(self.partial / _MODELS),
        }
        (self.partial / _RECORD).write_text(json.dumps(record))
        self.partial.rename(self.path)

    @contextmanager
    def _lock(self) -> Iterator[int]:
        path = self.root / f"{self.key}.lock"
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            lock = open_own(path, os.O_RDWR)
        except OSError as error:
            raise RepositoryError(
                f"{path}: cannot be opened: {error.strerror}", _ELSEWHERE
            ) from error
        try:
            yield lock
        finally:
            os.close(lock)


def _record(path: Path) -> dict[str, Any] | None:
    """The record of a copy; None if there is none, or if it is damaged."""
    try:
        record = parse_json(read_regular(path / _RECORD, most_bytes=MOST_BYTES))
    except (OSError, ValueError):
        return None
    is_ours = isinstance(record, dict) and {"url", "content", "files"} <= record.keys()
    return record if is_ours else None


def _states(models: Path) -> dict[str, list[int]]:
    """The size and time of each file of a copy: they change if somebody writes to it."""
    states = {}
    for directory, _, names in os.walk(models):
        for name in names:
            path = Path(directory, name)
            status = path.lstat()
            states[str(path.relative_to(models))] = [status.st_size, status.st_mtime_ns]
    return states


def _fetch(url: str, entry: _Entry, listing: Listing | None, snapshot: Snapshot | None) -> None:
    """Fetches the repository and checks that it is the one of the snapshot, and that nothing has
    changed meanwhile. Whatever goes wrong, nothing is left.
    """
    store = RepositoryStore(url)
    listing = listing or store.listing()
    if entry.path.exists():
        log.warning("%s: somebody has changed this copy: fetching it again", entry.path)
    entry.remove()
    _check_room(store, listing, entry.root)
    log.info("Fetching %s (%s)", store, listing)
    try:
        content = store.download(listing, entry.partial / _MODELS)
        if name := listing.difference(store.listing()):
            raise changed(store, name)
        if snapshot is not None and content != snapshot.content:
            raise RepositoryError(
                f"{store}: its files here are not those that the run has begun with: run again when"
                " nobody writes there"
            )
        _add_versions(entry.partial / _MODELS)
        entry.complete(url, content)
    except OSError as error:
        raise RepositoryError(f"{error.filename}: cannot be written: {error.strerror}") from error
    finally:
        shutil.rmtree(entry.partial, ignore_errors=True)
    _remove_others(url, entry)


def _check_room(store: RepositoryStore, listing: Listing, root: Path) -> None:
    free = shutil.disk_usage(root).free
    if free < listing.size:
        raise RepositoryError(
            f"{store}: has {size_text(listing.size)}, but {root} only {size_text(free)} of space",
            _ELSEWHERE,
        )


def _add_versions(models: Path) -> None:
    """Adds the empty directory 1 to each ensemble that has no version. Triton needs one, and object
    stores have no empty directories.
    """
    for config in models.glob(f"*/{CONFIG}"):
        try:
            text = read_regular(config, most_bytes=_MOST_CONFIG_BYTES).decode()
            is_ensemble = bool(step_models(parse_text(text, str(config))))
        except (OSError, UnicodeDecodeError, RepositoryError):
            continue  # reading the model reports it
        if is_ensemble and not any(path.name.isdecimal() for path in config.parent.iterdir()):
            (config.parent / "1").mkdir()


def _remove_others(url: str, entry: _Entry) -> None:
    """Removes older copies of this URL that no run uses, and downloads of killed runs."""
    for path in entry.root.iterdir():
        key = path.name.removeprefix(".").removesuffix(_PARTIAL)
        record = _record(path)
        is_older = record is not None and record["url"] == masked_url(url)
        if key != entry.key and (is_older or path.name.endswith(_PARTIAL)):
            _Entry(entry.root, key).remove_unless_held()
