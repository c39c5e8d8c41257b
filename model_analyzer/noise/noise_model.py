# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The one model of measurement noise: for search, reports and `compare`.

docs/decisions/0009-noise.md has the reasons and figures.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from statistics import median_low

from model_analyzer.domain.goals import DEFAULT_OBJECTIVE, Goal, ModelGoal
from model_analyzer.domain.measurements import Measurement, ModelMeasurement
from model_analyzer.domain.metrics import METRICS, Unit, canonical
from model_analyzer.noise.noise import Interval, Noise, around, combined, pooled, spread
from model_analyzer.noise.pooling import in_rounds, pool
from model_analyzer.noise.round_noise import RoundNoise

# All of something, in percent.
_WHOLE = 100.0

# The metrics whose intervals are always told.
_USUAL_TAGS = ("perf_throughput", "perf_latency_p99", "output_token_throughput")

# The windows of other measurements count with at most this many degrees of freedom, beside the two
# of a measurement's own windows: so an unsteady measurement has wider intervals than the others.
_MOST_FROM_OTHERS = 8.0

# If there are repetitions, windows count with at most this many degrees of freedom: only
# repetitions show what changes from one run to the next.
MOST_FROM_WINDOWS = 4.0

# The usual noise of metrics of perf_analyzer, if nothing else is known: it counts like one
# repetition. Memory and similar metrics have no noise, unless repetitions show some.
_USUAL_PREFIX = "perf_"
USUAL_ERROR, USUAL_FREEDOM = 0.03, 1.0

# If repetitions differ by less than this, it is chance: the noise of a score is never assumed to be
# smaller.
LEAST_NOISE = 0.01

# If the spread of repetitions is this many times the usual one, they contain an outlier.
OUTLYING = 3.0


