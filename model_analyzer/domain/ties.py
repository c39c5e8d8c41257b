# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which of the measured trials may be recommended, which of them tie, and which tie is cheapest.

Two rules come first, whoever recommends. Nothing is recommended that another trial beats by more
than noise (`undefeated`). Of what ties, the cheapest is recommended, the lowest load above all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import NormalDist, median_low
from typing import Generic, TypeVar

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.measurements import Measurement, averaged
from model_analyzer.domain.noise import Noise, NoiseModel, pooled
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.domain.trials import LoadKind, Trial

# Means that are apart by less than so many standard deviations of their difference are apart by
# noise.
_DEVIATIONS = 2.0

# What is worse by up to this (by the goal's score) can tie with the best; what answers in so
# much of its time, by up to more. A gain that is smaller than that costs more than it gives.
_MOST = 0.01
_PRICES = ((0.3, 0.03), (0.55, 0.02))
_LATENCY = "perf_latency_p99"

# What ties has to be as sure to meet the constraints, up to this much.
_AS_SURE = 0.1

# A bound that is missed by so many standard deviations still counts as kept.
_ALLOWED = 1.0
# The chance to keep the bounds counts with this power: who names a bound minds breaking it more
# than giving away as much of the objective.
_CAUTION = 2
_NORMAL = NormalDist()

# A single measurement that keeps the bounds with less than this chance may keep them by luck.
_SAFE = 0.9

# Repetitions that agree better than this do so by chance.
_LEAST_NOISE = 0.01

# Repetitions that are apart by so many times as much as others are, are so by an outlier.
_OUTLYING = 3.0
# Beside repetitions, windows count as much as so many: they do not know what else changes from one
# run to the next.
_MOST_OF_WINDOWS = 4

# Memory counts in steps of this factor. Of GPUs and of the host, it leads the cost of a trial.
_STEP, _OF_MEMORY = 1.02, 2

T = TypeVar("T")


class Comparison(Generic[T]):
    """What the measurements of trials (one, or all repetitions of each) say of any two of them.

    Without repetitions and windows, nothing tells how noisy they are: then they are taken at their
    word.
    """

    def __init__(self, goal: Goal, repetitions: Mapping[T, Sequence[Measurement]]) -> None:
        self._goal = goal
        self._repetitions = repetitions
        self._noise = score_noise(goal, repetitions)
        self._means: dict[T, Measurement] = {}

    @property
    def knows_noise(self) -> bool:
        return self._noise is not None

    def mean(self, item: T) -> Measurement:
        if item not in self._means:
            self._means[item] = averaged(self._repetitions[item])
        return self._means[item]

    def passes(self, item: T) -> bool:
        return self._goal.passes(self.mean(item))

    def lead(self, a: T, b: T) -> float:
        """By how much `a` is better than `b`, as a score."""
        return self._goal.score(self.mean(a), self.mean(b))

    def apart(self, a: T, b: T) -> float:
        """How far noise alone may put them apart."""
        if self._noise is None:
            return 0.0
        times = [len(self._repetitions[item]) for item in (a, b)]
        error = max(self._noise, _LEAST_NOISE) * math.sqrt(sum(1 / count for count in times))
        return max(_DEVIATIONS * error, _MOST)

    def price(self, a: T, b: T) -> float:
        """How much worse `b` may be than `a` to tie with it: more, if it answers much sooner."""
        return _price(self.mean(a), self.mean(b))

    def is_better(self, a: T, b: T) -> bool:
        """Whether `a` is better than `b` by more than noise."""
        return self.lead(a, b) > self.apart(a, b)

    def is_far_better(self, a: T, b: T) -> bool:
        """Whether it would be better by more than noise though both were measured once."""
        once = max(self._noise or 0.0, _LEAST_NOISE) * math.sqrt(2)
        return self.lead(a, b) > max(_DEVIATIONS * once, _MOST)


def undefeated(
    comparison: Comparison[T], ordered: Sequence[T], counts: Callable[[T], bool] = lambda _: True
) -> list[T]:
    """Those of `ordered` (all meet the constraints; best mean first) that no other one beats by
    more than noise. Only what `counts` beats others.
    """
    found: list[T] = []
    seen: list[T] = []
    for item in ordered:
        better = [other for other in seen if counts(other) and comparison.is_better(other, item)]
        if any(comparison.is_far_better(other, item) for other in better):
            break  # and so are all that follow
        if not better:
            found.append(item)
        seen.append(item)
    return found


