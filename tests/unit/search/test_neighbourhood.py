# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The coordinates around one, in their order, compared with all there are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_analyzer.search.climb import Neighbourhood
from model_analyzer.search.space import INSTANCES, Coordinate, Dimension, Space


def around(home: Coordinate, sizes: Sequence[int | None] | None = None) -> Neighbourhood:
    """The neighbourhood in a space of so many values in each dimension; None is open."""
    dimensions = [
        Dimension(
            model="m",
            parameter=INSTANCES,
            values=range(1, (size or 9) + 1),
            is_open=size is None,
        )
        for size in sizes or [None] * len(home)
    ]
    return Neighbourhood(Space(tuple(dimensions)), home)


def everything(of: Neighbourhood) -> list[Coordinate]:
    return list(of.by_worth(lambda dimension, index: 0))


@pytest.mark.parametrize(
    ("home", "count"), [((0,), 4), ((0, 0), 11), ((3, 3), 29), ((1,) * 6, 2328), ((0,) * 3, 29)]
)
def test_a_neighbourhood_is_a_ball_inside_the_space(home: Coordinate, count: int) -> None:
    around_it = everything(around(home))

    assert len(around_it) == len(set(around_it)) == count
    assert home in around_it
    assert all(min(coordinate) >= 0 for coordinate in around_it)
    assert all(coordinate in around(home) for coordinate in around_it)


def test_nearer_coordinates_come_first_then_higher_ones_then_the_last_dimension() -> None:
    assert everything(around((1, 1)))[:8] == [
        (1, 1), (1, 2), (1, 0), (1, 3), (1, 4), (2, 1), (0, 1), (2, 2),
    ]  # fmt: skip


def test_lists_end_where_they_end() -> None:
    assert everything(around((0, 1), [1, 2])) == [(0, 1), (0, 0)]


def test_adjacent_coordinates_differ_in_one_dimension_by_one() -> None:
    assert list(around((0, 1, 1), [None, None, 2]).adjacent) == [
        (1, 1, 1), (0, 0, 1), (0, 2, 1), (0, 1, 0),
    ]  # fmt: skip


@given(
    home=st.lists(st.integers(0, 4), min_size=1, max_size=4).map(tuple),
    worths=st.lists(st.lists(st.integers(-3, 3), min_size=8, max_size=8), min_size=4, max_size=4),
)
def test_the_worthiest_come_first_and_equals_keep_their_order(
    home: Coordinate, worths: list[list[int]]
) -> None:
    of = around(home)

    def total(coordinate: Coordinate) -> int:
        return sum(worths[dimension][index] for dimension, index in enumerate(coordinate))

    order = list(of.by_worth(lambda dimension, index: worths[dimension][index]))

    assert order == sorted(everything(of), key=total, reverse=True)


def test_nothing_around_home_is_left_out() -> None:
    of = around((2, 0, 5))

    near = [at for at in product(range(10), repeat=3) if at in of]

    assert sorted(everything(of)) == near


def test_many_dimensions_are_no_burden() -> None:
    home = (4,) * 24

    order = around(home).by_worth(lambda dimension, index: int(index != 4))

    # nine dimensions can differ by one
    assert next(order) == (*home[:15], *(5,) * 9)
