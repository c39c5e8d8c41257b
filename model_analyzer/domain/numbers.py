# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The ranges of numbers; and measured numbers for people: three significant digits, one precision
for a whole column, and beside a ± no more digits than it supports.
"""

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
    typical = max(decimals_for(median(sizes), _DIGITS), 0)
    is_short = decimals_for(min(sizes), _FEWEST_DIGITS) > typical
    return min(typical + is_short, _MOST_DECIMALS)


def decimals_for(size: float, digits: int) -> int:
    """The decimals that give a positive number so many significant digits."""
    exponent = int(f"{size:.{digits - 1}e}".partition("e")[2])  # after rounding: 9.999 is 10.0
    return digits - 1 - exponent


def number_text(number: float, decimals: int | None = None) -> str:
    """The number with `decimals` and thousands separators, such as `1,327` or `14.5`; by default
    with three significant digits, or all digits of its whole part.
    """
    decimals = decimals_of([number]) if decimals is None else decimals
    text = f"{number:,.{decimals}f}"
    return text.removeprefix("-") if not text.strip("-0.,") else text


def limit_text(limit: float) -> str:
    """A limit as the user set it, with thousands separators, such as `12,000` or `0.25`."""
    return f"{limit:,.12g}"


def with_error(number: float, error: float | None, *, sign: str = "") -> str:
    """A number and its ± with the digits that the ± supports, such as `1,360 ± 60` or `29.1 ± 1.3`:
    up to the first digit of the ±, or the second if the first is a 1. If the ± is about as large as
    the number, this keeps two digits, such as `1,700 ± 2,000`, but no more decimals than the ±.
    Without an `error`, the number alone, as usual. The `sign` "+" marks positive numbers, too.
    """
    error = error or 0.0
    digit = _last_digit(error)
    if digit is None:
        return f"{sign if number >= 0 else ''}{number_text(number)}"
    decimals = max(digit, 0)
    form = f",.{decimals}f"
    own = min(decimals_for(abs(number), _FEWEST_DIGITS), decimals)
    # no negative zero
    return f"{round(number, max(digit, own)) + 0.0:{sign}{form}} ± {round(error, digit):{form}}"


def percent_text(percent: float) -> str:
    """A percentage: whole numbers from 1 %, with thousands separators; otherwise two significant
    digits.
    """
    return f"{percent:,.0f} %" if percent >= 1 else f"{percent:.2g} %"


def chance_text(chance: float) -> str:
    """A probability in whole percent, never 0 % or 100 %."""
    percent = round(100 * chance)
    if percent < 1:
        return "less than 1 %"
    return f"{percent} %" if percent < 100 else "more than 99 %"


def a_chance(chance: float) -> str:
    """A probability with its article: `an 80 % chance`, `a chance of less than 1 %`."""
    text = chance_text(chance)
    if not text[0].isdigit():
        return f"a chance of {text}"
    number = text.split()[0]
    return f"{'an' if number[0] == '8' or number in ('11', '18') else 'a'} {text} chance"


def expected_gain_text(gain: float) -> str:
    """An expected gain, a share of the best: `about 1.3 %`, or `less than 0.1 %`."""
    percent = f"{100 * gain:.1f}"
    return f"about {percent} %" if float(percent) > 0 else "less than 0.1 %"


def _last_digit(error: float) -> int | None:
    """The decimal of the last digit that an error supports (negative before the point); None if
    there is no error, or a smaller one than any number shows.
    """
    if not error or not math.isfinite(error):
        return None
    leading = decimals_for(error, 1)
    digit = leading + (error * 10**leading < 2)
    return digit if digit <= _MOST_DECIMALS else None


# No metric and no option comes near this number, in any unit: so sums, squares and quotients are
# finite.
MOST_NUMBER = 10**15
MOST_INTEGER = 2**63 - 1
# The largest number that fits into a model configuration and into client flags (int32).
MOST_COUNT = 2**31 - 1
# Instances of a model on one device: each needs a thread of the server.
MOST_INSTANCES = 10_000
# More than 11 days, of which every wait of the operating system takes the milliseconds (int32).
MOST_SECONDS = 10**6
# Seconds between readings: with fewer, readings would take all the time of a processor.
LEAST_INTERVAL = 0.001

# Requests per second, of which no perf_analyzer sends a tenth. In 50 seconds, these are as many
# requests as a log may have (`domain.traffic`).
MOST_RATE = 100_000
# Requests per second that all replicas of a model get together: more than any service gets.
MOST_DEMAND = 10**9
