# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Smooth functions that are consistent with noisy values: a Gaussian process, drawn from.

The process is a sum of known features with unknown weights and of a Matérn 5/2 process over
positions, for what the features cannot say. Whole functions are drawn, so that places can be
compared within each (Wilson et al. 2020, "Efficiently sampling functions from Gaussian process
posteriors").
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from model_analyzer.search.adaptive.queueing import Floats

_FREQUENCIES = 128

# What is tried for the parameters of a process; the last two, in multiples of what is believed.
_REACHES = (0.7, 1.4, 2.8)
_AMPLITUDES = np.array([0.5, 0.7, 1.0, 1.4, 2.0])
_NOISES = np.array([0.3, 0.55, 1.0, 1.5, 2.2])
_SURENESS = 0.7  # in their logarithm
_FOR_PARAMETERS = 36

# A value this many standard deviations from where all others expect it is an outlier, which
# counts as if it were that much noisier.
_OUTLYING = 4.5
_DISTRUST = 20.0
_FEWEST = 6
# Before the others are looked at, this part of the values are outliers, off by about so much;
# so many functions agree about which.
_OUTLIERS, _DISTURBED, _TOGETHER = 0.02, 0.25, 4
_MANY, _MORE = 48, 12  # of many values, so many agree: each group takes time that grows with them


@dataclass(frozen=True, slots=True)
class Inputs:
    """Where a function is asked for, row by row: positions, and the values of its features."""

    positions: Floats
    features: Floats

    def take(self, rows: npt.NDArray[np.intp]) -> Inputs:
        return Inputs(self.positions[rows], self.features[rows])


@dataclass(frozen=True, slots=True)
class Prior:
    """What is believed before the values are seen, as standard deviations.

    `weights` are those of the features. Of `amplitude` (of what the features cannot say) and
    `noise` these are the middles of a range.
    """

    weights: Floats
    amplitude: float
    noise: float


@dataclass(frozen=True, slots=True)
class Fit:
    """A process with chosen parameters and the values it is conditioned on.

    `common` is the covariance of these by the first feature, `own` by all else; `root` that of what
    is observed of them, as its Cholesky factor.
    """

    inputs: Inputs
    weights: Floats
    amplitude: float
    reach: float
    noise: Floats
    common: Floats
    own: Floats
    root: Floats

    @property
    def level(self) -> float:
        """The noise of a value that is no outlier."""
        return float(self.noise.min())

    def log_likelihood(self, residuals: Floats) -> Floats:
        """Of each row of `residuals`, but for what all have in common."""
        white = np.linalg.solve(self.root, residuals.T)
        return np.asarray(-0.5 * np.sum(white**2, axis=0))

    def draw(
        self, residuals: Floats, doubt: Floats, at: Inputs, generator: np.random.Generator
    ) -> Floats:
        """A function for each row of `residuals`, the values it has to explain: values `at`.

        For each row, what the features cannot say is taken for `doubt` times as much as it seems to
        be, and so are the features, but for the first, which all values have in common.
        """
        count, dimensions = len(residuals), at.positions.shape[1]
        # the spectrum of a Matérn 5/2 process is a t-distribution with five degrees of freedom
        spread = np.sqrt(5 / generator.chisquare(5, _FREQUENCIES))
        frequencies = generator.standard_normal((dimensions, _FREQUENCIES)) * spread / self.reach
        phases = generator.uniform(0, 2 * np.pi, _FREQUENCIES)
        scale = self.amplitude * np.sqrt(2 / _FREQUENCIES) * doubt
        waves = generator.standard_normal((_FREQUENCIES, count)) * scale
        weights = generator.standard_normal((len(self.weights), count)) * self.weights[:, None]
        weights[1:] *= doubt
        groups = _alike(doubt, _TOGETHER if len(self.noise) <= _MANY else _MORE)
        noise = self._noises(residuals.mean(axis=0), len(groups), generator)
        errors = generator.standard_normal((len(self.noise), count))

        def prior(where: Inputs) -> Floats:
            # single precision is plenty here and below, and much faster
            basis = np.cos((where.positions @ frequencies + phases).astype(np.float32))
            return np.asarray(basis @ waves.astype(np.float32) + where.features @ weights)

        unexplained = residuals.T - prior(self.inputs)
        pull = np.zeros_like(unexplained)
        for one in np.unique(doubt):
            smooth = self.common + one**2 * self.own
            for rows, level in zip(groups, noise, strict=True):
                if doubt[rows[0]] == one:
                    missing = unexplained[:, rows] - level[:, None] * errors[:, rows]
                    pull[:, rows] = np.linalg.solve(smooth + np.diag(level**2), missing)
        drawn = prior(at) + self._pulled(at, pull, pull * doubt**2)
        return np.asarray(drawn.T)

    def _noises(self, values: Floats, count: int, generator: np.random.Generator) -> Floats:
        """The noise of each value, `count` times: it may be an outlier in some of them, the more
        the less the others expect it.
        """
        off, spread = _left_out(self.root, values)
        wide = np.hypot(spread, _DISTURBED)
        odds = _OUTLIERS * spread / wide * np.exp(0.5 * off**2 * (1 - (spread / wide) ** 2))
        chance = np.minimum(odds / (1 + odds), 0.9)
        outlying = generator.random((count, len(values))) < chance
        return np.where(outlying, np.maximum(self.noise, _DISTURBED), self.noise)

    def over(self, inputs: Inputs, residuals: Floats) -> Fit:
        """The same process with other values."""
        return condition(inputs, residuals, self.weights, self.amplitude, self.reach, self.level)

    def _pulled(self, at: Inputs, first: Floats, others: Floats) -> Floats:
        """How far the values draw functions `at` places to themselves: by the first feature, and
        by all else.
        """
        known, weights = self.inputs, self.weights[:, None] ** 2
        by_features = np.concatenate(
            [known.features[:, :1].T @ first, known.features[:, 1:].T @ others]
        )
        there, here = at.positions.astype(np.float32), known.positions.astype(np.float32)
        shape = _matern(_distances(there, here) / np.float32(self.reach))
        by_shape = shape @ (self.amplitude**2 * others).astype(np.float32)
        return np.asarray(at.features @ (weights * by_features) + by_shape)


def fit(inputs: Inputs, residuals: Floats, prior: Prior) -> Fit:
    """The most likely process: rows of `residuals` are equally good guesses at its values.

    Of many values, its parameters are chosen by some.
    """
    some = spread_out(residuals[0], _FOR_PARAMETERS)
    amplitude, reach, noise = _parameters(inputs.take(some), residuals[:, some], prior)
    return condition(inputs, residuals, prior.weights, amplitude, reach, noise)


def condition(
    inputs: Inputs,
    residuals: Floats,
    weights: Floats,
    amplitude: float,
    reach: float,
    noise: float,
) -> Fit:
    """The process with these parameters that explains these values."""
    features = inputs.features * weights
    shape = _matern(_distances(inputs.positions, inputs.positions) / reach)
    common = features[:, :1] @ features[:, :1].T
    own = features[:, 1:] @ features[:, 1:].T + amplitude**2 * shape
    smooth = common + own
    each = np.full(len(shape), noise)
    root = np.linalg.cholesky(smooth + np.diag(each**2))
    outlying = _outlying(root, residuals.mean(axis=0))
    if outlying.any():
        each = np.where(outlying, _DISTRUST * noise, noise)
        root = np.linalg.cholesky(smooth + np.diag(each**2))
    return Fit(inputs, weights, amplitude, reach, each, common, own, root)


def spread_out(values: Floats, most: int) -> npt.NDArray[np.intp]:
    """Rows of at most so many values: a part of the newest, and others from low to high."""
    if len(values) <= most:
        return np.arange(len(values))
    newest = most // 3
    older = np.argsort(values[:-newest], kind="stable")
    others = older[np.linspace(0, len(older) - 1, most - newest).astype(int)]
    return np.concatenate([np.sort(others), np.arange(len(values) - newest, len(values))])


def _parameters(inputs: Inputs, residuals: Floats, prior: Prior) -> tuple[float, float, float]:
    """The most likely amplitude, reach and noise."""
    distances = _distances(inputs.positions, inputs.positions)
    linear = (inputs.features * prior.weights**2) @ inputs.features.T
    shapes = _matern(distances / np.array(_REACHES)[:, None, None])
    squares = (prior.amplitude * _AMPLITUDES) ** 2
    noises = (prior.noise * _NOISES) ** 2
    # by reach, amplitude and noise
    covariances = (
        linear
        + squares[None, :, None, None, None] * shapes[:, None, None]
        + noises[None, None, :, None, None] * np.eye(len(linear))
    )
    roots = np.linalg.cholesky(covariances)
    white = np.linalg.solve(
        roots, np.broadcast_to(residuals.T, (*roots.shape[:3], *residuals.T.shape))
    )
    likelihoods = (
        -0.5 * np.mean(np.sum(white**2, axis=-2), axis=-1)
        - np.sum(np.log(np.diagonal(roots, axis1=-2, axis2=-1)), axis=-1)
        - 0.5 * (np.log(_AMPLITUDES) / _SURENESS)[None, :, None] ** 2
        - 0.5 * (np.log(_NOISES) / _SURENESS)[None, None, :] ** 2
    )
    # their mean, as logarithms: the most likely ones take noise for shape, or shape for noise
    weights = np.exp(likelihoods - likelihoods.max())
    weights /= weights.sum()
    reach = np.sum(weights * np.log(_REACHES)[:, None, None])
    amplitude = np.sum(weights * np.log(_AMPLITUDES)[None, :, None])
    noise = np.sum(weights * np.log(_NOISES)[None, None, :])
    return (
        prior.amplitude * float(np.exp(amplitude)),
        float(np.exp(reach)),
        prior.noise * float(np.exp(noise)),
    )


def _outlying(root: Floats, values: Floats) -> npt.NDArray[np.bool_]:
    """Which values all the others contradict."""
    if len(values) < _FEWEST:
        return np.zeros(len(values), dtype=bool)
    off, _ = _left_out(root, values)
    worst = np.abs(off) > _OUTLYING
    # where many are, none is: the process does not fit
    return np.asarray(worst & (worst.sum() <= max(1, len(values) // 8)))


def _left_out(root: Floats, values: Floats) -> tuple[Floats, Floats]:
    """How far each value is from where all others expect it, in standard deviations, and these."""
    inverse = np.linalg.inv(root)
    precision = inverse.T @ inverse
    spread = 1 / np.sqrt(np.diag(precision))
    return np.clip((precision @ values) * spread, -10, 10), spread


def _alike(doubt: Floats, together: int) -> list[npt.NDArray[np.intp]]:
    """Rows in groups of about so many with equal doubt."""
    found = []
    for one in np.unique(doubt):
        rows = np.flatnonzero(doubt == one)
        found += np.array_split(rows, max(len(rows) // together, 1))
    return found


def _distances(a: Floats, b: Floats) -> Floats:
    squares = (a**2).sum(1)[:, None] + (b**2).sum(1)[None, :] - 2 * a @ b.T
    return np.asarray(np.sqrt(np.maximum(squares, 0)))


def _matern(distance: Floats) -> Floats:
    scaled = math.sqrt(5) * distance
    return np.asarray((1 + scaled + scaled**2 / 3) * np.exp(-scaled))