def tied(
    comparison: Comparison[T],
    ordered: Sequence[T],
    sure: Callable[[T], float],
    lead: Callable[[T, T], float] | None = None,
) -> list[T]:
    """Those that tie with the first of `ordered`, itself included: they are not told apart by the
    goal, or only by what is not worth its price, and as `sure` to meet the constraints (a
    probability). `lead` tells by how much one is better than another, if more is known about that
    than their measurements say.
    """
    first, *others = ordered
    if not comparison.knows_noise:
        return [first]
    lead = lead or comparison.lead
    least = sure(first) - _AS_SURE
    return [
        first,
        *(
            other
            for other in others
            if comparison.passes(other) == comparison.passes(first)
            and abs(comparison.lead(first, other)) <= comparison.apart(first, other)
            and abs(lead(first, other)) <= comparison.price(first, other)
            and sure(other) >= least
        ),
    ]


def surely_kept(
    goal: Goal, repetitions: Mapping[T, Sequence[Measurement]], sure: Callable[[T], float]
) -> Callable[[T], bool]:
    """Whether something measured meets the constraints as far as its own measurements tell: none of
    them breaks one, and a single one is `sure` enough to be no luck.
    """

    def is_kept(item: T) -> bool:
        runs = repetitions[item]
        return all(map(goal.passes, runs)) and (len(runs) > 1 or sure(item) >= _SAFE)

    return is_kept


def assurance(goal: Goal, repetitions: Mapping[T, Sequence[Measurement]]) -> Callable[[T], float]:
    """The chance that something measured does not break the constraints by more than noise can
    hide.
    """
    return chance_to_keep(goal, repetitions, allowed=_ALLOWED)


def chance_to_keep(
    goal: Goal, repetitions: Mapping[T, Sequence[Measurement]], *, allowed: float = 0.0
) -> Callable[[T], float]:
    """The chance that the true mean of something measured meets the constraints, or misses them by
    the `allowed` number of standard deviations.
    """
    noise = NoiseModel(repetitions.values())
    wobble = {tag: noise.expected_deviation(tag).error for tag in goal.tags}

    def chance(one: T) -> float:
        mean, times = averaged(repetitions[one]), len(repetitions[one])
        kept = 1.0
        for tag, off in wobble.items():
            deviation = off / math.sqrt(times)
            if not deviation:
                kept *= goal.margin(mean, tag) >= 0
            else:
                kept *= _NORMAL.cdf(goal.margin(mean, tag) / deviation + allowed)
        return kept

    return chance


def assured_first(
    goal: Goal,
    ordered: Sequence[T],
    repetitions: Mapping[T, Sequence[Measurement]],
    sure: Callable[[T], float],
) -> list[T]:
    """The same, but of those that meet the constraints the first is worth most times the chance
    that it does keep them, which `sure` tells. What leads by a single measurement, and by no more
    than noise, comes after the best of those that were repeated: that may be luck.
    """
    noise = score_noise(goal, repetitions)
    means = {one: averaged(repetitions[one]) for one in ordered}
    passing = [one for one in ordered if goal.passes(means[one])]
    if noise is None or not passing:
        return list(ordered)

    def worth(one: T) -> float:
        return sure(one) ** _CAUTION * math.exp(goal.score(means[one], means[passing[0]]))

    best = max(passing, key=worth)
    repeated = [one for one in passing if len(repetitions[one]) > 1]
    if repeated and len(repetitions[best]) == 1:
        most = max(repeated, key=worth)
        apart = max(noise, _LEAST_NOISE) * math.sqrt(1 + 1 / len(repetitions[most]))
        if goal.score(means[best], means[most]) <= _DEVIATIONS * apart:
            best = most
    return [best, *(one for one in ordered if one != best)]


