# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Quick search: measures the default, then climbs from the smallest sizes of all models.

Every variant is measured under one load, which keeps it busy.

Hill climbing in a search space: from the measured coordinates to the next ones.

Around a home coordinate, the climb measures a few coordinates that differ in as many dimensions as
possible. Their gains over home give the direction and the length of the step to the next home. Near
the boundary of the constraints it measures all adjacent coordinates instead and takes the best
feasible one. It ends when home does not change. The coordinates around one home may be measured at
the same time, home itself too. Failed trials leave gaps in the information about the direction: if
there were any, the climb tries every coordinate adjacent to the best one before it ends.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import isqrt

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.models import ModelVariant, VariantNames
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.settings import SearchMode, unsupported_loads
from model_analyzer.domain.trials import Trial
from model_analyzer.errors import Problem
from model_analyzer.search.modes.mode import RefiningMode
from model_analyzer.search.plan import (
    PartialPlan,
    Plan,
    SearchedModel,
    log_skipped,
    recorded,
    side_by_side,
)
from model_analyzer.search.trial_map import UNBOUNDED, Coordinate, Space, sizes_at, space_of_sizes
from model_analyzer.search.variants import RefusedVariants, sized_variant

# The number of measured neighbours that determines a direction.
_MIN_NEIGHBOURS = 3

# Each of these thresholds that the gain per unit of distance exceeds makes the step longer by one.
_STEPS = (0.09, 0.3, 1.0)

# A coordinate is home at most so often.
_MAX_VISITS = 2

RADIUS = 3
_SQUARE = RADIUS * RADIUS

# The worth of an index of a dimension: (dimension, index) -> worth.
Worth = Callable[[int, int], int]


