# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The files of a checkpoint directory: numbered checkpoints, the journal and the lock.

`N.ckpt` is complete and never changed: the highest N is the truth. The journal holds what was
measured since, and is emptied when it has been folded into the next `N.ckpt`. Files that are
not ours are left alone.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import socket
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model_analyzer.errors import CheckpointError
from model_analyzer.state.lines import DamagedLine, Entry, decode, encode

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Content:
    """What could be read of a file: its entries, and in one line what is wrong with it, or ""."""

    header: Mapping[str, Any]
    entries: Sequence[Entry]
    damage: str = ""


def checkpoint_indices(directory: Path) -> Sequence[int]:
    """The numbers of the checkpoints in `directory`, ascending."""
    try:
        names = os.listdir(directory)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise CheckpointError(f"{directory}: cannot be read: {error.strerror}") from error
    stems = [name.removesuffix(".ckpt") for name in names if name.endswith(".ckpt")]
    return sorted(int(stem) for stem in stems if stem.isdecimal() and str(int(stem)) == stem)


def checkpoint_path(directory: Path, index: int) -> Path:
    return directory / f"{index}.ckpt"


def read_checkpoint(path: Path) -> Content:
    """The entries of a numbered checkpoint; of a damaged one, those that are intact."""
    content, raw = _read(path)
    if content.damage or not raw:
        return content
    body = raw.removesuffix(b"\n").rpartition(b"\n")[0]
    end = content.entries[-1] if content.entries else {}
    if end.get("entry") != "end":
        return Content(content.header, content.entries, "the end is missing")
    entries = content.entries[:-1]
    if end.get("digest") != hashlib.sha256(body + b"\n").hexdigest():
        return Content(content.header, entries, "the digest does not match")
    return Content(content.header, entries)


def read_journal(path: Path) -> Content:
    """The entries of the journal; a torn last line is left out and named."""
    if not path.exists():
        return Content({}, ())
    content, _ = _read(path)
    return content


def _read(path: Path) -> tuple[Content, bytes]:
    try:
        raw = path.read_bytes()
    except OSError as error:
        return Content({}, (), f"cannot be read: {error.strerror}"), b""
    entries: list[Entry] = []
    damage = ""
    lines = raw.split(b"\n")
    if lines[-1]:
        damage = f"line {len(lines)} is cut off"
    for number, line in enumerate(lines[:-1], start=1):
        try:
            entries.append(decode(line))
        except DamagedLine as error:
            damage = damage or f"line {number}: {error}"
    if not entries and not damage and path.suffix == ".ckpt":
        damage = "it is empty"
    header: Entry = {}
    if entries and entries[0]["entry"] == "header":
        header, entries = entries[0], entries[1:]
    version = header.get("format", FORMAT)
    if not isinstance(version, int) or version > FORMAT:
        raise CheckpointError(
            f"{path}: written in format {version} by a newer model-analyzer"
            f" ({header.get('tool', 'unknown')}); this one reads up to format {FORMAT}: update it"
        )
    return Content(header, entries, damage), raw


def write_checkpoint(path: Path, header: Entry, entries: Iterable[Entry]) -> None:
    """Writes a numbered checkpoint so that it is there as a whole or not at all."""
    digest = hashlib.sha256()
    count = 0
    temporary = path.with_name(f".{path.name}.tmp")  # one writer at a time: the lock sees to it
    try:
        with open(temporary, "wb") as file:
            for entry in (header, *entries):
                line = encode(entry)
                digest.update(line)
                file.write(line)
                count += 1
            file.write(encode({"entry": "end", "entries": count, "digest": digest.hexdigest()}))
            file.flush()
            os.fsync(file.fileno())
        os.rename(temporary, path)
        _sync_directory(path.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise CheckpointError(
            f"{path}: cannot be written: {error.strerror}; what was measured is kept in"
            f" {path.parent / 'journal'}: make room and run again"
        ) from error


class Journal:
    """The append-only file of outcomes since the newest checkpoint."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            self._size = self._drop_torn_line()
        except OSError as error:
            raise CheckpointError(f"{path}: cannot be opened: {error.strerror}") from error

    @property
    def is_empty(self) -> bool:
        return self._size == 0

    def append(self, entries: Iterable[Entry]) -> None:
        """Appends entries; they are on disk when this returns, or not in the file at all."""
        data = b"".join(map(encode, entries))
        try:
            written = 0
            while written < len(data):
                written += os.pwrite(self._file, data[written:], self._size + written)
            os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, self._size)
            raise CheckpointError(
                f"{self._path}: cannot be written: {error.strerror}; everything measured before"
                " is kept: make room and run again"
            ) from error
        self._size += len(data)

    def clear(self) -> None:
        """Empties the journal: its outcomes are in a numbered checkpoint now."""
        os.ftruncate(self._file, 0)
        os.fsync(self._file)
        self._size = 0

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _drop_torn_line(self) -> int:
        size = os.fstat(self._file).st_size
        end = size
        while end > 0:
            start = max(0, end - 65536)
            block = os.pread(self._file, end - start, start)
            newline = block.rfind(b"\n")
            if newline >= 0:
                end = start + newline + 1
                break
            end = start
        if end < size:
            os.ftruncate(self._file, end)
        return end


class Lock:
    """Keeps a second writer out of a checkpoint directory. Ends with the process, however."""

    def __init__(self, directory: Path) -> None:
        path = directory / "lock"
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise CheckpointError(f"{path}: cannot be opened: {error.strerror}") from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            owner = os.pread(self._file, 200, 0).decode(errors="replace").strip()
            self.release()
            raise CheckpointError(
                f"{directory}: in use by another run ({owner or 'owner unknown'}); wait for it,"
                " or choose another --checkpoint-directory"
            ) from error
        try:
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
        except OSError as error:
            self.release()
            raise CheckpointError(f"{path}: cannot be written: {error.strerror}") from error

    def release(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
