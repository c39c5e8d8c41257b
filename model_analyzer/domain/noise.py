# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The one model of measurement noise: for search, reports and `compare`.

Noise is the error of a natural logarithm: there a change is a difference, and its error does not
depend on the size of the number. An error of 0.02 is 2 % of the value. Every interval, and every
"±" that a user sees, has 95 % confidence. docs/decisions/0009-noise.md has the reasons and figures.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple

from model_analyzer.domain.goals import DEFAULT_OBJECTIVE, Goal
from model_analyzer.domain.measurements import Measurement, ModelMeasurement, averaged
from model_analyzer.domain.metrics import ALIASES

# Student's t for 95 % (two-sided) by degrees of freedom (from any statistical table); between these
# values, it is almost linear in their reciprocal.
_STUDENT = (
    (1.0, 12.706), (2.0, 4.303), (3.0, 3.182), (4.0, 2.776), (5.0, 2.571), (6.0, 2.447),
    (7.0, 2.365), (8.0, 2.306), (10.0, 2.228), (15.0, 2.131), (20.0, 2.086), (30.0, 2.042),
    (60.0, 2.0), (math.inf, 1.96),
)  # fmt: skip

# The number of changes needed to estimate their spread.
FEWEST_CHANGES = 6

# Logarithms are limited to this: no metric changes by more, and larger exponentials overflow.
LARGEST_LOGARITHM = 100.0

# The windows of other measurements count with at most this many degrees of freedom, beside the two
# of a measurement's own windows: so an unsteady measurement has wider intervals than the others.
_MOST_FROM_OTHERS = 8.0

# If there are repetitions, windows count with at most this many degrees of freedom: only
# repetitions show what changes from one run to the next.
_MOST_FROM_WINDOWS = 4.0

# The usual noise of metrics of perf_analyzer, if nothing else is known: it counts like one
# repetition. Memory and similar metrics have no noise, unless repetitions show some.
_USUAL_PREFIX = "perf_"
_USUAL_ERROR, _USUAL_FREEDOM = 0.03, 1.0


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