def _price(slow: Measurement, fast: Measurement) -> float:
    latencies = slow.value(_LATENCY), fast.value(_LATENCY)
    if latencies[0] is None or latencies[1] is None:
        return _MOST
    part_of_time = latencies[1] / max(latencies[0], 1e-9)
    return next((price for part, price in _PRICES if part_of_time <= part), _MOST)


def is_much_sooner(fast: Measurement, slow: Measurement) -> bool:
    """Whether one answers in so much less time that it may be worse in other respects."""
    return _price(slow, fast) > _MOST


def cost(trial: Trial, measurement: Measurement) -> tuple[float, ...]:
    """What a trial takes: memory, as far as it was measured, instances, load, batches."""
    served = [part for work in trial.workloads for part in work.variant.served]
    return (
        *_resources(trial, measurement),
        _total_load(trial),
        sum(part.max_batch_size for part in served),
    )


def _resources(trial: Trial, measurement: Measurement) -> tuple[float, ...]:
    memory = [measurement.value(tag) or 0.0 for tag in ("gpu_used_memory", "cpu_used_ram")]
    served = [part for work in trial.workloads for part in work.variant.served]
    gpus = len(trial.setup.devices)
    return (
        *(round(math.log(max(value, 1.0), _STEP)) for value in memory),
        sum(count for part in served for count, _ in part.instances(gpus=gpus)),
    )


def _total_load(trial: Trial) -> int:
    return sum(work.load.value * work.load.batch_size for work in trial.workloads)


def needs_more_resources(item: MeasuredTrial, than: MeasuredTrial) -> bool:
    """Whether a trial takes more memory, or as much of it and more instances. Of the same variants,
    memory differs by chance only.
    """
    if item.trial.content == than.trial.content:
        return False
    return _resources(*item[:2]) > _resources(*than[:2])


def tie_text(item: MeasuredTrial, best: MeasuredTrial) -> str:
    """How to introduce a trial that ties with the recommended one: what it takes more of."""
    if needs_more_resources(item, best):
        return "Within noise of it, but needs more resources"
    has_more_load = _total_load(item.trial) > _total_load(best.trial)
    if has_more_load and _load_kinds(item.trial) == _load_kinds(best.trial):
        return "Within noise of it, but at a higher load"
    return "Ties with it"


def _load_kinds(trial: Trial) -> Sequence[LoadKind]:
    return [work.load.kind for work in trial.workloads]


def cheapest_first(
    items: Sequence[T], trial: Callable[[T], Trial], comparison: Comparison[T]
) -> list[T]:
    """What ties, cheapest first. Of the same variants, memory differs by chance only: there, the
    lowest load is the cheapest.
    """
    costs = {item: cost(trial(item), comparison.mean(item)) for item in items}
    memory: dict[str, tuple[float, ...]] = {}
    for item in items:
        content, own = trial(item).content, costs[item][:_OF_MEMORY]
        memory[content] = min(own, memory.get(content, own))
    return sorted(items, key=lambda item: (memory[trial(item).content], costs[item][_OF_MEMORY:]))


def score_noise(goal: Goal, repetitions: Mapping[T, Sequence[Measurement]]) -> float | None:
    """The standard deviation of a score that is measured once, from everything that was repeated
    and, where throughput is all that counts, from the windows of all measurements. Each window is
    as noisy as the measurement: what disturbs one disturbs the next.
    """
    every = [[run] for runs in repetitions.values() for run in runs]
    windows = NoiseModel(every).score_deviation(goal)
    repeated = [_spread(goal, runs) for runs in repetitions.values() if len(runs) > 1]
    known = repeated
    if windows is not None:
        known = [windows.worth(_MOST_OF_WINDOWS) if repeated else windows, *repeated]
    if not known:
        return None
    middle = median_low(noise.error for noise in known)
    most = _OUTLYING * max(middle, _LEAST_NOISE)
    noise = pooled(Noise(error=min(noise.error, most), freedom=noise.freedom) for noise in known)
    return None if noise is None else noise.error


def _spread(goal: Goal, runs: Sequence[Measurement]) -> Noise:
    mean, freedom = averaged(runs), len(runs) - 1.0
    squares = sum(goal.score(run, mean) ** 2 for run in runs)
    return Noise(error=math.sqrt(squares / freedom), freedom=freedom)
