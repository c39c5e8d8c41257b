# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which of the measured trials may be recommended, which of them tie, and which tie is cheapest.

Two rules hold for every recommendation, of a search or of a ranking. A trial that another one beats
by more than noise is not recommended (`undefeated`). Among ties, the cheapest is recommended, above
all the one with the lowest load.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from operator import ge, le
from statistics import NormalDist
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.domain.trials import LoadKind, Trial
from model_analyzer.domain.words import percent_text
from model_analyzer.noise.noise_model import (
    LEAST_NOISE,
    MOST_FROM_WINDOWS,
    OUTLYING,
    USUAL_FREEDOM,
    NoiseModel,
)
from model_analyzer.noise.pooling import in_rounds, pool

# If two means differ by fewer standard deviations of their difference than this, it is noise.
_DEVIATIONS = 2.0

# A trial with a score that is worse by at most this can tie with the best. A trial with a much
# shorter latency may be worse by more: (share of the latency of the best, allowed difference).
# Smaller gains are not worth their cost.
_MOST = 0.01
_PRICES = ((0.3, 0.03), (0.55, 0.02))
_LATENCY = "perf_latency_p99"

# A tie may be less likely to meet the constraints than the best by at most this probability.
_AS_SURE = 0.1

# A bound that is missed by so many standard deviations still counts as met.
_ALLOWED = 1.0
# The chance to meet the bounds counts with this power: users who set a bound would rather lose some
# of the objective than break the bound.
_CAUTION = 2
_NORMAL = NormalDist()

# A trial that was measured once and meets the bounds with a smaller chance may do so by luck.
_SAFE = 0.9

# Memory counts in steps of this factor. The cost of a trial starts with the memory of the GPUs and
# that of the host.
_STEP, _OF_MEMORY = 1.02, 2

# The numbers of these rules, for scripts that follow them.
RULES: Mapping[str, Any] = MappingProxyType(
    {
        "DEVIATIONS": _DEVIATIONS,
        "MOST": _MOST,
        "PRICES": _PRICES,
        "LATENCY": _LATENCY,
        "AS_SURE": _AS_SURE,
        "ALLOWED": _ALLOWED,
        "CAUTION": _CAUTION,
        "SAFE": _SAFE,
        "LEAST_NOISE": LEAST_NOISE,
        "OUTLYING": OUTLYING,
        "MOST_FROM_WINDOWS": MOST_FROM_WINDOWS,
        "USUAL_FREEDOM": USUAL_FREEDOM,
    }
)

# The words before a trial that noise does not let tell from the recommended one.
UNDECIDED = "Cannot be told apart from it yet"

T = TypeVar("T")


class Comparison(Generic[T]):
    """Compares any two trials by their measurements (one, or all repetitions of each).

    Without repetitions and windows the noise is unknown: then every difference counts.
    """

    def __init__(self, goal: Goal, repetitions: Mapping[T, Sequence[Measurement]]) -> None:
        self._goal = goal
        self._repetitions = repetitions
        self.noise_model = NoiseModel(repetitions.values())
        self._means: dict[T, Measurement] = {}
        self._errors: dict[T, float | None] = {}

    @property
    def knows_noise(self) -> bool:
        return self.noise_model.knows_score(self._goal)

    def mean(self, item: T) -> Measurement:
        if item not in self._means:
            self._means[item] = pool(self._repetitions[item])
        return self._means[item]

    def times(self, item: T) -> int:
        """The number of its measurements."""
        return len(self._repetitions[item])

    def passes(self, item: T) -> bool:
        return self._goal.passes(self.mean(item))

    def margins(self, item: T) -> Sequence[float]:
        """How far it is within each constraint, as `Goal.margin`."""
        return [self._goal.margin(self.mean(item), tag) for tag in self._goal.tags]

    def lead(self, a: T, b: T) -> float:
        """By how much `a` is better than `b`, as a score."""
        return self._goal.score(self.mean(a), self.mean(b))

    def gain_percent(self, a: T, b: T) -> float:
        """The same in percent, for people to read."""
        return self._goal.gain_percent(self.mean(a), self.mean(b))

    def apart(self, a: T, b: T) -> float:
        """The largest difference of their scores that may be noise."""
        errors = [self.error(item) for item in (a, b)]
        known = [error for error in errors if error is not None]
        return max(_DEVIATIONS * math.hypot(*known), _MOST) if len(known) == len(errors) else 0.0

    def error(self, item: T) -> float | None:
        """The standard error of its score; None if it is unknown."""
        if item not in self._errors:
            runs = self._repetitions[item]
            self._errors[item] = self.noise_model.score_error(self._goal, runs)
        return self._errors[item]

    def price(self, a: T, b: T) -> float:
        """By how much `b` may be worse than `a` and still tie with it: more, if its latency is much
        shorter.
        """
        return _price(self.mean(a), self.mean(b))

    def is_better(self, a: T, b: T) -> bool:
        """Whether `a` is better than `b` by more than noise."""
        return self.lead(a, b) > self.apart(a, b)

    def is_far_better(self, a: T, b: T) -> bool:
        """Whether it would be better by more than noise even if both were measured once."""
        once = [
            max(self.error(item) or 0.0, LEAST_NOISE) * math.sqrt(len(self._repetitions[item]))
            for item in (a, b)
        ]
        return self.lead(a, b) > max(_DEVIATIONS * math.hypot(*once), _MOST)


