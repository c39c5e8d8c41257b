# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Worlds: many pictures of what every trial would give, each consistent with what was measured.

A world is a set of unknowns of the queueing law, and a smooth function for what the law misses.
The sets follow the measurements by selection and small moves (in the manner of a sequential
Monte Carlo sampler), so that several explanations live on as long as the measurements allow them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from model_analyzer.search.adaptive.queueing import (
    Floats,
    Flow,
    Settings,
    closed_loop,
    open_loop,
    unknowns,
)
from model_analyzer.search.adaptive.regression import Fit, Inputs, Prior, fit

THROUGHPUT = "perf_throughput"
_LATENCIES = "perf_latency"

WORLDS = 96
_SETS = 384
_MOVES = (1.0, 0.6, 0.35, 0.2, 0.1)  # sizes of the moves, in spreads of the sets
_GUESSES = 12  # sets that the parameters of a process are chosen by


@dataclass(frozen=True, slots=True)
class Places:
    """Trials as numbers: settings of the queueing law, and positions for what it misses."""

    settings: Settings
    positions: Floats

    def __len__(self) -> int:
        return len(self.positions)

    def take(self, rows: npt.NDArray[np.intp]) -> Places:
        return Places(self.settings.take(rows), self.positions[rows])


# Values of each metric, for the places that were measured.
Values = Mapping[str, Floats]

# Log-likelihood of each of many sets of unknowns.
Likelihood = Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True)
class Worlds:
    """Values of each metric by world (rows) and place, and how noisy a measurement of it is, as a
    fraction of the value.
    """

    values: Values
    noise: Mapping[str, float]


