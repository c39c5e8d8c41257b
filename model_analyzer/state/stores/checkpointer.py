# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A store of numbered checkpoints, wherever it is."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from model_analyzer.errors import CheckpointError, UnusableCheckpoint
from model_analyzer.state.checkpoint import Checkpoint, read_bytes
from model_analyzer.state.format.header import Header


class Checkpointer(Protocol):
    """Keeps checkpoints under numbers, the newest under the highest. What is kept is not changed.

    A store of your own derives from this and says how bytes are listed, read and written: the
    rest follows. `str()` of it names it in messages. Whatever cannot be done raises
    CheckpointError with one line that says what, where and why.
    """

    @abstractmethod
    def indices(self) -> Sequence[int]:
        """The numbers of all checkpoints, ascending; none where the store does not exist yet."""

    @abstractmethod
    def read(self, index: int) -> bytes:
        """The checkpoint with this number, as it was written."""

    @abstractmethod
    def write(self, index: int, data: bytes) -> None:
        """Keeps `data` under a free number: as a whole, or not at all.

        Raises CheckpointError also where the number is taken.
        """

    @property
    def latest(self) -> int | None:
        """The highest number, or None where there is none."""
        return max(self.indices(), default=None)

    def load(self, index: int | None = None) -> Checkpoint:
        """The checkpoint with this number, or the newest.

        For the newest, damaged ones are passed over: `damage` of the checkpoint names them. Raises
        CheckpointError where there is none, or it is damaged.
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
        """Keeps a checkpoint under the next number, and gives that.

        What the newest intact one holds is kept again only by `force`; None if it is not. What is
        kept is a new checkpoint, with a uuid of its own and this one as its parent.
        """
        if not force and holds(self, checkpoint):
            return None
        latest = self.latest
        index = 0 if latest is None else latest + 1
        header = Header.next(checkpoint.header, index)
        self.write(index, replace(checkpoint, header=header).to_bytes())
        return index


def newest_first(store: Checkpointer) -> Iterator[tuple[int, Checkpoint]]:
    """All checkpoints with their numbers; damaged ones say so in `damage`."""
    for index in reversed(store.indices()):
        yield index, read_bytes(store.read(index), _name(store, index))


def holds(store: Checkpointer, checkpoint: Checkpoint) -> bool:
    """Whether the newest intact checkpoint of a store holds the same as this one."""
    intact = (known for _, known in newest_first(store) if not known.damage)
    newest = next(intact, None)
    return newest is not None and newest.holds_same_as(checkpoint)


def copy(index: int, data: bytes, store: Checkpointer) -> int:
    """Copies the file of a checkpoint that has number `index` elsewhere; its number in `store`.

    That is the same number, unless another checkpoint has it there; then it is saved as the next
    one, if none holds the same.
    """
    taken = store.indices()
    if index not in taken:
        store.write(index, data)
        return index
    if store.read(index) == data:
        return index
    checkpoint = Checkpoint.from_bytes(data)
    for there, known in newest_first(store):
        if not known.damage and known.holds_same_as(checkpoint):
            return there
    saved = store.save(checkpoint)
    return max(store.indices()) if saved is None else saved


def _name(store: Checkpointer, index: int) -> str:
    return f"{store}: checkpoint {index}"