class NoiseModel:
    """Estimates the noise of many measurements under the same conditions.

    `runs` holds the measurements of each trial: one, or all its repetitions. Trials that were
    measured in rounds have a noise of their own (see `RoundNoise`). For the others,
    throughput has two sources: windows within a measurement, and repetitions. All other metrics
    have repetitions only.

    Windows follow each other within seconds, so a disturbance affects several of them. Their mean
    is hardly more exact than one window: the noise of a measurement is that of one window. The
    windows of all measurements are pooled; two or three alone would double the intervals.
    """

    def __init__(self, runs: Iterable[Sequence[Measurement]]) -> None:
        rounds: list[Sequence[Measurement]] = []
        self._runs: list[Sequence[Measurement]] = []
        for group in runs:
            (rounds if in_rounds(group) else self._runs).append(group)
        self._has_rounds = bool(rounds)
        self._rounds = RoundNoise(rounds)
        self._repeated = [group for group in self._runs if len(group) > 1]
        self._repetitions: dict[str, Noise | None] = {}
        self._scores: dict[Goal, float | None] = {}
        # by measurements, which live as long as this object, metric and model: pages ask again
        self._known: dict[tuple[object, ...], Noise | None] = {}

    def deviation(self, tag: str) -> Noise | None:
        """The standard deviation of a metric that is measured once, as a fraction of its value,
        from repetitions and, for throughput, windows; None if unknown.
        """
        return self._single(tag, self._windows if _has_windows(tag) else None)

    def expected_deviation(self, tag: str) -> Noise:
        """The same, with the usual noise counted like one repetition: never unknown."""
        usual = _usual(tag)
        return pooled((usual, self.deviation(tag))) or usual

    def score_deviation(self, goal: Goal) -> float | None:
        """The standard deviation of `Goal.score` of a single measurement against its true mean,
        from repetitions and, if throughput is the only objective, windows; None if unknown. An
        outlier among the sources counts as a few times the usual one.
        """
        if goal not in self._scores:
            self._scores[goal] = self._score_deviation(goal)
        return self._scores[goal]

    def _score_deviation(self, goal: Goal) -> float | None:
        sources = [_score_spread(goal, group) for group in self._repeated]
        if goal.is_for_throughput and self._windows is not None:
            total = sum(model.weighting for model in goal.models)
            shares = (model.weighting / total for model in goal.models)
            windows = combined((share, self._windows) for share in shares)
            if windows is not None:
                sources.insert(0, windows.worth(MOST_FROM_WINDOWS) if sources else windows)
        if not sources:
            return None
        most = OUTLYING * max(median_low(noise.error for noise in sources), LEAST_NOISE)
        noise = pooled(noise._replace(error=min(noise.error, most)) for noise in sources)
        return None if noise is None else noise.error

    def of(self, runs: Sequence[Measurement], tag: str, index: int | None = None) -> Noise | None:
        """The noise of the mean of these repetitions, which this object must know: for a metric of
        the model at `index`, or over all models of the trial.
        """
        key = (*map(id, runs), tag, index)
        if key not in self._known:
            self._known[key] = self._of(runs, tag, index)
        return self._known[key]

    def _of(self, runs: Sequence[Measurement], tag: str, index: int | None) -> Noise | None:
        if in_rounds(runs):
            return self._rounds.of(runs, tag, index)
        if not _has_windows(tag):
            deviation = self.deviation(tag)
        elif index is not None or len(runs[0].models) == 1:
            deviation = self._single(tag, self._own_windows(runs, index or 0))
        else:
            deviation = self._throughput(runs)
        return None if deviation is None else deviation.of_mean(len(runs))

    def interval(
        self, runs: Sequence[Measurement], tag: str, index: int | None = None
    ) -> Interval | None:
        """The 95 % interval of the same mean; of rounds, of their pooled value. A share of all ends
        at 100 %.
        """
        if in_rounds(runs):
            interval = self._rounds.interval(runs, tag, index)
        else:
            whole = pool(runs)
            value = whole.value(tag) if index is None else whole.model_value(index, tag)
            interval = None if value is None else around(value, self.of(runs, tag, index))
        if interval is None or METRICS[canonical(tag)].unit is not Unit.PERCENT:
            return interval
        return replace(interval, high=min(interval.high, _WHOLE))

    def expected_error(self, runs: Sequence[Measurement], tag: str) -> float:
        """The standard error of the same mean, of the model with the largest one; never unknown."""
        if not in_rounds(runs):
            return self.expected_deviation(tag).of_mean(len(runs)).error
        noises = [self.of(runs, tag, index) for index in range(len(runs[0].models))]
        known = [noise.error for noise in noises if noise is not None]
        return max(known) if known else _usual(tag).of_mean(len(runs)).error

    def score_error(self, goal: Goal, runs: Sequence[Measurement]) -> float | None:
        """The standard error of `Goal.score` of the same mean; None if it is unknown."""
        root = math.sqrt(len(runs))
        if in_rounds(runs):
            total = sum(model.weighting for model in goal.models)
            noise = combined(
                (model.weighting / total * share, self.of(runs, tag, index))
                for index, model in enumerate(goal.models)
                for tag, share in _shares(model).items()
                if runs[0].model_value(index, tag) is not None
            )
            error = None if noise is None else noise.error
        else:
            deviation = self.score_deviation(goal)
            error = None if deviation is None else deviation / root
        return None if error is None else max(error, LEAST_NOISE / root)

    def knows_score(self, goal: Goal) -> bool:
        """Whether the noise of the score may be known for some of the measurements."""
        return self._has_rounds or self.score_deviation(goal) is not None

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
        own, everything = self.between_windows(runs, index), self._windows
        if own is None or everything is None:
            return None
        # the same as `pooled`, which would be too slow here
        others = max(0.0, min(_MOST_FROM_OTHERS, everything.freedom - own.freedom))
        freedom = own.freedom + others
        squares = own.error**2 * own.freedom + everything.error**2 * others
        return Noise(math.sqrt(squares / freedom), freedom)

    def between_windows(self, runs: Sequence[Measurement], index: int) -> Noise | None:
        """The deviation of a window of the model at `index`, from the windows of these measurements
        only.
        """
        spreads = [self._spread(measurement.models[index]) for measurement in runs]
        return spreads[0] if len(spreads) == 1 else pooled(spreads)

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


def _usual(tag: str) -> Noise:
    is_usual = canonical(tag).startswith(_USUAL_PREFIX)
    return Noise(error=USUAL_ERROR if is_usual else 0.0, freedom=USUAL_FREEDOM)


def _shares(goal: ModelGoal) -> Mapping[str, float]:
    """The objectives of a model by their tags, with weights that add up to one."""
    total = sum(objective.weight for objective in goal.objectives)
    return {
        canonical(objective.tag): objective.weight / total
        for objective in goal.objectives
        if objective.weight
    }


def intervals_of(
    noise_model: NoiseModel, goal: Goal, runs: Sequence[Measurement]
) -> Mapping[str, Interval]:
    """The known 95 % intervals of throughput, p99, tokens and the metrics of the goal."""
    tags = [tag for tag in dict.fromkeys((*_USUAL_TAGS, *goal.tags)) if tag in METRICS]
    intervals = {tag: noise_model.interval(runs, tag) for tag in tags}
    return {tag: interval for tag, interval in intervals.items() if interval is not None}


def _has_windows(tag: str) -> bool:
    return canonical(tag) == DEFAULT_OBJECTIVE


def _with_windows(repetitions: Noise | None, windows: Noise | None) -> Noise | None:
    """The noise from repetitions and, with less weight, from windows."""
    if repetitions is None:
        return windows
    return pooled((repetitions, None if windows is None else windows.worth(MOST_FROM_WINDOWS)))


def _score_spread(goal: Goal, group: Sequence[Measurement]) -> Noise:
    mean, freedom = pool(group), len(group) - 1.0
    squares = sum(goal.score(measurement, mean) ** 2 for measurement in group)
    return Noise(error=math.sqrt(squares / freedom), freedom=freedom)
