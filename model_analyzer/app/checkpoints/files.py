# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Whole checkpoints: starts a directory from one; merges, verifies, exports, copies and measures
them.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from model_analyzer.domain.foreign_json import TooDeep, parse_unambiguous
from model_analyzer.domain.models import thaw
from model_analyzer.domain.words import counted
from model_analyzer.errors import CheckpointError, UnusableCheckpoint, without_checkpoints, wrong
from model_analyzer.reports.formats import encode_rows
from model_analyzer.reports.tables import Table, pairs_table
from model_analyzer.results.columns import Rows
from model_analyzer.state.checkpoint import Checkpoint, load_existing, read_file
from model_analyzer.state.find import FileVerdict, files_of, find, pick, pick_top, verify
from model_analyzer.state.format.layout import Layout, name_of
from model_analyzer.state.merge import Merged, merge
from model_analyzer.state.profile_state import ProfileState
from model_analyzer.state.records import Share
from model_analyzer.state.stores import DirectoryCheckpointer, copy, download, open_store

UPSTREAM = "upstream"
_UPSTREAM_WRITER = "model_analyzer.features.upstream.writer"

_DEEPEST = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedCheckpoint:
    """The `content` of a file, a `description` of it, and what the format cannot hold."""

    content: bytes
    description: str
    remarks: Sequence[str] = ()


def export_checkpoint(checkpoint: Checkpoint, form: str) -> ExportedCheckpoint:
    """The whole checkpoint with its failures, each measurement in its own row, as csv, json or
    parquet; or as upstream writes it, with the measurements of each trial pooled.
    """
    if form != UPSTREAM:
        rows = Rows(checkpoint.records.items(), repetitions=True)
        return ExportedCheckpoint(
            content=encode_rows(rows, form), description=counted(len(rows), "row")
        )
    written = import_module(_UPSTREAM_WRITER).exported(checkpoint)
    return ExportedCheckpoint(
        content=written.text.encode(), description="the measurements", remarks=written.remarks
    )


def start_directory(
    file: Path, directory: Path, prefix: str = ""
) -> tuple[Path | None, Checkpoint]:
    """Writes what the file holds as the first checkpoint of the directory; its path, and what the
    file holds.

    Raises CheckpointError where the file is damaged, or the directory has measurements.
    """
    checkpoint = read_file(file)
    with ProfileState(directory, prefix=prefix) as state:
        if len(state.checkpoint.records):
            raise UnusableCheckpoint(
                f"{directory}: already has measurements: import into another directory, then"
                " combine both with `model-analyzer checkpoint merge`"
            )
        state.start_from(checkpoint)
        return state.newest, checkpoint


