# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Selects a checkpoint by number, uuid, path or name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

from model_analyzer.domain.goals import DEFAULT_OBJECTIVE
from model_analyzer.domain.metrics import METRICS, is_best_high
from model_analyzer.errors import CheckpointError, UnusableCheckpoint
from model_analyzer.state.checkpoint import (
    SORTS,
    Checkpoint,
    in_order,
    load_existing,
    read_file,
    read_header,
)
from model_analyzer.state.format.header import Header
from model_analyzer.state.format.layout import Layout
from model_analyzer.state.overview import sort_value
from model_analyzer.state.stores import Checkpointer, newest_first

T = TypeVar("T")

LATEST = "latest"
BEST = "best"

_UUID_DIGITS = 8  # its first group: shorter ones are numbers of checkpoints
_MOST_LISTED = 12


class NoSuchCheckpoint(UnusableCheckpoint):
    """A store has no checkpoint with this number or uuid. `present` says which ones it has."""

    def __init__(self, message: str, present: str) -> None:
        super().__init__(message)
        self.present = present


def find(which: str, directory: Path, prefix: str = "") -> Checkpoint:
    """The checkpoint that `which` selects.

    `which` is a number, a uuid or its unique beginning (at least eight characters if all are
    digits), the path of a file, `latest` (everything in the directory, journals included), or
    `best` (the newest checkpoint with the highest throughput). Raises CheckpointError if there is
    no such checkpoint, or if it is damaged.
    """
    layout = Layout(directory, prefix)
    if which == LATEST:
        return load_existing(directory, prefix)
    if which == BEST:
        return _best(layout)
    present = layout.indices()
    if _is_number(which):
        indices: Sequence[int] = [index for index in present if index == int(which)]
    elif os.sep in which or os.path.isfile(which):  # False also for what cannot be a name
        return read_file(Path(which))
    else:
        indices = _with_uuid(which, layout)
    return read_file(layout.checkpoint(_only(indices, which, str(directory), present)))


def pick(which: str, store: Checkpointer) -> int:
    """The number of the checkpoint in a store that `which` selects, as in `find` but without paths;
    `latest` is the newest intact one.

    Raises CheckpointError unless there is exactly one.
    """
    if _is_number(which):
        matches: Sequence[int] = [index for index in store.indices() if index == int(which)]
        return _only(matches, which, str(store), store.indices())
    intact = (pair for pair in newest_first(store) if not pair[1].damage)
    if which == LATEST:
        matches = [index for index, _ in islice(intact, 1)]
    elif which == BEST:
        matches = _with_best(intact)
    else:
        matches = sorted(index for index, item in intact if _begins(item.header, which.lower()))
    return _only(matches, which, str(store), store.indices())


def pick_top(
    store: Checkpointer, count: int, sort_by: str = "index", order: str | None = None
) -> tuple[Sequence[int], Sequence[str]]:
    """The numbers of the first `count` checkpoints of a store, sorted by "index", "time" or the
    best value of a metric; and the damage of those that are left out.

    Without an `order`, the newest or the best come first.
    """
    damage: list[str] = []
    values: list[tuple[int, Any]] = []
    for index, checkpoint in newest_first(store):
        if checkpoint.damage:
            damage += checkpoint.damage
            continue
        value = index if sort_by == "index" else sort_value(checkpoint, sort_by)
        values.append((index, value))
        if len(values) == count and sort_by == "index" and order != "asc":
            break  # the others are older
    is_descending = order == "desc" if order else sort_by in SORTS or is_best_high(sort_by)
    ordered = in_order(values, itemgetter(1), is_descending=is_descending)
    return [index for index, _ in ordered[:count]], damage


def _only(matches: Sequence[int], which: str, where: str, present: Sequence[int]) -> int:
    if len(matches) > 1:
        raise UnusableCheckpoint(
            f"{where}: the uuids of {_listed(matches)} begin with {which!r}: give more of it"
        )
    if not matches:
        verb = "is" if len(present) < 2 else "are"
        message = f"{where}: no checkpoint {which!r}: there {verb} {_listed(present) or 'none'}"
        raise NoSuchCheckpoint(message, _listed(present) or "none")
    return matches[0]


def _is_number(which: str) -> bool:
    return which.isascii() and which.isdecimal() and len(which) < _UUID_DIGITS


def _begins(header: Header | None, beginning: str) -> bool:
    return header is not None and bool(beginning) and header.uuid.startswith(beginning)


def _with_uuid(beginning: str, layout: Layout) -> Sequence[int]:
    """The numbers of the checkpoints whose uuid has this beginning."""
    headers = {index: read_header(layout.checkpoint(index)) for index in layout.indices()}
    return [index for index, header in headers.items() if _begins(header, beginning.lower())]


def _best(layout: Layout) -> Checkpoint:
    everything = load_existing(layout.directory, layout.prefix)
    checkpoints = chain([everything], _intact(layout))
    best = _with_best((checkpoint, checkpoint) for checkpoint in checkpoints)
    return best[0] if best else everything


def _intact(layout: Layout) -> Iterator[Checkpoint]:
    """The numbered checkpoints, the newest first."""
    for index in reversed(layout.indices()):
        try:
            yield read_file(layout.checkpoint(index))
        except CheckpointError:
            continue  # its intact part is in `everything`


def _with_best(checkpoints: Iterable[tuple[T, Checkpoint]]) -> Sequence[T]:
    """The first item with the highest throughput, in a list; empty if none has a throughput."""
    gain = METRICS[DEFAULT_OBJECTIVE].gain
    best: Sequence[T] = []
    highest: float | None = None
    for item, checkpoint in checkpoints:
        value = sort_value(checkpoint, DEFAULT_OBJECTIVE)
        if value is not None and (highest is None or gain(value, highest) > 0):
            best, highest = [item], value
    return best


def _listed(indices: Sequence[int]) -> str:
    if len(indices) <= _MOST_LISTED:
        return ", ".join(map(str, indices))
    return f"{len(indices)} from {indices[0]} to {indices[-1]}"
