# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Lists of names in sentences."""

from __future__ import annotations

import pytest

from model_analyzer.domain.words import first_few


@pytest.mark.parametrize(
    ("names", "text"),
    [("", ""), ("a", "a"), ("abc", "a, b, c"), ("abcde", "a, b, c and 2 more")],
)
def test_the_first_few_names_and_how_many_more(names: str, text: str) -> None:
    assert first_few(names, 3) == text
