# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Exports a checkpoint for other programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

from model_analyzer.domain.words import counted
from model_analyzer.reports.formats import encode_rows
from model_analyzer.results.flat_rows import Rows
from model_analyzer.state.checkpoint import Checkpoint

UPSTREAM = "upstream"
_UPSTREAM_WRITER = "model_analyzer.features.upstream.writing"


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
    written = import_module(_UPSTREAM_WRITER).exported(checkpoint)
    return Export(
        content=written.text.encode(), description="the measurements", remarks=written.remarks
    )
