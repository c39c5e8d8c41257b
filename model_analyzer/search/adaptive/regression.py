# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Smooth functions that are consistent with noisy values: a Gaussian process, drawn from.

The process is a sum of known features with unknown weights and of a Matérn 5/2 process over
positions, for what the features cannot say. Whole functions are drawn, so that places can be
compared within each (Wilson et al. 2020, "Efficiently sampling functions from Gaussian process
posteriors").
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from model_analyzer.search.adaptive.queueing import Floats

_FREQUENCIES = 128

# What is tried for the parameters of a process; the last two, in multiples of what is believed.
_REACHES = (0.7, 1.4, 2.8)
_AMPLITUDES = np.array([0.5, 0.7, 1.0, 1.4, 2.0])
_NOISES = np.array([0.35, 0.6, 1.0, 1.7, 3.0])
_SURENESS = 0.7  # in their logarithm
_FOR_PARAMETERS = 36

# A value this many standard deviations from where all others expect it is an outlier, which
# counts as if it were that much noisier.
_OUTLYING = 4.5
_DISTRUST = 20.0
_FEWEST = 6


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
    """A process with chosen parameters and the values it is conditioned on."""

    inputs: Inputs
    weights: Floats
    amplitude: float
    reach: float
    noise: Floats
    root: Floats

    @property
    def level(self) -> float:
        """The noise of a value that is no outlier."""
        return float(self.noise.min())

    def log_likelihood(self, residuals: Floats) -> Floats:
        """Of each row of `residuals`, but for what all have in common."""
        white = np.linalg.solve(self.root, residuals.T)
        return np.asarray(-0.5 * np.sum(white**2, axis=0))

    def draw(self, residuals: Floats, at: Inputs, generator: np.random.Generator) -> Floats:
        """A function for each row of `residuals`, the values it has to explain: values `at`."""
        count, dimensions = len(residuals), at.positions.shape[1]
        # the spectrum of a Matérn 5/2 process is a t-distribution with five degrees of freedom
        spread = np.sqrt(5 / generator.chisquare(5, _FREQUENCIES))
        frequencies = generator.standard_normal((dimensions, _FREQUENCIES)) * spread / self.reach
        phases = generator.uniform(0, 2 * np.pi, _FREQUENCIES)
        waves = generator.standard_normal((_FREQUENCIES, count))
        weights = generator.standard_normal((len(self.weights), count)) * self.weights[:, None]
        errors = generator.standard_normal((len(self.noise), count)) * self.noise[:, None]

        def prior(where: Inputs) -> Floats:
            basis = np.cos(where.positions @ frequencies + phases)
            scale = self.amplitude * np.sqrt(2 / _FREQUENCIES)
            return np.asarray(scale * basis @ waves + where.features @ weights)

        missing = residuals.T - prior(self.inputs) - errors
        pull = np.linalg.solve(self.root.T, np.linalg.solve(self.root, missing))
        return np.asarray((prior(at) + self._covariance(at) @ pull).T)

    def over(self, inputs: Inputs, residuals: Floats) -> Fit:
        """The same process with other values."""
        return condition(inputs, residuals, self.weights, self.amplitude, self.reach, self.level)

    def doubted(self, doubt: float) -> Fit:
        """The same with `doubt` times as much that the features cannot say."""
        positions = self.inputs.positions
        shape = _matern(_distances(positions, positions) / self.reach)
        more = (doubt**2 - 1) * self.amplitude**2 * shape
        root = np.linalg.cholesky(self.root @ self.root.T + more)
        return replace(self, amplitude=doubt * self.amplitude, root=root)

    def _covariance(self, at: Inputs) -> Floats:
        known = self.inputs
        return np.asarray(
            self.amplitude**2 * _matern(_distances(at.positions, known.positions) / self.reach)
            + (at.features * self.weights**2) @ known.features.T
        )


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
    shape = _matern(_distances(inputs.positions, inputs.positions) / reach)
    smooth = (inputs.features * weights**2) @ inputs.features.T + amplitude**2 * shape
    each = np.full(len(shape), noise)
    root = np.linalg.cholesky(smooth + np.diag(each**2))
    outlying = _outlying(root, residuals.mean(axis=0))
    if outlying.any():
        each = np.where(outlying, _DISTRUST * noise, noise)
        root = np.linalg.cholesky(smooth + np.diag(each**2))
    return Fit(inputs, weights, amplitude, reach, each, root)


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
    reach, amplitude, noise = np.unravel_index(np.argmax(likelihoods), likelihoods.shape)
    return (
        prior.amplitude * float(_AMPLITUDES[amplitude]),
        _REACHES[reach],
        prior.noise * float(_NOISES[noise]),
    )


def _outlying(root: Floats, values: Floats) -> npt.NDArray[np.bool_]:
    """Which values all the others contradict."""
    if len(values) < _FEWEST:
        return np.zeros(len(values), dtype=bool)
    inverse = np.linalg.inv(root)
    precision = inverse.T @ inverse
    off = (precision @ values) / np.sqrt(np.diag(precision))
    worst = np.abs(off) > _OUTLYING
    # where many are, none is: the process does not fit
    return np.asarray(worst & (worst.sum() <= max(1, len(values) // 8)))


def _distances(a: Floats, b: Floats) -> Floats:
    squares = (a**2).sum(1)[:, None] + (b**2).sum(1)[None, :] - 2 * a @ b.T
    return np.asarray(np.sqrt(np.maximum(squares, 0)))


def _matern(distance: Floats) -> Floats:
    scaled = np.sqrt(5) * distance
    return np.asarray((1 + scaled + scaled**2 / 3) * np.exp(-scaled))
