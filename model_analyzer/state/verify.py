# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Checks files for damage, and describes the loss."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from model_analyzer.errors import CheckpointError
from model_analyzer.state.contents import Content, read_checkpoint, read_journal
from model_analyzer.state.format.layout import Layout

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