class NoiseModel:
    """Estimates the noise of many measurements under the same conditions.

    `runs` holds the measurements of each trial: one, or all its repetitions. Throughput has two
    sources: windows within a measurement, and repetitions. All other metrics have repetitions only.

    Windows follow each other within seconds, so a disturbance affects several of them. Their mean
    is hardly more exact than one window: the noise of a measurement is that of one window. The
    windows of all measurements are pooled; two or three alone would double the intervals.
    """

    def __init__(self, runs: Iterable[Sequence[Measurement]]) -> None:
        self._runs = list(runs)
        self._repeated = [group for group in self._runs if len(group) > 1]
        self._repetitions: dict[str, Noise | None] = {}

    def deviation(self, tag: str) -> Noise | None:
        """The standard deviation of a metric that is measured once, as a fraction of its value,
        from repetitions and, for throughput, windows; None if unknown.
        """
        return self._single(tag, self._windows if _has_windows(tag) else None)

    def expected_deviation(self, tag: str) -> Noise:
        """The same, with the usual noise counted like one repetition: never unknown."""
        is_usual = ALIASES.get(tag, tag).startswith(_USUAL_PREFIX)
        usual = Noise(error=_USUAL_ERROR if is_usual else 0.0, freedom=_USUAL_FREEDOM)
        return pooled((usual, self.deviation(tag))) or usual

    def score_deviation(self, goal: Goal) -> Noise | None:
        """The standard deviation of `Goal.score` of a single measurement against its true mean,
        from repetitions and, if throughput is the only objective, windows.
        """
        repetitions = pooled(_score_spread(goal, group) for group in self._repeated)
        windows = None
        if goal.is_for_throughput and self._windows is not None:
            total = sum(model.weighting for model in goal.models)
            shares = (model.weighting / total for model in goal.models)
            windows = combined((share, self._windows) for share in shares)
        return _with_windows(repetitions, windows)

    def of(self, runs: Sequence[Measurement], tag: str, index: int | None = None) -> Noise | None:
        """The noise of the mean of these repetitions, which this object must know: for a metric of
        the model at `index`, or over all models of the trial.
        """
        if not _has_windows(tag):
            deviation = self.deviation(tag)
        elif index is not None or len(runs[0].models) == 1:
            deviation = self._single(tag, self._own_windows(runs, index or 0))
        else:
            deviation = self._throughput(runs)
        return None if deviation is None else deviation.of_mean(len(runs))

    def _throughput(self, runs: Sequence[Measurement]) -> Noise | None:
        """The noise of the summed throughput of one measurement; each model has its share."""
        values = [model.values.get(DEFAULT_OBJECTIVE, 0.0) for model in runs[0].models]
        total = sum(values)
        if total <= 0:
            return None
        return combined(
            (value / total, self._single(DEFAULT_OBJECTIVE, self._own_windows(runs, index)))
            for index, value in enumerate(values)
        )

    def _single(self, tag: str, windows: Noise | None) -> Noise | None:
        """The noise of one measurement, from repetitions and `windows`."""
        if tag not in self._repetitions:
            self._repetitions[tag] = pooled(self._repeated_values(tag))
        return _with_windows(self._repetitions[tag], windows)

    def _repeated_values(self, tag: str) -> Iterator[Noise | None]:
        for group in self._repeated:
            for index in range(len(group[0].models)):
                values = [measurement.model_value(index, tag) for measurement in group]
                yield spread([value for value in values if value is not None])

    def _own_windows(self, runs: Sequence[Measurement], index: int) -> Noise | None:
        """The noise of one window of this model, from its own windows, and with less weight from
        those of all other measurements.
        """
        spreads = [self._spread(measurement.models[index]) for measurement in runs]
        own = spreads[0] if len(spreads) == 1 else pooled(spreads)
        everything = self._windows
        if own is None or everything is None:
            return None
        # the same as `pooled`, which would be too slow here
        others = max(0.0, min(_MOST_FROM_OTHERS, everything.freedom - own.freedom))
        freedom = own.freedom + others
        squares = own.error**2 * own.freedom + everything.error**2 * others
        return Noise(math.sqrt(squares / freedom), freedom)

    def _spread(self, model: ModelMeasurement) -> Noise | None:
        spreads = self._spreads
        return spreads[id(model)] if id(model) in spreads else spread(model.windows)

    @cached_property
    def _models(self) -> Sequence[ModelMeasurement]:
        """The values of each model of each measurement."""
        return [model for group in self._runs for run in group for model in run.models]

    @cached_property
    def _spreads(self) -> Mapping[int, Noise | None]:
        """The spread of the windows of each model of each measurement, by its `id`: reports ask for
        it often.
        """
        return {id(model): spread(model.windows) for model in self._models}

    @cached_property
    def _windows(self) -> Noise | None:
        """The noise of one window of any model."""
        return pooled([self._spreads[id(model)] for model in self._models])


def _has_windows(tag: str) -> bool:
    return ALIASES.get(tag, tag) == DEFAULT_OBJECTIVE


def _with_windows(repetitions: Noise | None, windows: Noise | None) -> Noise | None:
    """The noise from repetitions and, with less weight, from windows."""
    if repetitions is None:
        return windows
    return pooled((repetitions, None if windows is None else windows.worth(_MOST_FROM_WINDOWS)))


def _score_spread(goal: Goal, group: Sequence[Measurement]) -> Noise:
    mean, freedom = averaged(group), len(group) - 1.0
    squares = sum(goal.score(measurement, mean) ** 2 for measurement in group)
    return Noise(error=math.sqrt(squares / freedom), freedom=freedom)


@lru_cache(maxsize=1024)
def _student(freedom: float) -> float:
    freedom = max(freedom, 1.0)
    for (low, at_low), (high, at_high) in pairwise(_STUDENT):
        if freedom <= high:
            share = (1 / low - 1 / freedom) / (1 / low - 1 / high)
            return at_low + share * (at_high - at_low)
    return _STUDENT[-1][1]
