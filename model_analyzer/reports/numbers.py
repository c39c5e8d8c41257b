# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Measured numbers for people: three significant digits, and one precision for a whole column."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import median

_DIGITS = 3  # significant digits of a typical number
_FEWEST_DIGITS = 2  # of the smallest number beside it
_MOST_DECIMALS = 6


def decimals_of(numbers: Iterable[float]) -> int:
    """The decimals with which a typical one of `numbers` has three significant digits; one more if
    the smallest would have fewer than two. Zeros do not count.
    """
    sizes = [abs(number) for number in numbers if number and math.isfinite(number)]
    if not sizes:
        return 0
    typical = max(_decimals(median(sizes), _DIGITS), 0)
    is_short = _decimals(min(sizes), _FEWEST_DIGITS) > typical
    return min(typical + is_short, _MOST_DECIMALS)


def number_text(number: float, decimals: int | None = None) -> str:
    """The number with `decimals` and thousands separators, such as `1,327` or `14.5`; by default
    with three significant digits, or all digits of its whole part.
    """
    decimals = decimals_of([number]) if decimals is None else decimals
    text = f"{number:,.{decimals}f}"
    return text.removeprefix("-") if not text.strip("-0.,") else text


def _decimals(size: float, digits: int) -> int:
    """The decimals that give a positive number so many significant digits."""
    exponent = int(f"{size:.{digits - 1}e}".partition("e")[2])  # after rounding: 9.999 is 10.0
    return digits - 1 - exponent
