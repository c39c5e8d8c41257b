# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How much a number has changed, and how sure that is. Standard library only.

Noise is told in logarithms, where a change is a difference and its error does not depend on the
size of the number. All intervals are those of 95 % confidence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from statistics import fmean, median, variance

# Student's t for 95 % (two-sided) by degrees of freedom; between them it is nearly linear in the
# reciprocal.
_STUDENT = (
    (1.0, 12.706), (2.0, 4.303), (3.0, 3.182), (4.0, 2.776), (5.0, 2.571), (6.0, 2.447),
    (7.0, 2.365), (8.0, 2.306), (10.0, 2.228), (15.0, 2.131), (20.0, 2.086), (30.0, 2.042),
    (60.0, 2.0), (math.inf, 1.96),
)  # fmt: skip

# So many changes are needed to tell their spread, and an interval of their median.
FEWEST_CHANGES = 6

# Percent. A change within the first is none, whatever the noise; an interval that leaves room for
# more than the second does not show that there is none.
_NEGLIGIBLE = 1.0
_TELLING = 10.0

# Logarithms are cut there: nothing that is measured changes more, and its exponential is a number.
_LARGEST = 100.0


class Verdict(Enum):
    """What can be said about a change."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    UNKNOWN = "not enough data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """The standard error of a logarithm, known with so many degrees of `freedom`."""

    error: float
    freedom: float

    @property
    def reach(self) -> float:
        """Half the interval."""
        return min(_student(self.freedom) * self.error, _LARGEST)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """Where a value is with 95 % confidence."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """From `base` to `new` it is so many `percent`; what is not known is None."""

    base: float | None
    new: float | None
    percent: float | None
    interval: Interval | None

    def verdict(self, *, is_higher_better: bool) -> Verdict:
        """What the interval allows to say."""
        if self.interval is None:
            return Verdict.UNKNOWN
        low, high = self.interval.low, self.interval.high
        if low <= 0 <= high or max(-low, high) <= _NEGLIGIBLE:
            return Verdict.SAME if max(-low, high) <= _TELLING else Verdict.UNKNOWN
        return Verdict.BETTER if (low > 0) == is_higher_better else Verdict.WORSE


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


def log_ratio(base: float | None, new: float | None) -> float | None:
    """The change as a logarithm; None where that does not exist."""
    if base is None or new is None:
        return None
    if base == new:
        return 0.0
    if base <= 0 or new <= 0:
        return None
    return max(-_LARGEST, min(math.log(new) - math.log(base), _LARGEST))


def windows_noise(models: Sequence[Sequence[float]]) -> Noise | None:
    """That of a throughput, from the windows of each model that has a part in it; None where a
    model has fewer than two.
    """
    if not models or any(len(windows) < 2 for windows in models):
        return None
    total = sum(fmean(windows) for windows in models)
    if total <= 0:
        return None
    parts = [
        (variance(windows) / len(windows) / total**2, len(windows) - 1.0) for windows in models
    ]
    return _sum(parts)


def spread_noise(groups: Sequence[Sequence[float]]) -> Noise | None:
    """That of one change, from how far apart the changes inside each group are; None where they
    are too few.

    A group is what should have changed alike. Where groups are too small for that, all changes
    are taken as one, so that what changed differently for a reason counts as noise, too. Outliers
    count: latencies have them, and whoever leaves them out is surprised by the next.
    """
    count = sum(map(len, groups))
    if count < FEWEST_CHANGES:
        return None
    if count - len(groups) < FEWEST_CHANGES - 1:
        groups = [[ratio for group in groups for ratio in group]]
    freedom = count - len(groups)
    squares = sum((ratio - fmean(group)) ** 2 for group in groups for ratio in group)
    return Noise(error=math.sqrt(squares / freedom), freedom=freedom)


def ratio_noise(base: Noise | None, new: Noise | None) -> Noise | None:
    """That of the ratio of two values, from those of both."""
    if base is None or new is None:
        return None
    return _sum([(base.error**2, base.freedom), (new.error**2, new.freedom)])


def widest(*noises: Noise | None) -> Noise | None:
    """The one that leaves most open, of those that are known."""
    return max((noise for noise in noises if noise is not None), key=_reach, default=None)


def around(value: float, noise: Noise | None) -> Interval | None:
    """The interval of a value."""
    if noise is None:
        return None
    factor = math.exp(noise.reach)
    return Interval(low=value / factor, high=value * factor)


def _reach(noise: Noise) -> float:
    return noise.reach


def _sum(parts: Sequence[tuple[float, float]]) -> Noise:
    """Of independent parts: their variances, and degrees of freedom (Welch and Satterthwaite)."""
    total = sum(part for part, _ in parts)
    if total == 0:
        return Noise(error=0.0, freedom=sum(freedom for _, freedom in parts))
    freedom = total**2 / sum(part**2 / freedom for part, freedom in parts)
    return Noise(error=math.sqrt(total), freedom=freedom)


def _student(freedom: float) -> float:
    freedom = max(freedom, 1.0)
    for (low, at_low), (high, at_high) in pairwise(_STUDENT):
        if freedom <= high:
            share = (1 / low - 1 / freedom) / (1 / low - 1 / high)
            return at_low + share * (at_high - at_low)
    return _STUDENT[-1][1]


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
