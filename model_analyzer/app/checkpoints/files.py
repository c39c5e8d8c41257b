# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Whole checkpoints: starts a directory from one, merges, verifies and exports them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from model_analyzer.domain.words import counted
from model_analyzer.errors import UnusableCheckpoint, without_checkpoints
from model_analyzer.reports.formats import encode_rows
from model_analyzer.results.flat_rows import Rows
from model_analyzer.state.checkpoint import Checkpoint, read_file
from model_analyzer.state.format.layout import Layout
from model_analyzer.state.merge import merge
from model_analyzer.state.profile_state import ProfileState
from model_analyzer.state.verify import FileVerdict, files_of, verify

UPSTREAM = "upstream"
_UPSTREAM_WRITER = "model_analyzer.features.upstream.writer"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """The checkpoint that was written, its number of outcomes, and what is odd about the file."""

    path: Path | None
    outcomes: int
    remarks: Sequence[str]


def start_directory(file: Path, directory: Path, prefix: str = "") -> Imported:
    """Writes what the file holds as the first checkpoint of the directory.

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
        return Imported(
            path=state.newest, outcomes=len(checkpoint.records), remarks=checkpoint.remarks
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedFile:
    """The checkpoint that was written, with how many outcomes; how many measurements of trials that
    another checkpoint measured, too, it has as repetitions; how many failures were left out; and
    how many variants got another name.
    """

    path: Path | None
    outcomes: int
    repetitions: int
    failures: int
    renamed: int


def merge_into(directory: Path, checkpoints: Sequence[Checkpoint], prefix: str = "") -> MergedFile:
    """Writes the checkpoints as the next numbered one of the directory.

    Raises CheckpointError where they were measured on different hardware.
    """
    merged = merge(checkpoints)
    with ProfileState(directory, prefix=prefix) as state:
        state.start_from(merged.checkpoint)
        return MergedFile(
            path=state.newest,
            outcomes=len(merged.checkpoint.records),
            repetitions=merged.repetitions,
            failures=merged.failures,
            renamed=merged.renamed,
        )


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
            damage = f"damaged: {verdict.damage}; lost: {verdict.loss}"
            outcomes = counted(verdict.outcomes, "outcome")
            state = damage if verdict.damage else "intact"
            yield f"{verdict.path}: {state} ({outcomes} can be read)"

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
