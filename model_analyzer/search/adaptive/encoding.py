# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Encodes coordinates as numbers: inputs of the queueing law, and positions for the smooth
function.

Where the trials of a search lie: which coordinates are legal, and which share a variant.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.models import (
    ModelConfig,
    ModelFacts,
    ModelVariant,
    VariantNames,
    apply_parameters,
    largest_preferred_batch_size,
    max_batch_size,
    queue_delay_us,
)
from model_analyzer.domain.trials import LoadKind, Trial
from model_analyzer.noise.ties import total_load
from model_analyzer.search.adaptive.bottleneck import busy_shares
from model_analyzer.search.adaptive.queueing_model import Floats, Settings
from model_analyzer.search.adaptive.surrogate import Points
from model_analyzer.search.plan import SearchedModel, Subject, VariedModel
from model_analyzer.search.trial_map import (
    BATCH_LIMIT,
    INSTANCES,
    Coordinate,
    Dimension,
    Space,
    TrialMap,
)
from model_analyzer.search.variants import other_parameters

# Dimensions of the load: they are cheap to change, because the variant stays.
LOAD_PARAMETERS = ("batch_sizes", *(kind.value for kind in LoadKind))

# The coordinate of the default configuration where the space does not contain it. Under another
# load, it is the part of a coordinate that is its load.
DEFAULT: Coordinate = ()


class Lattice:
    """The coordinates of a space and of the default configuration, which the space may lack.

    `default` is the trial of the default configuration, `default_at` its coordinate.
    """

    def __init__(self, trial_map: TrialMap, names: VariantNames) -> None:
        self.default = trial_map.default(names)
        # one coordinate only: with two, the trial would be measured as two trials
        self.default_at = trial_map.coordinate_of(self.default) or DEFAULT
        self._defaults = {self.default_at: self.default}
        self._map = trial_map
        self._names = names
        self._legal: dict[Coordinate, bool] = {}
        is_load = [each.parameter in LOAD_PARAMETERS for each in self.dimensions]
        self.variant_positions = [at for at, of_load in enumerate(is_load) if not of_load]
        self._load_positions = [at for at, of_load in enumerate(is_load) if of_load]

    @property
    def dimensions(self) -> Sequence[Dimension]:
        return self._map.space.dimensions

    @property
    def concurrencies(self) -> Sequence[tuple[int, Sequence[int]]]:
        """The positions of the concurrencies, and the values of each."""
        return [
            (position, dimension.values)
            for position, dimension in enumerate(self.dimensions)
            if dimension.parameter == LoadKind.CONCURRENCY.value
        ]

    @property
    def has_several_loads(self) -> bool:
        """Whether the best trial may be under another load than the default."""
        return any(len(self.dimensions[position].values) > 1 for position in self._load_positions)

    def trial(self, coordinate: Coordinate) -> Trial:
        """The trial at a coordinate of the space, or at one of the default configuration."""
        default = self._defaults.get(coordinate)
        return self._map.trial(coordinate, self._names) if default is None else default

    def total_load(self, coordinate: Coordinate) -> int:
        """The load of all models at a coordinate of the space, in inferences. No trial is named."""
        return total_load(self._map.trial(coordinate, None))

    def default_trial(self, coordinate: Coordinate) -> Trial:
        """The default configuration at a coordinate that is not in the space."""
        return self._defaults.get(coordinate, self.default)

    def default_under(self, trial: Trial, coordinate: Coordinate) -> Coordinate:
        """The coordinate of the default configuration under the load of a trial at a coordinate."""
        default = self.default.under(trial.load)
        if default.load == self.default.load:
            return self.default_at
        load = tuple(coordinate[position] for position in self._load_positions)
        at = self._map.coordinate_of(default) or load
        self._defaults[at] = default
        return at

    def is_in_space(self, coordinate: Coordinate) -> bool:
        return len(coordinate) == len(self.dimensions)

    def is_of_default(self, coordinate: Coordinate) -> bool:
        """Whether a trial has the default configuration, under any load."""
        is_default = self.variant(coordinate) == self.variant(self.default_at)
        return is_default or not self.is_in_space(coordinate)

    def is_legal(self, coordinate: Coordinate) -> bool:
        if coordinate not in self._legal:
            self._legal[coordinate] = self._map.is_legal(coordinate)
        return self._legal[coordinate]

    def variant(self, coordinate: Coordinate) -> tuple[int, ...]:
        """The values of a coordinate that identify its variant; empty for the default."""
        if not self.is_in_space(coordinate):
            return ()
        return tuple(coordinate[position] for position in self.variant_positions)

    def is_covered_by(self, coordinates: Collection[Coordinate]) -> bool:
        """Whether each combination of the space is among the coordinates."""
        has_ends = not any(dimension.is_open for dimension in self.dimensions)
        return has_ends and sum(map(self.is_in_space, coordinates)) >= self._map.space.size


