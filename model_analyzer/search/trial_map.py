# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The space of everything that can be varied at once, and the trial at each of its coordinates.

Beside the sizes of all models, these are the batch sizes of the clients, their loads, and every
other field of a model configuration for which several values are listed.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from model_analyzer.domain.models import (
    ModelFacts,
    ModelVariant,
    VariantNames,
    apply_parameters,
    largest_preferred_batch_size,
    max_batch_size,
    step_models,
)
from model_analyzer.domain.settings import SearchSettings
from model_analyzer.domain.trials import LoadKind, Trial, Workload
from model_analyzer.errors import ConfigError, Problem
from model_analyzer.search.plan import SearchedModel, Subject, VariedModel, load_bounds, load_values
from model_analyzer.search.space import (
    BATCH_LIMIT,
    INSTANCES,
    Coordinate,
    Dimension,
    Point,
    Space,
    sizes_at,
    space_of_sizes,
)
from model_analyzer.search.variants import (
    listed_batch_limits,
    other_parameters,
    sized_variant,
)

_BATCHING = "dynamic_batching"
_CLIENT_BATCH = "batch_sizes"

# Values without an order: what is learnt of one says nothing about others.
_MOST_CHOICES = 1000


class TrialMap:
    """All trials of the models of `subject` within the bounds of `settings`, by their coordinates
    in `space`.

    With `use_formula` concurrencies are no dimensions of their own: they follow from the sizes.
    Loads that nobody listed have `load_steps` values for each doubling; with more than one, the
    highest that is allowed is among them. Raises ConfigError where no trial is legal.
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
        self._preferred = {
            name: self._preferred_sizes(varied)
            for name, varied in self._varied.items()
            if not varied.facts.is_ensemble
        }

    @property
    def smallest(self) -> Coordinate:
        """Of all that is legal, what is nearest to where everything is smallest."""
        found = self.nearest(self.space.start, ())
        assert found is not None  # a space has a legal trial
        return found

    def default(self, names: VariantNames) -> Trial:
        """The models as they are, kept busy by smallest client batches as far as loads allow. No
        server may be able to run it, whatever the space has beside it.
        """
        gpus = len(self._subject.setup.devices)
        workloads = []
        for model in self._subject.models:
            variant = names.default(model.facts)
            batch_size = min(*model.settings.batch_sizes, max(variant.max_batch_size, 1))
            load = self._filling_load(model, variant, gpus)
            workloads.append(model.workload(variant, load, batch_size))
        return self._subject.trial(*workloads)

    def coordinate_of(self, trial: Trial) -> Coordinate | None:
        """Where in the space a measurement of `trial` belongs: the legal coordinate whose trial has
        the same content, if there is one.
        """
        parts = {
            variant.model: (work, variant)
            for work in trial.workloads
            for variant in work.variant.with_parts()
        }
        dimensions = self.space.dimensions
        values = [_value(*parts[dimension.model], dimension.parameter) for dimension in dimensions]
        pairs = list(zip(dimensions, values, strict=True))
        if any(value not in dimension.values for dimension, value in pairs):
            return None
        at = tuple(dimension.values.index(value) for dimension, value in pairs)
        same = self.is_legal(at) and self.trial(at, VariantNames()).key == trial.key
        return at if same else None

    def trial(self, coordinate: Coordinate, names: VariantNames) -> Trial:
        point = self.space.point(coordinate)
        return self._subject.trial(
            *(self._workload(model, point, names) for model in self._subject.models)
        )

    def is_legal(self, coordinate: Coordinate) -> bool:
        """Whether a server could run what the coordinate stands for."""
        point = self.space.point(coordinate)
        return all(
            point[model.facts.name][_CLIENT_BATCH] <= _batch_limit(model.facts, point)
            for model in self._subject.models
        ) and all(
            sizes[self._batching(name, coordinate)] <= _batch_limit(self._varied[name].facts, point)
            for name, sizes in self._preferred.items()
        )

    def nearest(self, coordinate: Coordinate, known: Collection[Coordinate]) -> Coordinate | None:
        """The legal coordinate that is the fewest steps away from this one and not `known`.

        What makes it legal is worked out, not searched for: with several models it may be many
        steps away.
        """
        first = self._with_room_for_preferred(self._with_fitting_batches(coordinate))
        waiting, seen = deque([first]), {first}
        while waiting:
            at = waiting.popleft()
            if at not in known and self.is_legal(at):
                return at
            for near in self.space.adjacent(at):
                if near not in seen:
                    seen.add(near)
                    waiting.append(near)
        return None

    # -- dimensions --------------------------------------------------------------------------

    def _sizes(self) -> Iterator[Dimension]:
        settings = self._settings
        space = space_of_sizes(
            replace(self._subject, models=tuple(map(_smallest, self._subject.models))),
            batch_limits=(settings.min_model_batch_size, settings.max_model_batch_size),
            instances=(settings.min_instance_count, settings.max_instance_count),
        )
        callers = {
            model.facts.name
            for model in self._subject.models
            if model.facts.composing and not listed_batch_limits(model.varied[model.facts.name])
        }
        for dimension in space.dimensions:
            # what calls others from its own code is batched where it calls
            if dimension.parameter != BATCH_LIMIT or dimension.model not in callers:
                yield replace(dimension, is_open=False)

    def _fields(self, widest: Point) -> Iterator[Dimension]:
        for name, model in self._varied.items():
            batching = _usable_batching(model, _batch_limit(model.facts, widest))
            for field, listed in _several(model).items():
                values = batching if field == _BATCHING else listed
                if len(values) > _MOST_CHOICES:
                    raise ConfigError(
                        Problem(
                            where=f"model_config_parameters of {name}",
                            what=f"{field} has {len(values)} values, but this search supports at"
                            f" most {_MOST_CHOICES}",
                            hint="list fewer values, or use --search brute",
                        )
                    )
                yield Dimension(model=name, parameter=field, values=values, is_ordered=False)

    def _clients(self, widest: Point) -> Iterator[Dimension]:
        for model in self._subject.models:
            name, limit = model.facts.name, _batch_limit(model.facts, widest)
            fitting = sorted(size for size in model.settings.batch_sizes if size <= limit)
            if not fitting:
                raise ConfigError(
                    Problem(
                        where=name,
                        what=f"all batch_sizes are above the model's batch limit ({limit})",
                        hint="raise it with run_config_search_max_model_batch_size",
                    )
                )
            yield Dimension(model=name, parameter=_CLIENT_BATCH, values=fitting)
            if not self._follows_from_sizes(model):
                yield Dimension(
                    model=name,
                    parameter=model.settings.load_kind.value,
                    values=self._load_values(model),
                )

    def _preferred_sizes(self, model: VariedModel) -> Sequence[int]:
        """The largest batch that the model is told to form, with each of its ways of batching."""
        position = self._position.get((model.facts.name, _BATCHING))
        values = (
            _ways_of_batching(model) if position is None else self.space.dimensions[position].values
        )
        return [_preferred(model.facts, batching) for batching in values]

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

    def _batching(self, model: str, coordinate: Coordinate) -> int:
        """Which of its ways of batching the model has."""
        position = self._position.get((model, _BATCHING))
        return 0 if position is None else coordinate[position]

    def _with_fitting_batches(self, coordinate: Coordinate) -> Coordinate:
        """With each client batch that would be too large lowered to the largest that fits."""
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
        """With batch limits raised, or batching changed, as far as preferred sizes are above them:
        for each model by the fewest steps, and as few of them as possible in batching.
        """
        fitting = list(coordinate)
        for name, sizes in self._preferred.items():
            limit = self._position.get((name, BATCH_LIMIT))
            batching = self._position.get((name, _BATCHING))
            if limit is None or batching is None:
                continue  # what cannot be changed fits
            low, way, limits = (
                coordinate[limit],
                coordinate[batching],
                self.space.dimensions[limit].values,
            )
            least = [max(bisect_left(limits, size), low) for size in sizes]
            fitting[batching] = min(
                range(len(sizes)),
                key=lambda one: (least[one] - low + abs(one - way), abs(one - way)),
            )
            fitting[limit] = least[fitting[batching]]
        return tuple(fitting)

    # -- trials ------------------------------------------------------------------------------

    def _workload(self, model: SearchedModel, point: Point, names: VariantNames) -> Workload:
        variant = sized_variant(_with_fields(model, point), sizes_at(point), names)
        values = point[model.facts.name]
        load = values.get(model.settings.load_kind.value)
        if load is None:
            load = self._filling_load(model, variant, gpus=1)
        return model.workload(variant, load, values[_CLIENT_BATCH])

    def _filling_load(self, model: SearchedModel, variant: ModelVariant, gpus: int) -> int:
        """The possible load nearest to what keeps the variant busy, and not above it if one is.

        Nobody can tell which request rate does: there it is the lowest.
        """
        low, high = self._settings.min_concurrency, self._settings.max_concurrency
        if model.settings.load_kind is not LoadKind.CONCURRENCY:
            return load_values(model, self._settings)[0]
        values = model.settings.loads or range(max(low, 1), high + 1)
        wanted = variant.filling_concurrency(gpus=gpus)
        return values[max(bisect_right(values, wanted) - 1, 0)]


def _value(work: Workload, variant: ModelVariant, parameter: str) -> Any:
    """What a variant, measured in that workload, has for a parameter of the space."""
    if parameter == _CLIENT_BATCH:
        return work.load.batch_size
    if parameter == work.load.kind.value:
        return work.load.value
    if parameter == BATCH_LIMIT:
        return variant.max_batch_size
    if parameter == INSTANCES:
        return sum(count for count, _ in variant.instances(gpus=1))
    return variant.config.get(parameter)


def _batch_limit(facts: ModelFacts, point: Point) -> int:
    """How large a batch the model takes; an ensemble takes what all of its steps do."""
    if facts.is_ensemble and facts.supports_batching:
        steps = step_models(facts.config)
        return min(_batch_limit(part, point) for part in facts.composing if part.name in steps)
    varied: int = point.get(facts.name, {}).get(BATCH_LIMIT, max_batch_size(facts.config))
    return max(varied, 1)


def _preferred(facts: ModelFacts, batching: Mapping[str, Any] | None) -> int:
    """The largest batch that the model is told to form, with this batching applied."""
    return largest_preferred_batch_size(apply_parameters(facts.config, {_BATCHING: batching}))


def _ways_of_batching(model: VariedModel) -> Sequence[Mapping[str, Any] | None]:
    """Those listed, or the model's own."""
    return other_parameters(model).get(_BATCHING, (None,))


