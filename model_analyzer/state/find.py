# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which checkpoint somebody means."""

from __future__ import annotations

from pathlib import Path

from model_analyzer.errors import CheckpointError
from model_analyzer.state.checkpoint import Checkpoint, load_existing, read_file
from model_analyzer.state.layout import Layout


def find(which: str, directory: Path, prefix: str = "") -> Checkpoint:
    """The checkpoint that `which` names: a number, a uuid or the beginning of one, a path, or
    `latest`, which is all that the directory knows.

    Raises CheckpointError where there is none, or it cannot be read.
    """
    layout = Layout(directory, prefix)
    if which == "latest":
        return load_existing(directory, prefix)
    if which.isdecimal() and int(which) in layout.indices():
        return read_file(layout.checkpoint(int(which)))
    if Path(which).is_file():
        return read_file(Path(which))
    raise CheckpointError(f"{directory}: no checkpoint {which!r}")
