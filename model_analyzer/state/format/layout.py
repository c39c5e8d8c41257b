# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The names of the files in a checkpoint directory. Files with other names are not ours."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from model_analyzer.errors import CheckpointError, unreadable

_JOURNAL = "journal"
# Of a longer number, a file could not have the next one.
_NUMBER = "0|[1-9][0-9]{0,17}"
_LOCK = "lock"


@dataclass(frozen=True, slots=True)
class Layout:
    """The paths of a directory: `N.ckpt`, `journal` and `lock`, or `PREFIX-N.ckpt` and so on.

    Each node of a cluster has its own journal and lock: `journal-NODE`, `lock-NODE`. If it
    `is_in_use` by this run, it could be read, so that an error is a failure of the run and no wrong
    path.
    """

    directory: Path
    prefix: str = ""
    is_in_use: bool = False

    def checkpoint(self, index: int) -> Path:
        return self.directory / name_of(index, self.prefix)

    def journal(self, node: str = "") -> Path:
        return self._path(f"{_JOURNAL}-{node}" if node else _JOURNAL)

    def lock(self, node: str = "") -> Path:
        return self._path(f"{_LOCK}-{node}" if node else _LOCK)

    def indices(self) -> Sequence[int]:
        """The numbers of the checkpoints, ascending."""
        return numbers_of(self._names())

    def nodes(self) -> Sequence[str]:
        """The nodes that have a journal, sorted by name."""
        start = f"{_JOURNAL}-"
        return sorted(name.removeprefix(start) for name in self._names() if name.startswith(start))

    def probe(self, token: str) -> Path:
        """A temporary file by which a node shows that it shares the directory."""
        return self.directory / f".{self._path(f'probe-{token}.tmp').name}"

    def leftovers(self) -> Sequence[Path]:
        """Temporary files whose writer was killed."""
        start = re.escape(self._path("").name if self.prefix else "")
        checkpoint = rf"(?:{_NUMBER})\.ckpt(?:\.[0-9a-f]{{16}})?"
        name = re.compile(rf"\.{start}(?:{checkpoint}|probe-[0-9a-f]+)\.tmp")
        paths = [self.directory / entry for entry in self._entries() if name.fullmatch(entry)]
        return [path for path in paths if os.path.isfile(path) and not os.path.islink(path)]

    def _names(self) -> Iterator[str]:
        """The names in the directory, without the prefix."""
        start = self._path("").name if self.prefix else ""
        for name in self._entries():
            if name.startswith(start):
                yield name.removeprefix(start)

    def _entries(self) -> Sequence[str]:
        """The entries of the directory. Raises CheckpointError if it cannot be read."""
        try:
            return os.listdir(self.directory)
        except FileNotFoundError:
            return ()
        except OSError as error:
            if self.is_in_use:
                reason = f"cannot be read any more: {error.strerror}"
                raise CheckpointError(f"{self.directory}: {reason}") from error
            raise unreadable(self.directory, error) from error

    def _path(self, name: str) -> Path:
        return self.directory / (f"{self.prefix}-{name}" if self.prefix else name)


def name_of(index: int, prefix: str = "") -> str:
    """The file name of a numbered checkpoint."""
    return f"{prefix}-{index}.ckpt" if prefix else f"{index}.ckpt"


def numbers_of(names: Iterable[str], prefix: str = "") -> Sequence[int]:
    """The numbers of the checkpoints among files with these names, ascending."""
    start = f"{prefix}-" if prefix else ""
    pattern = re.compile(rf"{re.escape(start)}({_NUMBER})\.ckpt")
    return sorted(int(match[1]) for match in map(pattern.fullmatch, names) if match)


def index_of(path: Path) -> int:
    """The number of a checkpoint from its path, as `Layout` gives it."""
    return int(path.stem.rpartition("-")[2])


def number_of(path: Path) -> int | None:
    """The number of a checkpoint from its path; None for other file names."""
    match = re.fullmatch(rf"(?:.+-)?({_NUMBER})\.ckpt", path.name)
    return int(match[1]) if match else None


def is_journal(path: Path) -> bool:
    """Whether the path is that of a journal."""
    return re.fullmatch(rf"(?:.+-)?{_JOURNAL}(?:-.+)?", path.name) is not None


def prefix_of(path: Path) -> str:
    """The prefix of a run, from the path of one of its files."""
    match = re.fullmatch(rf"(?:(.+)-)?(?:[0-9]+\.ckpt|{_JOURNAL}(?:-.+)?)", path.name)
    return (match[1] or "") if match else ""
