# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Flat rows in a format that programs read."""

from __future__ import annotations

from collections.abc import Collection

from model_analyzer.reports.flat_text import to_csv, to_json
from model_analyzer.reports.parquet import to_parquet
from model_analyzer.reports.write import encoded
from model_analyzer.results.flat_rows import Row


def encode_rows(rows: Collection[Row], form: str) -> bytes:
    """The rows as csv, json or parquet. Raises OutputError where pyarrow is not installed."""
    match form:
        case "csv":
            return to_csv(rows)
        case "json":
            return encoded(to_json(rows))
    return to_parquet(rows)
