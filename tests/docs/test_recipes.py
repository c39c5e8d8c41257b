# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The examples of CONTRIBUTING.md work as they are written."""

from __future__ import annotations

import pytest

from tools.recipes import problems, recipes

EXAMPLES = ["metric", "search", "feature", "format"]


def test_every_example_is_applied() -> None:
    assert [*recipes()] == EXAMPLES


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_works_as_written(name: str) -> None:
    assert [*problems(name)] == []
