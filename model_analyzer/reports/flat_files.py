# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Flat rows as CSV, JSON and Parquet, with unrounded numbers."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Sequence
from operator import methodcaller

from model_analyzer.domain.metrics import METRICS
from model_analyzer.reports.libraries import imported
from model_analyzer.reports.tables import Table, UnixLines, table_of
from model_analyzer.reports.write import encoded
from model_analyzer.results.columns import Cell, Column, Row, columns_of, with_data

_LARGEST = 2**63


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


def to_json(rows: Collection[Row], first: Sequence[str] = ()) -> bytes:
    """A JSON list of objects; missing values are left out of the objects."""
    columns = columns_of(rows, first)
    ordered = [{name: row[name] for name in columns if name in row} for row in rows]
    return encoded(json.dumps(ordered, indent=1) + "\n")


def to_parquet(rows: Collection[Row], first: Sequence[str] = ()) -> bytes:
    """The rows as Parquet. A column has numbers if all its cells are numbers, otherwise text.

    Raises OutputError if pyarrow is not installed.
    """
    names = columns_of(rows, first)
    columns = {name: _cells(name, [row.get(name) for row in rows]) for name in names}
    file = io.BytesIO()
    arrow, parquet = (imported("parquet", name) for name in ("pyarrow", "pyarrow.parquet"))
    parquet.write_table(arrow.table(columns), file)
    return file.getvalue()


def to_table(rows: Sequence[Row], columns: Sequence[tuple[str, str]]) -> Table:
    """A table of some columns (header and name) of the rows; columns without data are left out."""
    chosen = [
        Column[Row](key=name, name=header, value=methodcaller("get", name))
        for header, name in columns
    ]
    return table_of(with_data(chosen, rows), rows)


def _cells(name: str, cells: Sequence[Cell]) -> Sequence[Cell]:
    """The cells of a column, converted to one type; None stays None."""
    present = [cell for cell in cells if cell is not None]
    kinds = {type(cell) for cell in present}
    if name in METRICS or kinds == {int, float}:
        return [None if cell is None else float(cell) for cell in cells]
    if kinds == {int} and all(-_LARGEST <= cell < _LARGEST for cell in present):  # type: ignore[operator]
        return cells
    if kinds in ({bool}, {float}):
        return cells
    return [None if cell is None else encoded(str(cell)).decode() for cell in cells]
