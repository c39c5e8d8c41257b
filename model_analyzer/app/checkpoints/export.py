# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Exports a checkpoint for other programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from model_analyzer.domain.words import counted
from model_analyzer.reports.formats import encode_rows
from model_analyzer.results.flat_rows import Rows
from model_analyzer.state.checkpoint import Checkpoint
from model_analyzer.state.upstream.writing import exported

UPSTREAM = "upstream"


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """The `content` of a file, a `description` of it, and what the format cannot hold."""

    content: bytes
    description: str
    remarks: Sequence[str] = ()


def export_checkpoint(checkpoint: Checkpoint, form: str) -> Export:
    """The whole checkpoint with its failures, each measurement in its own row, as csv, json or
    parquet; or as upstream writes it, with the measurements of each trial pooled.
    """
    if form != UPSTREAM:
        rows = Rows(checkpoint.records.items(), repetitions=True)
        return Export(content=encode_rows(rows, form), description=counted(len(rows), "row"))
    written = exported(checkpoint)
    remarks = {
        "failures left out, because this format cannot hold them": written.failures,
        "measurements left out, because newer ones replace them": written.outdated,
    }
    return Export(
        content=written.text.encode(),
        description="the measurements",
        remarks=[f"{text}: {count}" for text, count in remarks.items() if count],
    )
