# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Any texts in CSV files, and what must hold for all of them.

Shared by the tests, which try some hundreds, and tools/fuzz.py, which tries as many as it is told.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Any

from hypothesis import strategies as st

from model_analyzer.reports.flat_files import to_csv
from model_analyzer.reports.tables import Table

# What spreadsheets, or programs that begin with them, take for a formula.
FORMULAS = (
    "=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20",
)  # fmt: skip

_PIECES = st.sampled_from(
    [
        *(*FORMULAS, "'", '"', '""', ",", ";", "\r\n", "\v", "\f", "\x85", "\u2028"),
        *("\ufeff", "\x1a", "\x1b[2J", "\ud800", "ü", " ", "a", "1", "-1.5", "1e999", "NaN"),
        *("=cmd|' /C calc'!A0", "@SUM(1)", "+1+1", "sep=;", "=HYPERLINK(1)", "m_config_0"),
    ]
)
# Python before 3.11 reads no CSV with zero bytes.
_TEXTS = st.lists(_PIECES, max_size=5).map("".join) | st.text(max_size=6).filter(
    lambda text: "\0" not in text
)
_NUMBERS = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)

# Cells of rows below a header; in an export, texts alone have a name of a column before them.
TABLES = st.integers(1, 4).flatmap(
    lambda width: st.fixed_dictionaries(
        {
            "header": st.lists(_TEXTS, min_size=width, max_size=width, unique=True),
            "rows": st.lists(
                st.lists(_TEXTS | _NUMBERS | st.none(), min_size=width, max_size=width), max_size=4
            ),
        }
    )
)


def _written(text: str) -> str:
    """A text as a file has it."""
    return text.encode("utf-8", "backslashreplace").decode()


def _read(text: str) -> Sequence[Sequence[str]]:
    return [row for row in csv.reader(StringIO(text, newline=""), strict=True) if row]


def is_safe_or_exact(example: Mapping[str, Any]) -> None:
    """A table for people has no text that a spreadsheet computes, and all of them can be told from
    it; an export has each text as it is. Rows stay rows.
    """
    header, rows = example["header"], example["rows"]
    table = Table(headers=tuple(header), rows=tuple(map(tuple, rows)))
    expected = [header, *rows]
    for line, row in zip(_read(table.to_csv()), expected, strict=True):
        for text, cell in zip(line, row, strict=True):
            if not isinstance(cell, str):
                continue
            assert not text.startswith(FORMULAS), text
            assert text in (cell, f"'{cell}")
    exported = [
        {name: cell for name, cell in zip(header, row, strict=True) if cell is not None}
        for row in rows
    ]
    names, *lines = _read(to_csv(exported).decode()) or [[]]
    for line, row in zip(lines, exported, strict=True) if names else ():
        told = {name: text for name, text in zip(names, line, strict=True) if text}
        assert told == {
            _written(name): _written(str(cell)) for name, cell in row.items() if str(cell)
        }
