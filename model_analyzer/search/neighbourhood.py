# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The neighbourhood of a coordinate: a ball whose members are listed on demand only.

With many dimensions the ball has millions of members. The best ones are found by an upper bound of
what the remaining dimensions can add (branch and bound).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import isqrt

from model_analyzer.search.space import Coordinate, Space

RADIUS = 3
_SQUARE = RADIUS * RADIUS

# The worth of an index of a dimension: (dimension, index) -> worth.
Worth = Callable[[int, int], int]


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
