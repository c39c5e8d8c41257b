# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers, names, settings and texts from outside in words: measured numbers have three significant
digits, one precision for a whole column, and beside a ± no more digits than it supports; texts from
checkpoints, servers and models are made safe for terminals, logs and images.
"""

from __future__ import annotations

import math
import re
from ast import literal_eval
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

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
    from statistics import median

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


_LONGEST_SETTING = 10_000  # characters


def counted(number: int, noun: str) -> str:
    """`1 trial`, `2 trials`, `2,000 trials`: for nouns whose plural ends with s."""
    return f"{number} {noun}" if number == 1 else f"{number:,} {noun}s"


def capitalized(text: str) -> str:
    """The text with a capital letter at the start."""
    return text[:1].upper() + text[1:]


def whole(number: float) -> float:
    """The number rounded for display: 0 instead of -0."""
    return round(number, 0) + 0.0


def size_text(count: int) -> str:
    """A number of bytes with a decimal unit: `12 kB`, `1.4 GB`."""
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return counted(count, "byte")


def first_few(names: Sequence[str], most: int = 12) -> str:
    """The names, separated by commas; if there are more than `most`, the number of the others:
    `a, b and 3 more`.
    """
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def closest(word: str, choices: Iterable[str], similarity: float = 0.6) -> str:
    """The most similar of the `choices`, whatever their case; "" if none has this `similarity` (0
    to 1).
    """
    from difflib import get_close_matches

    by_lower = {choice.lower(): choice for choice in choices}
    matches = get_close_matches(word.lower(), by_lower, n=1, cutoff=similarity)
    return by_lower[matches[0]] if matches else ""


def shortened(text: str, most: int) -> str:
    """The text; if it has more than `most` characters, its beginning and an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def setting_text(setting: object, *, in_brackets: bool = False) -> str:
    """A setting in words or JSON; checkpoints store it as a Python literal. A list has brackets
    only on request.
    """
    text = str(setting)
    try:
        value = literal_eval(text) if len(text) <= _LONGEST_SETTING else text
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text  # plain text
    match value:
        case None:
            return "not set"
        case True | False:
            return "yes" if value else "no"
        case () | []:
            return "[]" if in_brackets else "none"
        case tuple() | list() if all(isinstance(item, (str, int, float)) for item in value):
            items = ", ".join(map(str, value))
            return f"[{items}]" if in_brackets else items
        case tuple() | list() | dict():
            import json

            return json.dumps(value, default=str)
    return text


# Characters that move the cursor, change the title or the text direction, or are invalid: control
# characters except line ends and tabs, direction marks, surrogates, and those that XML forbids.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufff9-\ufffb\ufffe\uffff]"
)
_LINE_ENDS = re.compile("[\n\t]")


def printable(text: str) -> str:
    r"""`text` with every unprintable character in a visible form, such as \x1b."""
    return _UNPRINTABLE.sub(_visible, text)


def one_line(text: str) -> str:
    """The same, on one line."""
    return _LINE_ENDS.sub(_visible, printable(text))


def drawable(text: str) -> str:
    """The same for an image, where a backslash may have a meaning: a replacement character."""
    return _UNPRINTABLE.sub("\ufffd", text)


def drawable_values(value: Any) -> Any:
    """A JSON-like value with all its texts drawable."""
    if isinstance(value, str):
        return drawable(value)
    if isinstance(value, Mapping):
        return {drawable(str(key)): drawable_values(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [drawable_values(item) for item in value]
    return value


def _visible(match: re.Match[str]) -> str:
    return ascii(match[0])[1:-1]
