# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Rules that a new checkpoint must not break, such as `perf_throughput<-3%`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from math import isfinite

from model_analyzer.features.compare.facts.comparison import ModelComparison
from model_analyzer.noise.noise import Interval

_FORM = re.compile(r"\s*(\w+)\s*([<>])\s*([^\s%]+)\s*(%?)\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule is broken by a change (`is_change`) below or above `bound` percent; otherwise by a
    value of the new best below or above `bound`, in the unit of the metric.
    """

    tag: str
    is_below: bool
    bound: float
    is_change: bool

    @classmethod
    def parse(cls, text: str) -> Rule:
        """Parses `METRIC<BOUND` or `METRIC<BOUND%`, or the same with `>`. Raises ValueError with a
        message for the user. Does not check that the metric exists.
        """
        match = _FORM.fullmatch(text)
        try:
            bound = float(match[3]) if match else float("nan")
        except ValueError:
            bound = float("nan")
        if match is None or not isfinite(bound):
            raise ValueError(
                f"{text!r} is not a rule: write, for example, perf_throughput<-3% or"
                " perf_latency_p99>20"
            )
        rule = cls(tag=match[1], is_below=match[2] == "<", bound=bound, is_change=bool(match[4]))
        if bound < 0 and not rule.is_change:  # no metric is ever negative: a forgotten %
            raise ValueError(f"{text!r}: {rule.tag} is never below 0: write {rule}% for a change")
        return rule

    def __str__(self) -> str:
        sign = "<" if self.is_below else ">"
        return f"{self.tag}{sign}{self.bound:g}{'%' if self.is_change else ''}"

    def is_broken_by(self, value: float) -> bool:
        return value < self.bound if self.is_below else value > self.bound

    def is_broken_within(self, interval: Interval) -> bool | None:
        """Whether all values of the interval break the rule; None if only some do."""
        ends = {self.is_broken_by(interval.low), self.is_broken_by(interval.high)}
        return ends.pop() if len(ends) == 1 else None


class Status(Enum):
    """The result of a rule."""

    PASSED = "passed"
    FAILED = "failed"
    UNCERTAIN = "not certain"


class Ground(Enum):
    """The evidence for the result of a rule."""

    BEST = "the best"
    TRIALS = "the common trials"
    FAILURES = "failures only"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The result of a rule for a model on one kind of hardware, and its evidence."""

    comparison: ModelComparison
    rule: Rule
    status: Status
    ground: Ground

    @property
    def is_regression(self) -> bool:
        return self.status is Status.FAILED


def judge(rule: Rule, comparison: ModelComparison, *, strict: bool) -> Judgement:
    """Checks a rule for a model.

    The best decides if its whole interval breaks or passes the rule. Otherwise the median change of
    the common trials may break the rule. If that is uncertain, too, the result is uncertain, unless
    `strict`: then the measured change decides, and a missing measurement breaks the rule. A model
    with only failures on the new side breaks every rule.
    """

    def judged(status: Status, ground: Ground = Ground.BEST) -> Judgement:
        return Judgement(comparison=comparison, rule=rule, status=status, ground=ground)

    best = comparison.best
    if best is None:
        return judged(Status.FAILED, Ground.FAILURES)
    change = best.changes[rule.tag]
    value, interval = change.percent, change.interval
    if not rule.is_change:
        value, interval = change.new, best.new_values[rule.tag]
        if value is not None and interval is None:
            interval = Interval(low=value, high=value)  # like constraints, which ignore noise
    broken = None if interval is None else rule.is_broken_within(interval)
    if broken is not None:
        return judged(Status.FAILED if broken else Status.PASSED)
    common = comparison.overall[rule.tag].interval
    if rule.is_change and common is not None and rule.is_broken_within(common):
        return judged(Status.FAILED, Ground.TRIALS)
    if strict:
        is_broken = value is None or rule.is_broken_by(value)
        return judged(Status.FAILED if is_broken else Status.PASSED)
    return judged(Status.UNCERTAIN)
