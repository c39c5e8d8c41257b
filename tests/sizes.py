# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How much a test tries: little in every run, all of it every night."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings


def small_and_full(argument: str, small: Any, *full: Any) -> pytest.MarkDecorator:
    """Runs a test with the `small` value of an argument, and under the mark `slow` with each of the
    `full` ones.
    """
    slow = [pytest.param(value, marks=pytest.mark.slow) for value in full]
    return pytest.mark.parametrize(argument, [small, *slow])


def costly(times: int) -> settings:
    """For a property whose examples take so many `times` as long as others: fewer of them.

    The number for all others is that of the Hypothesis profile; see conftest.py.
    """
    return settings(max_examples=settings().max_examples // times)
