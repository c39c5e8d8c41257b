# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Where numbered checkpoints are copied to: directories, object stores, stores of the user's; and
the copying in the background of a run.

A package adds a store with an entry point of the group `model_analyzer.checkpointers`: its name is
the scheme of the URLs, and its object takes a URL and a prefix and returns a `Checkpointer`.
"""

from __future__ import annotations

import logging
import os
import threading
import time
import uuid
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Protocol

from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.secrets import masked_command, masked_url
from model_analyzer.errors import (
    CheckpointError,
    ConfigError,
    Problem,
    UnusableCheckpoint,
    is_wrong_path,
    wrong,
)
from model_analyzer.state.checkpoint import Checkpoint, load, read_bytes
from model_analyzer.state.format.header import Header
from model_analyzer.state.format.layout import Layout, index_of, name_of, numbers_of, prefix_of
from model_analyzer.state.lock import Lock
from model_analyzer.state.profile_state import ProfileState
from model_analyzer.urls import can_rename, names_in, open_url, reporting, store_thread
from model_analyzer.writing import create_file

log = logging.getLogger(__name__)


class Checkpointer(Protocol):
    """Stores checkpoints by number; the newest has the highest. They are never changed.

    Your own store derives from this class and defines `indices`, `read` and `write`. Messages show
    its `str()`. If an operation fails, it raises CheckpointError with one line that says what
    failed, where and why.
    """

    @abstractmethod
    def indices(self) -> Sequence[int]:
        """The numbers of all checkpoints, ascending; empty if the store does not exist yet."""

    @abstractmethod
    def read(self, index: int) -> bytes:
        """The bytes of the checkpoint with this number."""

    @abstractmethod
    def write(self, index: int, data: bytes) -> None:
        """Stores `data` under a free number: completely, or not at all.

        Raises CheckpointError if the number is taken.
        """

    @property
    def latest(self) -> int | None:
        """The highest number; None if the store is empty."""
        return max(self.indices(), default=None)

    def load(self, index: int | None = None) -> Checkpoint:
        """The checkpoint with this number, or the newest.

        The newest intact one counts; its `damage` names the damaged ones after it. Raises
        CheckpointError if there is no such checkpoint, or if it is damaged.
        """
        if index is not None:
            if index not in self.indices():
                raise UnusableCheckpoint(f"{self}: no checkpoint {index}")
            return Checkpoint.from_bytes(self.read(index), _name(self, index))
        damage: tuple[str, ...] = ()
        for _, checkpoint in newest_first(self):
            if not checkpoint.damage:
                return replace(checkpoint, damage=damage)
            damage += checkpoint.damage
        raise CheckpointError("; ".join(damage) or f"{self}: no checkpoint found")

    def save(self, checkpoint: Checkpoint, *, force: bool = False) -> int | None:
        """Stores a checkpoint under the next number, which it returns.

        If the newest intact checkpoint has the same content, nothing is stored unless `force` is
        set; then the result is None. The stored checkpoint has a new uuid, and `checkpoint` as its
        parent.
        """
        if not force and holds(self, checkpoint):
            return None
        latest = self.latest
        index = 0 if latest is None else latest + 1
        header = Header.next(checkpoint.header, index)
        self.write(index, replace(checkpoint, header=header).to_bytes())
        return index


def newest_first(store: Checkpointer) -> Iterator[tuple[int, Checkpoint]]:
    """All checkpoints with their numbers; damaged ones have a `damage`."""
    for index in reversed(store.indices()):
        yield index, read_bytes(store.read(index), _name(store, index))


def holds(store: Checkpointer, checkpoint: Checkpoint) -> bool:
    """Whether the newest intact checkpoint of a store has the same content as this one."""
    newest = next((stored for _, stored in newest_first(store) if not stored.damage), None)
    return newest is not None and newest.holds_same_as(checkpoint)


def copy(index: int, data: bytes, store: Checkpointer) -> int:
    """Copies the file of a checkpoint with number `index` to `store`; returns its number there.

    It is the same number, unless another checkpoint has it. Then the checkpoint is saved under the
    next number, unless one with the same content is there.
    """
    if index not in store.indices():
        store.write(index, data)
        return index
    if store.read(index) == data:
        return index
    checkpoint = Checkpoint.from_bytes(data)
    for number, stored in newest_first(store):
        if not stored.damage and stored.holds_same_as(checkpoint):
            return number
    saved = store.save(checkpoint)
    return max(store.indices()) if saved is None else saved


def _name(store: Checkpointer, index: int) -> str:
    return f"{store}: checkpoint {index}"


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


_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 60.0
# a longer wait is explained
_SILENT_S = 1.0
_LOOK_S = 0.1


class Uploads:
    """A context manager: `add` takes a path and returns at once; leaving it waits some time for
    pending uploads.

    Failed uploads are repeated, with growing pauses, until the run ends. Files that could not be
    uploaded are a warning at the end.
    """

    def __init__(
        self,
        store: Checkpointer,
        *,
        impatience: Callable[[], Callable[[], bool]] = lambda: lambda: False,
        patience_s: float = 30.0,
        first_pause_s: float = _FIRST_PAUSE_S,
    ) -> None:
        """Leaving waits at most `patience_s`. `impatience` is called then: the wait ends when the
        function that it returns is true, because the user wants to leave.
        """
        self._store = store
        self._impatience = impatience
        self._patience_s = patience_s
        self._first_pause_s = first_pause_s
        self._changed = threading.Condition()
        # under the condition
        self._pending: deque[Path] = deque()
        self._unreadable: dict[Path, str] = {}
        self._reason = ""
        self._is_closing = False
        self._is_over = False
        self._thread = store_thread(self._work)

    def __enter__(self) -> Uploads:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        self._wait()
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
            missing = [*self._unreadable, *self._pending]
            reasons = [*self._unreadable.values()]
            if self._pending:
                reasons.append(self._reason or "not finished in time")
        if missing:
            self._warn(missing, reasons)

    def add(self, path: Path) -> None:
        """Uploads a numbered checkpoint."""
        with self._changed:
            self._pending.append(path)
            self._changed.notify_all()

    def _wait(self) -> None:
        is_over = self._impatience()
        started = time.monotonic()
        is_explained = False
        while self._thread.is_alive() and not is_over():
            waited = time.monotonic() - started
            if waited >= self._patience_s:
                return
            if waited >= _SILENT_S and not is_explained:
                is_explained = True
                log.info(
                    "Uploading to %s: waiting up to %.0f s for it; an interrupt leaves at once",
                    self._store,
                    self._patience_s,
                )
            self._thread.join(_LOOK_S)

    def _warn(self, missing: list[Path], reasons: list[str]) -> None:
        prefix = prefix_of(missing[-1])
        command = [
            *("model-analyzer", "checkpoint", "upload"),
            *("--checkpoint-directory", str(missing[-1].parent)),
            *(("--checkpoint-prefix", prefix) if prefix else ()),
            *("--to", str(self._store)),
        ]
        log.warning(
            "Not uploaded to %s: %s (%s). By hand: %s",
            self._store,
            ", ".join(map(str, missing)),
            "; ".join(dict.fromkeys(reasons)),
            masked_command(command),
        )

    def _work(self) -> None:
        pause_s = self._first_pause_s
        while (path := self._next()) is not None:
            stage = self._stage
            try:
                data = path.read_bytes()
            except OSError as error:
                self._finish(path, unreadable=f"{path}: cannot be read: {error.strerror}")
                continue
            try:
                index = copy(index_of(path), data, self._store)
            except Exception as error:  # noqa: BLE001  a store is code of others
                if self._wait_after_failure(
                    path, str(error) or type(error).__name__, pause_s, stage
                ):
                    pause_s = self._first_pause_s
                else:
                    pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
                continue
            number = "" if index == index_of(path) else f" as number {index}"
            log.info("Uploaded %s to %s%s", path, self._store, number)
            pause_s = self._first_pause_s
            self._finish(path)

    def _next(self) -> Path | None:
        """Waits for the next path to upload; None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._pending or self._is_closing)
            return self._pending[0] if self._pending and not self._is_over else None

    def _finish(self, path: Path, *, unreadable: str = "") -> None:
        with self._changed:
            self._pending.popleft()
            self._reason = ""
            if unreadable:
                self._unreadable[path] = unreadable

    @property
    def _stage(self) -> tuple[bool, bool]:
        """Whether the run is ending, or has ended."""
        return self._is_closing, self._is_over

    def _wait_after_failure(
        self, path: Path, reason: str, pause_s: float, stage: tuple[bool, bool]
    ) -> bool:
        """Waits before the next attempt; returns whether the run has left the `stage` in which the
        attempt started.
        """
        with self._changed:
            if not self._reason:
                log.warning("%s is not uploaded yet; the upload is tried again: %s", path, reason)
            self._reason = reason
            return self._changed.wait_for(lambda: self._stage != stage, timeout=pause_s)


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
