# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Flat rows as CSV and JSON, with unrounded numbers."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Sequence
from operator import methodcaller

from model_analyzer.reports.csv_cells import UnixLines
from model_analyzer.reports.tables import Table, table_of
from model_analyzer.results.columns import Column, with_data
from model_analyzer.results.flat_rows import Row, columns_of


def to_csv(rows: Collection[Row], first: Sequence[str] = ()) -> bytes:
    """CSV with a header line; missing values are empty, and texts exact."""
    file = io.BytesIO()
    # not as a text first: that may take as much memory as the checkpoint
    text = io.TextIOWrapper(file, "utf-8", "backslashreplace", newline="")
    writer = csv.DictWriter(UnixLines(text), columns_of(rows, first), extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    text.flush()
    return file.getvalue()


def to_json(rows: Collection[Row], first: Sequence[str] = ()) -> str:
    """A JSON list of objects; missing values are left out of the objects."""
    columns = columns_of(rows, first)
    ordered = [{name: row[name] for name in columns if name in row} for row in rows]
    return json.dumps(ordered, indent=1) + "\n"


def to_table(rows: Sequence[Row], columns: Sequence[tuple[str, str]]) -> Table:
    """A table of some columns (header and name) of the rows; columns without data are left out."""
    chosen = [
        Column[Row](key=name, name=header, value=methodcaller("get", name))
        for header, name in columns
    ]
    return table_of(with_data(chosen, rows), rows)
