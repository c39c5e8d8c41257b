# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that checkpoint files are intact."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model_analyzer.domain.words import counted
from model_analyzer.errors import without_checkpoints
from model_analyzer.state.format.layout import Layout
from model_analyzer.state.verify import FileVerdict, files_of, verify


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
