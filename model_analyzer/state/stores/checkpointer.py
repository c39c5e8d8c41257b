# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The interface of stores of numbered checkpoints."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from model_analyzer.errors import CheckpointError, UnusableCheckpoint
from model_analyzer.state.checkpoint import Checkpoint, read_bytes
from model_analyzer.state.format.header import Header


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
