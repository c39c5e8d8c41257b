# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the measurements of the same trial, and pools those that count.

Wherever one value of a trial is shown or compared, it is that of its pooled measurements.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.noise.laws.catalogue import with_doubts
from model_analyzer.noise.pooling import is_replaced, pool

# The names of the variants of a trial, and the key of its first measurement.
TrialName = tuple[str, str]


def pooled_by_trial(measured: Iterable[MeasuredTrial]) -> Mapping[TrialName, MeasuredTrial]:
    """Each trial, under each of its names, with its measurements that count as one, in the order of
    the first ones.

    Equal variants with different names have the same trials, which are measured once: a repetition
    that only another name has counts, too.
    """
    by_key: dict[str, dict[str, MeasuredTrial]] = {}
    by_name: dict[TrialName, list[MeasuredTrial]] = {}
    for item in measured:
        first, key = item.trial.first, item.trial.key
        by_key.setdefault(first.key, {}).setdefault(key, item)
        by_name.setdefault((first.variants, first.key), []).append(item)
    pooled = {}
    for name, own in by_name.items():
        keys = {item.trial.key for item in own}
        others = [item for key, item in by_key[name[1]].items() if key not in keys]
        item = pooled_measurements([*own, *others])
        pooled[name] = item._replace(trial=own[0].trial) if others else item
    return pooled


def pooled_trials(measured: Sequence[MeasuredTrial]) -> Sequence[MeasuredTrial]:
    """The trials of `pooled_by_trial`; without repetitions, faster."""
    if not has_repetitions(measured):
        return measured
    return [*pooled_by_trial(measured).values()]


def has_repetitions(measured: Iterable[MeasuredTrial]) -> bool:
    """Whether a trial was measured more than once."""
    return any(item.trial.repetition for item in measured)


def pooled_measurements(items: Sequence[MeasuredTrial]) -> MeasuredTrial:
    """All measurements of one trial as one, without the instalments that a later measurement
    replaces.
    """
    every = [item.measurement for item in items]
    counted = [item for item in items if not is_replaced(item.measurement, every)]
    if len(counted) == 1:
        return counted[0]
    runs = tuple(item.measurement for item in counted)
    trial = counted[0].trial
    return MeasuredTrial(trial, with_doubts(trial, pool(runs), len(runs)), repetitions=runs)
