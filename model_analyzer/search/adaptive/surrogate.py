# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The surrogate: posterior samples of all metrics of every trial, given the measurements.

A posterior sample is one particle (parameters of the queueing law) and one smooth function for the
difference between the law and the measurements. Several explanations can coexist as long as the
measurements allow them.

The factor between a latency metric and the average latency of the law has its own features: how
busy the server is (linear and steep), the length of the queue, the number of instances, and in a
closed loop how uneven the batches are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from model_analyzer.domain.histograms import LATENCY
from model_analyzer.search.adaptive import bottleneck
from model_analyzer.search.adaptive.queueing_model import (
    Floats,
    Flow,
    Settings,
    closed_loop,
    open_loop,
    parameter_count,
)
from model_analyzer.search.adaptive.regression import (
    Fit,
    Inputs,
    Prior,
    fit,
    subsample,
    update_particles,
)

_WEIGHTS = [1.0, 0.4, 0.4, 0.1, 0.05]
CLOSED_TAIL = Prior(weights=np.array([*_WEIGHTS, 0.1]), amplitude=0.12, noise=0.03)
OPEN_TAIL = Prior(weights=np.array(_WEIGHTS), amplitude=0.15, noise=0.03)

# Batches are uneven if there are more requests than instances, but too few to fill all batches.
# Both transitions take about one doubling of the load.
_LOWER_POWER, _UPPER, _UPPER_WIDTH = 1.5, 0.6, 0.6


def closed_tail(settings: Settings, busy: Floats) -> Floats:
    """The features of each trial (rows) with a constant number of requests in flight.

    `busy` is the utilisation of the server, from 0 to 1.
    """
    return np.stack([*_tail(settings, busy), unevenness(settings)], axis=1)


def open_tail(settings: Settings, busy: Floats) -> Floats:
    """The features of each trial (rows) with a constant request rate."""
    return np.stack(_tail(settings, busy), axis=1)


def unevenness(settings: Settings) -> Floats:
    """How uneven the batches of each trial are at its worst station, in doublings of instances.

    A free instance takes all waiting requests, so a large batch is followed by small ones. Batches
    are even if there is one instance, or one for each request, or if the requests fill all batches.
    """
    requests = (settings.flight / settings.client)[:, None]
    several = 1 - np.minimum(settings.instances / requests, 1) ** _LOWER_POWER
    free = np.log2(_capacity(settings) / settings.flight[:, None])
    partly = 1 / (1 + np.exp((_UPPER - free) / _UPPER_WIDTH))
    return np.asarray((np.log2(settings.instances) * several * partly).max(axis=1))


def _tail(settings: Settings, busy: Floats) -> list[Floats]:
    queue = np.log2(1 + settings.flight / _capacity(settings).min(axis=1)) / 5
    sizes = np.log2(settings.instances).mean(axis=1)
    return [np.ones(len(busy)), busy, busy**6, queue, sizes]


def _capacity(settings: Settings) -> Floats:
    """The number of inferences that all instances of each station process at once."""
    return np.asarray(settings.instances * np.maximum(settings.batch, settings.client[:, None]))


THROUGHPUT = "perf_throughput"

# Metrics that follow the throughput: with this power of it, they hardly change.
_BY_THROUGHPUT = {
    "output_token_throughput": 1,
    "energy_per_inference": -1,
    "idle_energy_per_inference": -1,
    "cost_per_million_inferences": -1,
    "cost_per_million_tokens": -1,
}

SAMPLES = 96
# In some samples, the part that the law does not explain is larger by this factor: the law may fit
# the measured trials only.
_INFLATION = np.repeat([1.0, 3.0, 8.0], [64, 24, 8])
_PARTICLES = 384
_MAX_VALUES = 96  # that a prediction is conditioned on
_MAX_LEARNED = 36  # values that update the particles
_PASSES = 2  # passes of moves after a measurement: more change little
_MIN_NEW = 0.02  # the least share of new measurements that updates the particles
_LIKELIEST = 12  # particles that choose the parameters of a process
_UNLIKELY = -1e6  # the lowest log-likelihood
_SCALE_PASSES = 5  # if all trials have a queue delay: scale and delay depend on each other
_MAX_SCALE = 30.0  # the largest logarithm of a scale