_BATCHING = "dynamic_batching"
_CLIENT_BATCH = "batch_sizes"

# The number of doublings of a quantity that equals a distance of 1.
_DOUBLINGS = {INSTANCES: 2.0, BATCH_LIMIT: 3.5, _CLIENT_BATCH: 3.5}
_LOAD_DOUBLINGS = 8.0
# Batches contain up to so many times the mean number of requests that wait for an instance. Sizes
# that the load does not use count with the second factor.
_GATHERING, _UNUSED = 2.0, 0.25
_CHOICE = 0.7  # the distance between two values that have no order


class Encoding:
    """Encodes the coordinates of a space, and its defaults, for the surrogates."""

    def __init__(self, subject: Subject, space: Space) -> None:
        self._models = subject.models
        self._gpus = len(subject.setup.devices)
        self._dimensions = space.dimensions
        self._index = {
            (dimension.model, dimension.parameter): position
            for position, dimension in enumerate(space.dimensions)
        }

    def stations(self, model: SearchedModel) -> int:
        """The number of models that process the model's requests."""
        return len(_stations(model))

    def encode(
        self, index: int, coordinates: Sequence[Coordinate], defaults: Sequence[Trial]
    ) -> Points:
        """Encodes the `defaults`, trials of the default variants (first rows), and the coordinates
        (further rows) for the model with this index.
        """
        indices = np.array(coordinates, dtype=np.intp).reshape(
            len(coordinates), len(self._dimensions)
        )
        settings = self._settings(index, indices, defaults)
        columns = [
            column
            for number, model in enumerate(self._models)
            for column in _positions(
                model.settings.load_kind,
                settings if number == index else self._settings(number, indices, defaults),
            )
        ]
        columns += [
            column
            for position in range(len(self._dimensions))
            for column in self._field(position, indices, len(defaults))
        ]
        return Points(settings, np.stack(columns, axis=1))

    def busy_shares(
        self, index: int, measured: Sequence[Measurement], points: Points, throughput: Floats
    ) -> Floats | None:
        """The logarithms of the busy shares of the models that process the requests; None for a
        single model, and for request rates, where no model need be the bottleneck.
        """
        model = self._models[index]
        names = [facts.name for facts in _stations(model)]
        if len(names) < 2 or model.settings.load_kind is not LoadKind.CONCURRENCY:
            return None
        return busy_shares(measured, throughput, model.facts.name, names, points.settings.instances)

    def _settings(
        self, index: int, indices: np.ndarray[Any, Any], defaults: Sequence[Trial]
    ) -> Settings:
        model, workloads = self._models[index], [each.workloads[index] for each in defaults]
        name, times = model.facts.name, len(defaults)
        variants = {variant.model: variant for variant in workloads[0].variant.served}
        instances, batches, delays = [], [], []
        for facts in _stations(model):
            variant = variants[facts.name]
            count = sum(count for count, _ in variant.instances(gpus=self._gpus))
            instances.append(self._column(facts.name, INSTANCES, indices, times * [count], count))
            limit = max(variant.max_batch_size, 1)
            first = limit if variant.has_dynamic_batching else 1
            other = _default_batch(model, facts, limit)
            batches.append(self._column(facts.name, BATCH_LIMIT, indices, times * [first], other))
            delays.append(self._delays(model.varied[facts.name], indices, times * [variant.config]))
        load = [work.load.value for work in workloads]
        batch_size = [work.load.batch_size for work in workloads]
        loads = self._column(name, model.settings.load_kind.value, indices, load, load[0])
        client = self._column(name, _CLIENT_BATCH, indices, batch_size, batch_size[0])
        return Settings(
            np.stack(instances, axis=1),
            np.stack(batches, axis=1),
            np.maximum(loads, 1) * client,
            client,
            np.stack(delays, axis=1),
        )

    def _column(
        self,
        model: str,
        parameter: str,
        indices: np.ndarray[Any, Any],
        defaults: Sequence[float],
        other: float,
    ) -> Floats:
        """The values of a parameter: of the `defaults` first, then by coordinate; `other` if the
        space does not vary it.
        """
        position = self._index.get((model, parameter))
        if position is None:
            rest = np.full(len(indices), float(other))
        else:
            rest = np.array(self._dimensions[position].values, dtype=float)[indices[:, position]]
        return np.concatenate([np.array(defaults, dtype=float), rest])

    def _delays(
        self, model: VariedModel, indices: np.ndarray[Any, Any], defaults: Sequence[ModelConfig]
    ) -> Floats:
        """The queue delay in seconds: of the defaults, then by coordinate."""
        config, position = model.facts.config, self._index.get((model.facts.name, _BATCHING))
        if position is None:
            values, chosen = (
                other_parameters(model).get(_BATCHING, (None,)),
                np.zeros(len(indices), int),
            )
        else:
            values, chosen = tuple(self._dimensions[position].values), indices[:, position]
        delays = [_delay_s(apply_parameters(config, {_BATCHING: value})) for value in values]
        return np.array([*map(_delay_s, defaults), *np.array(delays)[chosen]])

    def _field(self, position: int, indices: np.ndarray[Any, Any], defaults: int) -> list[Floats]:
        """The positions of any other field of a model configuration, those of so many `defaults`
        first: numbers on a scale, other values all at the same distance.
        """
        dimension = self._dimensions[position]
        if dimension.is_ordered or len(dimension.values) < 2:
            return []
        numbers = [_number(value) for value in dimension.values]
        present = [number for number in numbers if number is not None]
        if len(present) == len(numbers):
            scaled = np.log2(1 + np.abs(np.array(present)))
            spread = float(np.ptp(scaled)) or 1.0
            values = (scaled - scaled.min()) / spread
            return [np.concatenate([defaults * [values.mean()], values[indices[:, position]]])]
        return [
            np.concatenate([defaults * [0.0], _CHOICE * (indices[:, position] == choice)])
            for choice in range(len(dimension.values))
        ]


