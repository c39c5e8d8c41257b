# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Worlds: many pictures of what every trial would give, each consistent with what was measured.

A world is a set of unknowns of the queueing law, and a smooth function for what the law misses.
The sets follow the measurements, so that several explanations live on as long as these allow them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from model_analyzer.search.adaptive import bottleneck
from model_analyzer.search.adaptive.latency import (
    CLOSED_TAIL,
    OPEN_TAIL,
    closed_tail,
    open_tail,
)
from model_analyzer.search.adaptive.queueing import (
    Floats,
    Flow,
    Settings,
    closed_loop,
    open_loop,
    unknowns,
)
from model_analyzer.search.adaptive.regression import Fit, Inputs, Prior, fit, spread_out
from model_analyzer.search.adaptive.sampling import followed

THROUGHPUT = "perf_throughput"
_LATENCIES = "perf_latency"

WORLDS = 96
# In some worlds, what the law cannot explain is taken for so many times as much as it seems to be:
# what was measured may be all that the law is right about.
_DOUBT = np.repeat([1.0, 3.0, 8.0], [64, 24, 8])
_SETS = 384
_MOST_VALUES = 96  # that worlds are consistent with
_TO_LEARN = 36  # that sets follow
_ROUNDS = 2  # of moves after a measurement: later ones change little
_SHARE_OF_NEWS = 0.02  # of all measurements: fewer new ones change little of what is common to all
_GUESSES = 12  # sets that the parameters of a process are chosen by
_UNLIKELY = -1e6
_ROUNDS_OF_SCALE = 5  # where all delay: the scale tells what the delay is, and that the scale
_FARTHEST = 30.0  # that the law's logarithms are taken to be from what was measured

# Of throughput, the law knows all but a factor; where it is what is sent, that too.
_FACTOR, _NO_FACTOR = 3.0, 0.02
_AMPLITUDE, _NOISE = 0.1, 0.03
_SLOW_AMPLITUDE = 0.15
# What single batch sizes and numbers of instances have of their own, as powers of two.
_SIZES, _WIDTH, _OF_SIZES = np.arange(0, 11), 0.7, 0.1
_COUNTS, _NARROW, _OF_COUNTS = np.arange(0, 4, 0.5), 0.3, 0.05
# Memory is what instances need, and what the inferences of their largest batches do.
_MEMORY = frozenset({"gpu_used_memory", "gpu_free_memory", "cpu_used_ram", "cpu_available_ram"})
_MANY, _LARGE = 4.0, 32.0
_OF_NEEDS, _OF_ANYTHING = 3.0, 1.0
_MOST_NEEDED = 100.0  # so many times as much as a lot; beyond that, numbers lose their digits


@dataclass(frozen=True, slots=True)
class Places:
    """Trials as numbers: settings of the queueing law, and positions for what it misses."""

    settings: Settings
    positions: Floats

    def __len__(self) -> int:
        return len(self.positions)

    def take(self, rows: npt.NDArray[np.intp]) -> Places:
        return Places(self.settings.take(rows), self.positions[rows])


# Values of each metric, for the places that were measured: of all but throughput, some may be
# missing (not a number).
Values = Mapping[str, Floats]


@dataclass(frozen=True, slots=True)
class Worlds:
    """Values of each metric by world (rows) and place, and how noisy a measurement of it is, as a
    fraction of the value.
    """

    values: Values
    noise: Mapping[str, float]

    def take(self, places: Sequence[int]) -> Worlds:
        return Worlds({tag: found[:, places] for tag, found in self.values.items()}, self.noise)


