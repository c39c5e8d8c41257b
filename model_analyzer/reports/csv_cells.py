# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Cells of CSV that readers take for something else: line breaks, and what looks like a formula."""

from __future__ import annotations

from typing import TextIO

# A spreadsheet computes what begins with one of these, also in full width (for East Asian users).
_FORMULAS = (
    "=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20",
)  # fmt: skip


class UnixLines:
    """A file for a csv writer with the line terminator `\\r\\n`: only then does it quote a carriage
    return in a cell. Here, lines end with `\\n`.
    """

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, line: str) -> int:
        return self._file.write(line.removesuffix("\r\n") + "\n")


def as_text(cell: str) -> str:
    """A text that no spreadsheet computes: one that looks like a formula has an apostrophe before
    it, which spreadsheets know as the mark of a text.
    """
    return f"'{cell}" if cell.startswith(_FORMULAS) else cell
