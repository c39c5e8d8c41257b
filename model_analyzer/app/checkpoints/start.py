# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Starts a checkpoint directory from a file of another place or program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from model_analyzer.errors import UnusableCheckpoint
from model_analyzer.state.checkpoint import read_file
from model_analyzer.state.profile_state import ProfileState


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
