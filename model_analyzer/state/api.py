# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints for programs: the value, and where it can come from and go to."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from model_analyzer.domain.goals import DEFAULT_OBJECTIVE
from model_analyzer.domain.metrics import ALIASES, METRICS, is_best_high
from model_analyzer.state import checkpoint as value
from model_analyzer.state.contents import read_listed
from model_analyzer.state.find import find, pick
from model_analyzer.state.format.layout import Layout
from model_analyzer.state.frame import frame
from model_analyzer.state.stores.checkpointer import Checkpointer
from model_analyzer.state.stores.directory import download, save_checkpoint
from model_analyzer.state.stores.opening import open_store

if TYPE_CHECKING:
    import pandas


class Checkpoint(value.Checkpoint):
    """A checkpoint that can be opened, saved, copied from a store and made a table."""

    __slots__ = ()

    @classmethod
    def of(cls, checkpoint: value.Checkpoint) -> Checkpoint:
        """The same checkpoint, for programs."""
        own = {field.name: getattr(checkpoint, field.name) for field in fields(checkpoint)}
        return cls(**own)

    @classmethod
    def from_bytes(cls, data: bytes, where: str = "the bytes") -> Checkpoint:
        """Reads what `to_bytes` gave, or what a checkpoint file holds.

        Raises CheckpointError where it is damaged; `where` names it then.
        """
        return cls.of(value.Checkpoint.from_bytes(data, where))

    @classmethod
    def open(cls, path: str | Path, which: str | int = "latest", *, prefix: str = "") -> Checkpoint:
        """A checkpoint file; or `which` of a directory: "latest" is all that it knows, "best" the
        checkpoint with the highest throughput; else a number, a uuid or the beginning of one.

        Raises CheckpointError where there is none, or it is damaged.
        """
        path = Path(path)
        if os.path.isdir(path):
            return cls.of(find(str(which), path, prefix))
        return cls.of(value.read_file(path))

    @classmethod
    def download(
        cls,
        store: str | Path | Checkpointer,
        directory: str | Path,
        which: str | int = "latest",
        *,
        prefix: str = "",
    ) -> Path:
        """Copies a checkpoint from a store (or its URL) into a directory; the path of the copy.

        `which` is a number, a uuid or the beginning of one, "latest" (the newest that is intact) or
        "best". Raises CheckpointError where there is none, it is damaged, or another has its name.
        """
        source = open_store(str(store), prefix) if isinstance(store, (str, Path)) else store
        path, _ = download(source, pick(str(which), source), Path(directory), prefix)
        return path

    def save(self, directory: str | Path | None = None, *, force: bool = False) -> Path:
        """Writes this as the next numbered checkpoint of `directory`, or of the one it came from.

        The path of that; or of the newest there is, where that holds the same and nothing is to
        be `force`d. Raises CheckpointError where another run writes there, or it fails.
        """
        return save_checkpoint(self, None if directory is None else Path(directory), force=force)

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each model of each measurement, in order of measuring.

        Columns: number of the measurement, `model`, `variant`, kind and value of the `load`,
        `batch_size`, and each metric that was measured, by tag, in the units of the catalogue.
        Raises ImportError where pandas is not installed.
        """
        return frame(self)


def list_checkpoints(
    directory: str | Path,
    prefix: str = "",
    *,
    sort_by: str = "index",
    order: Literal["asc", "desc"] | None = None,
    limit: int | None = None,
) -> list[Checkpoint]:
    """Every numbered checkpoint in a directory, oldest first; damaged ones say so in `damage`.

    They can be sorted by "time" or by the best value of a metric, too; those that do not have it
    come last. Of metrics the best comes first, else the lowest, unless an `order` is given; at most
    `limit` are listed. Raises ValueError where these arguments cannot be used.
    """
    if sort_by not in (*value.SORTS, *METRICS, *ALIASES):
        raise ValueError(
            f"sort_by: unknown metric {sort_by!r}: give 'index', 'time' or a metric, such as"
            f" {DEFAULT_OBJECTIVE!r}"
        )
    if order not in (None, "asc", "desc"):
        raise ValueError(f"order: expected 'asc' or 'desc', found {order!r}")
    if limit is not None and (not isinstance(limit, int) or limit < 1):
        raise ValueError(f"limit: expected a whole number from 1 on, found {limit!r}")
    layout = Layout(Path(directory), prefix)
    paths = map(layout.checkpoint, layout.indices())
    checkpoints = [
        Checkpoint.of(value.assemble([(str(path), path, read_listed(path))])) for path in paths
    ]
    is_descending = order == "desc" if order else is_best_high(sort_by)
    return value.in_order(
        checkpoints, lambda each: value.sort_value(each, sort_by), is_descending=is_descending
    )[:limit]
