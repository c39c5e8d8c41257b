# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The changes between two rankings of a model: of the best, and of all common trials; and the rules
that a new checkpoint must not break, such as `perf_throughput<-3%`.

Changes between two servers, from pairs of measurements, and whether enough is known. Pure.

The intervals may be looked at after every pair: all of them together contain the true change with
95 % confidence (a confidence sequence), and so do those of all metrics and models. They assume of
the noise only that it favours neither side: then a bet on a change, paid by the size of a pair but
limited, gains nothing on average, and hardly ever twenty times its stake
(https://arxiv.org/abs/2010.09686). docs/decisions/0030-pairs.md has the reasons.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import chain
from math import isfinite
from statistics import fmean, median

from model_analyzer.domain.hardware import with_place
from model_analyzer.domain.metrics import METRICS, Better
from model_analyzer.domain.models import fingerprint
from model_analyzer.domain.profiles import MeasuredTrial, Verdict
from model_analyzer.domain.trials import Trial
from model_analyzer.noise.noise import (
    Interval,
    Noise,
    around,
    log_ratio,
    ratio_noise,
    spread_of_groups,
    widest,
)
from model_analyzer.results.change import Change, ChangeVerdict, change, median_change
from model_analyzer.results.ranking import Ranking


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedPair:
    """A measurement of each side, and the change of each metric by its tag.

    `new_values` are the 95 % intervals of the metrics of the new side; None if unknown.
    """

    base: MeasuredTrial
    new: MeasuredTrial
    changes: Mapping[str, Change]
    new_values: Mapping[str, Interval | None]

    @property
    def is_of_one_trial(self) -> bool:
        """Whether both are the same configuration under the same load, under whatever names."""
        keys = {_key(item.trial, verified=False) for item in (self.base, self.new)}
        return len(keys) == 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """A comparison of two servers for so many seconds: the number of `pairs` of rounds, and the
    values of both sides in each, by metric; the verdict on the outputs with its reason, None if
    they were not asked for; and what was measured `once`: what it is with its unit, and the values
    of both sides.
    """

    pairs: int
    values: Mapping[str, Sequence[tuple[float, float]]]
    seconds: float
    outputs: tuple[Verdict, str] | None
    once: tuple[tuple[str, float, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelComparison:
    """The comparison of a model (or of several, measured together) by the metrics `tags`.

    `hardware` is the kind of hardware, if a side has several, otherwise "". `best` is None if the
    new side has only failures. `trials` are the common trials, the largest regression first.
    Measurements that the new side took over from the base are not in `trials`; `taken_over` is
    their number. `overall` is the median change of the trials. `live` has more about servers that
    were measured in turn: then `best` is what was measured.
    """

    model: str
    tags: tuple[str, ...]
    best: ComparedPair | None
    trials: tuple[ComparedPair, ...]
    taken_over: int
    overall: Mapping[str, Change]
    hardware: str = ""
    live: Live | None = None

    @property
    def has_wrong_outputs(self) -> bool:
        """Whether the outputs of the new side are known to differ."""
        outputs = None if self.live is None else self.live.outputs
        return outputs is not None and outputs[0] is Verdict.FAILED

    @property
    def name(self) -> str:
        """The model, and the hardware if a side has several kinds."""
        return with_place(self.model, self.hardware)


def compare(base: Ranking, new: Ranking, tags: Sequence[str]) -> ModelComparison:
    """Compares two rankings by the same goal, preferably on the same kind of hardware; the base
    must have a measurement.

    The noise of a change is the wider of two estimates: the noise of both measurements (see
    `NoiseModel`), and the spread of the changes of a configuration over its loads, which shows the
    noise between the two checkpoints (see `spread_of_groups`).
    """
    tags = tuple(dict.fromkeys(tags))
    common = list(_common(base, new))
    fresh = [(old, later) for old, later in common if old.measurement != later.measurement]
    ratios = {tag: _ratios(fresh, tag) for tag in tags}
    spreads = {tag: spread_of_groups(ratios[tag]) for tag in tags}

    def pair(old: MeasuredTrial, later: MeasuredTrial) -> ComparedPair:
        noises = {
            tag: (base.noise_model.of(old.runs, tag), new.noise_model.of(later.runs, tag))
            for tag in tags
        }
        return _pair(old, later, noises, spreads)

    pairs = [pair(old, later) for old, later in fresh]
    best = pair(base.results[0].best, new.results[0].best) if new.results else None
    return ModelComparison(
        model=base.model,
        hardware=base.hardware or new.hardware,
        tags=tags,
        best=best,
        trials=tuple(sorted(pairs, key=lambda pair: _gain(pair, tags[0]))),
        taken_over=len(common) - len(fresh),
        overall={tag: median_change([*chain(*ratios[tag])]) for tag in tags},
    )


def verdict(tag: str, change: Change) -> ChangeVerdict:
    """The verdict on the change of a metric."""
    return change.verdict(is_higher_better=METRICS[tag].better is Better.HIGHER)


def _common(base: Ranking, new: Ranking) -> Iterator[tuple[MeasuredTrial, MeasuredTrial]]:
    """The common trials: same models, configurations and loads. Model files and conditions may
    differ; these differences are reported separately.
    """
    exact = {_key(item.trial, verified=True): item for item in new.measured}
    alike = {_key(item.trial, verified=False): item for item in new.measured}
    seen = set()
    for item in base.measured:
        key = _key(item.trial, verified=False)
        other = exact.get(_key(item.trial, verified=True)) or alike.get(key)
        if other is not None and key not in seen:  # a configuration may have several names
            seen.add(key)
            yield item, other


def _key(trial: Trial, *, verified: bool) -> str:
    return fingerprint(
        [
            [
                work.variant.identity if verified else work.variant.unverified_identity,
                [work.load.kind.value, work.load.value, work.load.batch_size],
            ]
            for work in trial.workloads
        ]
    )


def _ratios(
    pairs: Sequence[tuple[MeasuredTrial, MeasuredTrial]], tag: str
) -> Sequence[Sequence[float]]:
    """The changes as logarithms, grouped by configuration."""
    groups: dict[str, list[float]] = {}
    for old, later in pairs:
        ratio = log_ratio(old.measurement.value(tag), later.measurement.value(tag))
        if ratio is not None:
            groups.setdefault(old.trial.content, []).append(ratio)
    return list(groups.values())


def _pair(
    old: MeasuredTrial,
    later: MeasuredTrial,
    noises: Mapping[str, tuple[Noise | None, Noise | None]],
    spreads: Mapping[str, Noise | None],
) -> ComparedPair:
    """`noises` are by tag for (old, later), `spreads` are the noise between the checkpoints."""
    base, new = old.measurement, later.measurement
    changes: dict[str, Change] = {}
    values: dict[str, Interval | None] = {}
    for tag, spread in spreads.items():
        noise = widest(ratio_noise(*noises[tag]), spread)
        if base == new:
            noise = Noise(error=0, freedom=1)
        changes[tag] = change(base.value(tag), new.value(tag), noise)
        value = new.value(tag)
        # a change has the noise of two values
        noise_of_value = widest(noises[tag][1], None if spread is None else spread.of_mean(2))
        values[tag] = None if value is None else around(value, noise_of_value)
    return ComparedPair(base=old, new=later, changes=changes, new_values=values)


def _gain(pair: ComparedPair, tag: str) -> float:
    """The gain in percent; 0 if the change is unknown."""
    return METRICS[tag].gain(pair.changes[tag].percent or 0.0, 0.0)


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
            if _gained(later, outside, -sign) < needed:
                return None
            for _ in range(_STEPS):
                half = (outside + inside) / 2
                if _gained(later, half, -sign) < needed:
                    inside = half
                else:
                    outside = half
            ends.append(outside)
        return ends[0], ends[1]


def _spread(logarithms: Sequence[float]) -> float:
    """The median distance from the median."""
    middle = median(logarithms)
    return max(median(abs(each - middle) for each in logarithms), 1e-9)


def _gained(values: Sequence[tuple[float, float]], centre: float, sign: float) -> float:
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
