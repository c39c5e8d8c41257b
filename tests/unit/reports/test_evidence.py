# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import pytest

from model_analyzer.domain.noise import Interval
from model_analyzer.reports.evidence import rounded_text


@pytest.mark.parametrize(
    ("value", "reach", "text"),
    [
        (1362.4, 61.0, "1,360 ± 60"),
        (29.098, 1.31, "29.1 ± 1.3"),
        (29.098, 0.4, "29.1 ± 0.4"),
        (0.01234, 0.0021, "0.012 ± 0.002"),
        (104.2, 9.7, "104 ± 10"),
    ],
)
def test_digits_follow_the_noise(value: float, reach: float, text: str) -> None:
    assert rounded_text(value, Interval(low=value - reach, high=value + reach)) == text


def test_without_noise_values_are_shown_as_usual() -> None:
    assert rounded_text(29.0981, None) == "29.1"
    assert rounded_text(5.0, Interval(low=5.0, high=5.0)) == "5.00"
