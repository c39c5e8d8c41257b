# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The coordinates around one: a ball, of which only what is asked for is ever listed.

With many dimensions the ball holds millions of coordinates, so that those worth most are found
by bounding what the dimensions left can still add.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import isqrt

from model_analyzer.search.space import Coordinate, Space

RADIUS = 3
_SQUARE = RADIUS * RADIUS

# What an index of a dimension is worth: (dimension, index) -> worth.
Worth = Callable[[int, int], int]


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """All coordinates of the space not farther from `home` than `RADIUS`, `home` included."""

    space: Space
    home: Coordinate

    def __contains__(self, coordinate: Coordinate) -> bool:
        return sum(offset * offset for offset in self.offsets(coordinate)) <= _SQUARE

    def offsets(self, coordinate: Coordinate) -> Sequence[int]:
        """How far it is away in each dimension."""
        return [there - here for there, here in zip(coordinate, self.home, strict=True)]

    @property
    def adjacent(self) -> Iterator[Coordinate]:
        """One step away in one dimension, down before up."""
        return self.space.adjacent(self.home)

    def by_worth(self, worth: Worth) -> Iterator[Coordinate]:
        """The coordinates in order of their worth, that of all dimensions added up, most first.

        Equals come in the order of their distances in each dimension, the first one foremost;
        where these are equal too, up before down, the last dimension changing fastest.
        """
        choices = [
            [
                [(index, worth(dimension, index)) for index in self._indices(dimension, distance)]
                for distance in range(RADIUS + 1)
            ]
            for dimension in range(len(self.home))
        ]
        reach = _reach(choices)
        least = sum(min(value for at in of for _, value in at) for of in choices)
        for wanted in range(reach[0][_SQUARE], least - 1, -1):
            for distances in _distances(choices, reach, wanted, 0, _SQUARE):
                at = [of[distance] for of, distance in zip(choices, distances, strict=True)]
                for combination in product(*at):
                    if sum(value for _, value in combination) == wanted:
                        yield tuple(index for index, _ in combination)

    def _indices(self, dimension: int, distance: int) -> Sequence[int]:
        here = self.home[dimension]
        both = dict.fromkeys((here + distance, here - distance))
        return [index for index in both if self.space.dimensions[dimension].holds(index)]


# (index, worth) of the indices of each dimension at each distance
_Choices = Sequence[Sequence[Sequence[tuple[int, int]]]]


def _most(at: Sequence[tuple[int, int]]) -> int:
    return max(value for _, value in at)


def _reach(choices: _Choices) -> Sequence[Sequence[int]]:
    """The most that the dimensions from each on can add, for each square of distance left."""
    reach = [[0] * (_SQUARE + 1)]
    for of in reversed(choices):
        rest = reach[0]
        row = [
            max(
                _most(of[distance]) + rest[square - distance * distance]
                for distance in range(isqrt(square) + 1)
                if of[distance]
            )
            for square in range(_SQUARE + 1)
        ]
        reach.insert(0, row)
    return reach


def _distances(
    choices: _Choices, reach: Sequence[Sequence[int]], wanted: int, dimension: int, square: int
) -> Iterator[tuple[int, ...]]:
    """Distances in the dimensions from this one on that can be worth `wanted` together."""
    if dimension == len(choices):
        yield ()
        return
    for distance in range(isqrt(square) + 1):
        at, left = choices[dimension][distance], square - distance * distance
        if at and _most(at) + reach[dimension + 1][left] >= wanted:
            for rest in _distances(choices, reach, wanted - _most(at), dimension + 1, left):
                yield (distance, *rest)