def _usable_batching(model: VariedModel, limit: int) -> Sequence[Mapping[str, Any] | None]:
    """The listed ways of batching, or the model's own, that a batch limit of `limit` allows."""
    if model.facts.is_ensemble:
        return ()
    ways = _ways_of_batching(model)
    usable = [batching for batching in ways if _preferred(model.facts, batching) <= limit]
    if not usable:
        raise ConfigError(
            Problem(
                where=model.facts.name,
                what=f"preferred_batch_size is above every max_batch_size (up to {limit})",
                hint="raise run_config_search_max_model_batch_size",
            )
        )
    return usable


def _smallest(model: SearchedModel) -> SearchedModel:
    """The model with the smallest client batches alone, and with such fields that every size which
    is legal with any of the listed ones is legal with these.
    """
    batch_sizes = (min(model.settings.batch_sizes),)
    return _with_fields(
        replace(model, settings=replace(model.settings, batch_sizes=batch_sizes)),
        {name: _least_demanding(varied) for name, varied in model.varied.items()},
    )


def _least_demanding(model: VariedModel) -> Mapping[str, Any]:
    """Fields with several values as they are, but for batching: that with the least preferred."""
    several = _several(model)
    fields: dict[str, Any] = dict.fromkeys(several)
    if _BATCHING in several:
        fields[_BATCHING] = min(several[_BATCHING], key=lambda one: _preferred(model.facts, one))
    return fields


def _several(model: VariedModel) -> Mapping[str, Sequence[Any]]:
    return {field: values for field, values in other_parameters(model).items() if len(values) > 1}


def _with_fields(model: SearchedModel, point: Point) -> SearchedModel:
    """The model with the value that `point` has for each field with several."""

    def chosen(varied: VariedModel) -> Mapping[str, tuple[Any, ...]]:
        values = point.get(varied.facts.name, {})
        fields = {field: (values[field],) for field in _several(varied) if field in values}
        return {**varied.parameters, **fields}

    parameters = {name: chosen(varied) for name, varied in model.varied.items()}
    return replace(
        model,
        settings=replace(model.settings, parameters=parameters[model.facts.name]),
        composing={
            name: replace(said, parameters=parameters.get(name, said.parameters))
            for name, said in model.composing.items()
        },
    )
