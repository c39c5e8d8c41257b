# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Noise as a value, and how noises add up.

Noise is the error of a natural logarithm: there a change is a difference, and its error does not
depend on the size of the number. An error of 0.02 is 2 % of the value. Every interval, and every
"±" that a user sees, has 95 % confidence. docs/decisions/0009-noise.md has the reasons and figures.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple

# Student's t for 95 % (two-sided) by degrees of freedom (from any statistical table); between these
# values, it is almost linear in their reciprocal.
_STUDENT = (
    (1.0, 12.706), (2.0, 4.303), (3.0, 3.182), (4.0, 2.776), (5.0, 2.571), (6.0, 2.447),
    (7.0, 2.365), (8.0, 2.306), (10.0, 2.228), (15.0, 2.131), (20.0, 2.086), (30.0, 2.042),
    (60.0, 2.0), (math.inf, 1.96),
)  # fmt: skip

# The number of changes needed to estimate their spread.
FEWEST_CHANGES = 6

# An interval is lopsided if one side is so many times as long as the other.
_LOPSIDED = 1.5

# Logarithms are limited to this: no metric changes by more, and larger exponentials overflow.
LARGEST_LOGARITHM = 100.0


# There is one for each measurement, and a tuple is made in a third of the time.
class Noise(NamedTuple):
    """The standard error of a logarithm, with its degrees of `freedom`."""

    error: float
    freedom: float

    @property
    def reach(self) -> float:
        """Half the 95 % interval (Student's t), as a logarithm."""
        return min(_student(self.freedom) * self.error, LARGEST_LOGARITHM)

    @property
    def percent(self) -> float:
        """Half the width of the 95 % interval, in percent of the value: what "±" shows."""
        return math.sinh(self.reach) * 100

    def of_mean(self, count: int) -> Noise:
        """The noise of the mean of `count` independent values that each have this noise."""
        if count == 1:
            return self
        return Noise(error=self.error / math.sqrt(count), freedom=self.freedom)

    def worth(self, freedom: float) -> Noise:
        """The same noise with at most this many degrees of freedom."""
        return Noise(error=self.error, freedom=max(0.0, min(self.freedom, freedom)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """The 95 % interval of a value."""

    low: float
    high: float

    def is_lopsided(self, value: float) -> bool:
        """Whether one side of the value is so much longer that no ± describes both."""
        below, above = value - self.low, self.high - value
        return max(below, above) > _LOPSIDED * min(below, above)


def spread(values: Sequence[float]) -> Noise | None:
    """The noise of one of these values (windows, repetitions), from their spread; None with fewer
    than two, or if their mean is not positive.
    """
    if len(values) < 2:
        return None
    mean = sum(values) / len(values)
    if mean <= 0:
        return None
    freedom = len(values) - 1.0
    squares = sum([(value / mean - 1) ** 2 for value in values])
    return Noise(error=math.sqrt(squares / freedom), freedom=freedom)


def spread_of_groups(groups: Sequence[Sequence[float]]) -> Noise | None:
    """The noise of one change (`log_ratio`), from the spread of the changes inside each group; None
    if there are too few.

    The changes of a group should be equal. If the groups are too small, all changes make one group,
    and real differences count as noise, too. Outliers count: latencies have them, and the next
    comparison will have them again.
    """
    count = sum(map(len, groups))
    if count < FEWEST_CHANGES:
        return None
    if count - len(groups) < FEWEST_CHANGES - 1:
        groups = [[ratio for group in groups for ratio in group]]
    freedom = count - len(groups)
    squares = sum((ratio - fmean(group)) ** 2 for group in groups for ratio in group)
    return Noise(error=math.sqrt(squares / freedom), freedom=freedom)


def pooled(noises: Iterable[Noise | None]) -> Noise | None:
    """One estimate of the same noise from many: variances weighted by degrees of freedom. Unknown
    ones (None) are ignored; None if all are unknown.
    """
    squares, freedom = 0.0, 0.0
    for noise in noises:
        if noise is not None:
            squares += noise.error**2 * noise.freedom
            freedom += noise.freedom
    return Noise(error=math.sqrt(squares / freedom), freedom=freedom) if freedom else None


def combined(parts: Iterable[tuple[float, Noise | None]]) -> Noise | None:
    """The noise of a sum of independent parts, each with its share of the sum: variances add up,
    degrees of freedom follow Welch and Satterthwaite. None if one part is unknown.
    """
    total, spent, least = 0.0, 0.0, math.inf
    for share, noise in parts:
        if noise is None:
            return None
        variance = (share * noise.error) ** 2
        total += variance
        spent += variance**2 / noise.freedom
        least = min(least, noise.freedom)
    if math.isinf(least):
        return None
    return Noise(error=math.sqrt(total), freedom=total**2 / spent if spent else least)


def ratio_noise(base: Noise | None, new: Noise | None) -> Noise | None:
    """The noise of the ratio of two independent values; None if one is unknown."""
    return combined(((1.0, base), (1.0, new)))


def widest(*noises: Noise | None) -> Noise | None:
    """The noise with the widest interval; None if all are unknown."""
    present = (noise for noise in noises if noise is not None)
    return max(present, key=lambda noise: noise.reach, default=None)


def around(value: float, noise: Noise | None) -> Interval | None:
    """The 95 % interval of a value, in its unit."""
    if noise is None:
        return None
    factor = math.exp(noise.reach)
    return Interval(low=value / factor, high=value * factor)


def log_ratio(base: float | None, new: float | None) -> float | None:
    """The change from `base` to `new` as a logarithm; None if that does not exist."""
    if base is None or new is None:
        return None
    if base == new:
        return 0.0
    if base <= 0 or new <= 0:
        return None
    return max(-LARGEST_LOGARITHM, min(math.log(new) - math.log(base), LARGEST_LOGARITHM))


@lru_cache(maxsize=1024)
def _student(freedom: float) -> float:
    freedom = max(freedom, 1.0)
    for (low, at_low), (high, at_high) in pairwise(_STUDENT):
        if freedom <= high:
            share = (1 / low - 1 / freedom) / (1 / low - 1 / high)
            return at_low + share * (at_high - at_low)
    return _STUDENT[-1][1]
