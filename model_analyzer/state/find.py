# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which checkpoint somebody means."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

from model_analyzer.domain.goals import DEFAULT_OBJECTIVE
from model_analyzer.domain.metrics import METRICS, is_best_high
from model_analyzer.errors import CheckpointError
from model_analyzer.state.checkpoint import (
    SORTS,
    Checkpoint,
    in_order,
    load_existing,
    read_file,
    read_header,
    sort_value,
)
from model_analyzer.state.format.header import Header
from model_analyzer.state.format.layout import Layout
from model_analyzer.state.stores.checkpointer import Checkpointer, newest_first

T = TypeVar("T")

LATEST = "latest"
BEST = "best"

_UUID_DIGITS = 8  # its first group: shorter ones are numbers of checkpoints
_MOST_LISTED = 12


def find(which: str, directory: Path, prefix: str = "") -> Checkpoint:
    """The checkpoint that `which` names.

    That is a number, a uuid or the beginning of only one (of digits alone, at least eight), the
    path of a file, `latest` for all that the directory knows (what is not in a numbered checkpoint
    yet, too), or `best` for the newest checkpoint with the highest throughput. Raises
    CheckpointError where there is none, or where it is damaged.
    """
    layout = Layout(directory, prefix)
    if which == LATEST:
        return load_existing(directory, prefix)
    if which == BEST:
        return _best(layout)
    known = layout.indices()
    if _is_number(which):
        indices: Sequence[int] = [index for index in known if index == int(which)]
    elif os.sep in which or os.path.isfile(which):  # False also for what cannot be a name
        return read_file(Path(which))
    else:
        indices = _with_uuid(which, layout)
    return read_file(layout.checkpoint(_only(indices, which, str(directory), known)))


def pick(which: str, store: Checkpointer) -> int:
    """The number of the checkpoint in a store that `which` names in the same way, paths excepted;
    `latest` is the newest that is intact.

    Raises CheckpointError where there is none, or where there are several.
    """
    if _is_number(which):
        found: Sequence[int] = [index for index in store.indices() if index == int(which)]
        return _only(found, which, str(store), store.indices())
    intact = ((index, one) for index, one in newest_first(store) if not one.damage)
    if which == LATEST:
        found = [index for index, _ in islice(intact, 1)]
    elif which == BEST:
        found = _with_best(intact)
    else:
        found = sorted(index for index, one in intact if _begins(one.header, which.lower()))
    return _only(found, which, str(store), store.indices())


def pick_top(
    store: Checkpointer, count: int, sort_by: str = "index", order: str | None = None
) -> tuple[Sequence[int], Sequence[str]]:
    """The numbers of the `count` first checkpoints of a store by their index, "time" or the best
    value of a metric; and what is wrong with those that are damaged and so passed over.

    The newest or the best come first, unless an `order` is given.
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


def _only(found: Sequence[int], which: str, where: str, known: Sequence[int]) -> int:
    if len(found) > 1:
        raise CheckpointError(
            f"{where}: the uuids of {_listed(found)} begin with {which!r}: give more of it"
        )
    if not found:
        are = f"{'is' if len(known) == 1 else 'are'} {_listed(known)}" if known else "is none"
        raise CheckpointError(f"{where}: no checkpoint {which!r}: there {are}")
    return found[0]


def _is_number(which: str) -> bool:
    return which.isascii() and which.isdecimal() and len(which) < _UUID_DIGITS


def _begins(header: Header | None, beginning: str) -> bool:
    return header is not None and bool(beginning) and header.uuid.startswith(beginning)


def _with_uuid(beginning: str, layout: Layout) -> Sequence[int]:
    """The numbers of the checkpoints whose uuid begins so."""
    headers = {index: read_header(layout.checkpoint(index)) for index in layout.indices()}
    return [index for index, header in headers.items() if _begins(header, beginning.lower())]


def _best(layout: Layout) -> Checkpoint:
    everything = load_existing(layout.directory, layout.prefix)
    found = _with_best((one, one) for one in chain([everything], _intact(layout)))
    return found[0] if found else everything


def _intact(layout: Layout) -> Iterator[Checkpoint]:
    """The numbered checkpoints, the newest first."""
    for index in reversed(layout.indices()):
        try:
            yield read_file(layout.checkpoint(index))
        except CheckpointError:
            continue  # what is intact of it is in all that the directory knows


def _with_best(checkpoints: Iterable[tuple[T, Checkpoint]]) -> Sequence[T]:
    """What stands for the first checkpoint with the highest throughput, if any has one."""
    gain = METRICS[DEFAULT_OBJECTIVE].gain
    found: Sequence[T] = []
    highest: float | None = None
    for name, checkpoint in checkpoints:
        value = sort_value(checkpoint, DEFAULT_OBJECTIVE)
        if value is not None and (highest is None or gain(value, highest) > 0):
            found, highest = [name], value
    return found


def _listed(indices: Sequence[int]) -> str:
    if len(indices) <= _MOST_LISTED:
        return ", ".join(map(str, indices))
    return f"{len(indices)} from {indices[0]} to {indices[-1]}"
