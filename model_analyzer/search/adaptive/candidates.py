# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What an adaptive search could measure next, and what that costs in time: slow requests and
loading a variant make measurements longer. Other loads of one variant cost no loading, and little
is known without them.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from model_analyzer.domain.joint_histogram import LATENCY
from model_analyzer.noise.first_look import first_look_s
from model_analyzer.search.adaptive.lattice import DEFAULT, Lattice
from model_analyzer.search.adaptive.outcomes import Outcomes
from model_analyzer.search.adaptive.queueing_model import Floats
from model_analyzer.search.adaptive.surrogate import THROUGHPUT
from model_analyzer.search.space import Coordinate

# Lower loads are a quarter and a half of the load; seven tenths are for a closer look.
QUARTER, HALF, SEVEN_TENTHS = 4, 2, 1.41
# A higher load is worth a measurement if it is higher by these factors: at least, and at most.
_LEAST_HIGHER, _MOST_HIGHER = 1.2, 2.0


def lower_loads(
    lattice: Lattice, coordinate: Coordinate, divisors: Sequence[float] = (QUARTER, HALF)
) -> list[Coordinate]:
    """The same coordinate with the concurrencies nearest to its own, divided by these.

    Request rates have no lower loads: throughput follows the rate whatever the variant.
    """
    coordinates: list[Coordinate] = []
    concurrencies = lattice.concurrencies
    is_searched = lattice.is_in_space(coordinate) and concurrencies
    for divisor in divisors if is_searched else ():
        lower = list(coordinate)
        for position, values in concurrencies:
            target = math.log(values[coordinate[position]] / divisor)
            distances = [abs(math.log(value) - target) for value in values]
            lower[position] = distances.index(min(distances))
        if tuple(lower) != coordinate and lattice.is_legal(tuple(lower)):
            coordinates.append(tuple(lower))
    return list(dict.fromkeys(coordinates))


def higher_loads(outcomes: Outcomes, best: Coordinate) -> list[Coordinate]:
    """The recommended trial under the highest load that keeps its latencies within the limits even
    if throughput grows no more, if it is much higher and unmeasured.

    A single slow look at another variant may make all higher loads look hopeless; this one costs no
    loading.
    """
    lattice, wishes = outcomes.lattice, outcomes.goal.wishes
    if not (outcomes.is_feasible and lattice.is_in_space(best) and THROUGHPUT in wishes):
        return []
    factor = min(_room_of_latency(outcomes, best), _MOST_HIGHER)
    higher = list(best)
    for position, values in lattice.concurrencies:
        now = values[best[position]]
        higher[position] = bisect_right(values, factor * now) - 1
        if values[higher[position]] < _LEAST_HIGHER * now:
            return []
    found = tuple(higher)
    return [found] if found not in outcomes.tried and lattice.is_legal(found) else []


def _room_of_latency(outcomes: Outcomes, coordinate: Coordinate) -> float:
    """How many times its latencies would meet the limits; 1 without such limits."""
    mean = outcomes.mean(coordinate)
    return min(
        (
            constraint.maximum / value
            for index, model in enumerate(outcomes.goal.models)
            for constraint in model.constraints
            if constraint.tag.startswith(LATENCY)
            and constraint.maximum is not None
            and (value := mean.model_value(index, constraint.tag))
        ),
        default=1.0,
    )


# Fewer measurements allow no estimate.
_MIN_MEASUREMENTS = 3
# Bounds of an estimated duration.
_MIN_DURATION, _MAX_DURATION = 0.5, 4.0

# perf_analyzer's start and end, in seconds.
_LAUNCH_S = 0.15

# The cost of loading a variant, in measurements. The default counts as one observation. With an
# upper bound of 2, a search with loads of 60 s took an eighth longer and found no more.
_DEFAULT_LOADING, _MAX_LOADING = 0.15, 30.0
# A shorter loading time, as a part of a measurement, means that the variant was loaded already.
_LOADED = 0.01


def relative_durations(request_s: Floats, measured_s: Floats, spent_s: Floats) -> Floats:
    """Estimated durations of measurements, as multiples of the mean duration so far.

    `request_s`: the request latency of each planned measurement. `measured_s` and `spent_s`: the
    request latency and the duration of each finished one. Durations are noisy, so the estimated
    slope is reduced by one standard error.
    """
    centred = measured_s - measured_s.mean()
    if len(spent_s) < _MIN_MEASUREMENTS or not spent_s.any() or not centred.any():
        return np.ones(len(request_s))
    squares = float(centred @ centred)
    slope = float(centred @ spent_s) / squares
    residuals = spent_s - spent_s.mean() - slope * centred
    error = math.sqrt(float(residuals @ residuals) / (len(spent_s) - 2) / squares)
    multiple = 1 + max(slope - error, 0.0) * (request_s - measured_s.mean()) / spent_s.mean()
    return np.asarray(multiple.clip(_MIN_DURATION, _MAX_DURATION))


