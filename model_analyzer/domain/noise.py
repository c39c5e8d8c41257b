# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The one model of measurement noise: for search, reports and `compare`.

Noise is told in natural logarithms, where a change is a difference and its error does not depend on
the size of the number: an error of 0.02 is 2 % of the value. Every interval, and every "±" that a
user sees, is one of 95 % confidence. docs/decisions/0009-noise.md has the reasons and figures.
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

# Student's t for 95 % (two-sided) by degrees of freedom (any statistical table); between them it is
# nearly linear in the reciprocal.
_STUDENT = (
    (1.0, 12.706), (2.0, 4.303), (3.0, 3.182), (4.0, 2.776), (5.0, 2.571), (6.0, 2.447),
    (7.0, 2.365), (8.0, 2.306), (10.0, 2.228), (15.0, 2.131), (20.0, 2.086), (30.0, 2.042),
    (60.0, 2.0), (math.inf, 1.96),
)  # fmt: skip

# So many changes are needed to tell their spread.
FEWEST_CHANGES = 6

# Logarithms are cut there: nothing that is measured changes more, and its exponential is a number.
LARGEST_LOGARITHM = 100.0

# Degrees of freedom that the windows of other measurements count for at most, beside the two of a
# measurement's own: so an unsteady measurement still has wider intervals than its neighbours.
_MOST_FROM_OTHERS = 8.0

# Degrees of freedom that windows count for at most beside repetitions, which know what else changes
# from one run to the next.
_MOST_FROM_WINDOWS = 4.0

# What is usual for metrics of perf_analyzer where nothing else is known: it counts for one
# repetition. Memory and the like repeat exactly, unless repetitions say otherwise.
_USUAL_PREFIX = "perf_"
_USUAL_ERROR, _USUAL_FREEDOM = 0.03, 1.0


