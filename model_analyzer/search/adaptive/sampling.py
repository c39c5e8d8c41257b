# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Sets of unknowns that follow what is measured: a sequential Monte Carlo sampler.

A set is a row of numbers that are standard normal before anything is measured. After each
measurement those sets live on that explain it, and all of them move, by Metropolis steps of three
kinds: after the spread of all sets, along the difference of two of them (ter Braak 2006, "A Markov
Chain Monte Carlo version of the genetic algorithm Differential Evolution"), and back towards what
was believed beforehand in a few of the numbers (Cotter et al. 2013, "MCMC methods for functions").
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from model_analyzer.search.adaptive.queueing import Floats

_BLUR = 0.02  # of steps from one set to another: all sets can be reached
_RENEWED = 2  # of the unknowns, in the mean

# Log-likelihood of each of many sets.
Likelihood = Callable[[Floats], Floats]

# Where the sets would move to, and by how much the logarithm of their odds changes beforehand.
Proposal = tuple[Floats, Floats]


def followed(
    sets: Floats, before: Floats, likelihood: Likelihood, generator: np.random.Generator
) -> tuple[Floats, Floats]:
    """The sets selected by what `likelihood` says that it did not `before`, and moved; and their
    likelihoods.
    """
    now = likelihood(sets)
    gain = now - before
    kept = _selected(_tempered(gain - gain.max()), generator)
    sets, now = sets[kept], now[kept]
    for propose, size in _MOVES:
        moved, odds = propose(sets, size, generator)
        there = likelihood(moved)
        accepted = np.log(generator.uniform(size=len(there))) < there - now + odds
        sets = np.where(accepted[:, None], moved, sets)
        now = np.where(accepted, there, now)
    return sets, now


def _walk(sets: Floats, size: float, generator: np.random.Generator) -> Proposal:
    """Steps at random, spread as the sets are."""
    spread = np.cov(sets.T) + 1e-3 * np.eye(sets.shape[1])
    steps = generator.standard_normal(sets.shape) @ np.linalg.cholesky(spread).T
    return _stepped(sets, size * steps)


def _follow_others(sets: Floats, size: float, generator: np.random.Generator) -> Proposal:
    """Steps as from one set to another: these keep to curved and to separate explanations."""
    one, other = generator.permutation(len(sets)), generator.permutation(len(sets))
    blur = _BLUR * generator.standard_normal(sets.shape)
    return _stepped(sets, size * (sets[one] - sets[other]) + blur)


def _stepped(sets: Floats, steps: Floats) -> Proposal:
    moved = sets + steps
    return moved, -0.5 * ((moved**2).sum(axis=1) - (sets**2).sum(axis=1))


def _renew(sets: Floats, size: float, generator: np.random.Generator) -> Proposal:
    """Draws a few of the unknowns anew, up to that part, from what is believed beforehand: those
    that the measurements say little about move far.
    """
    chosen = generator.random(sets.shape) < _RENEWED / sets.shape[1]
    fresh = np.sqrt(1 - size**2) * sets + size * generator.standard_normal(sets.shape)
    return np.where(chosen, fresh, sets), np.zeros(len(sets))


# What is proposed, and how far, one after the other. None of them alone comes to where the
# measurements are likely within so few moves.
_MOVES = 2 * (
    (_walk, 1.0),
    (_renew, 1.0),
    (_walk, 0.6),
    (_follow_others, 0.42),
    (_renew, 0.5),
    (_walk, 0.2),
)


def _tempered(gain: Floats) -> Floats:
    """Weights that follow `gain` as far as a third of the sets still count."""
    for power in (1.0, 0.6, 0.35, 0.2, 0.12, 0.07, 0.04, 0.02, 0.01):
        weights = np.exp(power * gain)
        weights /= weights.sum()
        if 1 / (weights**2).sum() >= len(gain) / 3:
            break
    return np.asarray(weights)


def _selected(weights: Floats, generator: np.random.Generator) -> npt.NDArray[np.intp]:
    """As many rows as there are weights, each as often as its weight says."""
    marks = (np.arange(len(weights)) + generator.uniform()) / len(weights)
    return np.minimum(np.searchsorted(np.cumsum(weights), marks), len(weights) - 1)
