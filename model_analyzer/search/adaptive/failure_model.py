# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The probability that a trial fails, from the failures so far.

A variant that needs more memory than one that did not load does not load either.
"""

from __future__ import annotations

import numpy as np

from model_analyzer.domain.trials import Failure, FailureReason
from model_analyzer.search.adaptive.queueing_model import Floats, Settings
from model_analyzer.search.adaptive.surrogate import Points

# Failures that the variant causes, whatever the load.
_VARIANT_FAILURES = frozenset(
    {FailureReason.MODEL_NOT_LOADED, FailureReason.LOAD_TIMEOUT, FailureReason.SERVER_DIED}
)

# The risk of each doubling of a size beyond the trials that worked, and the most doublings that
# count.
_RISK, _FAR = 0.015, 8.0

# Hypotheses about the memory of a variant: an instance needs a fixed amount, plus a part of it for
# each inference of its largest batch. The part is e to a power from this range. In some hypotheses
# the number of instances hardly matters, in some the batches hardly matter.
_HYPOTHESES = 240
_INFERENCE_PART = (-6.5, -0.5)
_ONE_SIZE_ONLY = 0.1
_HARDLY = 0.02
# The probability that a failure has another reason.
_OTHER_REASON = 0.02


def success_chances(points: Points, worked: list[int], failed: dict[int, Failure]) -> Floats:
    """The probability that each point gives a measurement.

    `worked` are the rows of `points` that gave one, `failed` those that failed. More instances and
    larger batches take more memory, and clients fail at higher loads first.
    """
    settings = points.settings
    sizes = np.log2(np.concatenate([settings.instances, settings.batch], axis=1))
    chance = 1 - _RISK * np.minimum(_steps_beyond(sizes, worked), _FAR)
    not_loaded = [row for row, failure in failed.items() if failure.reason in _VARIANT_FAILURES]
    if not_loaded:
        chance = np.minimum(chance, _loads(settings, worked, not_loaded))
    scale = np.concatenate([sizes, np.log2(settings.flight)[:, None]], axis=1)
    for row, failure in failed.items():
        if failure.reason not in _VARIANT_FAILURES:
            # doublings up to the failed load; a different variant may well handle that load
            to_failure = np.maximum(scale[row] - scale, 0).sum(axis=1)
            to_failure = to_failure + 0.5 * np.abs(sizes - sizes[row]).sum(axis=1)
            beyond = np.minimum(_steps_beyond(scale, worked), _FAR)
            total = to_failure + beyond
            share = np.where(total > 0, to_failure / np.maximum(total, 1e-9), 0.5)
            chance = np.minimum(chance, share**2)
    return chance


def _loads(settings: Settings, worked: list[int], failed: list[int]) -> Floats:
    """The probability that variants load: the share of all hypotheses about their memory and about
    the available memory that agree with the outcomes so far.
    """
    needs = _needs(settings)
    enough_memory = needs[:, worked].max(axis=1) if worked else needs.min(axis=1) - 1
    # where more has worked, memory is not the reason
    lacking = [row for row in failed if (needs[:, row] > enough_memory).any()]
    if not lacking:
        return np.ones(needs.shape[1])
    too_much_memory = needs[:, lacking].min(axis=1)
    # the available memory is uniformly distributed between the two
    room = np.maximum(too_much_memory - enough_memory, 0)
    if not room.any():
        return np.full(needs.shape[1], 0.5)
    enough = np.clip((too_much_memory[:, None] - needs) / np.maximum(room, 1e-9)[:, None], 0, 1)
    chance = np.asarray((room[:, None] * enough).sum(axis=0) / room.sum())
    has_worked = np.zeros(len(chance), dtype=bool)
    has_worked[worked] = True
    return np.where(has_worked, 1.0, (1 - _OTHER_REASON) * chance)


def _needs(settings: Settings) -> Floats:
    """The logarithm of the memory that each variant (columns) needs, by hypothesis (rows)."""
    generator = np.random.default_rng(0)
    stations = settings.instances.shape[1]
    shape = (_HYPOTHESES, stations)
    part = np.exp(generator.uniform(*_INFERENCE_PART, shape))
    fixed = np.exp(generator.standard_normal(shape)) if stations > 1 else np.ones(shape)
    power = np.ones(_HYPOTHESES)
    count = int(_HYPOTHESES * _ONE_SIZE_ONLY)
    power[:count] = _HARDLY
    part[count : 2 * count] *= _HARDLY
    need = np.zeros((_HYPOTHESES, len(settings)))
    for station in range(stations):
        per_instance = fixed[:, station, None] * (
            1 + part[:, station, None] * settings.batch[:, station]
        )
        need += settings.instances[:, station] ** power[:, None] * per_instance
    return np.log(need)


def _steps_beyond(sizes: Floats, worked: list[int]) -> Floats:
    """By how many doublings each row is larger than the nearest row that worked."""
    beyond = np.full(len(sizes), np.inf)
    for row in np.unique(sizes[worked], axis=0):
        beyond = np.minimum(beyond, np.maximum(sizes - row, 0).sum(axis=1))
    return beyond
