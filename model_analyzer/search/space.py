# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The search space: dimensions with their values, and coordinates.

Every profiled or called model, except ensembles, has a dimension for its number of instances, and
one for its batch limit if it supports batching. `trial_map` adds dimensions for everything else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from model_analyzer.domain.model_config_rules import batch_sizes, least_batch_limit
from model_analyzer.domain.models import apply_parameters
from model_analyzer.errors import ConfigError, wrong
from model_analyzer.search.plan import Subject, VariedModel
from model_analyzer.search.variants import (
    Size,
    fixed_counts,
    higher_limits,
    listed_batch_limits,
    single_parameters,
)

# A point of a space: an index into the values of each dimension.
Coordinate = tuple[int, ...]

# The values at a coordinate: value by parameter, by model.
Point = Mapping[str, Mapping[str, Any]]

BATCH_LIMIT = "max_batch_size"
INSTANCES = "instance_count"

# The range of integers in a model configuration.
UNBOUNDED = (1, 2**30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """A parameter of one model with its possible values. The values of an ordered dimension ascend,
    and neighbours behave alike.

    An open dimension accepts indices beyond its last value, which then applies: a climb may step
    over a bound, but not over the end of a list.
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
    """All dimensions: those of each profiled model in turn, then those of the called models."""

    dimensions: tuple[Dimension, ...]

    @property
    def size(self) -> int:
        """The number of combinations of values."""
        return math.prod(len(dimension.values) for dimension in self.dimensions)

    @property
    def start(self) -> Coordinate:
        """The coordinate with the smallest value in each dimension."""
        return (0,) * len(self.dimensions)

    def nearest(self, coordinate: Coordinate) -> Coordinate:
        """The coordinate of the space that is nearest to `coordinate`."""
        return tuple(
            max(index, 0) if dimension.is_open else min(max(index, 0), len(dimension.values) - 1)
            for dimension, index in zip(self.dimensions, coordinate, strict=True)
        )

    def inside(self, coordinate: Coordinate) -> Coordinate:
        """The coordinate with the same values, without indices beyond the last value."""
        return tuple(
            min(index, len(dimension.values) - 1)
            for dimension, index in zip(self.dimensions, coordinate, strict=True)
        )

    def adjacent(self, coordinate: Coordinate) -> Iterator[Coordinate]:
        """The coordinates one step away in one dimension, down before up."""
        for position, dimension in enumerate(self.dimensions):
            for index in (coordinate[position] - 1, coordinate[position] + 1):
                if dimension.holds(index):
                    yield (*coordinate[:position], index, *coordinate[position + 1 :])

    def point(self, coordinate: Coordinate) -> Point:
        """The values at `coordinate`."""
        point: dict[str, dict[str, Any]] = {}
        for dimension, index in zip(self.dimensions, coordinate, strict=True):
            point.setdefault(dimension.model, {})[dimension.parameter] = dimension.value(index)
        return point


def sizes_at(point: Point) -> Mapping[str, Size]:
    """The size of each model at `point`, by name; models without instances have none."""
    return {
        model: Size(instances=values[INSTANCES], batch_limit=values.get(BATCH_LIMIT))
        for model, values in point.items()
        if INSTANCES in values
    }


def space_of_sizes(
    subject: Subject,
    *,
    batch_limits: Callable[[VariedModel], tuple[int, int]],
    instances: tuple[int, int],
) -> Space:
    """The space of the sizes of all models. If the user listed values, only these are used.
    Otherwise values lie between the bounds (inclusive; those of batch limits depend on the model);
    batch limits are powers of two and the bounds.

    Raises ConfigError if another field has several values, or allows none of these batch limits.
    """
    profiled, called = [], []
    for model in subject.models:
        own, *others = model.varied.values()
        # smaller batch limits would be illegal; an ensemble's limit follows from its steps
        minimum = max(model.settings.batch_sizes)
        profiled.append((own, minimum))
        called += [(other, minimum) for other in others]
    return Space(
        tuple(
            dimension
            for varied, minimum in (*profiled, *called)
            for dimension in _dimensions(varied, minimum, batch_limits, instances)
        )
    )


def _dimensions(
    model: VariedModel,
    minimum: int,
    batch_limits: Callable[[VariedModel], tuple[int, int]],
    instances: tuple[int, int],
) -> Iterator[Dimension]:
    """The dimensions of one model with a batch limit of at least `minimum`."""
    config = apply_parameters(model.facts.config, single_parameters(model))
    if model.facts.is_ensemble:
        return
    needed = least_batch_limit(config)
    minimum = max(minimum, needed)
    limits = listed_batch_limits(model)
    highest = max(limits, default=batch_limits(model)[1])
    if needed > highest and (limits or model.facts.supports_batching):
        raise no_batch_limit(model, highest)
    if limits:
        legal = [limit for limit in limits if limit >= minimum]
        yield _dimension(model, BATCH_LIMIT, legal or limits[-1:], is_open=False)
    elif model.facts.supports_batching:
        low, high = batch_limits(model)
        powers = _powers_of_two(min(max(low, minimum), high), high)
        yield _dimension(model, BATCH_LIMIT, powers, is_open=True)
    counts = fixed_counts(model)
    if counts:
        yield _dimension(model, INSTANCES, counts, is_open=False)
    else:
        low, high = instances
        yield _dimension(model, INSTANCES, range(max(low, 1), high + 1), is_open=True)


def no_batch_limit(model: VariedModel, highest: int) -> ConfigError:
    """The error if no batch limit up to the `highest` fits the other fields of a model."""
    config = apply_parameters(model.facts.config, single_parameters(model))
    limit = highest if model.facts.supports_batching else 0
    refused = next(batch_sizes({**config, BATCH_LIMIT: limit}))
    is_listed = bool(listed_batch_limits(model))
    remedy = higher_limits(least_batch_limit(config), is_listed=is_listed)
    return wrong(
        model.facts.name,
        f"{refused}, the highest of the search",
        f"{remedy}, or lower the other field",
    )


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
