# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A brute search is held against the list of all that it could come to: sweeps over loads will be
as long as those that it has passed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from model_analyzer.domain.trials import Failure, Trial
from model_analyzer.forecast.expectation.loading import instances_of, loads_of
from model_analyzer.forecast.expectation.progress import SearchProgress
from model_analyzer.forecast.searches import Forecast

# Where stop rules hold, about this share of a sweep is measured. What is assumed counts as much as
# so many sweeps that were seen.
_TAKEN = 0.75
_SURE = 2

# A variant twice as large is busy under the double load: its sweep is one trial longer, as far as
# others do not tell anything else.
_SLOPE = 1.0


def places_of(trials: Sequence[Trial]) -> Mapping[str, Sequence[int]]:
    """Where a trial is in a list, by its key: a variant may come under two names."""
    places: dict[str, list[int]] = {}
    for place, trial in enumerate(trials):
        places.setdefault(trial.key, []).append(place)
    return places


def left_of_list(progress: SearchProgress, forecast: Forecast, *, are_several: bool) -> float:
    """The rest of the list, sweep by sweep: as long as those before, and longer for variants
    that are larger, since they are busy under higher loads only. Of the list of several models,
    nothing is left out.
    """
    trials = forecast.trials or ()
    if are_several:
        return float(len(trials) - progress.passed)
    taken = Counter(_sweep_of(record.trial) for record in progress.of_search)
    failed = {
        _sweep_of(record.trial)
        for record in progress.of_search
        if isinstance(record.outcome, Failure)
    }
    sweeps = _sweeps(trials)
    current = _sweep_of(trials[progress.passed - 1]) if progress.passed else None
    ended = [one for one in sweeps if one.end <= progress.passed and one.key != current]
    if current in failed or (progress.passed and progress.passed == _end_of(sweeps, current)):
        ended += [one for one in sweeps if one.key == current]
    whole = [one for one in ended if taken[one.key] and one.key not in failed]
    lengths = [(taken[one.key], one.size) for one in whole]
    share_failed = len(failed) / (len(whole) + len(failed) + 1)
    visited = (len(whole) + len(failed) + _SURE) / (len(ended) + _SURE)
    left = 0.0
    for one in sweeps:
        if one in ended:
            continue
        length = _length(one, lengths, is_exact=forecast.is_exact)
        if one.key == current:
            left += max(length - taken[one.key], 0.0)
        else:
            left += min(visited, 1.0) * ((1 - share_failed) * length + share_failed)
    return left


def loads_of_list(progress: SearchProgress, trials: Sequence[Trial]) -> float:
    """What has to be loaded for the rest of the list, as often as it was so far."""
    passed, left = (
        loads_of(trials[: progress.passed]),
        loads_of(trials[progress.passed :], progress.loaded),
    )
    taken = len(progress.loads_taken)
    return sum(left) * (taken + _SURE) / (max(len(passed), taken) + _SURE)


@dataclass(frozen=True, slots=True)
class _Sweep:
    """Where the loads of one variant (and one size of client batches) are in a list. `size` is how
    many requests the variant works on at once.
    """

    key: tuple[str, int]
    start: int
    end: int
    size: float


def _length(sweep: _Sweep, lengths: Sequence[tuple[int, float]], *, is_exact: bool) -> float:
    """How many trials a sweep is expected to take, from those of others with their sizes."""
    most = sweep.end - sweep.start
    if is_exact:
        return float(most)
    if not lengths:
        return most * _TAKEN
    sizes = [math.log2(size) for _, size in lengths]
    mean = fmean(sizes)
    spread = sum((size - mean) ** 2 for size in sizes)
    growth = sum(taken * (size - mean) for (taken, _), size in zip(lengths, sizes, strict=True))
    slope = max((growth + _SLOPE) / (spread + 1), 0.0)
    length = fmean(taken for taken, _ in lengths)
    return min(max(length + slope * (math.log2(sweep.size) - mean), 1.0), most)


def _sweep_of(trial: Trial) -> tuple[str, int]:
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


def _end_of(sweeps: Sequence[_Sweep], key: tuple[str, int] | None) -> int:
    return max((one.end for one in sweeps if one.key == key), default=0)