def undefeated(
    comparison: Comparison[T], ordered: Sequence[T], counts: Callable[[T], bool] = lambda _: True
) -> list[T]:
    """Those of `ordered` (all meet the constraints; best mean first) that no other one beats by
    more than noise. Only a trial that `counts` can beat others.
    """
    unbeaten: list[T] = []
    seen: list[T] = []
    for item in ordered:
        better = [other for other in seen if counts(other) and comparison.is_better(other, item)]
        if any(comparison.is_far_better(other, item) for other in better):
            break  # all that follow are beaten as well
        if not better:
            unbeaten.append(item)
        seen.append(item)
    return unbeaten


def tied(
    comparison: Comparison[T],
    ordered: Sequence[T],
    sure: Callable[[T], float],
    lead: Callable[[T, T], float] | None = None,
) -> list[T]:
    """Those that tie with the first of `ordered`, and the first itself.

    They differ by noise only, or by a gain that is not worth its cost, and are about as likely to
    meet the constraints; `sure` gives that probability. `lead` gives by how much one trial is
    better than another; without it, the measurements decide.
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


def surely_met(
    goal: Goal, repetitions: Mapping[T, Sequence[Measurement]], sure: Callable[[T], float]
) -> Callable[[T], bool]:
    """A function that says whether a trial meets the constraints by its own measurements: all of
    them do, and if there is only one, it is `sure` enough not to be luck. Rounds are only
    parts of a measurement: all together meet the constraints, and are `sure` enough.
    """

    def is_met(item: T) -> bool:
        runs = repetitions[item]
        if in_rounds(runs):
            return goal.passes(pool(runs)) and sure(item) >= _SAFE
        return all(map(goal.passes, runs)) and (len(runs) > 1 or sure(item) >= _SAFE)

    return cache(is_met)  # pooling many histograms takes time, and each trial is asked for often


def assurance(
    goal: Goal, repetitions: Mapping[T, Sequence[Measurement]], noise: NoiseModel | None = None
) -> Callable[[T], float]:
    """A function that gives the chance that a trial meets the constraints, or misses them by no
    more than noise.
    """
    return chance_to_meet(goal, repetitions, allowed=_ALLOWED, noise_model=noise)


def chance_to_meet(
    goal: Goal,
    repetitions: Mapping[T, Sequence[Measurement]],
    *,
    allowed: float = 0.0,
    noise_model: NoiseModel | None = None,
) -> Callable[[T], float]:
    """A function that gives the chance that the true mean of a trial meets the constraints, or
    misses them by at most the `allowed` number of standard deviations. The `noise_model` is that of
    all `repetitions`, if there is one already.
    """
    noise = noise_model or NoiseModel(repetitions.values())

    def chance(item: T) -> float:
        mean = pool(repetitions[item])
        probability = 1.0
        for tag in goal.tags:
            deviation = noise.expected_error(repetitions[item], tag)
            if not deviation:
                probability *= goal.margin(mean, tag) >= 0
            else:
                probability *= _NORMAL.cdf(goal.margin(mean, tag) / deviation + allowed)
        return probability

    return chance


def assured_first(
    comparison: Comparison[T], ordered: Sequence[T], sure: Callable[[T], float]
) -> list[T]:
    """The same trials, with another first one: of those that meet the constraints, the one with the
    largest product of its worth and of the chance that it meets them, which `sure` gives. That it
    was measured less often than another one plays no part beyond this chance.
    """
    passing = [item for item in ordered if comparison.passes(item)]
    if not comparison.knows_noise or not passing:
        return list(ordered)

    def worth(item: T) -> float:
        return sure(item) ** _CAUTION * math.exp(comparison.lead(item, passing[0]))

    best = max(passing, key=worth)
    return [best, *(item for item in ordered if item != best)]


def _price(slow: Measurement, fast: Measurement) -> float:
    latencies = slow.value(_LATENCY), fast.value(_LATENCY)
    if latencies[0] is None or latencies[1] is None:
        return _MOST
    return price_of(latencies[1] / max(latencies[0], 1e-9))


def price_of(part_of_time: float) -> float:
    """By how much a trial may be worse and still tie with another one, if its latency is this part
    of the other one's.
    """
    return next((price for part, price in _PRICES if part_of_time <= part), _MOST)


@dataclass(frozen=True, slots=True)
class Undecided(Generic[T]):
    """A trial that measured better or worse (`gain_percent` below 0) than the recommended one by
    too much for a tie. Noise may explain a difference of up to `noise_percent`.
    """

    item: T
    gain_percent: float
    noise_percent: float

    @property
    def text(self) -> str:
        """By how much, in words: `measured 12 % worse (± 15 %)`."""
        word = "worse" if self.gain_percent < 0 else "better"
        percent, noise = percent_text(abs(self.gain_percent)), percent_text(self.noise_percent)
        return f"measured {percent} {word} (± {noise})"


def undecided(
    comparison: Comparison[T], first: T, others: Iterable[T], ties: Collection[T]
) -> Iterator[Undecided[T]]:
    """Those of the `others` that cannot be told apart from the `first` yet, and are none of its
    `ties`: only noise may hide which is better. They meet the constraints if the first does.
    """
    for other in others:
        lead, apart = comparison.lead(other, first), comparison.apart(other, first)
        is_within = other not in ties and abs(lead) <= apart
        if is_within and comparison.passes(other) == comparison.passes(first):
            gain = comparison.gain_percent(other, first)
            # as much of the noise as the difference in percent is of the lead
            yield Undecided(other, gain, 100 * apart if lead == 0 else apart * gain / lead)


def is_much_sooner(fast: Measurement, slow: Measurement) -> bool:
    """Whether its latency is so much shorter that it may be worse in other metrics."""
    return _price(slow, fast) > _MOST


def cost(trial: Trial, measurement: Measurement) -> tuple[float, ...]:
    """The resources of a trial: memory, if it was measured, instances, load."""
    return (*resources_used(trial, measurement), total_load(trial))


def resources_used(trial: Trial, measurement: Measurement) -> tuple[float, ...]:
    """The resources of a variant: memory, if it was measured, and instances."""
    served = [part for work in trial.workloads for part in work.variant.served]
    gpus = len(trial.setup.devices)
    return (
        *memory_steps(measurement),
        sum(count for part in served for count, _ in part.instances(gpus=gpus)),
    )


def memory_steps(measurement: Measurement) -> tuple[int, int]:
    """The memory of the GPUs and of the host, in steps: less than a step is no difference."""
    gpu, host = (measurement.value(tag) or 0.0 for tag in ("gpu_used_memory", "cpu_used_ram"))
    return round(math.log(max(gpu, 1.0), _STEP)), round(math.log(max(host, 1.0), _STEP))


def total_load(trial: Trial) -> int:
    """The load of all models of a trial, in inferences."""
    return sum(work.load.value * work.load.batch_size for work in trial.workloads)


def needs_more_resources(item: MeasuredTrial, than: MeasuredTrial) -> bool:
    """Whether a trial needs more memory, or the same memory and more instances. If the variants are
    the same, their memory differs by chance only.
    """
    if item.trial.content == than.trial.content:
        return False
    return resources_used(*item[:2]) > resources_used(*than[:2])


def tie_text(item: MeasuredTrial, best: MeasuredTrial) -> str:
    """Said of a trial that ties with the recommended one: which resource it needs more of."""
    if needs_more_resources(item, best):
        return "Within noise of it, but needs more resources"
    has_more_load = total_load(item.trial) > total_load(best.trial)
    if has_more_load and _load_kinds(item.trial) == _load_kinds(best.trial):
        return "Within noise of it, but at a higher load"
    return "Ties with it"


def _load_kinds(trial: Trial) -> Sequence[LoadKind]:
    return [work.load.kind for work in trial.workloads]


def cheapest_first(
    items: Sequence[T], trial: Callable[[T], Trial], comparison: Comparison[T]
) -> list[T]:
    """Ties, cheapest first. If the variants are the same, their memory differs by chance only, and
    the lowest load is the cheapest.
    """
    costs = {item: cost(trial(item), comparison.mean(item)) for item in items}
    memory: dict[str, tuple[float, ...]] = {}
    for item in items:
        content, own = trial(item).content, costs[item][:_OF_MEMORY]
        memory[content] = min(own, memory.get(content, own))
    return sorted(items, key=lambda item: (memory[trial(item).content], costs[item][_OF_MEMORY:]))


def undominated(
    comparison: Comparison[T],
    first: T,
    others: Iterable[T],
    trial: Callable[[T], Trial],
    chance: Callable[[T], float],
    *,
    is_concluded: bool,
) -> T:
    """The `first`, unless one of the `others` (best first) is better in everything: then that one.

    It is better by the goal, and worse in no margin of a constraint, no resource, load or `chance`
    to meet the constraints. As all of these are orders, nothing is better in everything than the
    best of those. If it `is_concluded`, a search has compared it in turn: one that is not cheaper,
    or was measured less often, has to be also clearly more likely to meet the constraints.
    """
    least = chance(first)

    def is_better(other: T) -> bool:
        if comparison.lead(other, first) <= 0:
            return False
        # of the same variant, memory differs by chance only
        skipped = _OF_MEMORY if trial(other).content == trial(first).content else 0
        costs = [cost(trial(item), comparison.mean(item))[skipped:] for item in (other, first)]
        is_known = comparison.times(other) >= comparison.times(first)
        stays = is_concluded and not (is_known and costs[0] != costs[1])
        return (
            all(map(ge, comparison.margins(other), comparison.margins(first)))
            and all(map(le, *costs))
            and chance(other) >= least + (_AS_SURE if stays else 0.0)
        )

    return next(filter(is_better, others), first)