class Surrogate:
    """One model of the trials, with an `is_open` loop (request rates) or a closed one."""

    _places: Places
    _values: Values
    _shares: Floats | None
    _process: Fit

    def __init__(self, stations: int, *, is_open: bool, seed: int) -> None:
        self._is_open = is_open
        self._seed = seed
        generator = np.random.default_rng([seed, 0])
        # the last unknown is the scale of an open loop
        self._sets: Floats = generator.standard_normal((_SETS, unknowns(stations) + 1))
        self._likelihood: Floats = np.zeros(_SETS)
        self._scale = 0.0
        self._followed = 0

    def learn(self, places: Places, values: Values, shares: Floats | None = None) -> None:
        """Follows what was measured: the `values` at `places`, all of them, oldest first, and with
        a closed loop how busy each station was, as logarithms.
        """
        generator = np.random.default_rng([self._seed, len(places)])
        if not self._scale:
            self._scale = float(np.median(_logarithm(values[THROUGHPUT])))
        if len(places) - self._followed > len(places) * _SHARE_OF_NEWS:
            kept = spread_out(values[THROUGHPUT], _TO_LEARN)
            self._places, self._values = _taken(places, values, kept)
            self._shares = None if shares is None else shares[kept]
            self._process = self._follow(generator)
            self._followed = len(places)
        kept = spread_out(values[THROUGHPUT], _MOST_VALUES)
        self._places, self._values = _taken(places, values, kept)
        best = self._flow(self._sets[self._best], self._places.settings)
        residuals = self._throughput - best.throughput
        self._process = self._process.over(_plain(self._places), residuals)

    def worlds(self, at: Places) -> Worlds:
        """What was learnt, at the places `at`."""
        generator = np.random.default_rng([self._seed, len(self._places), 1])
        chosen = self._sets[generator.permutation(_SETS)[:WORLDS]]
        known, new = self._flow(chosen, self._places.settings), self._flow(chosen, at.settings)
        residuals = self._throughput - known.throughput
        process = self._process
        drawn = new.throughput + process.draw(residuals, _DOUBT, _plain(at), generator)
        values, noise = {THROUGHPUT: np.exp(drawn)}, {THROUGHPUT: process.level}
        # how the average world sees the load
        busy, busy_there = known.utilisation.mean(axis=0), new.utilisation.mean(axis=0)
        for tag, observed in self._values.items():
            rows = np.flatnonzero(~np.isnan(observed))
            if tag == THROUGHPUT or not len(rows):
                continue
            here, found, loaded = self._places.take(rows), observed[rows], (busy[rows], busy_there)
            if tag.startswith(_LATENCIES):
                if self._is_open:
                    base, there = known.latency.take(rows, axis=1), new.latency
                else:
                    law = np.log(here.settings.flight) - self._throughput[rows]
                    base = np.broadcast_to(law, (WORLDS, len(rows)))
                    there = np.log(at.settings.flight) - drawn
                above = _logarithm(found) - base
                factor, level = self._tail(above, (here, at), loaded, generator)
                values[tag] = np.exp(there + factor)
                noise[tag] = float(np.hypot(level, process.level))
            elif tag in _MEMORY:
                values[tag] = _memory(found, (here, at), generator)
                noise[tag] = process.level
            else:
                values[tag] = _other(found, (here, at), loaded, generator)
                noise[tag] = process.level
        return Worlds(values, noise)

    def waiting(self, at: Places, worlds: Worlds) -> Floats:
        """Seconds that a request takes in the median world, where that follows from the law; with
        an open loop it does not, and is 0.
        """
        if self._is_open:
            return np.zeros(len(at))
        return np.asarray(at.settings.flight / np.median(worlds.values[THROUGHPUT], axis=0))

    @property
    def _throughput(self) -> Floats:
        return _logarithm(self._values[THROUGHPUT])

    @property
    def _best(self) -> npt.NDArray[np.intp]:
        """The sets that explain the measurements best."""
        return np.argsort(-self._likelihood, kind="stable")[:_GUESSES]

    def _tail(
        self,
        above: Floats,
        places: tuple[Places, Places],
        busy: tuple[Floats, Floats],
        generator: np.random.Generator,
    ) -> tuple[Floats, float]:
        """The logarithm of what latencies are beside the law's average, and its noise."""
        features, prior = (open_tail, OPEN_TAIL) if self._is_open else (closed_tail, CLOSED_TAIL)
        here, there = (
            Inputs(at.positions, features(at.settings, how_busy))
            for at, how_busy in zip(places, busy, strict=True)
        )
        process = fit(here, above[:_GUESSES], prior)
        return process.draw(above, _DOUBT, there, generator), process.level

    def _flow(self, sets: Floats, at: Settings) -> Flow:
        sets, at = sets.astype(np.float32), at.rounded()
        if not self._is_open:
            return closed_loop(sets, at, np.exp(self._closed_scale(sets, at)))
        scale = self._scale + 2 * sets[:, -1]
        flow = open_loop(sets, at, np.exp(scale))
        return Flow(
            flow.throughput + scale[:, None], flow.latency - scale[:, None], flow.utilisation
        )

    def _closed_scale(self, sets: Floats, at: Settings) -> Floats:
        """The logarithm of the throughput that one stands for, by what was measured with the least
        queue delay. Only these delays, which are in seconds, need it.
        """
        known, scale = self._places.settings, np.zeros(len(sets), dtype=np.float32)
        if known.delay.any() or at.delay.any():
            delays = known.delay.max(axis=1)
            least = np.flatnonzero(delays == delays.min())
            places, throughput = known.take(least).rounded(), self._throughput[least]
            scale -= _FARTHEST  # where no delay is worth mentioning
            for _ in range(1 + _ROUNDS_OF_SCALE if places.delay.any() else 1):
                flow = closed_loop(sets, places, np.exp(scale))
                missing = np.median(throughput - flow.throughput, axis=1)
                scale = np.clip(missing, -_FARTHEST, _FARTHEST).astype(np.float32)
        return scale

    # -- the sampler -------------------------------------------------------------------------

    def _follow(self, generator: np.random.Generator) -> Fit:
        """Moves the sets to where the measurements are likely: parameters of the process for the
        best sets, then sets for these parameters, and again.
        """
        inputs = _plain(self._places)
        stations = self._places.settings.instances.shape[1]
        factor = _NO_FACTOR if self._is_open else _FACTOR
        prior = Prior(_own(factor, stations), _AMPLITUDE, _NOISE)
        slowness = Prior(_own(_FACTOR, stations), _SLOW_AMPLITUDE, _NOISE)
        for _ in range(_ROUNDS if len(self._throughput) < _TO_LEARN else 1):
            best = self._flow(self._sets[self._best], self._places.settings)
            process = fit(inputs, self._throughput - best.throughput, prior)
            slow = None
            if self._latency is not None:
                slow = fit(inputs, self._latency - best.latency, slowness)
            self._move(process, slow, generator)
        return process

    @property
    def _latency(self) -> Floats | None:
        """What tells about the server where throughput is what is sent."""
        tags = [tag for tag in sorted(self._values) if tag.startswith(_LATENCIES)]
        complete = [self._values[tag] for tag in tags if not np.isnan(self._values[tag]).any()]
        return _logarithm(complete[0]) if complete and self._is_open else None

    def _move(self, process: Fit, slow: Fit | None, generator: np.random.Generator) -> None:
        """Selects among the sets what the measurements favour, and lets them move."""
        latency = self._latency

        def likelihood(sets: Floats) -> Floats:
            flow = self._flow(sets, self._places.settings)
            value = process.log_likelihood(self._throughput - flow.throughput)
            if slow is not None and latency is not None:
                value = value + slow.log_likelihood(latency - flow.latency)
            if self._shares is not None:
                value = value + bottleneck.likelihood(self._shares, flow)
            return np.maximum(value, _UNLIKELY)

        self._sets, self._likelihood = followed(self._sets, self._likelihood, likelihood, generator)