class Climb:
    """Chooses the next coordinate, given the measurements so far."""

    def __init__(self, space: Space, goal: Goal) -> None:
        self._space = space
        self._goal = goal
        self._measured: dict[Coordinate, Measurement | None] = {}
        self._under_way: set[Coordinate] = set()
        self._area = Neighbourhood(space, space.start)
        self._visits = Counter([space.start])
        self._is_careful = False
        self._has_ended = False

    def ask(self) -> Coordinate | None:
        """The coordinate to measure next. None if it depends on coordinates that are under way; if
        there are none, the climb has ended.
        """
        coordinate = None if self._has_ended else self._continue()
        self._has_ended |= coordinate is None and not self._under_way
        if self._has_ended:
            coordinate = self._gap_beside_best()
        if coordinate is not None:
            self._under_way.add(coordinate)
        return coordinate

    def tell(self, coordinate: Coordinate, measurement: Measurement | None) -> None:
        """The measurement at a coordinate; None if the trial is illegal or failed."""
        self._under_way.discard(coordinate)
        self._measured[coordinate] = measurement

    def _continue(self) -> Coordinate | None:
        """The next coordinate of the climb. Home moves only while nothing is under way."""
        if self._is_new(self._home):
            return self._home
        if self._home in self._measured and self._has_overshot:
            return None if self._under_way else self._step_back()
        if self._explores_all:
            missing = next(filter(self._is_new, self._area.adjacent), None)
            if missing is not None or self._under_way:
                return missing
            return self._move(self._best_neighbour())
        if len(self._chosen) >= _MIN_NEIGHBOURS:
            return None if self._under_way else self._move(self._uphill())
        return self._most_different()

    def _is_new(self, coordinate: Coordinate) -> bool:
        return coordinate not in self._measured and coordinate not in self._under_way

    @property
    def _home(self) -> Coordinate:
        return self._area.home

    @property
    def _neighbours(self) -> Mapping[Coordinate, Measurement]:
        """The measurements in the neighbourhood of home, without home."""
        return {
            coordinate: measurement
            for coordinate, measurement in self._measured.items()
            if measurement is not None and coordinate != self._home and coordinate in self._area
        }

    @property
    def _chosen(self) -> Sequence[Coordinate]:
        """The neighbours of home that are measured or under way."""
        others = self._under_way - {self._home}
        return [*self._neighbours, *sorted(c for c in others if c in self._area)]

    def _is_feasible(self, coordinate: Coordinate) -> bool:
        measurement = self._measured.get(coordinate)
        return measurement is not None and self._goal.passes(measurement)

    @property
    def _has_overshot(self) -> bool:
        """Whether home failed, or violates constraints that an earlier home met."""
        if self._measured[self._home] is None:
            return True
        return not self._is_feasible(self._home) and any(map(self._is_feasible, self._visits))

    @property
    def _explores_all(self) -> bool:
        """Whether the boundary of the constraints is near."""
        if self._is_careful:
            return True
        if self._measured.get(self._home) is None:
            return False
        passes = self._is_feasible(self._home)
        return any(self._is_feasible(near) is not passes for near in self._neighbours)

    def _move(self, target: Coordinate, *, is_careful: bool = False) -> Coordinate | None:
        """Makes `target` home; returns the next coordinate to measure."""
        # beyond a bound, all coordinates have the same sizes
        coordinates = {target, self._space.inside(target)}
        if target == self._home or any(self._visits[c] >= _MAX_VISITS for c in coordinates):
            return None
        log.debug("Quick search steps from %s to %s", self._home, target)
        self._area = Neighbourhood(self._space, target)
        self._visits.update(coordinates)
        self._is_careful = is_careful
        return self._continue()

    def _step_back(self) -> Coordinate | None:
        """Moves to the neighbour of home that is nearest to the best coordinate, and then explores
        all adjacent coordinates.
        """
        succeeded = self._succeeded
        if not succeeded:
            return None
        best = self._best(succeeded)
        nearest = next(self._area.by_worth(lambda axis, index: -((best[axis] - index) ** 2)))
        return self._move(nearest, is_careful=True)

    def _gap_beside_best(self) -> Coordinate | None:
        """An untried coordinate adjacent to the best one, if any trial has failed."""
        succeeded = self._succeeded
        if not succeeded or len(succeeded) == len(self._measured):
            return None
        adjacent = Neighbourhood(self._space, self._best(succeeded)).adjacent
        return next(filter(self._is_new, adjacent), None)

    @property
    def _succeeded(self) -> Sequence[Coordinate]:
        """All coordinates with a measurement, in order."""
        return [c for c, measurement in self._measured.items() if measurement is not None]

    def _best_neighbour(self) -> Coordinate:
        """The best feasible coordinate among home and its neighbours; home if there is none."""
        feasible = [c for c in (self._home, *self._neighbours) if self._is_feasible(c)]
        return self._best(feasible) if feasible else self._home

    def _best(self, coordinates: Sequence[Coordinate]) -> Coordinate:
        def measurement_of(coordinate: Coordinate) -> Measurement:
            measurement = self._measured[coordinate]
            assert measurement is not None
            return measurement

        return self._goal.best_first(coordinates, measurement_of)[0]

    def _uphill(self) -> Coordinate:
        """Home, moved in each dimension by the gain of its neighbours in that direction."""
        home = self._measured[self._home]
        assert home is not None
        gains, distances = [0.0] * len(self._home), [0] * len(self._home)
        for coordinate, measurement in self._neighbours.items():
            gain = self._gain(measurement, home)
            for dimension, offset in enumerate(self._area.offsets(coordinate)):
                if offset:
                    gains[dimension] += gain if offset > 0 else -gain
                    distances[dimension] += abs(offset)
        steps = [
            _step(gain / distance) if distance else 0
            for gain, distance in zip(gains, distances, strict=True)
        ]
        return self._space.nearest(
            tuple(here + step for here, step in zip(self._home, steps, strict=True))
        )

    def _gain(self, new: Measurement, home: Measurement) -> float:
        if self._goal.passes(home):
            return self._goal.score(new, home)
        return (self._goal.shortfall(home) - self._goal.shortfall(new)) / 100

    def _most_different(self) -> Coordinate | None:
        """The new neighbour that has most values that no chosen neighbour has."""
        used = [set(indices) for indices in zip(*self._chosen, strict=True)]

        def is_new(dimension: int, index: int) -> int:
            return int(not used or index not in used[dimension])

        neighbours = self._area.by_worth(is_new)
        coordinate = next(filter(self._is_new, neighbours), None)
        if coordinate is None and not self._under_way:
            log.info("No coordinate to measure. Exiting")
        return coordinate