# The law predicts throughput up to a factor; in an open loop, throughput follows the request rate,
# so the factor is 1.
_FACTOR, _NO_FACTOR = 3.0, 0.02
_AMPLITUDE, _NOISE = 0.1, 0.03
_SLOW_AMPLITUDE = 0.15
# Individual effects of single batch sizes and numbers of instances, as powers of two.
_SIZES, _WIDTH, _SIZE_EFFECT = np.arange(0, 11), 0.7, 0.1
_COUNTS, _NARROW, _COUNT_EFFECT = np.arange(0, 4, 0.5), 0.3, 0.05
# Memory has a part for each instance and a part for the inferences of its largest batch.
_MEMORY = frozenset({"gpu_used_memory", "gpu_free_memory", "cpu_used_ram", "cpu_available_ram"})
_MANY, _LARGE = 4.0, 32.0
_MEMORY_WEIGHT, _OTHER_WEIGHT = 3.0, 1.0
_LEAST_SPREAD, _LEAST_OF_RATIOS = 0.05, 0.01  # of their values around the middle
_MAX_FEATURE = 100.0  # larger features lose precision, so they are scaled down


@dataclass(frozen=True, slots=True)
class Points:
    """Encoded trials: settings of the queueing law, and positions for the smooth function."""

    settings: Settings
    positions: Floats

    def __len__(self) -> int:
        return len(self.positions)

    def take(self, rows: npt.NDArray[np.intp]) -> Points:
        return Points(self.settings.take(rows), self.positions[rows])


# Measured values by metric tag, one for each point. All but throughput may have NaN.
Values = Mapping[str, Floats]


@dataclass(frozen=True, slots=True)
class Predictions:
    """Posterior samples by metric tag: arrays by sample (rows) and point (columns); and the noise
    of a single measurement, as a fraction of the value.
    """

    values: Values
    noise: Mapping[str, float]

    def take(self, columns: Sequence[int]) -> Predictions:
        values = {tag: samples[:, columns] for tag, samples in self.values.items()}
        return Predictions(values, self.noise)


