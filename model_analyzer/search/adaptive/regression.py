# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Gaussian process regression: functions drawn from the posterior, given noisy values; and a
sequential Monte Carlo sampler: particles that follow the posterior distribution.

The process is the sum of known features with unknown weights, and of a Matérn 5/2 process over
positions for the rest. Whole functions are drawn, so that inputs can be compared within each
posterior sample (Wilson et al. 2020, "Efficiently sampling functions from Gaussian process
posteriors").

A particle is a row of parameters, standard normal a priori. After each measurement, particles are
resampled by how well they explain it, and then move by Metropolis steps of three kinds: random
steps with the covariance of all particles; steps along the difference of two particles (ter Braak
2006, "A Markov Chain Monte Carlo version of the genetic algorithm Differential Evolution"); and
steps towards the prior in a few parameters (Cotter et al. 2013, "MCMC methods for functions").
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from model_analyzer.search.adaptive.queueing_model import Floats

_FREQUENCIES = 128

# The grid of process parameters; amplitudes and noises are multiples of the prior's.
_LENGTH_SCALES = (0.7, 1.4, 2.8)
_AMPLITUDES = np.array([0.5, 0.7, 1.0, 1.4, 2.0])
_NOISES = np.array([0.3, 0.55, 1.0, 1.5, 2.2])
_PRIOR_SPREAD = 0.7  # standard deviation of the logarithm of these multiples
_FOR_PARAMETERS = 36  # the most values that choose the parameters

# A value is an outlier if it is this many standard deviations from its leave-one-out prediction.
# Its noise is multiplied by the second number. Fewer values have no outliers.
_OUTLYING = 4.5
_DISTRUST = 20.0
_MIN_VALUES = 6
# The prior probability of an outlier and its noise. So many functions share a draw of outliers;
# with many values more of them, because each draw takes time that grows with the values.
_OUTLIERS, _DISTURBED, _GROUP = 0.02, 0.25, 4
_MANY, _LARGE_GROUP = 48, 12


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs of a function, row by row: positions and the values of the features."""

    positions: Floats
    features: Floats

    def take(self, rows: npt.NDArray[np.intp]) -> Inputs:
        return Inputs(self.positions[rows], self.features[rows])


@dataclass(frozen=True, slots=True)
class Prior:
    """The prior, as standard deviations.

    `weights` has one for each feature. `amplitude` (of the Matérn process) and `noise` are the
    centres of their ranges.
    """

    weights: Floats
    amplitude: float
    noise: float


@dataclass(frozen=True, slots=True)
class Fit:
    """A process with fitted parameters, conditioned on values at `inputs`.

    `noise` is by value; `level` is that of a usual value, which is no outlier. `common` is the
    covariance of the values from the first feature, `own` from all other parts. `root` is the
    Cholesky factor of their total covariance, noise included.
    """

    inputs: Inputs
    weights: Floats
    amplitude: float
    length_scale: float
    noise: Floats
    level: float
    common: Floats
    own: Floats
    root: Floats

    def log_likelihood(self, residuals: Floats) -> Floats:
        """The log-likelihood of each row of `residuals`, up to a constant."""
        white = np.linalg.solve(self.root, residuals.T)
        return np.asarray(-0.5 * np.sum(white**2, axis=0))

    def draw(
        self, residuals: Floats, inflation: Floats, at: Inputs, generator: np.random.Generator
    ) -> Floats:
        """Draws one function for each row of `residuals`, the values it is conditioned on.

        Returns its values at the inputs `at`. `inflation` multiplies, by row, the amplitude and the
        weights of all features but the first, which is common to all values.
        """
        count, dimensions = len(residuals), at.positions.shape[1]
        # the spectrum of a Matérn 5/2 process is a t-distribution with five degrees of freedom
        spread = np.sqrt(5 / generator.chisquare(5, _FREQUENCIES))
        frequencies = (
            generator.standard_normal((dimensions, _FREQUENCIES)) * spread / self.length_scale
        )
        phases = generator.uniform(0, 2 * np.pi, _FREQUENCIES)
        scale = self.amplitude * np.sqrt(2 / _FREQUENCIES) * inflation
        waves = generator.standard_normal((_FREQUENCIES, count)) * scale
        weights = generator.standard_normal((len(self.weights), count)) * self.weights[:, None]
        weights[1:] *= inflation
        groups = _grouped(inflation, _GROUP if len(self.noise) <= _MANY else _LARGE_GROUP)
        noise = self._noises(residuals.mean(axis=0), len(groups), generator)
        errors = generator.standard_normal((len(self.noise), count))

        def prior(where: Inputs) -> Floats:
            # single precision is plenty here and below, and much faster
            basis = np.cos((where.positions @ frequencies + phases).astype(np.float32))
            return np.asarray(basis @ waves.astype(np.float32) + where.features @ weights)

        unexplained = residuals.T - prior(self.inputs)
        pull = np.zeros_like(unexplained)
        for factor in np.unique(inflation):
            smooth = self.common + factor**2 * self.own
            for rows, row_noise in zip(groups, noise, strict=True):
                if inflation[rows[0]] == factor:
                    target = unexplained[:, rows] - row_noise[:, None] * errors[:, rows]
                    pull[:, rows] = np.linalg.solve(smooth + np.diag(row_noise**2), target)
        drawn = prior(at) + self._correction(at, pull, pull * inflation**2)
        return np.asarray(drawn.T)

    def _noises(self, values: Floats, count: int, generator: np.random.Generator) -> Floats:
        """`count` draws of the noise of each value: in some of them the value is an outlier, the
        more often the farther it is from its leave-one-out prediction.
        """
        errors, spread = _leave_one_out(self.root, values)
        outlier_spread = np.hypot(spread, _DISTURBED)
        odds = (
            _OUTLIERS
            * spread
            / outlier_spread
            * np.exp(0.5 * errors**2 * (1 - (spread / outlier_spread) ** 2))
        )
        chance = np.minimum(odds / (1 + odds), 0.9)
        outlying = generator.random((count, len(values))) < chance
        return np.where(outlying, np.maximum(self.noise, _DISTURBED), self.noise)

    def over(self, inputs: Inputs, residuals: Floats, relative: Floats) -> Fit:
        """The process with the same parameters, conditioned on other values."""
        return condition(
            inputs, residuals, relative, self.weights, self.amplitude, self.length_scale, self.level
        )

    def _correction(self, at: Inputs, first: Floats, others: Floats) -> Floats:
        """The correction of prior functions at the inputs `at`: `first` weighs the values for the
        first feature, `others` for all other parts.
        """
        inputs, weights = self.inputs, self.weights[:, None] ** 2
        by_features = np.concatenate(
            [inputs.features[:, :1].T @ first, inputs.features[:, 1:].T @ others]
        )
        new, old = at.positions.astype(np.float32), inputs.positions.astype(np.float32)
        shape = _matern(_distances(new, old) / np.float32(self.length_scale))
        by_shape = shape @ (self.amplitude**2 * others).astype(np.float32)
        return np.asarray(at.features @ (weights * by_features) + by_shape)


def fit(inputs: Inputs, residuals: Floats, prior: Prior, relative: Floats | None = None) -> Fit:
    """Fits the process parameters; the rows of `residuals` are equally likely values. `relative` is
    the noise of each value, as a multiple of the usual noise; without it, all are usual.

    A subsample of many values chooses the parameters.
    """
    rows = subsample(residuals[0], _FOR_PARAMETERS)
    if relative is None:
        relative = np.ones(residuals.shape[1])
    amplitude, length_scale, noise = _parameters(
        inputs.take(rows), residuals[:, rows], prior, relative[rows]
    )
    return condition(inputs, residuals, relative, prior.weights, amplitude, length_scale, noise)


def condition(
    inputs: Inputs,
    residuals: Floats,
    relative: Floats,
    weights: Floats,
    amplitude: float,
    length_scale: float,
    noise: float,
) -> Fit:
    """The process with these parameters, for values at `inputs`, whose noise is a `relative`
    multiple of `noise`. The mean of `residuals` decides which of them are outliers.
    """
    features = inputs.features * weights
    shape = _matern(_distances(inputs.positions, inputs.positions) / length_scale)
    common = features[:, :1] @ features[:, :1].T
    own = features[:, 1:] @ features[:, 1:].T + amplitude**2 * shape
    smooth = common + own
    noises = noise * relative
    root = np.linalg.cholesky(smooth + np.diag(noises**2))
    outlying = _outlying(root, residuals.mean(axis=0))
    if outlying.any():
        noises = np.where(outlying, _DISTRUST * noises, noises)
        root = np.linalg.cholesky(smooth + np.diag(noises**2))
    return Fit(inputs, weights, amplitude, length_scale, noises, noise, common, own, root)


def subsample(values: Floats, most: int) -> npt.NDArray[np.intp]:
    """Row indices of at most `most` values: the newest, and others spread from low to high."""
    if len(values) <= most:
        return np.arange(len(values))
    newest = most // 3
    older = np.argsort(values[:-newest], kind="stable")
    others = older[np.linspace(0, len(older) - 1, most - newest).astype(int)]
    return np.concatenate([np.sort(others), np.arange(len(values) - newest, len(values))])


def _parameters(
    inputs: Inputs, residuals: Floats, prior: Prior, relative: Floats
) -> tuple[float, float, float]:
    """The fitted amplitude, length scale and noise: posterior means of their logarithms."""
    distances = _distances(inputs.positions, inputs.positions)
    linear = (inputs.features * prior.weights**2) @ inputs.features.T
    shapes = _matern(distances / np.array(_LENGTH_SCALES)[:, None, None])
    squares = (prior.amplitude * _AMPLITUDES) ** 2
    noises = (prior.noise * _NOISES) ** 2
    # axes: length scale, amplitude, noise
    covariances = (
        linear
        + squares[None, :, None, None, None] * shapes[:, None, None]
        + noises[None, None, :, None, None] * np.diag(relative**2)
    )
    roots = np.linalg.cholesky(covariances)
    white = np.linalg.solve(
        roots, np.broadcast_to(residuals.T, (*roots.shape[:3], *residuals.T.shape))
    )
    likelihoods = (
        -0.5 * np.mean(np.sum(white**2, axis=-2), axis=-1)
        - np.sum(np.log(np.diagonal(roots, axis1=-2, axis2=-1)), axis=-1)
        - 0.5 * (np.log(_AMPLITUDES) / _PRIOR_SPREAD)[None, :, None] ** 2
        - 0.5 * (np.log(_NOISES) / _PRIOR_SPREAD)[None, None, :] ** 2
    )
    # means, not the maximum, which often confuses noise with shape
    weights = np.exp(likelihoods - likelihoods.max())
    weights /= weights.sum()
    length_scale = np.sum(weights * np.log(_LENGTH_SCALES)[:, None, None])
    amplitude = np.sum(weights * np.log(_AMPLITUDES)[None, :, None])
    noise = np.sum(weights * np.log(_NOISES)[None, None, :])
    return (
        prior.amplitude * float(np.exp(amplitude)),
        float(np.exp(length_scale)),
        prior.noise * float(np.exp(noise)),
    )


def _outlying(root: Floats, values: Floats) -> npt.NDArray[np.bool_]:
    """Which values are outliers."""
    if len(values) < _MIN_VALUES:
        return np.zeros(len(values), dtype=bool)
    errors, _ = _leave_one_out(root, values)
    outliers = np.abs(errors) > _OUTLYING
    # many outliers mean that the process does not fit: then no value is one
    return np.asarray(outliers & (outliers.sum() <= max(1, len(values) // 8)))


def _leave_one_out(root: Floats, values: Floats) -> tuple[Floats, Floats]:
    """The leave-one-out error of each value in standard deviations, and these deviations."""
    inverse = np.linalg.inv(root)
    precision = inverse.T @ inverse
    spread = 1 / np.sqrt(np.diag(precision))
    return np.clip((precision @ values) * spread, -10, 10), spread


def _grouped(inflation: Floats, size: int) -> list[npt.NDArray[np.intp]]:
    """Row indices in groups of about `size`, with equal inflation in each group."""
    groups = []
    for factor in np.unique(inflation):
        rows = np.flatnonzero(inflation == factor)
        groups += np.array_split(rows, max(len(rows) // size, 1))
    return groups


def _distances(a: Floats, b: Floats) -> Floats:
    squares = (a**2).sum(1)[:, None] + (b**2).sum(1)[None, :] - 2 * a @ b.T
    return np.asarray(np.sqrt(np.maximum(squares, 0)))


def _matern(distance: Floats) -> Floats:
    scaled = math.sqrt(5) * distance
    return np.asarray((1 + scaled + scaled**2 / 3) * np.exp(-scaled))


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
