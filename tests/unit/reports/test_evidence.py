# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import pytest

from model_analyzer.noise.noise import Interval
from model_analyzer.reports.headline import gain_text, value_texts
from model_analyzer.results.answer import Gain


def test_values_have_half_of_their_interval() -> None:
    assert value_texts(1362.4, Interval(low=1301.4, high=1423.4)) == ("1,360 ± 60", "")


def test_values_with_a_lopsided_interval_stand_beside_it() -> None:
    assert value_texts(16017.8, Interval(low=4020.1, high=412271)) == (
        "16,018", "4,020 to 412,271"
    )  # fmt: skip
    assert value_texts(29.4, Interval(low=29.4, high=51.2)) == ("29.4", "29.4 to 51.2")


def test_without_noise_values_are_shown_as_usual() -> None:
    assert value_texts(29.0981, None) == ("29.1", "")
    assert value_texts(5.0, Interval(low=5.0, high=5.0)) == ("5.00", "")


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


@pytest.mark.parametrize(
    ("percent", "noise", "plain", "signed"),
    [
        # 22 times the throughput, and 2.5 times more or less
        (2103.1, 2032.3, "780 to 5,400", "+780 to +5,400"),
        (10.4, 50.0, "-30 to 74", "-30 to +74"),
        (96.0, 98.0, "19 to 220", "+19 to +220"),
        (400.0, 804.7, "0 to 2,400", "+0 to +2,400"),
    ],
)
def test_gains_with_a_large_noise_are_intervals(
    percent: float, noise: float, plain: str, signed: str
) -> None:
    gain = Gain(percent=percent, noise=noise)
    assert (gain_text(gain), gain_text(gain, sign="+")) == (plain, signed)