def _taken(places: Places, values: Values, kept: npt.NDArray[np.intp]) -> tuple[Places, Values]:
    return places.take(kept), {tag: found[kept] for tag, found in values.items()}


def _plain(places: Places) -> Inputs:
    """What the law misses is one factor, whatever varies with the place, and what some batch sizes
    and some numbers of instances have of their own.
    """
    settings = places.settings
    columns = [np.ones(len(places))]
    for station in range(settings.instances.shape[1]):
        instances = settings.instances[:, station]
        waiting = np.maximum(settings.flight / instances, settings.client)
        batch = np.log2(np.minimum(settings.batch[:, station], waiting).clip(1))
        columns += [np.exp(-0.5 * ((batch - size) / _WIDTH) ** 2) for size in _SIZES]
        columns += [np.exp(-0.5 * ((np.log2(instances) - size) / _NARROW) ** 2) for size in _COUNTS]
    return Inputs(places.positions, np.stack(columns, axis=1))


def _own(factor: float, stations: int) -> Floats:
    """What is believed of these: of sizes in the middle, that they differ by about a tenth."""
    of_each = [*(_OF_SIZES for _ in _SIZES), *(_OF_COUNTS for _ in _COUNTS)]
    return np.array([factor, *(stations * of_each)])


def _logarithm(values: Floats) -> Floats:
    """Of what should be positive, and is not where nothing was to be measured."""
    return np.asarray(np.log(np.maximum(values, 1e-6)))


