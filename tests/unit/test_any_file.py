# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Deep and large files of others: they are read, or refused in a line, in bounds of memory.

`make fuzz` tries the same for much longer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given

from tests.unit.foreign_files import FILES, READERS, is_read_or_refused


@given(FILES)
def test_any_file_is_read_or_refused(example: Mapping[str, Any]) -> None:
    is_read_or_refused(example)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("piece", ["[", '{"a":', "- ", "a { ", '{"a":[', "[1],", "0\n"])
def test_deep_files_are_refused_in_a_line(reader: str, piece: str) -> None:
    is_read_or_refused({"reader": reader, "begin": "", "piece": piece, "bytes": 50_000, "end": ""})
