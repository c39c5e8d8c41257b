# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Changes of values, with 95 % confidence intervals. Standard library only.

Noise comes from `noise.noise`, as the standard error of logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import median

from model_analyzer.noise.noise import Interval, Noise, log_ratio

# Percent. Smaller changes count as no change, whatever the noise. A wider interval around 0 is
# inconclusive.
_NEGLIGIBLE = 1.0
_INCONCLUSIVE = 10.0


class ChangeVerdict(Enum):
    """The verdict on a change."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    UNKNOWN = "not enough data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change from `base` to `new`, in percent with its interval; None means unknown."""

    base: float | None
    new: float | None
    percent: float | None
    interval: Interval | None

    def verdict(self, *, is_higher_better: bool) -> ChangeVerdict:
        """The verdict that the interval supports."""
        if self.interval is None:
            return ChangeVerdict.UNKNOWN
        low, high = self.interval.low, self.interval.high
        if low <= 0 <= high or max(-low, high) <= _NEGLIGIBLE:
            return ChangeVerdict.SAME if max(-low, high) <= _INCONCLUSIVE else ChangeVerdict.UNKNOWN
        return ChangeVerdict.BETTER if (low > 0) == is_higher_better else ChangeVerdict.WORSE


def change(base: float | None, new: float | None, noise: Noise | None) -> Change:
    """The change between two values with the `noise` of their ratio."""
    ratio = log_ratio(base, new)
    if ratio is None:
        return Change(base=base, new=new, percent=None, interval=None)
    interval = None if noise is None else _percents(ratio - noise.reach, ratio + noise.reach)
    return Change(base=base, new=new, percent=_percent(ratio), interval=interval)


def median_change(ratios: Sequence[float]) -> Change:
    """The median of changes, given as `log_ratio`. The interval uses order statistics, so it
    assumes no distribution of the noise.
    """
    if not ratios:
        return Change(base=None, new=None, percent=None, interval=None)
    ordered, outside = sorted(ratios), _outside(len(ratios))
    interval = None if outside is None else _percents(ordered[outside], ordered[-1 - outside])
    return Change(base=None, new=None, percent=_percent(median(ordered)), interval=interval)


def _outside(count: int) -> int | None:
    """How many of `count` sorted values to leave out at each end, so that the rest contains the
    median with 95 % confidence; None if there are too few values.
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