def first_looks_s(load: Floats, request_s: Floats) -> Floats:
    """The lengths of first looks in seconds, by trial. `load` is the number of requests in flight,
    `request_s` their latency; where that is 0, the load is a rate.
    """
    is_open = request_s == 0
    rates = load / np.where(is_open, 1, request_s)
    in_flight = np.where(is_open, 0, load)
    return np.array([*map(first_look_s, rates.tolist(), in_flight.tolist())])


def round_durations(lengths_s: Floats, request_s: Floats) -> Floats:
    """The durations of rounds of such lengths: each ends when its last request, with so long
    a latency, is answered.
    """
    return _LAUNCH_S + lengths_s + request_s


def loading_cost(loading_s: Floats, measuring_s: Floats) -> float:
    """The cost of loading a variant, in measurements.

    `loading_s`: the loading times so far. `measuring_s`: the durations of the measurements. Without
    recorded times the result is the default.
    """
    if not measuring_s.any():
        return _DEFAULT_LOADING
    ratios = loading_s / measuring_s.mean()
    ratios = ratios[ratios > _LOADED]
    if len(ratios) == 0:
        return _DEFAULT_LOADING
    estimate = (_DEFAULT_LOADING + len(ratios) * float(np.median(ratios))) / (1 + len(ratios))
    return min(estimate, _MAX_LOADING)


# Random candidates of each decision, and the number of best trials whose neighbours are candidates.
_CANDIDATES = 600
_BEST = 3
# Random candidates are drawn again after so many records: the check whether they are legal is slow.
_DRAW_INTERVAL = 4
# Perturbed candidates: their number, the largest step, and the share of values that change.
_PERTURBED, _STEPS, _CHANGED = 200, 3, 0.5
# The most values of one dimension that become neighbours of a trial.
_MAX_NEIGHBOURS = 200


class Candidates:
    """Draws trials; the same seed and the same outcomes give the same ones."""

    def __init__(self, lattice: Lattice, seed: int) -> None:
        self._lattice = lattice
        self._seed = seed
        self._sizes = np.array([len(dimension.values) for dimension in lattice.dimensions])
        self._random_draw: tuple[int, Sequence[Coordinate]] = (-1, ())

    def after(self, outcomes: Outcomes) -> Iterator[Coordinate]:
        """The defaults, all tried trials, neighbours of the best ones, and random trials; some of
        them more than once.
        """
        is_in_space = self._lattice.is_in_space
        yield DEFAULT
        yield from sorted(outcomes.tried, key=is_in_space)
        for known in outcomes.ranked:
            yield from lower_loads(self._lattice, known)
        best = [*filter(is_in_space, outcomes.ranked[:_BEST])]
        for leader in best:
            yield from self._neighbours(leader)
        if best:
            yield from self._perturbed(best, len(outcomes.records))
        yield from self._random(len(outcomes.records) // _DRAW_INTERVAL)

    def _random(self, draw: int) -> Sequence[Coordinate]:
        """Random legal trials; the same `draw` gives the same trials."""
        if self._random_draw[0] != draw:
            generator = np.random.default_rng([self._seed, draw])
            rows = generator.integers(0, self._sizes, size=(4 * _CANDIDATES, len(self._sizes)))
            self._random_draw = draw, tuple(self._legal_rows(rows, _CANDIDATES))
        return self._random_draw[1]

    def _perturbed(self, best: Sequence[Coordinate], draw: int) -> Iterator[Coordinate]:
        """Legal trials whose values differ from those of the best trials by a few steps."""
        generator = np.random.default_rng([self._seed, draw])
        start = np.array(best)[generator.integers(0, len(best), size=4 * _PERTURBED)]
        steps = generator.integers(-_STEPS, _STEPS + 1, size=start.shape)
        steps *= generator.random(start.shape) < _CHANGED
        yield from self._legal_rows(np.clip(start + steps, 0, self._sizes - 1), _PERTURBED)

    def _legal_rows(self, rows: npt.NDArray[np.intp], most: int) -> Iterator[Coordinate]:
        """The first `most` distinct rows that are legal coordinates."""
        count = 0
        for row in dict.fromkeys(map(tuple, rows.tolist())):
            if count < most and self._lattice.is_legal(row):
                count += 1
                yield row

    def _neighbours(self, coordinate: Coordinate) -> Iterator[Coordinate]:
        """Legal coordinates that differ in one value. A dimension with many values contributes the
        nearest ones and a spread of the others.
        """
        for position, size in enumerate(self._sizes.tolist()):
            for index in _spread(coordinate[position], size):
                near = (*coordinate[:position], index, *coordinate[position + 1 :])
                if self._lattice.is_legal(near):
                    yield near


def _spread(index: int, count: int) -> Sequence[int]:
    """Indices of `count` values: all of them, or the nearest to `index` plus as many spread out."""
    if count <= _MAX_NEIGHBOURS:
        return range(count)
    around = _MAX_NEIGHBOURS // 4
    near = range(max(index - around, 0), min(index + around + 1, count))
    return sorted({*near, *range(0, count, -(-count // (2 * around))), count - 1})
