# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The checkpoints in a directory: selects one by number, uuid, path or name; overviews of them, and
whether their files are intact.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

from model_analyzer.domain.goals import DEFAULT_OBJECTIVE
from model_analyzer.domain.measurements import Measurement, best_of
from model_analyzer.domain.metrics import METRICS, is_best_high
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.errors import CheckpointError, UnusableCheckpoint
from model_analyzer.noise.pooling import pooled_trials
from model_analyzer.state.checkpoint import (
    SORTS,
    Checkpoint,
    assemble,
    in_order,
    load_existing,
    read_file,
    read_header,
)
from model_analyzer.state.contents import Content, read_checkpoint, read_journal, read_listed
from model_analyzer.state.format.header import Header
from model_analyzer.state.format.layout import Layout
from model_analyzer.state.records import Records
from model_analyzer.state.stores import Checkpointer, newest_first


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """The summary of a numbered checkpoint, or of the outcomes that only journals have (no index).

    `file` is its file name. `best` has the best value of each requested metric, where all
    measurements of a trial are pooled; None if it was not measured. `missing` is the number of
    outcomes that the checkpoint lacks of each cluster node.
    `damage` is one line, or "": why the file is damaged, or for several files a sentence of each.
    """

    header: Header
    models: tuple[str, ...]
    variants: int
    measurements: int
    failures: int
    best: Mapping[str, float | None]
    missing: Mapping[str, int]
    file: str = ""
    damage: str = ""

    @classmethod
    def of(cls, checkpoint: Checkpoint, metrics: Sequence[str]) -> Overview:
        """Summarizes a checkpoint."""
        models: dict[str, None] = {}
        variants = set()
        measurements = 0
        values: dict[str, list[float]] = {tag: [] for tag in metrics}  # a measurement is larger
        repeated = set()  # keys of trials
        for record in checkpoint.records:
            for work in record.trial.workloads:
                models[work.variant.model] = None
                variants.add((work.variant.identity, work.variant.name))
            if isinstance(record.outcome, Measurement):
                measurements += 1
                if record.trial.repetition:
                    repeated.add(record.trial.first.key)
                _append(values, record.outcome)
        if repeated and metrics:
            values = _pooled_values(checkpoint.records, metrics, repeated)
        return cls(
            header=checkpoint.header,
            models=tuple(models),
            variants=len(variants),
            measurements=measurements,
            failures=len(checkpoint.records) - measurements,
            best={tag: best_of(present, tag) for tag, present in values.items()},
            missing=checkpoint.missing,
            damage="; ".join(checkpoint.damage),
        )

    @property
    def state(self) -> str:
        """`intact`, or a description of the problem."""
        if self.damage:
            return f"damaged: {self.file}: {self.damage}" if self.file else self.damage
        if self.missing:
            parts = ", ".join(f"{count} of {node}" for node, count in self.missing.items())
            return f"incomplete: lacks {parts}"
        return "intact" if self.header.index is not None else "in the journal only"

    @property
    def severity(self) -> int:
        """0 if it is intact; higher if more is wrong."""
        if self.damage or self.missing:
            return 3 if self.damage else 2
        return 0 if self.header.index is not None else 1


def sort_value(checkpoint: Checkpoint, sort_by: str) -> Any:
    """The value to sort a checkpoint by ("index", "time" or a metric); None if it has none."""
    match sort_by:
        case "index":
            return checkpoint.header.index
        case "time":
            return checkpoint.header.time or None
    return Overview.of(checkpoint, [sort_by]).best[sort_by]


def _pooled_values(
    records: Records, metrics: Sequence[str], repeated: Collection[str]
) -> dict[str, list[float]]:
    """The values of all trials, with the measurements of `repeated` trials pooled. These leave
    memory one after another: pooling makes them larger.
    """
    values: dict[str, list[float]] = {tag: [] for tag in metrics}
    trials: dict[str, list[MeasuredTrial]] = defaultdict(list)
    for key, record in records.items():
        if not isinstance(record.outcome, Measurement):
            continue
        # computing the keys of many trials is slow
        is_first = not (record.trial.repetition or record.trial.is_unverified)
        first = key if is_first else record.trial.first.key
        if first in repeated:
            trials[first].append(MeasuredTrial(trial=record.trial, measurement=record.outcome))
        else:
            _append(values, record.outcome)
    while trials:
        _, measured = trials.popitem()
        for item in pooled_trials(measured):
            _append(values, item.measurement)
    return values


def _append(values: Mapping[str, list[float]], measurement: Measurement) -> None:
    for tag, present in values.items():
        value = measurement.value(tag)
        if value is not None:
            present.append(value)


