# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How much a number has changed, and how sure that is. Standard library only.

Noise is that of `domain.noise`: told in logarithms, with intervals of 95 % confidence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import median

from model_analyzer.domain.noise import Interval, Noise, log_ratio

# Percent. A change within the first is none, whatever the noise; an interval that leaves room for
# more than the second does not show that there is none.
_NEGLIGIBLE = 1.0
_TELLING = 10.0


class ChangeVerdict(Enum):
    """What can be said about a change."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    UNKNOWN = "not enough data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """From `base` to `new` it is so many `percent`; what is not known is None."""

    base: float | None
    new: float | None
    percent: float | None
    interval: Interval | None

    def verdict(self, *, is_higher_better: bool) -> ChangeVerdict:
        """What the interval allows to say."""
        if self.interval is None:
            return ChangeVerdict.UNKNOWN
        low, high = self.interval.low, self.interval.high
        if low <= 0 <= high or max(-low, high) <= _NEGLIGIBLE:
            return ChangeVerdict.SAME if max(-low, high) <= _TELLING else ChangeVerdict.UNKNOWN
        return ChangeVerdict.BETTER if (low > 0) == is_higher_better else ChangeVerdict.WORSE


def change(base: float | None, new: float | None, noise: Noise | None) -> Change:
    """The change between two values with the `noise` of their ratio."""
    ratio = log_ratio(base, new)
    if ratio is None:
        return Change(base=base, new=new, percent=None, interval=None)
    interval = None if noise is None else _percents(ratio - noise.reach, ratio + noise.reach)
    return Change(base=base, new=new, percent=_percent(ratio), interval=interval)


def median_change(ratios: Sequence[float]) -> Change:
    """The median of changes (as `log_ratio` gives them), for which no shape of noise is assumed:
    the interval is between two of them, counted from both ends.
    """
    if not ratios:
        return Change(base=None, new=None, percent=None, interval=None)
    ordered, outside = sorted(ratios), _outside(len(ratios))
    interval = None if outside is None else _percents(ordered[outside], ordered[-1 - outside])
    return Change(base=None, new=None, percent=_percent(median(ordered)), interval=interval)


def _outside(count: int) -> int | None:
    """How many of so many values can be left out at each end, so that the median is between the
    others with 95 % confidence; None where it is not even between all of them.
    """
    below = 0.0
    for number in range(count // 2 + 1):
        below += math.exp(
            math.lgamma(count + 1)
            - math.lgamma(number + 1)
            - math.lgamma(count - number + 1)
            - count * math.log(2)
        )
        if below > 0.025:
            return number - 1 if number else None
    return None


def _percent(logarithm: float) -> float:
    return math.expm1(logarithm) * 100


def _percents(low: float, high: float) -> Interval:
    return Interval(low=_percent(low), high=_percent(high))