def _sized(places: Places, busy: Floats) -> Inputs:
    return Inputs(
        places.positions,
        np.concatenate([np.ones((len(busy), 1)), places.positions, busy[:, None]], axis=1),
    )


def _needs(here: Places, there: Places) -> tuple[Inputs, Inputs]:
    """As parts of what is a lot; where much more than that is asked for, as parts of the most."""

    def features(at: Places) -> Floats:
        counts, batches = at.settings.instances, at.settings.instances * at.settings.batch
        parts = [np.ones((len(at), 1)), counts / _MANY, batches / (_MANY * _LARGE)]
        return np.concatenate(parts, axis=1)

    known, new = features(here), features(there)
    most = np.maximum(np.concatenate([known, new]).max(axis=0) / _MOST_NEEDED, 1)
    return Inputs(here.positions, known / most), Inputs(there.positions, new / most)


def _memory(
    observed: Floats, places: tuple[Places, Places], generator: np.random.Generator
) -> Floats:
    # not their deviation: it would be the smaller the more often the same is measured
    apart = float(np.ptp(observed)) / 2
    middle, spread = observed.mean(), max(apart, 1e-3 * observed.mean(), 1e-9)
    residuals = np.broadcast_to((observed - middle) / spread, (WORLDS, len(observed)))
    known, new = _needs(*places)
    prior = Prior(np.full(known.features.shape[1], _OF_NEEDS), amplitude=0.1, noise=0.01)
    process = fit(known, residuals[:1], prior)
    return np.asarray(middle + spread * process.draw(residuals, np.ones(WORLDS), new, generator))


def _other(
    observed: Floats,
    places: tuple[Places, Places],
    busy: tuple[Floats, Floats],
    generator: np.random.Generator,
) -> Floats:
    """A metric that nothing is known about: it may depend on every size and on the load."""
    is_positive = bool((observed > 0).all())
    values = np.log(observed) if is_positive else observed
    middle, spread = values.mean(), max(float(values.std()), 0.05)
    residuals = np.broadcast_to((values - middle) / spread, (WORLDS, len(values)))
    known, new = map(_sized, places, busy)
    weights = np.full(known.features.shape[1], _OF_ANYTHING)
    prior = Prior(weights, amplitude=0.4, noise=0.1)
    process = fit(known, residuals[:1], prior)
    drawn = middle + spread * process.draw(residuals, np.ones(WORLDS), new, generator)
    return np.asarray(np.exp(drawn)) if is_positive else drawn