def _step(gain: float) -> int:
    size = sum(abs(gain) > threshold for threshold in _STEPS)
    return size if gain > 0 else -size


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The coordinates of the space within distance `RADIUS` of `home`, `home` included."""

    space: Space
    home: Coordinate

    def __contains__(self, coordinate: Coordinate) -> bool:
        return sum(offset * offset for offset in self.offsets(coordinate)) <= _SQUARE

    def offsets(self, coordinate: Coordinate) -> Sequence[int]:
        """The signed distance from home in each dimension."""
        return [there - here for there, here in zip(coordinate, self.home, strict=True)]

    @property
    def adjacent(self) -> Iterator[Coordinate]:
        """The coordinates one step away in one dimension, down before up."""
        return self.space.adjacent(self.home)

    def by_worth(self, worth: Worth) -> Iterator[Coordinate]:
        """The coordinates ordered by their total worth over all dimensions, highest first.

        Ties are ordered by their distances in each dimension, the first dimension first; further
        ties by direction, up before down, with the last dimension changing fastest.
        """
        choices = [
            [
                [(index, worth(dimension, index)) for index in self._indices(dimension, distance)]
                for distance in range(RADIUS + 1)
            ]
            for dimension in range(len(self.home))
        ]
        bounds = _upper_bounds(choices)
        lowest = sum(min(value for options in choice for _, value in options) for choice in choices)
        for wanted in range(bounds[0][_SQUARE], lowest - 1, -1):
            for distances in _distances(choices, bounds, wanted, 0, _SQUARE):
                options = [
                    choice[distance] for choice, distance in zip(choices, distances, strict=True)
                ]
                for combination in product(*options):
                    if sum(value for _, value in combination) == wanted:
                        yield tuple(index for index, _ in combination)

    def _indices(self, dimension: int, distance: int) -> Sequence[int]:
        here = self.home[dimension]
        both = dict.fromkeys((here + distance, here - distance))
        return [index for index in both if self.space.dimensions[dimension].holds(index)]


# (index, worth) of all indices, by dimension and by distance
_Choices = Sequence[Sequence[Sequence[tuple[int, int]]]]


def _highest(options: Sequence[tuple[int, int]]) -> int:
    return max(value for _, value in options)


def _upper_bounds(choices: _Choices) -> Sequence[Sequence[int]]:
    """The highest worth of all dimensions from each one on, by the remaining square of the
    distance.
    """
    bounds = [[0] * (_SQUARE + 1)]
    for choice in reversed(choices):
        rest = bounds[0]
        row = [
            max(
                _highest(choice[distance]) + rest[square - distance * distance]
                for distance in range(isqrt(square) + 1)
                if choice[distance]
            )
            for square in range(_SQUARE + 1)
        ]
        bounds.insert(0, row)
    return bounds


def _distances(
    choices: _Choices, bounds: Sequence[Sequence[int]], wanted: int, dimension: int, square: int
) -> Iterator[tuple[int, ...]]:
    """Distances in the dimensions from `dimension` on whose highest worth reaches `wanted`."""
    if dimension == len(choices):
        yield ()
        return
    for distance in range(isqrt(square) + 1):
        options, remaining = choices[dimension][distance], square - distance * distance
        if options and _highest(options) + bounds[dimension + 1][remaining] >= wanted:
            for rest in _distances(
                choices, bounds, wanted - _highest(options), dimension + 1, remaining
            ):
                yield (distance, *rest)


log = logging.getLogger(__name__)

# A climb takes about `_CLIMB + _CLIMB_PER_DIMENSION * dimensions` trials, and more under
# constraints. A longer climb takes a few more.
_CLIMB, _CLIMB_PER_DIMENSION = 5, 2
_CLIMB_ALONG_CONSTRAINTS = 3
_LEAST_LEFT = 3.0


class QuickMode(RefiningMode):
    """Climbs in the space of all sizes; its bounds are those that the user gave, if any."""

    title = "quick"
    has_one_load = True

    def problems(self) -> Iterator[Problem]:
        """The lists of loads, where quick is the default mode of these models."""
        for model in self.subject.models:
            for message, hint in unsupported_loads(model.settings, SearchMode.QUICK):
                yield Problem(where=model.settings.name, message=message, hint=hint)

    def left_out(self) -> Iterator[RefusedVariants]:
        """Nothing that could be counted: it climbs from the smallest sizes that a server takes."""
        yield from ()

    @cached_property
    def space(self) -> Space:
        low, high = UNBOUNDED
        bounds = self.settings.quick
        return space_of_sizes(
            self.subject,
            batch_limits=lambda _: (
                bounds.min_model_batch_size or low,
                bounds.max_model_batch_size or high,
            ),
            instances=(bounds.min_instance_count or low, bounds.max_instance_count or high),
        )

    def strategy(self, names: VariantNames, seed: int) -> QuickSearch:
        return QuickSearch(self, names)

    def left(self, done: int) -> float:
        usual = _CLIMB + _CLIMB_PER_DIMENSION * len(self.space.dimensions)
        usual += _CLIMB_ALONG_CONSTRAINTS if self.subject.goal.has_constraints else 0
        return max(usual - done, _LEAST_LEFT)


class QuickSearch:
    """The plan of a quick search over one model, or over several that are measured together."""

    most_trials = None

    def __init__(self, mode: QuickMode, names: VariantNames) -> None:
        self._subject = mode.subject
        self._bounds = mode.settings.quick
        self._names = names
        self._space = mode.space
        self._outcomes: dict[tuple[str, str], Outcome] = {}
        self._records: list[TrialRecord] = []

    def plan(self) -> Plan:
        log.info("")
        log.info("Starting quick mode search to find optimal configs")
        log.info("")
        yield from side_by_side(self._steps())
        return self._records

    def _steps(self) -> Iterator[PartialPlan[object] | None]:
        yield self._measure(self._default())
        climb = Climb(self._space, self._subject.goal)
        while True:
            coordinate = climb.ask()
            yield None if coordinate is None else self._step(climb, coordinate)

    def _step(self, climb: Climb, coordinate: Coordinate) -> PartialPlan[None]:
        measurement = yield from self._measure(self._at(coordinate))
        climb.tell(coordinate, measurement)

    def _measure(self, trial: Trial) -> PartialPlan[Measurement | None]:
        """The measurement of `trial`; None if it is illegal or failed. Each trial is asked for
        once: several coordinates may stand for the same sizes.
        """
        if not trial.is_legal:
            log_skipped(trial)
            return None
        identity = (trial.key, trial.variants)
        if identity not in self._outcomes:
            record = yield from recorded(trial)
            if identity not in self._outcomes:  # it may have been under way already
                self._outcomes[identity] = record.outcome
                self._records.append(record)
        outcome = self._outcomes[identity]
        return outcome if isinstance(outcome, Measurement) else None

    def _default(self) -> Trial:
        gpus = len(self._subject.setup.devices)
        variants = [self._names.default(model.facts) for model in self._subject.models]
        return self._trial(variants, gpus=gpus)

    def _at(self, coordinate: Coordinate) -> Trial:
        sizes = sizes_at(self._space.point(coordinate))
        variants = [sized_variant(model, sizes, self._names) for model in self._subject.models]
        # a size counts the instances in total, whatever the number of GPUs
        return self._trial(variants, gpus=1)

    def _trial(self, variants: Sequence[ModelVariant], *, gpus: int) -> Trial:
        return self._subject.trial(
            *(
                model.workload(variant, self._load(model, variant, gpus), self._batch_size(model))
                for model, variant in zip(self._subject.models, variants, strict=True)
            )
        )

    def _load(self, model: SearchedModel, variant: ModelVariant, gpus: int) -> int:
        if model.settings.loads:
            (load,) = model.settings.loads
            return load
        low, high = self._bounds.min_concurrency or 1, self._bounds.max_concurrency
        load = max(variant.filling_concurrency(gpus=gpus), low)
        return load if high is None else min(load, high)

    @staticmethod
    def _batch_size(model: SearchedModel) -> int:
        (batch_size,) = model.settings.batch_sizes
        return batch_size


MODE = QuickMode
