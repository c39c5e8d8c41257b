# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The space that a search moves in: how each model may be dimensioned.

Every model that is profiled or called, ensembles apart, has a dimension for its batch limit, if
it batches, and one for its number of instances.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from model_analyzer.domain.models import apply_parameters, largest_preferred_batch_size
from model_analyzer.search.plan import Subject, VariedModel
from model_analyzer.search.variants import (
    Size,
    listed_batch_limits,
    listed_instances,
    single_parameters,
)

# A point of a space: an index into the values of each dimension.
Coordinate = tuple[int, ...]

# Larger numbers do not fit into a model configuration.
UNBOUNDED = (1, 2**30)


class Quantity(Enum):
    """What of a model is varied."""

    BATCH_LIMIT = "max_batch_size"
    INSTANCES = "instance_count"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """A quantity of one model with its possible values, ascending.

    Indices of an open dimension may go on behind its last value, which then stays: a walk may
    step out of the space beside a bound, where a list is all there is.
    """

    model: str
    quantity: Quantity
    values: Sequence[int]
    is_open: bool

    def holds(self, index: int) -> bool:
        return index >= 0 and (self.is_open or index < len(self.values))

    def value(self, index: int) -> int:
        return self.values[min(index, len(self.values) - 1)]


@dataclass(frozen=True, slots=True)
class SearchSpace:
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

    def sizes(self, coordinate: Coordinate) -> Mapping[str, Size]:
        """The size of each model at `coordinate`, by name."""
        values: dict[str, dict[Quantity, int]] = {}
        for dimension, index in zip(self.dimensions, coordinate, strict=True):
            values.setdefault(dimension.model, {})[dimension.quantity] = dimension.value(index)
        return {
            model: Size(
                instances=of_model[Quantity.INSTANCES],
                batch_limit=of_model.get(Quantity.BATCH_LIMIT),
            )
            for model, of_model in values.items()
        }


def search_space(
    subject: Subject, *, batch_limits: tuple[int, int], instances: tuple[int, int]
) -> SearchSpace:
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
    return SearchSpace(
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
        yield _dimension(model, Quantity.BATCH_LIMIT, legal or limits[-1:], is_open=False)
    elif model.facts.supports_batching:
        low, high = batch_limits
        powers = _powers_of_two(min(max(low, least), high), high)
        yield _dimension(model, Quantity.BATCH_LIMIT, powers, is_open=True)
    counts = sorted(listed_instances(model))
    if counts:
        yield _dimension(model, Quantity.INSTANCES, counts, is_open=False)
    else:
        low, high = instances
        yield _dimension(model, Quantity.INSTANCES, range(max(low, 1), high + 1), is_open=True)


def _dimension(
    model: VariedModel, quantity: Quantity, values: Sequence[int], *, is_open: bool
) -> Dimension:
    return Dimension(
        model=model.facts.name,
        quantity=quantity,
        values=values,
        is_open=is_open and len(values) > 1,
    )


def _powers_of_two(low: int, high: int) -> Sequence[int]:
    """`low`, the powers of two between the bounds, and `high`."""
    powers = (2**exponent for exponent in range(high.bit_length()))
    return sorted({low, *(power for power in powers if low < power < high), high})
