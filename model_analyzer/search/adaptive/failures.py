# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What failures say about other trials: what needs more than what did not load does not load."""

from __future__ import annotations

import numpy as np

from model_analyzer.domain.trials import Failure, FailureReason
from model_analyzer.search.adaptive.queueing import Floats, Settings
from model_analyzer.search.adaptive.surrogate import Places

# These are about the variant, whatever the load.
_OF_THE_VARIANT = frozenset(
    {FailureReason.MODEL_NOT_LOADED, FailureReason.LOAD_TIMEOUT, FailureReason.SERVER_DIED}
)

# Before anything failed, each doubling of a size is so likely to fail; so many count.
_DARING, _FAR = 0.015, 8.0

# Guesses at what a variant needs: an instance needs something for itself and something for each
# inference of its largest batch, this part of the former (as a power of e, drawn from a range).
# Some guesses are that instances do not count, some that batches do not.
_GUESSES = 240
_OF_AN_INFERENCE = (-6.5, -0.5)
_ONE_SIZE_ONLY = 0.1
_HARDLY = 0.02
# A failure may have another reason.
_ANY_REASON = 0.02


def chances(places: Places, worked: list[int], failed: dict[int, Failure]) -> Floats:
    """The probability that each place gives a measurement, by the rows that did and did not.

    A model takes more memory with each instance and with larger batches, and clients fail at
    higher loads first.
    """
    settings = places.settings
    sizes = np.log2(np.concatenate([settings.instances, settings.batch], axis=1))
    chance = 1 - _DARING * np.minimum(_steps_beyond(sizes, worked), _FAR)
    not_loaded = [row for row, failure in failed.items() if failure.reason in _OF_THE_VARIANT]
    if not_loaded:
        chance = np.minimum(chance, _loads(settings, worked, not_loaded))
    scale = np.concatenate([sizes, np.log2(settings.flight)[:, None]], axis=1)
    for row, failure in failed.items():
        if failure.reason not in _OF_THE_VARIANT:
            # steps that still lead to the failure; another variant may well take this load
            to_failure = np.maximum(scale[row] - scale, 0).sum(axis=1)
            to_failure = to_failure + 0.5 * np.abs(sizes - sizes[row]).sum(axis=1)
            beyond = np.minimum(_steps_beyond(scale, worked), _FAR)
            total = to_failure + beyond
            one = np.where(total > 0, to_failure / np.maximum(total, 1e-9), 0.5)
            chance = np.minimum(chance, one**2)
    return chance


def _loads(settings: Settings, worked: list[int], failed: list[int]) -> Floats:
    """The probability that variants load: of all guesses at what they need and at how much there
    is, those count that explain what worked and what did not.
    """
    needs = _needs(settings)
    least = needs[:, worked].max(axis=1) if worked else needs.min(axis=1) - 1
    most = needs[:, failed].min(axis=1)
    # how much there is may be anything in between
    room = np.maximum(most - least, 0)
    if not room.any():
        return np.full(needs.shape[1], 0.5)
    enough = np.clip((most[:, None] - needs) / np.maximum(room, 1e-9)[:, None], 0, 1)
    chance = np.asarray((room[:, None] * enough).sum(axis=0) / room.sum())
    known = np.zeros(len(chance), dtype=bool)
    known[worked] = True
    return np.where(known, 1.0, (1 - _ANY_REASON) * chance)


def _needs(settings: Settings) -> Floats:
    """What variants need, as a logarithm: a row for each guess."""
    generator = np.random.default_rng(0)
    stations = settings.instances.shape[1]
    shape = (_GUESSES, stations)
    part = np.exp(generator.uniform(*_OF_AN_INFERENCE, shape))
    itself = np.exp(generator.standard_normal(shape)) if stations > 1 else np.ones(shape)
    power = np.ones(_GUESSES)
    some = int(_GUESSES * _ONE_SIZE_ONLY)
    power[:some] = _HARDLY
    part[some : 2 * some] *= _HARDLY
    need = np.zeros((_GUESSES, len(settings)))
    for station in range(stations):
        each = itself[:, station, None] * (1 + part[:, station, None] * settings.batch[:, station])
        need += settings.instances[:, station] ** power[:, None] * each
    return np.log(need)


def _steps_beyond(sizes: Floats, worked: list[int]) -> Floats:
    """By how many doublings each is larger than the nearest that worked."""
    beyond = np.full(len(sizes), np.inf)
    for one in np.unique(sizes[worked], axis=0):
        beyond = np.minimum(beyond, np.maximum(sizes - one, 0).sum(axis=1))
    return beyond