class Surrogate:
    """The surrogate of one served model, for an open loop (request rates) or a closed one."""

    _points: Points
    _values: Values
    _relative: Values
    _shares: Floats | None
    _process: Fit

    def __init__(self, stations: int, *, is_open: bool, seed: int) -> None:
        self._is_open = is_open
        self._seed = seed
        generator = np.random.default_rng([seed, 0])
        # the last parameter is the scale of an open loop
        self._particles: Floats = generator.standard_normal(
            (_PARTICLES, parameter_count(stations) + 1)
        )
        self._likelihood: Floats = np.zeros(_PARTICLES)
        self._scale = 0.0
        self._learned = 0

    def learn(
        self,
        points: Points,
        values: Values,
        shares: Floats | None = None,
        relative: Values | None = None,
    ) -> None:
        """Updates the posterior with all measurements, oldest first: `values` at `points`, and for
        a closed loop the logarithms of the busy shares by station. `relative` is the noise of each
        value, as a multiple of the usual noise of its metric; without it, all are usual.
        """
        relative = relative or {tag: np.ones(len(points)) for tag in values}
        generator = np.random.default_rng([self._seed, len(points)])
        if not self._scale:
            self._scale = float(np.median(_logarithm(values[THROUGHPUT])))
        if len(points) - self._learned > len(points) * _MIN_NEW:
            rows = subsample(values[THROUGHPUT], _MAX_LEARNED)
            self._select(points, values, relative, rows)
            self._shares = None if shares is None else shares[rows]
            self._process = self._update(generator)
            self._learned = len(points)
        rows = subsample(values[THROUGHPUT], _MAX_VALUES)
        self._select(points, values, relative, rows)
        best = self._flow(self._particles[self._best], self._points.settings)
        residuals = self._throughput - best.throughput
        self._process = self._process.over(
            _inputs(self._points), residuals, self._relative[THROUGHPUT]
        )

    def predict(self, at: Points) -> Predictions:
        """Posterior samples at the points `at`."""
        generator = np.random.default_rng([self._seed, len(self._points), 1])
        chosen = self._particles[generator.permutation(_PARTICLES)[:SAMPLES]]
        law, new_law = self._flow(chosen, self._points.settings), self._flow(chosen, at.settings)
        residuals = self._throughput - law.throughput
        process = self._process
        drawn = new_law.throughput + process.draw(residuals, _INFLATION, _inputs(at), generator)
        if self._is_open:
            drawn = np.minimum(drawn, np.log(at.settings.flight))  # no more answers than requests
        values, noise = {THROUGHPUT: np.exp(drawn)}, {THROUGHPUT: process.level}
        # the load in the mean sample
        busy, new_busy = law.utilisation.mean(axis=0), new_law.utilisation.mean(axis=0)
        for tag, observed in self._values.items():
            rows = np.flatnonzero(~np.isnan(observed))
            if tag == THROUGHPUT or not len(rows):
                continue
            here, measured, load = self._points.take(rows), observed[rows], (busy[rows], new_busy)
            if tag.startswith(LATENCY):
                if self._is_open:
                    predicted, new_predicted = law.latency.take(rows, axis=1), new_law.latency
                else:
                    by_little = np.log(here.settings.flight) - self._throughput[rows]
                    predicted = np.broadcast_to(by_little, (SAMPLES, len(rows)))
                    new_predicted = np.log(at.settings.flight) - drawn
                above = _logarithm(measured) - predicted
                relative = self._relative[tag][rows]
                factor, level = self._latency_factor(above, relative, (here, at), load, generator)
                values[tag] = np.exp(new_predicted + factor)
                noise[tag] = float(np.hypot(level, process.level))
            elif tag in _MEMORY:
                values[tag] = _memory(measured, (here, at), generator)
                noise[tag] = process.level
            elif tag in _BY_THROUGHPUT:
                power = _BY_THROUGHPUT[tag]
                ratio = measured * np.exp(-power * self._throughput[rows])
                factor = _other_metric(ratio, (here, at), load, generator, _LEAST_OF_RATIOS)
                values[tag] = factor * np.exp(power * drawn)
                noise[tag] = process.level
            else:
                values[tag] = _other_metric(measured, (here, at), load, generator)
                noise[tag] = process.level
        return Predictions(values, noise)

    def waiting(self, at: Points, predictions: Predictions) -> Floats:
        """The latency of a request in seconds, from the median throughput; 0 for an open loop,
        where the throughput does not determine it.
        """
        if self._is_open:
            return np.zeros(len(at))
        return np.asarray(at.settings.flight / np.median(predictions.values[THROUGHPUT], axis=0))

    def _select(
        self, points: Points, values: Values, relative: Values, rows: npt.NDArray[np.intp]
    ) -> None:
        """Keeps some of the measurements."""
        self._points = points.take(rows)
        self._values = {tag: column[rows] for tag, column in values.items()}
        self._relative = {tag: column[rows] for tag, column in relative.items()}

    @property
    def _throughput(self) -> Floats:
        return _logarithm(self._values[THROUGHPUT])

    @property
    def _best(self) -> npt.NDArray[np.intp]:
        """The indices of the most likely particles."""
        return np.argsort(-self._likelihood, kind="stable")[:_LIKELIEST]

    def _latency_factor(
        self,
        above: Floats,
        relative: Floats,
        points: tuple[Points, Points],
        busy: tuple[Floats, Floats],
        generator: np.random.Generator,
    ) -> tuple[Floats, float]:
        """Samples of the logarithm of the factor between a latency metric and the average latency
        of the law, and its noise.
        """
        features, prior = (open_tail, OPEN_TAIL) if self._is_open else (closed_tail, CLOSED_TAIL)
        here, there = (
            Inputs(at.positions, features(at.settings, how_busy))
            for at, how_busy in zip(points, busy, strict=True)
        )
        process = fit(here, above[:_LIKELIEST], prior, relative)
        return process.draw(above, _INFLATION, there, generator), process.level

    def _flow(self, particles: Floats, at: Settings) -> Flow:
        particles, at = particles.astype(np.float32), at.rounded()
        if not self._is_open:
            return closed_loop(particles, at, np.exp(self._closed_scale(particles, at)))
        scale = self._scale + 2 * particles[:, -1]
        flow = open_loop(particles, at, np.exp(scale))
        return Flow(
            flow.throughput + scale[:, None], flow.latency - scale[:, None], flow.utilisation
        )

    def _closed_scale(self, particles: Floats, at: Settings) -> Floats:
        """The logarithm of the scale of a closed loop, by particle, from the measurements with the
        least queue delay. Only queue delays, which are in seconds, depend on the scale.
        """
        measured, scale = self._points.settings, np.zeros(len(particles), dtype=np.float32)
        if measured.delay.any() or at.delay.any():
            delays = measured.delay.max(axis=1)
            least = np.flatnonzero(delays == delays.min())
            points, throughput = measured.take(least).rounded(), self._throughput[least]
            scale -= _MAX_SCALE  # start: a scale where queue delays have no effect
            for _ in range(1 + _SCALE_PASSES if points.delay.any() else 1):
                flow = closed_loop(particles, points, np.exp(scale))
                missing = np.median(throughput - flow.throughput, axis=1)
                scale = np.clip(missing, -_MAX_SCALE, _MAX_SCALE).astype(np.float32)
        return scale

    # -- the sampler -------------------------------------------------------------------------

    def _update(self, generator: np.random.Generator) -> Fit:
        """Fits the process to the most likely particles, then moves the particles given the
        process.
        """
        inputs = _inputs(self._points)
        stations = self._points.settings.instances.shape[1]
        factor = _NO_FACTOR if self._is_open else _FACTOR
        prior = Prior(_feature_weights(factor, stations), _AMPLITUDE, _NOISE)
        slowness = Prior(_feature_weights(_FACTOR, stations), _SLOW_AMPLITUDE, _NOISE)
        for _ in range(_PASSES if len(self._throughput) < _MAX_LEARNED else 1):
            best = self._flow(self._particles[self._best], self._points.settings)
            relative = self._relative[THROUGHPUT]
            process = fit(inputs, self._throughput - best.throughput, prior, relative)
            slow = None
            if self._latency is not None:
                slow = fit(inputs, self._latency - best.latency, slowness, relative)
            self._move(process, slow, generator)
        return process

    @property
    def _latency(self) -> Floats | None:
        """The logarithm of a latency that all points have; open loop only, where throughput says
        little about the server.
        """
        tags = [tag for tag in sorted(self._values) if tag.startswith(LATENCY)]
        complete = [self._values[tag] for tag in tags if not np.isnan(self._values[tag]).any()]
        return _logarithm(complete[0]) if complete and self._is_open else None

    def _move(self, process: Fit, slow: Fit | None, generator: np.random.Generator) -> None:
        """Updates the particles, given the processes of throughput and latency."""
        latency = self._latency

        def likelihood(particles: Floats) -> Floats:
            flow = self._flow(particles, self._points.settings)
            value = process.log_likelihood(self._throughput - flow.throughput)
            if slow is not None and latency is not None:
                value = value + slow.log_likelihood(latency - flow.latency)
            if self._shares is not None:
                value = value + bottleneck.likelihood(self._shares, flow)
            return np.maximum(value, _UNLIKELY)

        self._particles, self._likelihood = update_particles(
            self._particles, self._likelihood, likelihood, generator
        )


