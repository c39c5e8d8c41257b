# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What failures say about other trials: what is larger than what did not load does not load."""

from __future__ import annotations

import numpy as np

from model_analyzer.domain.trials import Failure, FailureReason
from model_analyzer.search.adaptive.queueing import Floats
from model_analyzer.search.adaptive.surrogate import Places

# These are about the variant, whatever the load.
_OF_THE_VARIANT = frozenset(
    {FailureReason.MODEL_NOT_LOADED, FailureReason.LOAD_TIMEOUT, FailureReason.SERVER_DIED}
)

# Before anything failed, each doubling of a size is so likely to fail; so many count.
_DARING, _FAR = 0.015, 8.0


def chances(places: Places, worked: list[int], failed: dict[int, Failure]) -> Floats:
    """The probability that each place gives a measurement, by the rows that did and did not.

    A model takes more memory with each instance and with larger batches, and clients fail at
    higher loads first: what is not larger than what worked works, what is not smaller than what
    failed fails, and in between the nearer one decides.
    """
    settings = places.settings
    sizes = np.log2(np.concatenate([settings.instances, settings.batch], axis=1))
    chance = 1 - _DARING * np.minimum(_steps_beyond(sizes, worked), _FAR)
    load = np.log2(settings.flight)[:, None]
    for row, failure in failed.items():
        loads = failure.reason not in _OF_THE_VARIANT
        scale = np.concatenate([sizes, load], axis=1) if loads else sizes
        # steps that still lead to the failure, and those beyond what worked
        to_failure = np.maximum(scale[row] - scale, 0).sum(axis=1)
        if loads:
            # another variant may well take this load
            to_failure = to_failure + 0.5 * np.abs(sizes - sizes[row]).sum(axis=1)
        beyond = np.minimum(_steps_beyond(scale, worked), _FAR)
        total = to_failure + beyond
        one = np.where(total > 0, to_failure / np.maximum(total, 1e-9), 0.5)
        chance = np.minimum(chance, one**2)
    return chance


def _steps_beyond(sizes: Floats, worked: list[int]) -> Floats:
    """By how many doublings each is larger than the nearest that worked."""
    beyond = np.full(len(sizes), np.inf)
    for row in worked:
        beyond = np.minimum(beyond, np.maximum(sizes - sizes[row], 0).sum(axis=1))
    return beyond
