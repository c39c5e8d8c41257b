# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Merges checkpoints of several runs on the same hardware."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from model_analyzer.state.checkpoint import Checkpoint
from model_analyzer.state.merge import merge
from model_analyzer.state.profile_state import ProfileState


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