def overviews(layout: Layout, metrics: Sequence[str]) -> Iterator[Overview]:
    """Every numbered checkpoint, oldest first, damaged ones included; then the outcomes that only
    journals have, if there are any.
    """
    # first those from which outcomes move to others: to the journal of the run, then to checkpoints
    paths = {node: layout.journal(node) for node in (*layout.nodes(), "")}
    late = {node: (str(path), read_journal(path)) for node, path in paths.items()}
    own = late.pop("")
    newest = Records()
    for path in map(layout.checkpoint, layout.indices()):
        content = read_listed(path)
        checkpoint = assemble([(path, content)])
        newest = checkpoint.records
        yield replace(
            Overview.of(checkpoint, metrics),
            file=path.name,
            damage=content.damage,
        )
    for node, (_, content) in late.items():  # while a run lasts, a checkpoint may have them, too
        content.records = newest.news(content.records, node)
    if any(len(content.records) for _, content in (own, *late.values())):
        overview = Overview.of(assemble([own], late), metrics)
        yield replace(overview, header=replace(overview.header, index=None), missing={})


_NO_ENTRY = "no entry"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileVerdict:
    """The result of checking a file: its `size` in bytes and the number of readable `outcomes`.

    `damage` describes the damage with its place, `loss` what cannot be read; both are "" if the
    file is intact.
    """

    path: Path
    size: int
    outcomes: int
    damage: str = ""
    loss: str = ""


def files_of(layout: Layout) -> Sequence[Path]:
    """The checkpoints and the journals of a directory."""
    journals = map(layout.journal, ("", *layout.nodes()))
    return [
        *map(layout.checkpoint, layout.indices()),
        *(path for path in journals if os.path.exists(path)),
    ]


def verify(path: Path) -> FileVerdict:
    """Checks a whole file. Files that are not named `….ckpt` are read as journals."""
    try:
        size = path.stat().st_size
    except OSError as error:
        return _unreadable(path, f"cannot be read: {error.strerror}")
    is_checkpoint = path.suffix == ".ckpt"
    try:
        content = read_checkpoint(path) if is_checkpoint else read_journal(path)
    except CheckpointError as error:  # of a newer program
        return _unreadable(path, str(error).removeprefix(f"{path}: "), size)
    return FileVerdict(
        path=path,
        size=size,
        outcomes=len(content.records),
        damage=content.damage,
        loss=_loss(content, has_end=is_checkpoint) if content.damage else "",
    )


def _unreadable(path: Path, damage: str, size: int = 0) -> FileVerdict:
    return FileVerdict(path=path, size=size, outcomes=0, damage=damage, loss="all of it")


def _loss(content: Content, *, has_end: bool) -> str:
    loss = _lost_lines(content, has_end=has_end)
    has_outcomes = content.lost_outcomes and loss != _NO_ENTRY
    return f"{loss}: {content.lost_outcomes}" if has_outcomes else loss


def _lost_lines(content: Content, *, has_end: bool) -> str:
    if not content.intact:
        return "all of it"
    if content.announced is not None:
        lost = max(content.announced - content.intact, 0)
        return f"{lost} of {content.announced} entries" if lost else _NO_ENTRY
    if not has_end:
        return f"{content.lost} of {content.intact + content.lost} lines"
    return f"what came after entry {content.intact}, and the end"


T = TypeVar("T")

LATEST = "latest"
BEST = "best"

_UUID_DIGITS = 8  # its first group: shorter ones are numbers of checkpoints,
_FEWEST_DIGITS = 4  # or, if there is no such number, the beginning of a uuid
_MOST_LISTED = 12


class NoSuchCheckpoint(UnusableCheckpoint):
    """A store has no checkpoint with this number or uuid. `present` says which ones it has."""

    def __init__(self, message: str, present: str) -> None:
        super().__init__(message)
        self.present = present


def find(which: str, directory: Path, prefix: str = "") -> Checkpoint:
    """The checkpoint that `which` selects.

    `which` is a number, a uuid or its unique beginning (at least four characters if all are digits,
    and no checkpoint has this number), the path of a file, `latest` (everything in the directory,
    journals included), or `best` (the newest checkpoint with the highest throughput). Raises
    CheckpointError if there is no such checkpoint, or if it is damaged.
    """
    layout = Layout(directory, prefix)
    if which == LATEST:
        return load_existing(directory, prefix)
    if which == BEST:
        return _best(layout)
    present = layout.indices()
    if _is_number(which, present):
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
    if _is_number(which, store.indices()):
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


def _is_number(which: str, present: Sequence[int]) -> bool:
    """Whether it is the number of a checkpoint, `present` or not, and not of a uuid."""
    if not (which.isascii() and which.isdecimal() and len(which) < _UUID_DIGITS):
        return False
    return len(which) < _FEWEST_DIGITS or int(which) in present


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
