# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How measured numbers are written; lists of names in sentences."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from model_analyzer.domain.words import (
    chance_text,
    decimals_of,
    expected_gain_text,
    first_few,
    number_text,
    percent_text,
    with_error,
)


@pytest.mark.parametrize(
    ("numbers", "texts"),
    [
        ([1327.4, 120.0], ["1,327", "120"]),
        ([14.465, 120.31, 1050.0], ["14", "120", "1,050"]),
        ([14.465, 16.2, 120.31], ["14.5", "16.2", "120.3"]),
        ([0.988, 14.461, 16.2], ["0.99", "14.46", "16.20"]),
        ([9.999, 9.998], ["10.0", "10.0"]),
        ([0.0, 0.0], ["0", "0"]),
        ([-0.001, 250.0, 300.0], ["0.0", "250.0", "300.0"]),
        ([1e-9], ["0.000000"]),
        ([float("inf"), 20.0], ["inf", "20.0"]),
    ],
)
def test_a_column_has_one_precision(numbers: Sequence[float], texts: Sequence[str]) -> None:
    decimals = decimals_of(numbers)
    assert [number_text(number, decimals) for number in numbers] == texts


@pytest.mark.parametrize(
    ("number", "text"),
    [(1327.4, "1,327"), (14.465, "14.5"), (0.9876, "0.988"), (-2.5, "-2.50"), (-0.0, "0")],
)
def test_a_number_has_three_significant_digits(number: float, text: str) -> None:
    assert number_text(number) == text


@pytest.mark.parametrize(
    ("number", "error", "text"),
    [
        (852.4, 162.3, "850 ± 160"),
        (1362.4, 61.0, "1,360 ± 60"),
        (29.098, 1.31, "29.1 ± 1.3"),
        (29.098, 0.4, "29.1 ± 0.4"),
        (29.098, 1.96, "29.1 ± 2.0"),
        (0.01234, 0.0021, "0.012 ± 0.002"),
        (104.2, 9.7, "104 ± 10"),
        (3.0, 28.0, "3 ± 30"),
        (-3.0, 28.0, "-3 ± 30"),
        (-0.2, 28.0, "0 ± 30"),
        (0.0, 28.0, "0 ± 30"),
        (1743.0, 2004.0, "1,700 ± 2,000"),
        (16017.8, 204125.0, "16,000 ± 200,000"),
        (0.314, 0.62, "0.3 ± 0.6"),
        (-852.4, 162.3, "-850 ± 160"),
    ],
)
def test_a_number_has_the_digits_that_its_error_supports(
    number: float, error: float, text: str
) -> None:
    assert with_error(number, error) == text


@pytest.mark.parametrize("error", [None, 0.0, 1e-12, float("inf"), float("nan")])
def test_without_an_error_that_can_be_shown_a_number_stands_alone(error: float | None) -> None:
    assert with_error(29.0981, error) == "29.1"
    assert with_error(29.0981, error, sign="+") == "+29.1"
    assert with_error(-29.0981, error, sign="+") == "-29.1"


def test_positive_numbers_have_a_sign_on_request() -> None:
    assert with_error(852.4, 162.3, sign="+") == "+850 ± 160"
    assert with_error(-852.4, 162.3, sign="+") == "-850 ± 160"


@pytest.mark.parametrize(
    ("percent", "text"), [(1817.4, "1,817 %"), (25.0, "25 %"), (0.123, "0.12 %"), (0.0, "0 %")]
)
def test_a_percentage(percent: float, text: str) -> None:
    assert percent_text(percent) == text


@pytest.mark.parametrize(
    ("chance", "text"),
    [(0.0, "less than 1 %"), (0.01, "1 %"), (0.2, "20 %"), (0.996, "more than 99 %")],
)
def test_a_chance_is_never_certain(chance: float, text: str) -> None:
    assert chance_text(chance) == text


@pytest.mark.parametrize(
    ("gain", "text"),
    [(0.0, "less than 0.1 %"), (0.0004, "less than 0.1 %"), (0.0132, "about 1.3 %")],
)
def test_an_expected_gain_is_never_nothing(gain: float, text: str) -> None:
    assert expected_gain_text(gain) == text


@pytest.mark.parametrize(
    ("names", "text"), [("", ""), ("a", "a"), ("abc", "a, b, c"), ("abcde", "a, b, c and 2 more")]
)
def test_the_first_few_names_and_how_many_more(names: str, text: str) -> None:
    assert first_few(names, 3) == text