def merge_into(
    directory: Path, checkpoints: Sequence[Checkpoint], prefix: str = ""
) -> tuple[Path | None, Merged]:
    """Writes the checkpoints as the next numbered one of the directory; its path and content.

    Raises CheckpointError where they were measured on different hardware.
    """
    merged = merge(checkpoints)
    with ProfileState(directory, prefix=prefix) as state:
        state.start_from(merged.checkpoint)
        return state.newest, merged


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What was found in each file."""

    verdicts: Sequence[FileVerdict]

    @property
    def is_intact(self) -> bool:
        return not any(verdict.damage for verdict in self.verdicts)

    @property
    def has_missing(self) -> bool:
        """Whether a file does not exist."""
        return not all(os.path.lexists(verdict.path) for verdict in self.verdicts)

    def lines(self) -> Iterator[str]:
        """One line for each file."""
        for verdict in self.verdicts:
            outcomes = counted(verdict.outcomes, "outcome")
            if not verdict.damage:
                state = f"intact, {outcomes}"
            elif os.path.lexists(verdict.path):
                lost = f"lost: {verdict.loss}; {outcomes} can be read"
                state = f"damaged: {verdict.damage}; {lost}"
            else:
                state = "does not exist"
            yield f"{verdict.path}: {state}"

    def documents(self) -> Sequence[Mapping[str, Any]]:
        """The same for programs."""
        return [
            {
                "path": str(verdict.path),
                "bytes": verdict.size,
                "outcomes": verdict.outcomes,
                "intact": not verdict.damage,
                "damage": verdict.damage,
                "lost": verdict.loss,
            }
            for verdict in self.verdicts
        ]


def verify_files(paths: Sequence[Path], directory: Path, prefix: str = "") -> Verification:
    """Checks these files, and the checkpoints and journals of these directories; without any path,
    those of `directory`. Raises CheckpointError where a directory has none.
    """
    files: list[Path] = []
    for path in paths or (directory,):
        if paths and not os.path.isdir(path):
            files.append(path)
            continue
        inside = files_of(Layout(path, prefix))
        if not inside:
            raise without_checkpoints(path)
        files += inside
    return Verification(verdicts=[verify(path) for path in files])


def read_metadata(directory: Path, prefix: str = "", key: str | None = None) -> Any:
    """All notes, or the value of a key: a top-level one or, with dots, one below it.

    Raises CheckpointError where there is no such key.
    """
    value: Any = load_existing(directory, prefix).metadata
    return thaw(value if key is None else _below(value, key, directory))


def _below(value: Any, key: str, directory: Path) -> Any:
    parts = [key] if key in value else key.split(".")
    for place, part in enumerate(parts):
        if isinstance(value, tuple) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        elif isinstance(value, Mapping) and part in value:
            value = value[part]
        else:
            below = f"below {'.'.join(parts[:place])!r} " if place else ""
            names = ", ".join(value) if isinstance(value, Mapping) else ""
            raise UnusableCheckpoint(
                f"{directory}: no metadata {key!r}: {below}there is {names or 'no such key'}"
            )
    return value


def set_metadata(directory: Path, prefix: str, key: str, text: str) -> None:
    """Sets a top-level key to the value that is JSON, or else to the text.

    Raises ConfigError where key or value cannot be used.
    """
    if not key or "." in key:
        raise wrong(
            "KEY",
            f"{key!r}: a key with dots can be read, but not set: set the whole top-level value",
        )
    value = _parsed(text)
    load_existing(directory, prefix)  # a mistyped name does not create a directory
    with ProfileState(directory, prefix=prefix) as state:
        state.record_metadata({key: value})


def remove_metadata(directory: Path, prefix: str, key: str) -> None:
    """Removes a top-level key. Raises CheckpointError where there is no such key."""
    load_existing(directory, prefix)
    with ProfileState(directory, prefix=prefix) as state:
        keys = state.checkpoint.metadata
        if key not in keys:
            hint = f": there is {', '.join(keys)}" if keys else ""
            raise UnusableCheckpoint(f"{directory}: no metadata {key!r}{hint}")
        state.record_metadata({key: None})


def _parsed(text: str) -> Any:
    try:
        value = parse_unambiguous(text.encode(), deepest=_DEEPEST)
    except TooDeep as error:
        raise wrong("VALUE", f"more than {_DEEPEST} levels deep") from error
    except ValueError:
        return text
    if value is None:
        raise wrong("VALUE", "null is not a value: use `metadata remove` to remove a key")
    try:
        json.dumps(value, allow_nan=False)
    except ValueError as error:
        raise wrong("VALUE", "it contains a number that is too large") from error
    return value


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


_NO_NODE = "this machine"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePart:
    """The share of a node, the trials that were `lost` there, and whether all its outcomes are in
    the checkpoint.
    """

    share: Share
    lost: int
    is_complete: bool

    def document(self) -> Mapping[str, Any]:
        """Everything, for programs."""
        return {**asdict(self.share), "lost": self.lost, "complete": self.is_complete}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointStatistics:
    """Sizes in bytes, times in seconds. The node "" is the machine of the run itself."""

    path: Path | None
    damage_warnings: Sequence[str]
    size: int
    entries: int
    outcomes: int
    load_s: float
    serialise_s: float
    nodes: Mapping[str, NodePart]

    @property
    def dominant(self) -> str | None:
        """The node that wrote more than half, if there are several."""
        half = sum(part.share.bytes for part in self.nodes.values()) / 2
        largest = (name for name, part in self.nodes.items() if part.share.bytes > half)
        return next(largest, None) if len(self.nodes) > 1 else None

    @property
    def remark(self) -> str:
        """Which node dominates, or ""."""
        if self.dominant is None:
            return ""
        return f"Most of the time was measured on {self.dominant or _NO_NODE}."

    def document(self) -> Mapping[str, Any]:
        """Everything, for programs."""
        return {
            "path": str(self.path),
            "bytes": self.size,
            "entries": self.entries,
            "bytes_per_entry": self.size / self.entries,
            "outcomes": self.outcomes,
            "load_s": self.load_s,
            "serialise_s": self.serialise_s,
            "nodes": {name: part.document() for name, part in self.nodes.items()},
            "dominant_node": self.dominant,
        }

    def tables(self) -> Iterator[tuple[str, Table]]:
        """Everything, for people."""
        seconds = sum(part.share.seconds for part in self.nodes.values())
        pairs = {
            "Bytes": f"{self.size:,}",
            "Entries": f"{self.entries:,}",
            "Bytes per entry": f"{self.size / self.entries:.0f}",
            "Outcomes": f"{self.outcomes:,}",
            "Time measured": f"{seconds:,.1f} s",
            "Time to load": f"{self.load_s * 1000:.1f} ms",
            "Time to serialise": f"{self.serialise_s * 1000:.1f} ms",
        }
        yield str(self.path), pairs_table(pairs)
        if set(self.nodes) != {""}:  # there is a cluster
            yield "Nodes", self._node_table()

    def _node_table(self) -> Table:
        total = sum(part.share.bytes for part in self.nodes.values())
        rows = tuple(
            (
                name or _NO_NODE,
                part.share.outcomes,
                part.share.failures,
                part.lost,
                round(part.share.seconds, 1),
                part.share.bytes,
                part.share.bytes / (total or 1) * 100,
                "yes" if part.is_complete else "NO",
            )
            for name, part in self.nodes.items()
        )
        counts = ("Outcomes", "Failed", "Lost")
        headers = ("Node", *counts, "Measured (s)", "Bytes", "Share (%)", "Complete")
        return Table(headers=headers, rows=rows)


def measure(
    which: str, directory: Path, prefix: str = "", clock: Callable[[], float] = time.perf_counter
) -> CheckpointStatistics:
    """Loads a checkpoint and serialises it again. Raises CheckpointError as `find` does."""
    begin = clock()
    checkpoint = find(which, directory, prefix)
    loaded = clock()
    lines = [len(line) for line in checkpoint.lines()]
    serialised = clock()
    return CheckpointStatistics(
        path=checkpoint.path,
        damage_warnings=checkpoint.damage_warnings,
        size=sum(lines),
        entries=len(lines),
        outcomes=len(checkpoint.records),
        load_s=loaded - begin,
        serialise_s=serialised - loaded,
        nodes=_nodes(checkpoint),
    )


def _nodes(checkpoint: Checkpoint) -> Mapping[str, NodePart]:
    shares, lost, missing = checkpoint.records.shares(), checkpoint.header.lost, checkpoint.missing
    return {
        node: NodePart(
            share=shares.get(node, Share()),
            lost=lost.get(node, 0),
            is_complete=node not in missing,
        )
        for node in sorted({*shares, *lost, *missing})
    }
