# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Flat rows as Parquet."""

from __future__ import annotations

import io
from collections.abc import Collection, Sequence

from model_analyzer.domain.metrics import METRICS
from model_analyzer.reports.libraries import pyarrow
from model_analyzer.reports.write import encoded
from model_analyzer.results.columns import Cell
from model_analyzer.results.flat_rows import Row, columns_of

_LARGEST = 2**63


def to_parquet(rows: Collection[Row], first: Sequence[str] = ()) -> bytes:
    """The rows as Parquet. A column has numbers if all its cells are numbers, otherwise text.

    Raises OutputError if pyarrow is not installed.
    """
    arrow = pyarrow()
    names = columns_of(rows, first)
    columns = {name: _cells(name, [row.get(name) for row in rows]) for name in names}
    file = io.BytesIO()
    arrow.parquet.write_table(arrow.table(columns), file)
    return file.getvalue()


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
