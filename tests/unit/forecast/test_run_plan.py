# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The duration of a run in words."""

from __future__ import annotations

import pytest

from model_analyzer.forecast.run_plan import Minutes


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0.1, 0.1, "less than a minute"),
        (0.3, 0.9, "less than a minute"),
        (0.5, 1.5, "roughly 0.5 to 1.5 minutes"),
        (1.8, 10.6, "roughly 1.8 to 10.6 minutes"),
    ],
)
def test_a_duration_below_a_minute_has_no_range(low: float, high: float, text: str) -> None:
    assert str(Minutes(low, high)) == text
