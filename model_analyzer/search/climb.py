# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Hill climbing in a search space: from measured coordinates to the next one.

Around a home, a few coordinates are measured that differ in as many dimensions as possible; what
they gained over it says in which direction the next home lies, and how far. Where constraints
begin to fail, the walk looks at every adjacent coordinate instead and takes the best that passes.
It ends when home stays where it is. Trials that failed leave gaps in what a direction is read from:
where there were any, every coordinate adjacent to the best is tried before the end.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.measurements import Measurement
from model_analyzer.search.neighbourhood import Neighbourhood
from model_analyzer.search.space import Coordinate, Space

log = logging.getLogger(__name__)

# So many neighbours tell a direction.
_ENOUGH = 3

# A gain per unit of distance above each of these makes the step longer by one.
_STEPS = (0.09, 0.3, 1.0)

# A coordinate that was home as often is not worth another look.
_MOST_VISITS = 2


class Climb:
    """The walk: given the measurement of a coordinate, it chooses the next coordinate."""

    def __init__(self, space: Space, goal: Goal) -> None:
        self._space = space
        self._goal = goal
        self._measured: dict[Coordinate, Measurement | None] = {}
        self._around = Neighbourhood(space, space.start)
        self._visits = Counter([space.start])
        self._is_careful = False
        self._has_ended = False

    def after(self, coordinate: Coordinate, measurement: Measurement | None) -> Coordinate | None:
        """The coordinate to measure next, or None at the end of the walk. A coordinate may come
        again, to be told again what is known.
        """
        self._measured[coordinate] = measurement
        if not self._has_ended:
            following = self._walk_on(coordinate)
            if following is not None:
                return following
            self._has_ended = True
        return self._gap_beside_best()

    def _walk_on(self, coordinate: Coordinate) -> Coordinate | None:
        """The next coordinate of the walk, `coordinate` being the latest."""
        if coordinate == self._home and self._has_gone_too_far:
            return self._step_back()
        if self._looks_all_around:
            missing = (near for near in self._around.adjacent if near not in self._measured)
            return next(missing, None) or self._move(self._best_around())
        if len(self._neighbours) >= _ENOUGH:
            return self._move(self._uphill())
        return self._most_different()

    @property
    def _home(self) -> Coordinate:
        return self._around.home

    @property
    def _neighbours(self) -> Mapping[Coordinate, Measurement]:
        """What gave a measurement around home, without home."""
        return {
            coordinate: measurement
            for coordinate, measurement in self._measured.items()
            if measurement is not None and coordinate != self._home and coordinate in self._around
        }

    def _passes(self, coordinate: Coordinate) -> bool:
        measurement = self._measured.get(coordinate)
        return measurement is not None and self._goal.passes(measurement)

    @property
    def _has_gone_too_far(self) -> bool:
        """Whether home cannot be used, or fails where an earlier home passed."""
        if self._measured[self._home] is None:
            return True
        return not self._passes(self._home) and any(map(self._passes, self._visits))

    @property
    def _looks_all_around(self) -> bool:
        """Whether the border between passing and failing is near."""
        if self._is_careful:
            return True
        if self._measured.get(self._home) is None:
            return False
        passes = self._passes(self._home)
        return any(self._passes(near) is not passes for near in self._neighbours)

    def _move(self, to: Coordinate) -> Coordinate | None:
        # beyond a bound the sizes stay the same, however far the walk goes
        places = {to, self._space.inside(to)}
        if to == self._home or any(self._visits[place] >= _MOST_VISITS for place in places):
            return None
        log.debug("Quick search steps from %s to %s", self._home, to)
        self._around = Neighbourhood(self._space, to)
        self._visits.update(places)
        self._is_careful = False
        return to

    def _step_back(self) -> Coordinate | None:
        """Goes to the coordinate around here that is nearest to the best so far, carefully."""
        seen = self._seen
        if not seen:
            return None
        best = self._best(seen)
        nearest = next(self._around.by_worth(lambda at, index: -((best[at] - index) ** 2)))
        moved = self._move(nearest)
        self._is_careful = True
        return moved

    def _gap_beside_best(self) -> Coordinate | None:
        """A coordinate adjacent to the best that was not tried yet, if any trial has failed."""
        seen = self._seen
        if not seen or len(seen) == len(self._measured):
            return None
        adjacent = Neighbourhood(self._space, self._best(seen)).adjacent
        return next((near for near in adjacent if near not in self._measured), None)

    @property
    def _seen(self) -> Sequence[Coordinate]:
        """Every coordinate that gave a measurement, in order."""
        return [at for at, measurement in self._measured.items() if measurement is not None]

    def _best_around(self) -> Coordinate:
        """The best that passes around home, or home."""
        passing = [at for at in (self._home, *self._neighbours) if self._passes(at)]
        return self._best(passing) if passing else self._home

    def _best(self, coordinates: Sequence[Coordinate]) -> Coordinate:
        def measurement(at: Coordinate) -> Measurement:
            found = self._measured[at]
            assert found is not None
            return found

        return self._goal.best_first(coordinates, measurement)[0]

    def _uphill(self) -> Coordinate:
        """Home, moved in each dimension by how much its neighbours gain in that direction."""
        home = self._measured[self._home]
        assert home is not None
        gains, distances = [0.0] * len(self._home), [0] * len(self._home)
        for coordinate, measurement in self._neighbours.items():
            gain = self._gain(measurement, home)
            for dimension, offset in enumerate(self._around.offsets(coordinate)):
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
        """The neighbour with most values that none of the others has."""
        seen = [set(indices) for indices in zip(*self._neighbours, strict=True)]

        def is_new(dimension: int, index: int) -> int:
            return int(not seen or index not in seen[dimension])

        around = self._around.by_worth(is_new)
        found = next((near for near in around if near not in self._measured), None)
        if found is None:
            log.info("No coordinate to measure. Exiting")
        return found


def _step(gain: float) -> int:
    size = sum(abs(gain) > threshold for threshold in _STEPS)
    return size if gain > 0 else -size
