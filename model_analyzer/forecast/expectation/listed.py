# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Brute search: its list of possible trials is known.

Sweeps over loads are expected to be as long as earlier ones.
"""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TypeAlias

from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.trials import Failure, Trial
from model_analyzer.forecast.expectation.history import instances_of, loads_of
from model_analyzer.search.plan import Subject

# With stop rules, about this share of a sweep is measured.
_MEASURED_SHARE = 0.75
# The weight of assumptions, in sweeps.
_ASSUMED_WEIGHT = 2

# A variant of twice the size is busy at twice the load: so its sweep is assumed to be one trial
# longer.
_SLOPE = 1.0

# A sweep: the content of its variants, and the client batch size.
_Key: TypeAlias = tuple[str, int]


@dataclass(frozen=True, slots=True)
class _Sweep:
    """The places of a variant's loads (with one client batch size) in a list. `size` is the number
    of requests that the variant handles at once.
    """

    key: _Key
    start: int
    end: int
    size: float


class ListProgress:
    """How far the search of a subject has come in its list of trials, with `slots` at a time.

    The list consists of sweeps, one behind the other. They begin in this order, and end early by
    rules of the search; those with illegal trials only do not begin.
    """

    def __init__(self, subject: Subject, trials: Sequence[Trial], slots: int) -> None:
        self._subject, self._trials = subject, trials
        self._slots = slots
        self._sweeps = _sweeps(trials)
        self._starts = [sweep.start for sweep in self._sweeps]
        self._places = _places_of(trials)
        self._begun: list[int] = []  # numbers of sweeps, ascending
        self._latest: dict[str, int] = {}  # the last of them, by content
        self._started: set[int] = set()  # those of them that this run began or continued
        self._current = -1  # the sweep of the last outcome
        self._reached: dict[int, int] = {}  # the next place, by sweep
        self._under_way: dict[str, int] = {}  # sweeps, by key of the trial
        self._failed: set[_Key] = set()  # those that a failure ended
        self._counts: Counter[_Key] = Counter()

    def __bool__(self) -> bool:
        return bool(self._trials)

    def includes(self, trial: Trial) -> bool:
        """Whether the search may ask for the trial next."""
        return self._place_of(trial) is not None

    def start(self, trial: Trial) -> None:
        """Adds a trial that is under way now."""
        place = self._place_of(trial)
        if place is not None:
            number = self._begin(place, trial)
            self._started.add(number)
            self._under_way[trial.key] = number

    def add(self, trial: Trial, outcome: Outcome) -> None:
        """Adds an outcome: of a trial that was started, or of an earlier run."""
        place = self._place_of(trial)
        self._under_way.pop(trial.key, None)
        key = _sweep_of(trial)
        self._counts[key] += 1
        if isinstance(outcome, Failure) and not self._subject.goes_on_after(
            outcome,
            has_measured=self._counts[key] > 1,  # a first one that fails ends it
        ):
            self._failed.add(key)
        if place is not None:
            self._current = self._begin(place, trial)
            self._reached[self._current] = place + 1

    @property
    def unmeasured(self) -> int:
        """The number of trials without an outcome, if the whole list is measured."""
        return len(self._trials) - self._counts.total()

    def left(self, size: Callable[[Trial], float], *, is_exact: bool) -> tuple[float, float]:
        """The expected number of further trials, and the sum of their sizes.

        Sweeps are as long as earlier ones, and longer for larger variants, since these are only
        busy at higher loads. With `is_exact`, all trials of a sweep are measured.
        """
        counts, failed = self._counts, self._failed
        has_ended = [self._has_ended(number) for number in range(len(self._sweeps))]
        ended = [sweep for sweep, is_over in zip(self._sweeps, has_ended, strict=True) if is_over]
        measured = [sweep for sweep in ended if counts[sweep.key] and sweep.key not in failed]
        lengths = [(counts[sweep.key], sweep.size) for sweep in measured]
        failed_share = len(failed) / (len(measured) + len(failed) + 1)
        started = len(measured) + len(failed)
        started_share = min((started + _ASSUMED_WEIGHT) / (len(ended) + _ASSUMED_WEIGHT), 1.0)
        remaining = total_size = 0.0
        for number, sweep in enumerate(self._sweeps):
            if has_ended[number]:
                continue
            length = _length(sweep, lengths, is_exact=is_exact)
            if number in self._reached:
                count = max(length - counts[sweep.key], 0.0)
            else:
                count = started_share * ((1 - failed_share) * length + failed_share)
            begin = min(self._reached.get(number, sweep.start), sweep.end - 1)
            next_trials = self._trials[begin : min(begin + max(math.ceil(count), 1), sweep.end)]
            remaining += count
            total_size += count * fmean(map(size, next_trials))
        return remaining, total_size

    def loads(self, loaded: Collection[str], made: int) -> float:
        """How much is loaded for the rest of the list, if as many loads are left out as before.

        `loaded` are the contents that slots have loaded, `made` is the number of loads so far.
        """
        passed: list[Trial] = []
        further: list[Trial] = []
        for number, sweep in enumerate(self._sweeps):
            reached = self._reached.get(number, sweep.start)
            place = sweep.end if self._has_ended(number) else reached
            passed += self._trials[sweep.start : place]
            further += self._trials[place : sweep.end]
        factor = (made + _ASSUMED_WEIGHT) / (max(len(loads_of(passed)), made) + _ASSUMED_WEIGHT)
        return sum(loads_of(further, loaded)) * factor

    def _begin(self, place: int, trial: Trial) -> int:
        """The number of the sweep at a place, which has begun now at the latest."""
        number = bisect_right(self._starts, place) - 1
        index = bisect_right(self._begun, number)
        if index == 0 or self._begun[index - 1] != number:
            insort(self._begun, number)
            self._latest[trial.content] = max(self._latest.get(trial.content, 0), number)
        return number

    def _place_of(self, trial: Trial) -> int | None:
        """The next place of the trial in the list; None if it has none, or if its sweep is over."""
        for place in self._places.get(trial.key, ()):
            number = bisect_right(self._starts, place) - 1
            if place >= self._reached.get(number, 0) and not self._has_ended(number):
                return place
        return None

    def _has_ended(self, number: int) -> bool:
        """Whether a sweep is over, or was left out."""
        sweep = self._sweeps[number]
        content, _ = sweep.key
        if number in self._under_way.values():
            return False
        if sweep.key in self._failed or self._reached.get(number) == sweep.end:
            return True
        if self._latest.get(content, number) > number:
            return True
        index = bisect_right(self._begun, number)
        later = len(self._begun) - index
        has_begun = number in self._reached
        if not (has_begun or later):
            return False
        # a sweep that has not begun may still follow the one before
        before = self._begun[index - 1] if index else -1
        return not self._is_running(before, later)

    def _is_running(self, number: int, later: int) -> bool:
        """Whether a sweep that has begun, and `later` ones after it, is not over."""
        if number == self._current or number in self._under_way.values():
            return True
        # an earlier run measured it, several at the same time
        is_resumed = number in self._reached and number not in self._started
        return self._slots > 1 and is_resumed and later < self._slots


def _places_of(trials: Sequence[Trial]) -> Mapping[str, Sequence[int]]:
    """The places of each trial in a list, by key: a variant may have two names."""
    places: dict[str, list[int]] = {}
    for place, trial in enumerate(trials):
        places.setdefault(trial.key, []).append(place)
    return places


def _length(sweep: _Sweep, lengths: Sequence[tuple[int, float]], *, is_exact: bool) -> float:
    """The expected number of trials of a sweep, from the lengths and sizes of other sweeps."""
    limit = sweep.end - sweep.start
    if is_exact:
        return float(limit)
    if not lengths:
        return limit * _MEASURED_SHARE
    sizes = [math.log2(size) for _, size in lengths]
    mean = fmean(sizes)
    spread = sum((size - mean) ** 2 for size in sizes)
    growth = sum(count * (size - mean) for (count, _), size in zip(lengths, sizes, strict=True))
    slope = max((growth + _SLOPE) / (spread + 1), 0.0)
    length = fmean(count for count, _ in lengths)
    return min(max(length + slope * (math.log2(sweep.size) - mean), 1.0), limit)


def _sweep_of(trial: Trial) -> _Key:
    return (trial.content, trial.workloads[0].load.batch_size)


def _sweeps(trials: Sequence[Trial]) -> Sequence[_Sweep]:
    sweeps: list[_Sweep] = []
    for place, trial in enumerate(trials):
        key = _sweep_of(trial)
        if sweeps and sweeps[-1].key == key:
            sweeps[-1] = replace(sweeps[-1], end=place + 1)
            continue
        work = trial.workloads[0]
        size = instances_of(trial) * max(work.variant.max_batch_size, 1) / work.load.batch_size
        sweeps.append(_Sweep(key, place, place + 1, max(size, 1.0)))
    return sweeps