class Surrogate:
    """Learns one model of the trials, with an `open` loop (request rates) or a closed one."""

    def __init__(self, stations: int, *, is_open: bool, seed: int) -> None:
        self._is_open = is_open
        self._seed = seed
        generator = np.random.default_rng([seed, 0])
        # the last unknown is the scale of an open loop
        self._sets: Floats = generator.standard_normal((_SETS, unknowns(stations) + 1))
        self._likelihood: Floats = np.zeros(_SETS)
        self._scale = 0.0

    def worlds(self, places: Places, values: Values, at: Places, doubt: float) -> Worlds:
        """The `values` that were measured, at the places `at`. What the law cannot explain is taken
        for `doubt` times as much as it seems to be.
        """
        generator = np.random.default_rng([self._seed, len(places)])
        throughput = _logarithm(values[THROUGHPUT])
        if not self._scale:
            self._scale = float(np.median(throughput))
        known = Inputs(places.positions, np.ones((len(places), 1)))
        new = Inputs(at.positions, np.ones((len(at), 1)))
        weight = 0.02 if self._is_open else 3.0
        prior = Prior(weights=np.array([weight]), amplitude=0.1, noise=0.02)
        if doubt == 1.0:
            self._process = self._learn(places, throughput, values, known, prior, generator)
        process = self._process
        chosen = self._sets[generator.permutation(_SETS)[:WORLDS]]
        flow, there = self._flow(chosen, places.settings), self._flow(chosen, at.settings)
        drawn = there.throughput + process.draw(throughput - flow.throughput, new, generator, doubt)
        found = {THROUGHPUT: np.exp(drawn)}
        noise = {THROUGHPUT: process.level}
        # how the average world sees load and latency
        busy = (flow.utilisation.mean(axis=0), there.utilisation.mean(axis=0))
        for tag, observed in values.items():
            if tag == THROUGHPUT:
                continue
            if tag.startswith(_LATENCIES):
                if self._is_open:
                    base, base_there = flow.latency, there.latency
                    amplitude = 0.15
                else:
                    base = (np.log(places.settings.flight) - throughput)[None, :]
                    base_there = np.log(at.settings.flight)[None, :] - drawn
                    amplitude = 0.06
                residual = np.broadcast_to(_logarithm(observed) - base, (WORLDS, len(places)))
                tail = Prior(weights=_TAIL, amplitude=amplitude, noise=0.02)
                one = fit(_tail(places, busy[0]), residual[:_GUESSES], tail)
                found[tag] = np.exp(
                    base_there + one.draw(residual, _tail(at, busy[1]), generator, doubt)
                )
                noise[tag] = float(np.hypot(one.level, process.level))
            else:
                found[tag] = self._other(observed, places, at, busy, generator)
                noise[tag] = process.level
        return Worlds(found, noise)

    def _other(
        self,
        observed: Floats,
        places: Places,
        at: Places,
        busy: tuple[Floats, Floats],
        generator: np.random.Generator,
    ) -> Floats:
        """A metric that nothing is known about: it may depend on every size and on the load."""
        is_positive = bool((observed > 0).all())
        values = np.log(observed) if is_positive else observed
        middle, spread = values.mean(), max(float(values.std()), 0.05)
        residual = np.broadcast_to((values - middle) / spread, (WORLDS, len(places)))
        known, new = _sized(places, busy[0]), _sized(at, busy[1])
        weights = np.full(known.features.shape[1], 1.0)
        one = fit(known, residual[:1], Prior(weights=weights, amplitude=0.4, noise=0.1))
        drawn = middle + spread * one.draw(residual, new, generator)
        return np.asarray(np.exp(drawn)) if is_positive else drawn

    def _flow(self, sets: Floats, at: Settings) -> Flow:
        if not self._is_open:
            return closed_loop(sets, at)
        scale = np.exp(self._scale + 2 * sets[:, -1])
        flow = open_loop(sets, at, scale)
        return Flow(
            flow.throughput + np.log(scale)[:, None],
            flow.latency - np.log(scale)[:, None],
            flow.utilisation,
        )

    # -- the sampler -------------------------------------------------------------------------

    def _learn(
        self,
        places: Places,
        throughput: Floats,
        values: Values,
        inputs: Inputs,
        prior: Prior,
        generator: np.random.Generator,
    ) -> Fit:
        """Moves the sets to where the measurements are likely."""
        latency = next(
            (_logarithm(values[tag]) for tag in sorted(values) if tag.startswith(_LATENCIES)), None
        )

        def residuals(sets: Floats) -> tuple[Floats, Floats | None]:
            flow = self._flow(sets, places.settings)
            if not self._is_open or latency is None:
                return throughput - flow.throughput, None
            return throughput - flow.throughput, latency - flow.latency

        best = np.argsort(-self._likelihood, kind="stable")[:_GUESSES]
        for _ in range(2):
            # parameters of the process for the best sets, then sets for these parameters
            first, second = residuals(self._sets[best])
            process = fit(inputs, first, prior)
            other = (
                None
                if second is None
                else fit(inputs, second, Prior(weights=np.array([3.0]), amplitude=0.15, noise=0.03))
            )

            def likelihood(sets: Floats, one: Fit = process, two: Fit | None = other) -> Floats:
                first, second = residuals(sets)
                value = one.log_likelihood(first)
                if two is not None and second is not None:
                    value = value + two.log_likelihood(second)
                return np.maximum(value, -1e6)

            self._follow(likelihood, generator)
            best = np.argsort(-self._likelihood, kind="stable")[:_GUESSES]
        return process

    def _follow(self, likelihood: Likelihood, generator: np.random.Generator) -> None:
        """Selects among the sets what the measurements favour, and lets them move."""
        now = likelihood(self._sets)
        gain = now - self._likelihood
        kept = _selected(_tempered(gain - gain.max()), generator)
        sets, now = self._sets[kept], now[kept]
        spread = np.cov(sets.T) + 1e-3 * np.eye(sets.shape[1])
        root = np.linalg.cholesky(spread)
        for size in _MOVES:
            moved = sets + size * generator.standard_normal(sets.shape) @ root.T
            there = likelihood(moved)
            rise = there - now - 0.5 * ((moved**2).sum(axis=1) - (sets**2).sum(axis=1))
            accepted = np.log(generator.uniform(size=len(rise))) < rise
            sets = np.where(accepted[:, None], moved, sets)
            now = np.where(accepted, there, now)
        self._sets, self._likelihood = sets, now


def _logarithm(values: Floats) -> Floats:
    """Of what should be positive, and is not where nothing was to be measured."""
    return np.asarray(np.log(np.maximum(values, 1e-6)))


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


# What a tail depends on: a constant, how busy the server is, how long the queue is.
_TAIL = np.array([1.0, 0.4, 0.4, 0.1, 0.05])


def _tail(places: Places, busy: Floats) -> Inputs:
    settings = places.settings
    taken = (settings.instances * np.maximum(settings.batch, settings.client[:, None])).min(axis=1)
    queue = np.log2(1 + settings.flight / taken) / 5
    sizes = np.log2(settings.instances).mean(axis=1)
    features = np.stack([np.ones(len(busy)), busy, busy**6, queue, sizes], axis=1)
    return Inputs(places.positions, features)


def _sized(places: Places, busy: Floats) -> Inputs:
    return Inputs(
        places.positions,
        np.concatenate([np.ones((len(busy), 1)), places.positions, busy[:, None]], axis=1),
    )