# Of these there are as many as measurements, and a tuple takes a third of the time to make.
class Noise(NamedTuple):
    """The standard error of a logarithm, known with so many degrees of `freedom`."""

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
        """The noise of the mean of so many independent values that each have this noise."""
        if count == 1:
            return self
        return Noise(error=self.error / math.sqrt(count), freedom=self.freedom)

    def worth(self, freedom: float) -> Noise:
        """The same noise, counted with at most so many degrees of freedom."""
        return Noise(error=self.error, freedom=max(0.0, min(self.freedom, freedom)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """Where a value is with 95 % confidence."""

    low: float
    high: float


def spread(values: Sequence[float]) -> Noise | None:
    """The noise of one of these values of the same thing (windows, repetitions), from how far they
    are apart; None with fewer than two, or if their mean is not positive.
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
    """The noise of one change (`log_ratio`), from how far apart the changes inside each group are;
    None where they are too few.

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


def pooled(noises: Iterable[Noise | None]) -> Noise | None:
    """One estimate of the same noise from many: variances weighted by degrees of freedom. What is
    None tells nothing; None where nothing does.
    """
    squares, freedom = 0.0, 0.0
    for noise in noises:
        if noise is not None:
            squares += noise.error**2 * noise.freedom
            freedom += noise.freedom
    return Noise(error=math.sqrt(squares / freedom), freedom=freedom) if freedom else None


def combined(parts: Iterable[tuple[float, Noise | None]]) -> Noise | None:
    """The noise of a sum of independent parts, each with its share of the sum: variances add up,
    degrees of freedom as Welch and Satterthwaite have them. None where one is not known.
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
    """The noise of the ratio of two independent values; None where one is not known."""
    return combined(((1.0, base), (1.0, new)))


def widest(*noises: Noise | None) -> Noise | None:
    """The one that leaves most open, of those that are known."""
    known = (noise for noise in noises if noise is not None)
    return max(known, key=lambda noise: noise.reach, default=None)


def around(value: float, noise: Noise | None) -> Interval | None:
    """The 95 % interval of a value, in its unit."""
    if noise is None:
        return None
    factor = math.exp(noise.reach)
    return Interval(low=value / factor, high=value * factor)


def log_ratio(base: float | None, new: float | None) -> float | None:
    """The change from `base` to `new` as a logarithm; None where that does not exist."""
    if base is None or new is None:
        return None
    if base == new:
        return 0.0
    if base <= 0 or new <= 0:
        return None
    return max(-LARGEST_LOGARITHM, min(math.log(new) - math.log(base), LARGEST_LOGARITHM))


class NoiseModel:
    """What many measurements under the same conditions tell of their noise.

    `runs` holds the measurements of each trial: one, or all its repetitions. Throughput has two
    sources: windows within a measurement, and repetitions. All other metrics have repetitions only.

    Windows follow each other within seconds, so what disturbs one disturbs the next: their mean is
    hardly surer than one of them, and the noise of a measurement is taken to be that of one window.
    Two or three windows alone would make intervals twice as wide as their pool does.
    """

    def __init__(self, runs: Iterable[Sequence[Measurement]]) -> None:
        self._runs = list(runs)
        self._repeated = [group for group in self._runs if len(group) > 1]
        self._repetitions: dict[str, Noise | None] = {}

    def deviation(self, tag: str) -> Noise | None:
        """The standard deviation of a metric that is measured once, as a fraction of its value, as
        far as repetitions and (of throughput) windows tell.
        """
        return self._single(tag, self._windows if _has_windows(tag) else None)

    def expected_deviation(self, tag: str) -> Noise:
        """The same, with what is usual counted for one repetition: always known."""
        is_usual = ALIASES.get(tag, tag).startswith(_USUAL_PREFIX)
        usual = Noise(error=_USUAL_ERROR if is_usual else 0.0, freedom=_USUAL_FREEDOM)
        return pooled((usual, self.deviation(tag))) or usual

    def score_deviation(self, goal: Goal) -> Noise | None:
        """The standard deviation of `Goal.score` of something measured once against its true mean,
        from repetitions and, where only throughput counts, windows.
        """
        repetitions = pooled(_score_spread(goal, group) for group in self._repeated)
        windows = None
        if goal.is_for_throughput and self._windows is not None:
            total = sum(model.weighting for model in goal.models)
            shares = (model.weighting / total for model in goal.models)
            windows = combined((share, self._windows) for share in shares)
        return _with_windows(repetitions, windows)

    def of(self, runs: Sequence[Measurement], tag: str, index: int | None = None) -> Noise | None:
        """The noise of the mean of these repetitions, which are among those of the model: of a
        metric of the model at `index`, or over all models of the trial.
        """
        if not _has_windows(tag):
            deviation = self.deviation(tag)
        elif index is not None or len(runs[0].models) == 1:
            deviation = self._single(tag, self._own_windows(runs, index or 0))
        else:
            deviation = self._throughput(runs)
        return None if deviation is None else deviation.of_mean(len(runs))

    def _throughput(self, runs: Sequence[Measurement]) -> Noise | None:
        """Of one of these, over all models: each has its share in the sum."""
        values = [model.values.get(DEFAULT_OBJECTIVE, 0.0) for model in runs[0].models]
        total = sum(values)
        if total <= 0:
            return None
        return combined(
            (value / total, self._single(DEFAULT_OBJECTIVE, self._own_windows(runs, index)))
            for index, value in enumerate(values)
        )

    def _single(self, tag: str, windows: Noise | None) -> Noise | None:
        """Of one of these, from repetitions and `windows`."""
        if tag not in self._repetitions:
            self._repetitions[tag] = pooled(self._repeated_values(tag))
        return _with_windows(self._repetitions[tag], windows)

    def _repeated_values(self, tag: str) -> Iterator[Noise | None]:
        for group in self._repeated:
            for index in range(len(group[0].models)):
                values = [measurement.model_value(index, tag) for measurement in group]
                yield spread([value for value in values if value is not None])

    def _own_windows(self, runs: Sequence[Measurement], index: int) -> Noise | None:
        """Of one window of this model: its own, and those of all others for as much as they are
        worth beside them.
        """
        spreads = [self._spread(measurement.models[index]) for measurement in runs]
        own = spreads[0] if len(spreads) == 1 else pooled(spreads)
        everything = self._windows
        if own is None or everything is None:
            return None
        # as `pooled` has it, of which there are too many here
        others = max(0.0, min(_MOST_FROM_OTHERS, everything.freedom - own.freedom))
        freedom = own.freedom + others
        squares = own.error**2 * own.freedom + everything.error**2 * others
        return Noise(math.sqrt(squares / freedom), freedom)

    def _spread(self, model: ModelMeasurement) -> Noise | None:
        known = self._spreads
        return known[id(model)] if id(model) in known else spread(model.windows)

    @cached_property
    def _models(self) -> Sequence[ModelMeasurement]:
        """What each model of each measurement did."""
        return [model for group in self._runs for one in group for model in one.models]

    @cached_property
    def _spreads(self) -> Mapping[int, Noise | None]:
        """That of the windows of each model of each measurement, by its identity: reports ask for
        it again and again.
        """
        return {id(model): spread(model.windows) for model in self._models}

    @cached_property
    def _windows(self) -> Noise | None:
        """Of one window of any model."""
        return pooled([self._spreads[id(model)] for model in self._models])


def _has_windows(tag: str) -> bool:
    return ALIASES.get(tag, tag) == DEFAULT_OBJECTIVE


def _with_windows(repetitions: Noise | None, windows: Noise | None) -> Noise | None:
    """What repetitions tell, with windows for as much as they are worth beside them."""
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
