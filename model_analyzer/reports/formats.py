# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Flat rows in a format that programs read."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from model_analyzer.reports.flat_text import to_csv, to_json
from model_analyzer.reports.parquet import to_parquet
from model_analyzer.reports.write import encoded
from model_analyzer.results.flat_rows import Row


def encode_rows(rows: Collection[Row], form: str, first: Sequence[str] = ()) -> bytes:
    """The rows as csv, json or parquet, with the metrics in `first` before the others. Raises
    OutputError where pyarrow is not installed.
    """
    match form:
        case "csv":
            return to_csv(rows, first)
        case "json":
            return encoded(to_json(rows, first))
    return to_parquet(rows, first)
