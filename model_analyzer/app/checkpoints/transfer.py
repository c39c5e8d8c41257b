# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Copies checkpoints from and to other places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from model_analyzer.errors import CheckpointError, UnusableCheckpoint
from model_analyzer.state.checkpoint import Checkpoint
from model_analyzer.state.find import pick, pick_top
from model_analyzer.state.format.layout import name_of
from model_analyzer.state.stores.checkpointer import copy
from model_analyzer.state.stores.directory import DirectoryCheckpointer, download
from model_analyzer.state.stores.opening import open_store


@dataclass(frozen=True, slots=True, kw_only=True)
class Top:
    """The first `count` checkpoints by a metric, "time" or "index"; without an `order`, the best or
    the newest come first.
    """

    count: int
    sort_by: str = "index"
    order: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Downloaded:
    """The copy, which may have been there before."""

    path: Path
    is_new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Uploaded:
    """The name of the file, and the number and the store that it was copied to. The number
    `is_new` where another checkpoint had its own.
    """

    name: str
    store: str
    number: int
    is_new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Damaged:
    """A checkpoint that was not copied."""

    reason: str


def download_checkpoints(
    source: str, chosen: str | Top, directory: Path, prefix: str = ""
) -> Iterator[Downloaded | Damaged]:
    """Copies checkpoints of a store, each as soon as it is asked for.

    Raises CheckpointError where there is none, or where another one has the name of a copy.
    """
    store = open_store(source, prefix)
    indices: Sequence[int]
    if isinstance(chosen, str):
        indices = [pick(chosen, store)]
    else:
        indices, damage = pick_top(store, chosen.count, chosen.sort_by, chosen.order)
        yield from (Damaged(reason=reason) for reason in damage)
    if not indices:
        raise CheckpointError(f"{store}: no intact checkpoint found")
    for index in indices:
        path, is_new = download(store, index, directory, prefix)
        yield Downloaded(path=path, is_new=is_new)


def upload_checkpoints(
    which: str | None, directory: Path, prefix: str, target: str
) -> Iterator[Uploaded | Damaged]:
    """Copies one numbered checkpoint, or all of them, to a store, each as soon as it is asked for.

    Raises CheckpointError where there is none.
    """
    source = DirectoryCheckpointer(directory, prefix)
    indices = source.indices() if which is None else [pick(which, source)]
    if not indices:
        raise UnusableCheckpoint(
            f"{directory}: no checkpoint found; give --checkpoint-directory, and"
            " --checkpoint-prefix if the run had one"
        )
    store = open_store(target, prefix)
    for index in indices:
        name = name_of(index, prefix)
        data = source.read(index)
        try:
            Checkpoint.from_bytes(data, f"{source}: {name}")
        except CheckpointError as error:
            yield Damaged(reason=str(error))
            continue
        number = copy(index, data, store)
        yield Uploaded(name=name, store=str(store), number=number, is_new=number != index)
