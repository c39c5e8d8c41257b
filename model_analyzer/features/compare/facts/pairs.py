# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Changes between two servers, from pairs of measurements, and whether enough is known. Pure.

The intervals may be looked at after every pair: all of them together contain the true change with
95 % confidence (a confidence sequence), and so do those of all metrics and models. They assume of
the noise only that it favours neither side: then a bet on a change, paid by the size of a pair but
limited, gains nothing on average, and hardly ever twenty times its stake
(https://arxiv.org/abs/2010.09686). docs/decisions/0030-pairs.md has the reasons.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from model_analyzer.domain.metrics import METRICS
from model_analyzer.features.compare.facts.comparison import Rule, verdict
from model_analyzer.noise.noise import Interval
from model_analyzer.results.change import Change, ChangeVerdict

_ERROR = 0.05  # of all intervals together

# The parts of the stake that are bet, each with a third of it: small ones for small changes.
_BETS = (0.2, 0.4, 0.8)

# Pairs that only tell the spread of the next ones; a pair that is so many times as far counts no
# more than that.
_FIRST, _FAR = 3, 1.5

_LARGEST, _STEPS = 10.0, 40  # logarithm of the largest change; halvings to find an end

# Percent: without rules, it is enough to know that a change is smaller.
SMALL = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """The values of both sides in each pair, by metric: only those that both have. `intervals` is
    the number of intervals that hold together: those of all metrics of all models.
    """

    values: Mapping[str, list[tuple[float, float]]]
    intervals: int

    def change(self, tag: str) -> Change:
        """The change of a metric: the median of the pairs."""
        pairs = self.values[tag]
        if not pairs:
            return Change(base=None, new=None, percent=None, interval=None)
        ratios = [math.log(later / old) for old, later in pairs]
        limits = self._limits(ratios)
        return Change(
            base=median(old for old, _ in pairs),
            new=median(later for _, later in pairs),
            percent=_percent(median(ratios)),
            interval=limits and Interval(low=_percent(limits[0]), high=_percent(limits[1])),
        )

    def new_value(self, tag: str) -> Interval | None:
        """The interval of the new side alone, in which drift of the machine is noise, too."""
        limits = self._limits([math.log(later) for _, later in self.values[tag]])
        return limits and Interval(low=math.exp(limits[0]), high=math.exp(limits[1]))

    def is_decided(self, rules: Sequence[Rule]) -> bool:
        """Whether nothing more needs to be measured: a rule is broken for certain, or none is.
        Without rules: a metric is worse for certain, or each change is better or small.
        """
        if rules:
            broken = [self._is_broken(rule) for rule in rules]
            return True in broken or None not in broken
        changes = {tag: self.change(tag) for tag in self.values}
        verdicts = [verdict(tag, each) for tag, each in changes.items()]
        return ChangeVerdict.WORSE in verdicts or all(
            how is ChangeVerdict.BETTER or most(each) < SMALL
            for how, each in zip(verdicts, changes.values(), strict=True)
        )

    def _is_broken(self, rule: Rule) -> bool | None:
        tag = rule.tag
        interval = self.change(tag).interval if rule.is_change else self.new_value(tag)
        return None if interval is None else rule.is_broken_within(interval)

    def _limits(self, logarithms: Sequence[float]) -> tuple[float, float] | None:
        """The ends of the interval of their centre; None with too few values."""
        needed = 2 * self.intervals / _ERROR  # of the stake of one, for each end
        spreads = [_spread(logarithms[:count]) for count in range(_FIRST, len(logarithms))]
        later = [*zip(logarithms[_FIRST:], spreads, strict=False)]
        middle = median(logarithms) if logarithms else 0.0
        ends = []
        for sign in (-1.0, 1.0):
            outside, inside = middle + sign * _LARGEST, middle
            if _gain(later, outside, -sign) < needed:
                return None
            for _ in range(_STEPS):
                half = (outside + inside) / 2
                if _gain(later, half, -sign) < needed:
                    inside = half
                else:
                    outside = half
            ends.append(outside)
        return ends[0], ends[1]


def _spread(logarithms: Sequence[float]) -> float:
    """The median distance from the median."""
    middle = median(logarithms)
    return max(median(abs(each - middle) for each in logarithms), 1e-9)


def _gain(values: Sequence[tuple[float, float]], centre: float, sign: float) -> float:
    """What bets have made of a stake of 1 that values, each with a spread, lie above (or with the
    sign -1 below) this centre.
    """
    stakes = [1.0] * len(_BETS)
    for value, spread in values:
        share = sign * max(-1.0, min((value - centre) / (_FAR * spread), 1.0))
        stakes = [stake * (1 + bet * share) for stake, bet in zip(stakes, _BETS, strict=True)]
    return fmean(stakes)


def most(change: Change) -> float:
    """The largest change in the interval, in percent, in either direction; infinite if unknown."""
    interval = change.interval
    return math.inf if interval is None else max(-interval.low, interval.high)


def conclusion(pairs: Pairs) -> str:
    """What is known about each metric, in a clause."""
    return "; ".join(_clause(tag, pairs.change(tag)) for tag in pairs.values)


def _clause(tag: str, change: Change) -> str:
    name, how = METRICS[tag].name, verdict(tag, change)
    if change.interval is None or change.percent is None:
        return f"{name} is not known yet"
    if how in (ChangeVerdict.WORSE, ChangeVerdict.BETTER):
        low, high = change.interval.low, change.interval.high
        return f"{name} is {how.value}, {change.percent:+.1f} % ({low:+.1f} to {high:+.1f})"
    return f"{name} has no difference larger than {most(change):.1f} %"


def _percent(logarithm: float) -> float:
    return 100 * math.expm1(logarithm)
