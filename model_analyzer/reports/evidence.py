# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How sure a value of rounds is: its 95 % interval, and the measurements behind it."""

from __future__ import annotations

from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.domain.words import counted, decimals_for, number_text, whole, with_error
from model_analyzer.noise.noise import Interval
from model_analyzer.results.columns import requests_behind
from model_analyzer.results.selection import Gain


def basis_text(item: MeasuredTrial) -> str:
    """The requests and rounds behind the values: `1,240 requests, 3 rounds`."""
    requests = requests_behind(item.measurement)
    words = counted(requests, "request") if isinstance(requests, int) else f"{requests} requests"
    is_round = item.measurement.is_round
    times = counted(len(item.runs), "round") if is_round else times_text(item)
    return f"{words}, {times}"


def times_text(item: MeasuredTrial) -> str:
    """How often a trial was measured, in words."""
    count = len(item.runs)
    return "once" if count == 1 else f"{count} times"


def value_texts(value: float, interval: Interval | None) -> tuple[str, str]:
    """A value with the digits that its 95 % interval supports, such as `1,360 ± 60`. If one side of
    the interval is clearly longer, the value alone, and its interval, such as `508 to 1,831`.
    """
    if interval is None:
        return number_text(value), ""
    if interval.is_lopsided(value):
        return number_text(value), f"{number_text(interval.low)} to {number_text(interval.high)}"
    return with_error(value, (interval.high - interval.low) / 2), ""


def gain_text(gain: Gain, *, sign: str = "") -> str:
    """A gain in percent with its noise, such as `850 ± 160`, or its interval, such as `780 to
    5,400`, if one side of that is clearly longer; a whole number if the noise is unknown. The
    `sign` "+" marks positive gains, too.
    """
    interval = gain.interval
    if interval is None:
        return f"{whole(gain.percent):{sign},.0f}"
    if interval.is_lopsided(gain.percent):
        return f"{_percent_text(interval.low, sign)} to {_percent_text(interval.high, sign)}"
    return with_error(gain.percent, gain.noise, sign=sign)


def _percent_text(percent: float, sign: str) -> str:
    """A bound of a gain: a whole number with two significant digits."""
    digits = min(decimals_for(abs(percent), 2), 0) if percent else 0
    return f"{whole(round(percent, digits)):{sign},.0f}"
