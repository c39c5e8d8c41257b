# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Whatever texts are in tables: in CSV they are exact for programs, and no formulas for people.

`make fuzz` tries the same for much longer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given

from tests.unit.reports.csv_cells import FORMULAS, TABLES, is_safe_or_exact


@given(TABLES)
def test_any_text_is_safe_or_exact(example: Mapping[str, Any]) -> None:
    is_safe_or_exact(example)


@pytest.mark.parametrize("begin", [ascii(text)[1:-1] for text in FORMULAS])
def test_no_text_begins_a_formula(begin: str) -> None:
    text = f"{begin}cmd|' /C calc'!A0".encode().decode("unicode_escape")
    is_safe_or_exact({"header": [text, "a"], "rows": [[text, text], [1, -1]]})
