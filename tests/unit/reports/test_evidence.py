# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import pytest

from model_analyzer.domain.noise import Interval
from model_analyzer.reports.evidence import gain_text, rounded_text
from model_analyzer.results.selection import Gain


def test_values_have_half_of_their_interval() -> None:
    assert rounded_text(1362.4, Interval(low=1301.4, high=1423.4)) == "1,360 ± 60"


def test_without_noise_values_are_shown_as_usual() -> None:
    assert rounded_text(29.0981, None) == "29.1"
    assert rounded_text(5.0, Interval(low=5.0, high=5.0)) == "5.00"


@pytest.mark.parametrize(
    ("percent", "noise", "text"),
    [
        (852.4, 162.3, "850 ± 160"),
        (1006.2, 50.4, "1,010 ± 50"),
        (4.4, 0.61, "4.4 ± 0.6"),
        (4.4, None, "4"),
        (1006.2, 0.0, "1,006"),
        (-0.3, None, "0"),
    ],
)
def test_gains_have_the_digits_that_their_noise_supports(
    percent: float, noise: float | None, text: str
) -> None:
    assert gain_text(Gain(percent=percent, noise=noise)) == text
    assert gain_text(Gain(percent=percent, noise=noise), sign="+") == f"+{text}"
