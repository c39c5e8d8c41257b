# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What the noise of measurements lets us say."""

from __future__ import annotations

import math

import pytest

from model_analyzer.results.statistics import ratio_noise, relative_noise


@pytest.mark.parametrize(
    ("windows", "noise"),
    [
        ((100, 100), 0.0),
        ((95, 105), 0.05),
        ((105, 95, 100), 0.05),
        ((50, 150), 0.5),
    ],
)
def test_noise_is_half_the_range_over_the_mean(windows: tuple[float, ...], noise: float) -> None:
    assert relative_noise(windows) == pytest.approx(noise)


@pytest.mark.parametrize("windows", [(), (100,), (0, 0)])
def test_without_two_windows_that_did_something_noise_cannot_be_told(
    windows: tuple[float, ...],
) -> None:
    assert relative_noise(windows) is None


def test_noises_of_a_ratio_add_up_like_independent_errors() -> None:
    assert ratio_noise(0.03, 0.04) == pytest.approx(0.05)
    assert ratio_noise(0.03, 0.0) == pytest.approx(0.03)
    assert ratio_noise(0.1, 0.1) == pytest.approx(math.sqrt(2) / 10)


def test_the_noise_of_a_ratio_needs_both() -> None:
    assert ratio_noise(None, 0.1) is None
    assert ratio_noise(0.1, None) is None
