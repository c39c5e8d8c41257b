# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What an adaptive search could measure next, and what that costs in time: slow requests and
loading a variant make measurements longer. Other loads of one variant cost no loading, and
little is known without them.

The acquisition function: the expected improvement of each trial over the posterior samples.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from model_analyzer.domain.goals import Constraint, Goal
from model_analyzer.domain.histograms import LATENCY
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.metrics import METRICS, canonical
from model_analyzer.domain.profiles import Outlook
from model_analyzer.noise.first_look import first_look_s
from model_analyzer.search.adaptive.encoding import DEFAULT, Lattice
from model_analyzer.search.adaptive.outcomes import Outcomes
from model_analyzer.search.adaptive.queueing_model import Floats
from model_analyzer.search.adaptive.surrogate import THROUGHPUT, Predictions
from model_analyzer.search.trial_map import Coordinate

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


# The gain of the first feasible trial: as much as doubling the objective.
_FIRST_FEASIBLE = 1.0
# Multiples of this, modulo 1, spread evenly over the posterior samples, whatever their order.
_GOLDEN = 0.618034
# While no trial is feasible: the gain for each percent that the constraints are missed by less.
_PERCENT_NEARER = 0.003
# The probability to meet the constraints enters the utility with this power.
_CAUTION = 0.25
_MIN_CHANCE = 1e-3
_TINY = 1e-9


@dataclass(frozen=True, slots=True)
class Slack:
    """The margin of one constraint on the model with index `model`.

    `margin` is by posterior sample (rows) and trial (columns), as a fraction of the bound; negative
    where the constraint is violated. `noise` is the standard deviation of one measured margin.
    """

    model: int
    constraint: Constraint
    margin: Floats
    noise: float

    def measured(self, measurement: Measurement) -> float:
        """The margin of a measurement; infinite if it lacks the metric."""
        value = measurement.model_value(self.model, self.constraint.tag)
        return math.inf if value is None else self.constraint.margin(value)


@dataclass(frozen=True, slots=True)
class Prospect:
    """The posterior samples (rows) of trials (columns), evaluated by the goal.

    `score` is relative to a reference trial, `shortfall` in percent of the bounds that the trial
    violates (0 if it meets all), and `slacks` has one entry for each constraint. `noise` is the
    standard deviation of one measured score.
    """

    score: Floats
    shortfall: Floats
    noise: float
    slacks: tuple[Slack, ...]

    @property
    def passes(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self.shortfall == 0)

    def remains_feasible(self, trial: int, mean: Measurement, times: int) -> Floats:
        """The probability, by posterior sample, that the mean of a trial still meets the
        constraints after one more measurement.

        `trial` is its column, `mean` the mean of its `times` measurements.
        """
        chance = np.ones(len(self.score))
        for slack in self.slacks:
            total = times * slack.measured(mean) + slack.margin[:, trial]
            chance *= [0.5 * math.erfc(-margin / slack.noise / math.sqrt(2)) for margin in total]
        return chance

    def risk_of_repeating(self, trial: int, mean: Measurement, times: int) -> tuple[float, float]:
        """Two probabilities: that one more measurement moves the mean of a trial beyond a
        constraint, and that the trial meets all constraints in spite of that.
        """
        violates = 1 - self.remains_feasible(trial, mean, times)
        feasible = violates * self.passes[:, trial]
        return float(violates.mean()), float(feasible.sum() / max(violates.sum(), _TINY))


def evaluate(goal: Goal, predictions: list[Predictions], reference: int) -> Prospect:
    """Evaluates `predictions` (one for each model) by the goal, relative to the trial in column
    `reference`.
    """
    total = sum(model.weighting for model in goal.models)
    shape = next(iter(predictions[0].values.values())).shape
    score, shortfall, noise = np.zeros(shape), np.zeros(shape), 0.0
    slacks = []
    for index, (model, world) in enumerate(zip(goal.models, predictions, strict=True)):
        model_score, weights, model_noise = np.zeros(shape), 0.0, 0.0
        for objective in model.objectives:
            tag = canonical(objective.tag)
            if tag not in world.values:
                continue
            new = world.values[tag]
            old = new[:, reference, None]
            gain = METRICS[tag].gain(1, 0) * (new - old)
            model_score += (
                objective.weight * gain / np.maximum((np.abs(new) + np.abs(old)) / 2, 1e-12)
            )
            weights += objective.weight
            model_noise += objective.weight * world.noise[tag]
        if weights:
            score += model_score / weights * model.weighting / total
            noise += model_noise / weights * model.weighting / total
        for constraint in model.constraints:
            tag = canonical(constraint.tag)
            if tag in world.values:
                margin = _margin(constraint, world.values[tag])
                shortfall += np.maximum(-margin, 0) * 100
                slacks.append(Slack(index, constraint, margin, world.noise[tag]))
    return Prospect(score, shortfall, noise, tuple(slacks))


def expected_improvement(
    prospect: Prospect,
    reference: int,
    tie_margins: Floats,
    *,
    under_way: Sequence[int] = (),
    is_answered: bool,
) -> Floats:
    """The expected improvement of each trial over the trial in column `reference`, beyond what the
    best of the trials in the columns `under_way` gains in the same posterior sample. By trial, a
    lead within its margin is no gain.

    Without an answer yet, the gain is to meet the constraints or to come nearer to them.
    """
    passes = prospect.passes
    if is_answered:
        gain = np.where(passes & (prospect.score > tie_margins), np.maximum(prospect.score, 0), 0.0)
    else:
        nearer = np.maximum(prospect.shortfall[:, reference, None] - prospect.shortfall, 0)
        first = _FIRST_FEASIBLE + 0.4 * np.clip(prospect.score, -2, 2)
        gain = np.where(passes, first, _PERCENT_NEARER * np.minimum(nearer, 100))
    if under_way:
        gain = np.maximum(gain - gain[:, under_way].max(axis=1, keepdims=True), 0)
    return np.asarray(gain.mean(axis=0))


def utility(score: float, chance: float) -> float:
    """The utility of recommending a trial with this score and this probability of feasibility."""
    return score + _CAUTION * math.log(max(chance, _MIN_CHANCE))


def outlook(
    prospect: Prospect,
    chance: Floats,
    recommended: int,
    tie_margins: Floats,
    *,
    is_feasible: bool,
    margin: float,
) -> Outlook:
    """The outlook over the trial in column `recommended`; by trial, a lead within its part of
    `tie_margins` is no gain. A configuration that is better by more than `margin` counts as missed.

    `chance` is the probability that each trial gives a measurement. In each posterior sample, the
    trials above a threshold do; the thresholds spread evenly from 0 to 1.
    """
    threshold = (np.arange(len(prospect.score)) * _GOLDEN) % 1
    available = prospect.passes & (chance > threshold[:, None])
    if not is_feasible:
        share = float(available.any(axis=1).mean())
        return Outlook(chance=share, gain=share, margin=margin, feasible=False)
    lead = prospect.score - prospect.score[:, recommended, None]
    best = np.where(available & (lead > tie_margins), lead, 0).max(axis=1)
    return Outlook(
        chance=float((best > margin).mean()),
        gain=float(best.mean()),
        margin=margin,
        feasible=True,
    )


def _margin(constraint: Constraint, values: Floats) -> Floats:
    """`Constraint.margin` for an array of values."""
    margin = np.full_like(values, np.inf)
    if constraint.minimum is not None:
        margin = (values - constraint.minimum) / abs(constraint.minimum or 1)
    if constraint.maximum is not None:
        below = (constraint.maximum - values) / abs(constraint.maximum or 1)
        margin = np.minimum(margin, below)
    return margin