def _inputs(points: Points) -> Inputs:
    """The features of what the law does not predict: a common factor, and effects of single batch
    sizes and numbers of instances.
    """
    settings = points.settings
    columns = [np.ones(len(points))]
    for station in range(settings.instances.shape[1]):
        instances = settings.instances[:, station]
        waiting = np.maximum(settings.flight / instances, settings.client)
        batch = np.log2(np.minimum(settings.batch[:, station], waiting).clip(1))
        columns += [np.exp(-0.5 * ((batch - size) / _WIDTH) ** 2) for size in _SIZES]
        columns += [np.exp(-0.5 * ((np.log2(instances) - size) / _NARROW) ** 2) for size in _COUNTS]
    return Inputs(points.positions, np.stack(columns, axis=1))


def _feature_weights(factor: float, stations: int) -> Floats:
    """The prior weights of these features: sizes differ by about a tenth."""
    effects = [*(_SIZE_EFFECT for _ in _SIZES), *(_COUNT_EFFECT for _ in _COUNTS)]
    return np.array([factor, *(stations * effects)])


def _logarithm(values: Floats) -> Floats:
    """The logarithm of values that should be positive, with a lower bound for others."""
    return np.asarray(np.log(np.maximum(values, 1e-6)))


def _load_inputs(points: Points, busy: Floats) -> Inputs:
    return Inputs(
        points.positions,
        np.concatenate([np.ones((len(busy), 1)), points.positions, busy[:, None]], axis=1),
    )


