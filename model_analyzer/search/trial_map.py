# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The search space: dimensions with their values, and coordinates; the space of everything that can
be varied together, and the trial at each coordinate.

Its dimensions are the sizes of all models, the batch sizes and the loads of the clients, and every
other field of a model configuration with several listed values.

Every profiled or called model, except ensembles, has a dimension for its number of instances, and
one for its batch limit if it supports batching. `TrialMap` adds dimensions for everything else.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from model_analyzer.domain.model_config_rules import (
    batch_sizes,
    least_batch_limit,
    rate_limits,
    refusal,
)
from model_analyzer.domain.models import (
    ModelFacts,
    ModelVariant,
    VariantNames,
    apply_parameters,
    count_of_groups,
    max_batch_size,
    step_models,
)
from model_analyzer.domain.settings import SearchSettings
from model_analyzer.domain.trials import LoadKind, Trial, Workload
from model_analyzer.errors import ConfigError, wrong
from model_analyzer.search.plan import SearchedModel, Subject, VariedModel, load_bounds, load_values
from model_analyzer.search.variants import (
    Size,
    automatic_parameters,
    batch_bounds,
    fixed_counts,
    higher_limits,
    listed_batch_limits,
    other_parameters,
    single_parameters,
    sized_variant,
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


_BATCHING = "dynamic_batching"
_CLIENT_BATCH = "batch_sizes"

# Dimensions that are no fields beside the batch limit: those of the client, and the limit itself.
_WITHOUT_FIELDS = (_CLIENT_BATCH, BATCH_LIMIT, *(kind.value for kind in LoadKind))

# The most values of a dimension without order: the results of one value say nothing about the
# others.
_MAX_CHOICES = 1000


class TrialMap:
    """All trials of the models of `subject` within the bounds of `settings`, by their coordinates
    in `space`.

    With `use_formula`, concurrencies follow from the sizes and have no dimension. If the user lists
    no loads, each doubling has `load_steps` values; with more than one, the highest allowed load is
    among them. Raises ConfigError if no trial is legal.
    """

    def __init__(
        self,
        subject: Subject,
        settings: SearchSettings,
        *,
        use_formula: bool,
        load_steps: int = 1,
    ) -> None:
        self._subject = subject
        self._settings = settings
        self._use_formula = use_formula
        self._load_steps = load_steps
        self._varied = {
            name: varied for model in subject.models for name, varied in model.varied.items()
        }
        sizes = [*self._sizes()]
        widest: Point = {
            dimension.model: {BATCH_LIMIT: dimension.values[-1]}
            for dimension in sizes
            if dimension.parameter == BATCH_LIMIT
        }
        self.space = Space((*sizes, *self._fields(widest), *self._clients(widest)))
        self._position = {
            (dimension.model, dimension.parameter): position
            for position, dimension in enumerate(self.space.dimensions)
        }
        self._positions = {
            name: [
                position
                for position, dimension in enumerate(self.space.dimensions)
                if dimension.model == name and dimension.parameter not in _WITHOUT_FIELDS
            ]
            for name, varied in self._varied.items()
            if not varied.facts.is_ensemble
        }
        self._needs: dict[tuple[str, Coordinate], float] = {}

    @property
    def smallest(self) -> Coordinate:
        """The legal coordinate that is nearest to the smallest values."""
        coordinate = self.nearest(self.space.start, ())
        assert coordinate is not None  # a space has a legal trial
        return coordinate

    def default(self, names: VariantNames) -> Trial:
        """The default configuration, with the smallest client batches and the load that fills it.
        It may be illegal even if the space has legal trials.
        """
        gpus = len(self._subject.setup.devices)
        workloads = []
        for model in self._subject.models:
            variant = names.default(model.facts)
            value = self._filling_load(model, variant, gpus)
            batch_size = min(*model.settings.batch_sizes, max(variant.max_batch_size, 1))
            workloads.append(model.workload(variant, value, batch_size))
        return self._subject.trial(*workloads)

    def coordinate_of(self, trial: Trial) -> Coordinate | None:
        """The legal coordinate whose trial has the same content; None if there is none."""
        parts = {
            variant.model: (workload, variant)
            for workload in trial.workloads
            for variant in workload.variant.with_parts()
        }
        dimensions = self.space.dimensions
        values = [_value(*parts[dimension.model], dimension.parameter) for dimension in dimensions]
        pairs = list(zip(dimensions, values, strict=True))
        if any(value not in dimension.values for dimension, value in pairs):
            return None
        coordinate = tuple(dimension.values.index(value) for dimension, value in pairs)
        if not self.is_legal(coordinate):
            return None
        is_same = self.trial(coordinate, None).key == trial.key
        return coordinate if is_same else None

    def trial(self, coordinate: Coordinate, names: VariantNames | None) -> Trial:
        """The trial at a coordinate; without `names`, one to compare: it is not logged."""
        point = self.space.point(coordinate)
        return self._subject.trial(
            *(self._workload(model, point, names) for model in self._subject.models)
        )

    def is_legal(self, coordinate: Coordinate) -> bool:
        """Whether a server could run the trial at a coordinate."""
        point = self.space.point(coordinate)
        return all(
            point[model.facts.name][_CLIENT_BATCH] <= _batch_limit(model.facts, point)
            for model in self._subject.models
        ) and all(
            self._needed(name, coordinate) <= _batch_limit(self._varied[name].facts, point)
            for name in self._positions
        )

    def nearest(
        self, coordinate: Coordinate, excluded: Collection[Coordinate]
    ) -> Coordinate | None:
        """The legal coordinate with the fewest steps from `coordinate` that is not in `excluded`,
        if any.

        The first legal coordinate is computed, not searched for: with several models it may be many
        steps away.
        """
        first = self._with_room_for_preferred(self._with_fitting_batches(coordinate))
        waiting, seen = deque([first]), {first}
        while waiting:
            candidate = waiting.popleft()
            if candidate not in excluded and self.is_legal(candidate):
                return candidate
            for neighbour in self.space.adjacent(candidate):
                if neighbour not in seen:
                    seen.add(neighbour)
                    waiting.append(neighbour)
        return None

    # -- dimensions --------------------------------------------------------------------------

    def _sizes(self) -> Iterator[Dimension]:
        settings = self._settings
        space = space_of_sizes(
            replace(self._subject, models=tuple(map(_smallest, self._subject.models))),
            batch_limits=lambda model: batch_bounds(self._varied[model.facts.name], settings),
            instances=(settings.min_instance_count, settings.max_instance_count),
        )
        callers = {
            model.facts.name
            for model in self._subject.models
            if model.facts.composing and not listed_batch_limits(model.varied[model.facts.name])
        }
        for dimension in space.dimensions:
            # a model with calls in its own code: batches form in the models that it calls
            if dimension.parameter != BATCH_LIMIT or dimension.model not in callers:
                yield replace(dimension, is_open=False)

    def _fields(self, widest: Point) -> Iterator[Dimension]:
        for name, model in self._varied.items():
            batching = _usable_batching(model, _batch_limit(model.facts, widest))
            for field, listed in _varied_fields(model).items():
                values = batching if field == _BATCHING else listed
                if len(values) > _MAX_CHOICES:
                    raise wrong(
                        f"model_config_parameters of {name}",
                        f"{field} has {len(values)} values, but this search supports at"
                        f" most {_MAX_CHOICES}",
                        "list fewer values, or use --search brute",
                    )
                yield Dimension(model=name, parameter=field, values=values, is_ordered=False)

    def _clients(self, widest: Point) -> Iterator[Dimension]:
        for model in self._subject.models:
            name, limit = model.facts.name, _batch_limit(model.facts, widest)
            fitting = sorted(size for size in model.settings.batch_sizes if size <= limit)
            if not fitting:
                raise wrong(
                    name,
                    f"all batch_sizes are above the model's batch limit ({limit})",
                    "raise it with run_config_search_max_model_batch_size",
                )
            yield Dimension(model=name, parameter=_CLIENT_BATCH, values=fitting)
            if not self._follows_from_sizes(model):
                yield Dimension(
                    model=name,
                    parameter=model.settings.load_kind.value,
                    values=self._load_values(model),
                )

    def _load_values(self, model: SearchedModel) -> Sequence[int]:
        values = load_values(model, self._settings)
        if model.settings.loads or self._load_steps == 1:
            return values
        _, highest = load_bounds(model, self._settings)
        steps = range(self._load_steps)
        between = (round(low * 2 ** (step / len(steps))) for low in values for step in steps)
        return sorted({*(value for value in between if value < highest), highest})

    def _follows_from_sizes(self, model: SearchedModel) -> bool:
        return self._use_formula and model.settings.load_kind is LoadKind.CONCURRENCY

    # -- coordinates -------------------------------------------------------------------------

    def _needed(self, name: str, coordinate: Coordinate) -> float:
        """The smallest batch limit of a model that its fields at a coordinate allow; infinite if a
        server refuses them with any.
        """
        chosen = tuple(coordinate[position] for position in self._positions[name])
        if (name, chosen) not in self._needs:
            dimensions = [self.space.dimensions[position] for position in self._positions[name]]
            values = {
                each.parameter: each.value(i) for each, i in zip(dimensions, chosen, strict=True)
            }
            flags = self._subject.setup.flags
            self._needs[name, chosen] = _needed_limit(self._varied[name], values, flags)
        return self._needs[name, chosen]

    def _with_fitting_batches(self, coordinate: Coordinate) -> Coordinate:
        """The coordinate with client batches lowered to the largest legal ones."""
        point = self.space.point(coordinate)
        limits = {
            model.facts.name: _batch_limit(model.facts, point) for model in self._subject.models
        }
        return tuple(
            min(index, max(bisect_right(dimension.values, limits[dimension.model]) - 1, 0))
            if dimension.parameter == _CLIENT_BATCH
            else index
            for dimension, index in zip(self.space.dimensions, coordinate, strict=True)
        )

    def _with_room_for_preferred(self, coordinate: Coordinate) -> Coordinate:
        """The coordinate with batch limits raised, or batching changed, until the preferred sizes
        fit: for each model by the fewest steps, and with the smallest change of batching.
        """
        fitting = list(coordinate)
        for name in self._positions:
            limit = self._position.get((name, BATCH_LIMIT))
            batching = self._position.get((name, _BATCHING))
            if limit is None or batching is None:
                continue  # a single value always fits
            low, batched, limits = (
                coordinate[limit],
                coordinate[batching],
                self.space.dimensions[limit].values,
            )
            options = self.space.dimensions[batching].values
            sizes = [_least_limit(self._varied[name].facts, option) for option in options]
            needed = [max(bisect_left(limits, size), low) for size in sizes]
            fitting[batching] = min(
                range(len(sizes)),
                key=lambda i: (needed[i] - low + abs(i - batched), abs(i - batched)),
            )
            fitting[limit] = needed[fitting[batching]]
        return tuple(fitting)

    # -- trials ------------------------------------------------------------------------------

    def _workload(self, model: SearchedModel, point: Point, names: VariantNames | None) -> Workload:
        variant = sized_variant(_with_fields(model, point), sizes_at(point), names)
        values = point[model.facts.name]
        load = values.get(model.settings.load_kind.value)
        if load is None:
            load = self._filling_load(model, variant, gpus=1)
        return model.workload(variant, load, values[_CLIENT_BATCH])

    def _filling_load(self, model: SearchedModel, variant: ModelVariant, gpus: int) -> int:
        """The highest possible load that does not exceed the concurrency that fills the variant, or
        the lowest possible load.

        For request rates it is the lowest: which one fills the variant is unknown.
        """
        low, high = self._settings.min_concurrency, self._settings.max_concurrency
        if model.settings.load_kind is not LoadKind.CONCURRENCY:
            return load_values(model, self._settings)[0]
        values = model.settings.loads or range(max(low, 1), high + 1)
        filling = variant.filling_concurrency(gpus=gpus)
        return values[max(bisect_right(values, filling) - 1, 0)]


def _value(workload: Workload, variant: ModelVariant, parameter: str) -> Any:
    """The value of a parameter of the space for a variant in a workload."""
    if parameter == _CLIENT_BATCH:
        return workload.load.batch_size
    if parameter == workload.load.kind.value:
        return workload.load.value
    if parameter == BATCH_LIMIT:
        return variant.max_batch_size
    if parameter == INSTANCES:
        return count_of_groups(variant.config)
    return variant.config.get(parameter)


def _batch_limit(facts: ModelFacts, point: Point) -> int:
    """The batch limit of a model at `point`; for an ensemble, the smallest of its steps."""
    if facts.is_ensemble and facts.supports_batching:
        steps = step_models(facts.config)
        return min(_batch_limit(part, point) for part in facts.composing if part.name in steps)
    varied: int = point.get(facts.name, {}).get(BATCH_LIMIT, max_batch_size(facts.config))
    return max(varied, 1)


def _needed_limit(
    model: VariedModel, values: Mapping[str, Any], server_flags: Mapping[str, Any]
) -> float:
    """The smallest batch limit of a model with these fields; infinite if a server with the flags
    refuses them with any.
    """
    fields = {field: (value,) for field, value in values.items() if field != INSTANCES}
    chosen = replace(model, parameters={**model.parameters, **fields})
    single = single_parameters(chosen)
    needed = least_batch_limit(apply_parameters(model.facts.config, single))
    limit = needed if model.facts.supports_batching else None
    parameters = {**automatic_parameters(chosen, values[INSTANCES], limit), **single}
    variant = VariantNames().variant(replace(model.facts, composing=()), parameters)
    is_refused = refusal(variant) or next(rate_limits([variant], server_flags), None)
    return math.inf if is_refused else needed


def _least_limit(facts: ModelFacts, batching: Mapping[str, Any] | None) -> int:
    """The smallest possible batch limit with this batching applied."""
    return least_batch_limit(apply_parameters(facts.config, {_BATCHING: batching}))


def _batching_options(model: VariedModel) -> Sequence[Mapping[str, Any] | None]:
    """The listed batching options, or the one of the model."""
    return other_parameters(model).get(_BATCHING, (None,))


def _usable_batching(model: VariedModel, limit: int) -> Sequence[Mapping[str, Any] | None]:
    """The batching options that a batch limit of `limit` allows."""
    if model.facts.is_ensemble:
        return ()
    options = _batching_options(model)
    usable = [batching for batching in options if _least_limit(model.facts, batching) <= limit]
    if not usable:
        raise no_batch_limit(model, limit)
    return usable


def _smallest(model: SearchedModel) -> SearchedModel:
    """The model with the smallest client batch only, and with the fields that allow most sizes:
    every size that is legal with any listed value is legal with these.
    """
    batch_sizes = (min(model.settings.batch_sizes),)
    return _with_fields(
        replace(model, settings=replace(model.settings, batch_sizes=batch_sizes)),
        {name: _least_demanding(varied) for name, varied in model.varied.items()},
    )


def _least_demanding(model: VariedModel) -> Mapping[str, Any]:
    """The fields with several values, set to the default; batching to the one with the smallest
    preferred size.
    """
    varied = _varied_fields(model)
    fields: dict[str, Any] = dict.fromkeys(varied)
    if _BATCHING in varied:
        fields[_BATCHING] = min(
            varied[_BATCHING], key=lambda value: _least_limit(model.facts, value)
        )
    return fields


def _varied_fields(model: VariedModel) -> Mapping[str, Sequence[Any]]:
    return {field: values for field, values in other_parameters(model).items() if len(values) > 1}


def _with_fields(model: SearchedModel, point: Point) -> SearchedModel:
    """The model with the values at `point` for all fields with several values."""

    def chosen(varied: VariedModel) -> Mapping[str, tuple[Any, ...]]:
        values = point.get(varied.facts.name, {})
        fields = {field: (values[field],) for field in _varied_fields(varied) if field in values}
        return {**varied.parameters, **fields}

    parameters = {name: chosen(varied) for name, varied in model.varied.items()}
    return replace(
        model,
        settings=replace(model.settings, parameters=parameters[model.facts.name]),
        composing={
            name: replace(settings, parameters=parameters.get(name, settings.parameters))
            for name, settings in model.composing.items()
        },
    )
