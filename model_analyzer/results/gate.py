# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Rules that a new checkpoint must not break: `perf_throughput<-3%`, `perf_latency_p99>20`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from math import isfinite

from model_analyzer.domain.noise import Interval
from model_analyzer.results.change import Change
from model_analyzer.results.comparison import Comparison

_FORM = re.compile(r"\s*(\w+)\s*([<>])\s*([^\s%]+)\s*(%?)\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """It is broken by a change below (or above) so many percent; or, where it is about no change,
    by a value of the new best there, in the unit of the metric.
    """

    tag: str
    is_below: bool
    bound: float
    is_change: bool

    @classmethod
    def parse(cls, text: str) -> Rule:
        """Reads `METRIC<BOUND` with `%` or without; raises ValueError with a sentence. Whether
        there is such a metric is not its business.
        """
        found = _FORM.fullmatch(text)
        try:
            bound = float(found[3]) if found else float("nan")
        except ValueError:
            bound = float("nan")
        if found is None or not isfinite(bound):
            raise ValueError(
                f"{text!r} is not a rule: write, for example, perf_throughput<-3% or"
                " perf_latency_p99>20"
            )
        return cls(tag=found[1], is_below=found[2] == "<", bound=bound, is_change=bool(found[4]))

    def __str__(self) -> str:
        sign = "<" if self.is_below else ">"
        return f"{self.tag}{sign}{self.bound:g}{'%' if self.is_change else ''}"

    def is_broken_by(self, value: float) -> bool:
        return value < self.bound if self.is_below else value > self.bound

    def is_broken_within(self, interval: Interval) -> bool | None:
        """By everything in the interval, by nothing in it, or (None) by some."""
        ends = {self.is_broken_by(interval.low), self.is_broken_by(interval.high)}
        return ends.pop() if len(ends) == 1 else None


class Status(Enum):
    """What became of a rule."""

    KEPT = "passed"
    BROKEN = "failed"
    OPEN = "not certain"


class Ground(Enum):
    """What decided about a rule, or left it open."""

    BEST = "the best"
    TRIALS = "the common trials"
    FAILURES = "failures only"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What became of a rule for a model, and by what."""

    model: str
    rule: Rule
    status: Status
    ground: Ground

    @property
    def is_regression(self) -> bool:
        return self.status is Status.BROKEN


def judge(rule: Rule, comparison: Comparison, *, strict: bool) -> Judgement:
    """Whether a model keeps a rule.

    The best decides. Where its interval leaves a change open, the median change of the common
    trials may break the rule. What is open even then is kept, unless `strict`: then the change as
    measured decides, and what was not measured is broken. A model of which nothing could be
    measured any more breaks every rule.
    """

    def judged(status: Status, ground: Ground = Ground.BEST) -> Judgement:
        return Judgement(model=comparison.model, rule=rule, status=status, ground=ground)

    best = comparison.best
    if best is None:
        return judged(Status.BROKEN, Ground.FAILURES)
    found = best.changes[rule.tag]
    value, interval = found.percent, found.interval
    if not rule.is_change:
        value, interval = found.new, best.new_values[rule.tag]
        if value is not None and interval is None:
            interval = Interval(low=value, high=value)  # as constraints take it
    broken = None if interval is None else rule.is_broken_within(interval)
    if broken is not None:
        return judged(Status.BROKEN if broken else Status.KEPT)
    if rule.is_change and _is_certainly_broken(rule, comparison.overall[rule.tag]):
        return judged(Status.BROKEN, Ground.TRIALS)
    if strict:
        is_broken = value is None or rule.is_broken_by(value)
        return judged(Status.BROKEN if is_broken else Status.KEPT)
    return judged(Status.OPEN)


def _is_certainly_broken(rule: Rule, change: Change) -> bool:
    return change.interval is not None and rule.is_broken_within(change.interval) is True