def without_fields(points: Points) -> Points:
    """The points as `encode_measured` has them: without the positions of other fields."""
    sizes = 4 * points.settings.instances.shape[1] + 2
    return Points(points.settings, points.positions[:, :sizes])


def stations_of(variant: ModelVariant) -> Sequence[ModelVariant]:
    """The variants that process a request, each once."""
    return [*{part.model: part for part in variant.served}.values()]


def encode_measured(trials: Sequence[Trial]) -> Points:
    """Encodes trials of a single model by their configurations and loads, without a space."""
    works = [trial.workloads[0] for trial in trials]
    served = [stations_of(work.variant) for work in works]
    instances = [
        [sum(count for count, _ in part.instances(gpus=trial.gpus)) for part in parts]
        for trial, parts in zip(trials, served, strict=True)
    ]
    batches = [
        [max(part.max_batch_size, 1) if part.has_dynamic_batching else 1 for part in parts]
        for parts in served
    ]
    client = np.array([float(work.load.batch_size) for work in works])
    settings = Settings(
        np.array(instances, dtype=float),
        np.array(batches, dtype=float),
        np.array([max(work.load.value, 1) for work in works]) * client,
        client,
        np.array([[_delay_s(part.config) for part in parts] for parts in served]),
    )
    columns = _positions(works[0].load.kind, settings)
    return Points(settings, np.stack(columns, axis=1))


def _positions(kind: LoadKind, settings: Settings) -> list[Floats]:
    """The positions of sizes and load. A size counts as far as the load uses it, and a little
    by itself.
    """
    instances, batch = settings.instances, settings.batch
    used, formed = instances, batch
    if kind is LoadKind.CONCURRENCY:
        flight, client = settings.flight[:, None], settings.client[:, None]
        used = np.minimum(instances, np.maximum(flight / client, 1))
        formed = np.minimum(batch, np.maximum(_GATHERING * flight / instances, client))
    columns = []
    for sizes, parameter in (
        ((used, instances), INSTANCES),
        ((formed, batch), BATCH_LIMIT),
    ):
        for size, part in zip(sizes, (1.0, _UNUSED), strict=True):
            scale = part / _DOUBLINGS[parameter]
            columns += [np.log2(column) * scale for column in size.T]
    columns.append(np.log2(settings.flight) / _LOAD_DOUBLINGS)
    columns.append(np.log2(settings.client) / _DOUBLINGS[_CLIENT_BATCH])
    return columns


def _stations(model: SearchedModel) -> Sequence[ModelFacts]:
    """The models that have instances: all but ensembles."""
    return [varied.facts for varied in model.varied.values() if not varied.facts.is_ensemble]


def _default_batch(model: SearchedModel, facts: ModelFacts, limit: int) -> int:
    """The largest batch that forms if the space does not vary the batch limit."""
    fields = other_parameters(model.varied[facts.name])
    first = {field: values[0] for field, values in fields.items()}
    config = apply_parameters(facts.config, first)
    return max(max_batch_size(config), 1) if _BATCHING in config else 1


def _delay_s(config: ModelConfig) -> float:
    """The queue delay in seconds; 0 with preferred batch sizes: batches then wait for those."""
    return 0.0 if largest_preferred_batch_size(config) else queue_delay_us(config) / 1e6


def _number(value: Any) -> float | None:
    """The number that orders a value of a field: the value, or the only number in it."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return float(value)
    if isinstance(value, Mapping) and len(value) == 1:
        return _number(next(iter(value.values())))
    return None
