# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A directory as a store of checkpoints."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from model_analyzer.errors import CheckpointError, UnusableCheckpoint, is_wrong_path
from model_analyzer.state.checkpoint import Checkpoint
from model_analyzer.state.format.layout import Layout, index_of, name_of, prefix_of
from model_analyzer.state.lock import Lock
from model_analyzer.state.profile_state import ProfileState
from model_analyzer.state.stores.checkpointer import Checkpointer, holds
from model_analyzer.writing import create_file


class DirectoryCheckpointer(Checkpointer):
    """The numbered checkpoints of a directory. While one is written, no run may write there."""

    def __init__(self, directory: Path, prefix: str = "") -> None:
        self._layout = Layout(directory, prefix)

    def __str__(self) -> str:
        return str(self._layout.directory)

    @property
    def directory(self) -> Path:
        return self._layout.directory

    def indices(self) -> Sequence[int]:
        return self._layout.indices()

    def read(self, index: int) -> bytes:
        path = self._layout.checkpoint(index)
        try:
            return path.read_bytes()
        except OSError as error:
            raise CheckpointError(f"{path}: cannot be read: {error.strerror}") from error

    def write(self, index: int, data: bytes) -> None:
        path = self._layout.checkpoint(index)
        try:
            self._layout.directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            kind = UnusableCheckpoint if is_wrong_path(error) else CheckpointError
            raise kind(f"{path.parent}: cannot be created: {error.strerror}") from error
        lock = Lock(self._layout.lock())
        try:
            self._check_free(index, path)
            create_file(path, [data])
        except OSError as error:
            raise CheckpointError(f"{path}: cannot be written: {error.strerror}") from error
        finally:
            lock.release()

    def save(self, checkpoint: Checkpoint, *, force: bool = False) -> int | None:
        if not force and holds(self, checkpoint):
            return None
        with ProfileState(self._layout.directory, prefix=self._layout.prefix) as state:
            is_same = not force and state.checkpoint.holds_same_as(checkpoint)
            # outcomes that are in no numbered checkpoint yet are in the journal
            path = state.save() if is_same else None
            if path is None:
                state.start_from(checkpoint)
                path = state.newest
        assert path is not None, "it has just been written"
        return index_of(path)

    def _check_free(self, index: int, path: Path) -> None:
        if os.path.lexists(path):
            raise CheckpointError(f"{path}: exists, and is another checkpoint")
        if index <= max(self.indices(), default=-1):
            return
        for journal in map(self._layout.journal, ("", *self._layout.nodes())):
            if journal.exists() and journal.stat().st_size:
                raise CheckpointError(
                    f"{journal}: has measurements that are not in a checkpoint yet and would mix"
                    f" with {path.name}: choose another directory"
                )


def download(
    store: Checkpointer, index: int, directory: Path, prefix: str = ""
) -> tuple[Path, bool]:
    """Copies a checkpoint of a store into a directory; returns the path of the copy, and whether
    it is new.

    Raises CheckpointError if it is damaged, or if the directory has another one with its name.
    """
    name = name_of(index, prefix)
    data = store.read(index)
    Checkpoint.from_bytes(data, f"{store}: {name}")
    target = DirectoryCheckpointer(directory, prefix)
    is_new = index not in target.indices() or target.read(index) != data
    if is_new:
        target.write(index, data)
    return directory / name, is_new


def save_checkpoint(checkpoint: Checkpoint, directory: Path | None, *, force: bool) -> Path:
    """Saves a checkpoint in `directory`, or beside the file it came from; returns its path."""
    source = checkpoint.path
    if directory is None and source is None:
        raise CheckpointError(
            "this checkpoint does not come from a file: give the directory to save it in"
        )
    if directory is None or (source is not None and directory == source.parent):
        assert source is not None, "one of the two is given"
        directory, prefix = source.parent, prefix_of(source)
    else:
        prefix = ""
    store = DirectoryCheckpointer(directory, prefix)
    index = store.save(checkpoint, force=force)
    if index is None:
        index = store.latest
    assert index is not None, "if nothing was saved, the store has it"
    return Layout(directory, prefix).checkpoint(index)
