# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The space that a search moves in: dimensions with their values, and coordinates in it.

Every model that is profiled or called, ensembles apart, has a dimension for its batch limit, if
it batches, and one for its number of instances. `trial_map` adds dimensions for everything else.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from model_analyzer.domain.models import apply_parameters, largest_preferred_batch_size
from model_analyzer.search.plan import Subject, VariedModel
from model_analyzer.search.variants import (
    Size,
    listed_batch_limits,
    listed_instances,
    single_parameters,
)

# A place in a space: an index into the values of each dimension.
Coordinate = tuple[int, ...]

# What a coordinate stands for: value by parameter, by model.
Point = Mapping[str, Mapping[str, Any]]

BATCH_LIMIT = "max_batch_size"
INSTANCES = "instance_count"

# Larger numbers do not fit into a model configuration.
UNBOUNDED = (1, 2**30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """A parameter of one model with its possible values. Where it is ordered they ascend, and
    neighbours are alike.

    Indices of an open dimension may go on behind its last value, which then stays: a walk may
    step out of the space beside a bound, where a list is all there is.
    """

    model: str
    parameter: str
    values: Sequence[Any]
    is_ordered: bool = True
    is_open: bool = False

    @property
    def name(self) -> str:
        return f"{self.model}::{self.parameter}"

    def __str__(self) -> str:
        bounds = f"{self.values[0]} to {self.values[-1]} " if self.is_ordered else ""
        return f"{self.parameter}: {bounds}({len(self.values)})"

    def holds(self, index: int) -> bool:
        return index >= 0 and (self.is_open or index < len(self.values))

    def value(self, index: int) -> Any:
        return self.values[min(index, len(self.values) - 1)]


@dataclass(frozen=True, slots=True)
class Space:
    """All dimensions: those of the first profiled model, of the next, …, then of what they call."""

    dimensions: tuple[Dimension, ...]

    @property
    def size(self) -> int:
        """How many combinations of values there are."""
        return math.prod(len(dimension.values) for dimension in self.dimensions)

    @property
    def start(self) -> Coordinate:
        """Where everything is smallest."""
        return (0,) * len(self.dimensions)

    def nearest(self, coordinate: Coordinate) -> Coordinate:
        """The coordinate itself, or the one in the space that is nearest to it."""
        return tuple(
            max(index, 0) if dimension.is_open else min(max(index, 0), len(dimension.values) - 1)
            for dimension, index in zip(self.dimensions, coordinate, strict=True)
        )

    def inside(self, coordinate: Coordinate) -> Coordinate:
        """The coordinate of the same sizes that no dimension is walked out of."""
        return tuple(
            min(index, len(dimension.values) - 1)
            for dimension, index in zip(self.dimensions, coordinate, strict=True)
        )

    def adjacent(self, coordinate: Coordinate) -> Iterator[Coordinate]:
        """One step away in one dimension, down before up."""
        for position, dimension in enumerate(self.dimensions):
            for index in (coordinate[position] - 1, coordinate[position] + 1):
                if dimension.holds(index):
                    yield (*coordinate[:position], index, *coordinate[position + 1 :])

    def point(self, coordinate: Coordinate) -> Point:
        """What `coordinate` stands for."""
        point: dict[str, dict[str, Any]] = {}
        for dimension, index in zip(self.dimensions, coordinate, strict=True):
            point.setdefault(dimension.model, {})[dimension.parameter] = dimension.value(index)
        return point


def sizes_at(point: Point) -> Mapping[str, Size]:
    """The size of each model that has one at `point`, by name."""
    return {
        model: Size(instances=values[INSTANCES], batch_limit=values.get(BATCH_LIMIT))
        for model, values in point.items()
        if INSTANCES in values
    }


def space_of_sizes(
    subject: Subject, *, batch_limits: tuple[int, int], instances: tuple[int, int]
) -> Space:
    """The space of the models of `subject`. Values that the user listed are the only ones; others
    lie between the bounds (inclusive), batch limits at powers of two and at the bounds.

    Raises ConfigError where more than sizes would have to be varied.
    """
    profiled, called = [], []
    for model in subject.models:
        own, *others = model.varied.values()
        # smaller batch limits would be illegal; an ensemble's limit follows from its steps'
        least = max(model.settings.batch_sizes)
        profiled.append((own, least))
        called += [(other, least) for other in others]
    return Space(
        tuple(
            dimension
            for varied, least in (*profiled, *called)
            for dimension in _dimensions(varied, least, batch_limits, instances)
        )
    )


def _dimensions(
    model: VariedModel, least: int, batch_limits: tuple[int, int], instances: tuple[int, int]
) -> Iterator[Dimension]:
    """The dimensions of one model; its batch limit is at least `least`."""
    config = apply_parameters(model.facts.config, single_parameters(model))
    if model.facts.is_ensemble:
        return
    least = max(least, largest_preferred_batch_size(config))
    limits = listed_batch_limits(model)
    if limits:
        legal = [limit for limit in limits if limit >= least]
        yield _dimension(model, BATCH_LIMIT, legal or limits[-1:], is_open=False)
    elif model.facts.supports_batching:
        low, high = batch_limits
        powers = _powers_of_two(min(max(low, least), high), high)
        yield _dimension(model, BATCH_LIMIT, powers, is_open=True)
    counts = sorted(listed_instances(model))
    if counts:
        yield _dimension(model, INSTANCES, counts, is_open=False)
    else:
        low, high = instances
        yield _dimension(model, INSTANCES, range(max(low, 1), high + 1), is_open=True)


def _dimension(
    model: VariedModel, parameter: str, values: Sequence[int], *, is_open: bool
) -> Dimension:
    return Dimension(
        model=model.facts.name,
        parameter=parameter,
        values=values,
        is_open=is_open and len(values) > 1,
    )


def _powers_of_two(low: int, high: int) -> Sequence[int]:
    """`low`, the powers of two between the bounds, and `high`."""
    powers = (2**exponent for exponent in range(high.bit_length()))
    return sorted({low, *(power for power in powers if low < power < high), high})
