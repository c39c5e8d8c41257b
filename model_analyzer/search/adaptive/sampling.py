# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A sequential Monte Carlo sampler: particles that follow the posterior distribution.

A particle is a row of parameters, standard normal a priori. After each measurement, particles are
resampled by how well they explain it, and then move by Metropolis steps of three kinds: random
steps with the covariance of all particles; steps along the difference of two particles (ter Braak
2006, "A Markov Chain Monte Carlo version of the genetic algorithm Differential Evolution"); and
steps towards the prior in a few parameters (Cotter et al. 2013, "MCMC methods for functions").
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from model_analyzer.search.adaptive.queueing_model import Floats

_BLUR = 0.02  # random part of differential steps: makes every point reachable
_RENEWED = 2  # parameters that a step towards the prior changes, on average

# The log-likelihood of each particle.
Likelihood = Callable[[Floats], Floats]

# Proposed particles, and the change of their log prior density (0 if the step preserves the prior).
Proposal = tuple[Floats, Floats]


def update_particles(
    particles: Floats, before: Floats, likelihood: Likelihood, generator: np.random.Generator
) -> tuple[Floats, Floats]:
    """Resamples the particles by the change from the log-likelihoods `before` to those of
    `likelihood`, then moves them. Returns the particles and their log-likelihoods.
    """
    now = likelihood(particles)
    gain = now - before
    rows = _resampled(_tempered(gain - gain.max()), generator)
    particles, now = particles[rows], now[rows]
    for propose, size in _MOVES:
        moved, odds = propose(particles, size, generator)
        proposed = likelihood(moved)
        accepted = np.log(generator.uniform(size=len(proposed))) < proposed - now + odds
        particles = np.where(accepted[:, None], moved, particles)
        now = np.where(accepted, proposed, now)
    return particles, now


def _walk(particles: Floats, size: float, generator: np.random.Generator) -> Proposal:
    """Random steps with the covariance of the particles."""
    spread = np.cov(particles.T) + 1e-3 * np.eye(particles.shape[1])
    steps = generator.standard_normal(particles.shape) @ np.linalg.cholesky(spread).T
    return _stepped(particles, size * steps)


def _differential(particles: Floats, size: float, generator: np.random.Generator) -> Proposal:
    """Steps along the difference of two particles: they fit curved and multimodal posteriors."""
    first, second = generator.permutation(len(particles)), generator.permutation(len(particles))
    blur = _BLUR * generator.standard_normal(particles.shape)
    return _stepped(particles, size * (particles[first] - particles[second]) + blur)


def _stepped(particles: Floats, steps: Floats) -> Proposal:
    moved = particles + steps
    return moved, -0.5 * ((moved**2).sum(axis=1) - (particles**2).sum(axis=1))


def _renew(particles: Floats, size: float, generator: np.random.Generator) -> Proposal:
    """Draws a few parameters anew, up to the part `size`, from the prior: parameters that the
    measurements hardly constrain move far.
    """
    chosen = generator.random(particles.shape) < _RENEWED / particles.shape[1]
    fresh = np.sqrt(1 - size**2) * particles + size * generator.standard_normal(particles.shape)
    return np.where(chosen, fresh, particles), np.zeros(len(particles))


# The moves and their sizes, in order. No single kind reaches the posterior in so few moves.
_MOVES = 2 * (
    (_walk, 1.0),
    (_renew, 1.0),
    (_walk, 0.6),
    (_differential, 0.42),
    (_renew, 0.5),
    (_walk, 0.2),
)


def _tempered(gain: Floats) -> Floats:
    """Weights by log-likelihood `gain`, tempered to an effective sample size of at least a third
    of the particles.
    """
    for power in (1.0, 0.6, 0.35, 0.2, 0.12, 0.07, 0.04, 0.02, 0.01):
        weights = np.exp(power * gain)
        weights /= weights.sum()
        if 1 / (weights**2).sum() >= len(gain) / 3:
            break
    return np.asarray(weights)


def _resampled(weights: Floats, generator: np.random.Generator) -> npt.NDArray[np.intp]:
    """Rows drawn by systematic resampling: as many as there are weights."""
    marks = (np.arange(len(weights)) + generator.uniform()) / len(weights)
    return np.minimum(np.searchsorted(np.cumsum(weights), marks), len(weights) - 1)