def _memory_inputs(here: Points, there: Points) -> tuple[Inputs, Inputs]:
    """The features of memory at the points `here` and `there`, scaled down together if they are
    large.
    """

    def features(at: Points) -> Floats:
        counts, batches = at.settings.instances, at.settings.instances * at.settings.batch
        parts = [np.ones((len(at), 1)), counts / _MANY, batches / (_MANY * _LARGE)]
        return np.concatenate(parts, axis=1)

    old, new = features(here), features(there)
    divisor = np.maximum(np.concatenate([old, new]).max(axis=0) / _MAX_FEATURE, 1)
    return Inputs(here.positions, old / divisor), Inputs(there.positions, new / divisor)


def _memory(
    observed: Floats, points: tuple[Points, Points], generator: np.random.Generator
) -> Floats:
    # not the standard deviation: repetitions of one trial would reduce it
    half_range = float(np.ptp(observed)) / 2
    middle, spread = observed.mean(), max(half_range, 1e-3 * observed.mean(), 1e-9)
    residuals = np.broadcast_to((observed - middle) / spread, (SAMPLES, len(observed)))
    inputs, new_inputs = _memory_inputs(*points)
    prior = Prior(np.full(inputs.features.shape[1], _MEMORY_WEIGHT), amplitude=0.1, noise=0.01)
    process = fit(inputs, residuals[:1], prior)
    drawn = process.draw(residuals, np.ones(SAMPLES), new_inputs, generator)
    return np.asarray(middle + spread * drawn)


def _other_metric(
    observed: Floats,
    points: tuple[Points, Points],
    busy: tuple[Floats, Floats],
    generator: np.random.Generator,
    least: float = _LEAST_SPREAD,
) -> Floats:
    """Samples of any other metric: it may depend on all positions and on the load."""
    is_positive = bool((observed > 0).all())
    values = np.log(observed) if is_positive else observed
    middle, spread = values.mean(), max(float(values.std()), least)
    residuals = np.broadcast_to((values - middle) / spread, (SAMPLES, len(values)))
    inputs, new_inputs = map(_load_inputs, points, busy)
    weights = np.full(inputs.features.shape[1], _OTHER_WEIGHT)
    prior = Prior(weights, amplitude=0.4, noise=0.1)
    process = fit(inputs, residuals[:1], prior)
    drawn = middle + spread * process.draw(residuals, np.ones(SAMPLES), new_inputs, generator)
    return np.asarray(np.exp(drawn)) if is_positive else drawn
