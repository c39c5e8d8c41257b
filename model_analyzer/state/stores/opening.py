# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The store of a URL: a directory, a store of another package, or one that fsspec knows.

A package adds a store with an entry point of the group `model_analyzer.checkpointers`: its name is
the scheme of the URLs, and its object takes a URL and a prefix and returns a `Checkpointer`.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.secrets import masked_url
from model_analyzer.errors import (
    CheckpointError,
    ConfigError,
    Problem,
    UnusableCheckpoint,
    wrong,
)
from model_analyzer.state.checkpoint import load
from model_analyzer.state.format.layout import name_of, numbers_of
from model_analyzer.state.stores.checkpointer import Checkpointer, newest_first
from model_analyzer.state.stores.directory import DirectoryCheckpointer
from model_analyzer.urls import can_rename, names_in, open_url, reporting

GROUP = "model_analyzer.checkpointers"

Factory = Callable[[str, str], Checkpointer]


def open_store(url: str, prefix: str = "") -> Checkpointer:
    """The store of a URL (or path); `prefix` is the `--checkpoint-prefix` of its runs.

    Raises ConfigError if the URL cannot be used.
    """
    scheme, separator, rest = url.partition("://")
    if not separator:
        return DirectoryCheckpointer(_expanded(url), prefix)
    for point in entry_points(group=GROUP, name=scheme):
        return _factory(point)(url, prefix)
    if scheme == "file":
        return DirectoryCheckpointer(Path(rest), prefix)
    return StorageCheckpointer(url, prefix)


def every_record(url: str) -> tuple[Sequence[TrialRecord], Sequence[str]]:
    """The outcomes of all checkpoints of a store without prefix, in the order of measuring, and
    what is wrong with damaged ones, whose intact part counts. Raises ConfigError if the URL cannot
    be used, and CheckpointError if nothing can be read.
    """
    store = open_store(url)
    stored = [checkpoint for _, checkpoint in newest_first(store)][::-1]
    if isinstance(store, DirectoryCheckpointer):
        stored.append(load(store.directory))  # also what is only in a journal
    records = {record.trial.key: record for each in stored for record in each.records}
    damage = dict.fromkeys(line for each in stored for line in each.damage)
    if not records:
        raise UnusableCheckpoint(f"{store}: {'; '.join(damage) or 'no checkpoint found'}")
    ordered = sorted(records.items(), key=lambda item: (item[1].outcome.started, item[0]))
    return [record for _, record in ordered], [*damage]


def _expanded(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        problem = Problem(where="", message=f"cannot expand {text!r}: {error}")
        raise ConfigError(problem) from error


def _factory(point: EntryPoint) -> Factory:
    try:
        factory: Factory = point.load()
    except (ImportError, AttributeError) as error:
        raise wrong(
            f"{point.name}://",
            f"the entry point {point.value!r} for such URLs cannot be loaded: {error}",
            "fix or remove the package that provides it",
        ) from error
    return factory


class StorageCheckpointer(Checkpointer):
    """The numbered checkpoints in the folder of an fsspec URL (s3://bucket/folder).

    Object stores have no lock: only one run at a time may write to a folder (with a prefix).
    """

    def __init__(self, url: str, prefix: str = "") -> None:
        """Raises ConfigError if the URL cannot be used, or if a package is missing."""
        self._url = url
        self._prefix = prefix
        self._files, folder = open_url(url, "checkpoints")
        self._renames = can_rename(self._files)
        self._folder = folder.rstrip("/")

    def __str__(self) -> str:
        return masked_url(self._url)

    def indices(self) -> Sequence[int]:
        with self._reporting("cannot be listed"):
            try:
                paths = names_in(self._files, self._folder)
            except FileNotFoundError:
                return ()
        return numbers_of((path.rstrip("/").rpartition("/")[2] for path in paths), self._prefix)

    def read(self, index: int) -> bytes:
        with self._reporting(f"{self._name(index)} cannot be read"):
            data: bytes = self._files.cat_file(self._path(index))
        return data

    def write(self, index: int, data: bytes) -> None:
        path = self._path(index)
        with self._reporting(f"{self._name(index)} cannot be written"):
            self._files.invalidate_cache()
            if self._files.exists(path):
                raise CheckpointError(
                    f"{self}: {self._name(index)} exists, and is another checkpoint"
                )
            if self._renames:
                self._write_and_rename(path, data)
            else:
                self._files.pipe_file(path, data)  # objects are written completely or not at all
            self._files.invalidate_cache()
            size = self._files.info(path)["size"]
        if size != len(data):
            raise CheckpointError(
                f"{self}: {self._name(index)} has {size} bytes there, not {len(data)}"
            )

    def _write_and_rename(self, path: str, data: bytes) -> None:
        self._files.makedirs(self._folder, exist_ok=True)
        temporary = f"{self._folder}/.{uuid.uuid4()}.tmp"
        try:
            self._files.pipe_file(temporary, data)
            self._files.mv(temporary, path)
        except BaseException:
            if self._files.exists(temporary):
                self._files.rm_file(temporary)
            raise

    def _name(self, index: int) -> str:
        return name_of(index, self._prefix)

    def _path(self, index: int) -> str:
        return f"{self._folder}/{self._name(index)}"

    def _reporting(self, problem: str) -> AbstractContextManager[None]:
        return reporting(self._url, problem, CheckpointError)
