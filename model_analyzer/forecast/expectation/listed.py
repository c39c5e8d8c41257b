# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Brute search: its list of possible trials is known.

Sweeps over loads are expected to be as long as earlier ones.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from model_analyzer.domain.trials import Failure, Trial
from model_analyzer.forecast.expectation.history import History
from model_analyzer.forecast.expectation.loading import instances_of, loads_of
from model_analyzer.forecast.searches import Forecast

# With stop rules, about this share of a sweep is measured.
_MEASURED_SHARE = 0.75
# The weight of assumptions, in sweeps.
_ASSUMED_WEIGHT = 2

# A variant of twice the size is busy at twice the load: so its sweep is assumed to be one trial
# longer.
_SLOPE = 1.0


def places_of(trials: Sequence[Trial]) -> Mapping[str, Sequence[int]]:
    """The places of each trial in a list, by key: a variant may have two names."""
    places: dict[str, list[int]] = {}
    for place, trial in enumerate(trials):
        places.setdefault(trial.key, []).append(place)
    return places


def left_of_list(history: History, forecast: Forecast, *, has_several_models: bool) -> float:
    """The expected number of further trials.

    Sweeps are as long as earlier ones, and longer for larger variants, since these are only busy at
    higher loads. Lists of several models are measured completely.
    """
    trials = forecast.trials or ()
    if has_several_models:
        return float(len(trials) - history.passed)
    counts = Counter(_sweep_of(record.trial) for record in history.of_search)
    failed = {
        _sweep_of(record.trial)
        for record in history.of_search
        if isinstance(record.outcome, Failure)
    }
    sweeps = _sweeps(trials)
    current = _sweep_of(trials[history.passed - 1]) if history.passed else None
    ended = [sweep for sweep in sweeps if sweep.end <= history.passed and sweep.key != current]
    if current in failed or (history.passed and history.passed == _end_of(sweeps, current)):
        ended += [sweep for sweep in sweeps if sweep.key == current]
    measured = [sweep for sweep in ended if counts[sweep.key] and sweep.key not in failed]
    lengths = [(counts[sweep.key], sweep.size) for sweep in measured]
    failed_share = len(failed) / (len(measured) + len(failed) + 1)
    started = len(measured) + len(failed)
    started_share = min((started + _ASSUMED_WEIGHT) / (len(ended) + _ASSUMED_WEIGHT), 1.0)
    remaining = 0.0
    for sweep in sweeps:
        if sweep in ended:
            continue
        length = _length(sweep, lengths, is_exact=forecast.is_exact)
        if sweep.key == current:
            remaining += max(length - counts[sweep.key], 0.0)
        else:
            remaining += started_share * ((1 - failed_share) * length + failed_share)
    return remaining


def loads_of_list(history: History, trials: Sequence[Trial]) -> float:
    """How much is loaded for the rest of the list, if as many loads are left out as before."""
    passed = len(loads_of(trials[: history.passed]))
    remaining = loads_of(trials[history.passed :], history.loaded)
    made = len(history.loads_made)
    return sum(remaining) * (made + _ASSUMED_WEIGHT) / (max(passed, made) + _ASSUMED_WEIGHT)


@dataclass(frozen=True, slots=True)
class _Sweep:
    """The places of a variant's loads (with one client batch size) in a list. `size` is the number
    of requests that the variant handles at once.
    """

    key: tuple[str, int]
    start: int
    end: int
    size: float


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
    return max((sweep.end for sweep in sweeps if sweep.key == key), default=0)
