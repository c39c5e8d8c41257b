# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Coordinates to measure before anything is known: they cover the space evenly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count

from model_analyzer.search.space import Coordinate
from model_analyzer.search.trial_map import TrialMap

_ROUNDS = 50  # of the fixed-point iteration, which has converged by then


def spread(trial_map: TrialMap, excluded: Iterable[Coordinate]) -> Iterator[Coordinate]:
    """Different legal coordinates: the smallest one, then others, without those `excluded`, in an
    order that covers the space evenly however many are taken.

    In each dimension, the steps are multiples of an irrational part of its length (an additive
    recurrence: Roberts 2018, "The unreasonable effectiveness of quasirandom sequences").
    """
    sizes = [len(dimension.values) for dimension in trial_map.space.dimensions]
    parts = _parts(len(sizes))
    seen = set(excluded)
    nearest: Coordinate | None = trial_map.smallest
    for number in count(1):
        if nearest is None:
            return  # these are all
        seen.add(nearest)
        yield nearest
        at = (
            int(size * ((0.5 + number * part) % 1)) for size, part in zip(sizes, parts, strict=True)
        )
        nearest = trial_map.nearest(tuple(at), seen)


def _parts(dimensions: int) -> Sequence[float]:
    """The step in each dimension: powers of the root of x^(n + 1) = x + 1 for n dimensions, which
    generalizes the golden ratio.
    """
    root = 1.0
    for _ in range(_ROUNDS):
        root = (1 + root) ** (1 / (dimensions + 1))
    return [root ** -(position + 1) for position in range(dimensions)]
