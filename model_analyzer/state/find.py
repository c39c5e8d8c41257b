# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which checkpoint somebody means."""

from __future__ import annotations

import os
from pathlib import Path

from model_analyzer.domain.goals import DEFAULT_OBJECTIVE
from model_analyzer.domain.measurements import best_value
from model_analyzer.domain.metrics import METRICS
from model_analyzer.errors import CheckpointError
from model_analyzer.state.checkpoint import Checkpoint, load_existing, read_file, read_header
from model_analyzer.state.layout import Layout

LATEST = "latest"
BEST = "best"


def find(which: str, directory: Path, prefix: str = "") -> Checkpoint:
    """The checkpoint that `which` names.

    That is a number, a uuid or the only beginning of one, `latest` for all that the directory
    knows (what is not in a numbered checkpoint yet, too), `best` for the newest checkpoint with
    the highest throughput, or the path of a file. Raises CheckpointError where there is none, or
    where it is damaged.
    """
    layout = Layout(directory, prefix)
    if which == LATEST:
        return load_existing(directory, prefix)
    if which == BEST:
        return _best(layout)
    indices = layout.indices()
    if which.isascii() and which.isdecimal() and int(which) in indices:
        return read_file(layout.checkpoint(int(which)))
    if os.sep in which or Path(which).is_file():
        return read_file(Path(which))
    matches = [
        (index, header.uuid)
        for index in indices
        if (header := read_header(layout.checkpoint(index))) is not None
        and which
        and header.uuid.startswith(which.lower())
    ]
    if len(matches) > 1:
        found = ", ".join(f"{index} ({uuid})" for index, uuid in matches)
        raise CheckpointError(f"{directory}: several uuids begin with {which!r}: {found}")
    if not matches:
        raise CheckpointError(f"{directory}: no checkpoint {which!r}: {_what_there_is(layout)}")
    return read_file(layout.checkpoint(matches[0][0]))


def _best(layout: Layout) -> Checkpoint:
    chosen = load_existing(layout.directory, layout.prefix)
    metric = METRICS[DEFAULT_OBJECTIVE]
    value = _best_value(chosen)
    for index in reversed(layout.indices()):
        try:
            other = read_file(layout.checkpoint(index))
        except CheckpointError:
            continue  # what is intact of it is in the first one
        others = _best_value(other)
        if others is not None and (value is None or metric.gain(others, value) > 0):
            chosen, value = other, others
    return chosen


def _best_value(checkpoint: Checkpoint) -> float | None:
    return best_value((item.measurement for item in checkpoint.measurements()), DEFAULT_OBJECTIVE)


def _what_there_is(layout: Layout) -> str:
    indices = layout.indices()
    if not indices:
        return "there is no numbered one"
    if len(indices) <= 12:
        return f"there {'is' if len(indices) == 1 else 'are'} {', '.join(map(str, indices))}"
    return f"there are {len(indices)} from {indices[0]} to {indices[-1]}"
