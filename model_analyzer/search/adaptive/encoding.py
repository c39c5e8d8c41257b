# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Coordinates as numbers: what the queueing law needs, and positions for what it misses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.models import (
    ModelConfig,
    ModelFacts,
    apply_parameters,
    largest_preferred_batch_size,
    max_batch_size,
    queue_delay_us,
)
from model_analyzer.domain.trials import LoadKind, Trial
from model_analyzer.search.adaptive.bottleneck import busy_shares
from model_analyzer.search.adaptive.queueing import Floats, Settings
from model_analyzer.search.adaptive.surrogate import Places
from model_analyzer.search.plan import SearchedModel, Subject, VariedModel
from model_analyzer.search.space import BATCH_LIMIT, INSTANCES, Coordinate, Space
from model_analyzer.search.variants import other_parameters

_BATCHING = "dynamic_batching"
_CLIENT_BATCH = "batch_sizes"

# How many doublings of a quantity make a distance of one.
_DOUBLINGS = {INSTANCES: 2.0, BATCH_LIMIT: 3.5, _CLIENT_BATCH: 3.5}
_LOAD_DOUBLINGS = 8.0
# Batches are up to so many times what waits for an instance in the mean; sizes that the load does
# not make use of count for this part.
_GATHERED, _UNUSED = 2.0, 0.25
_CHOICE = 0.7  # the distance between two values that have no order


class Encoding:
    """How the coordinates of a space, and its default, are told to the surrogates."""

    def __init__(self, subject: Subject, space: Space) -> None:
        self._models = subject.models
        self._gpus = len(subject.setup.devices)
        self._dimensions = space.dimensions
        self._index = {
            (dimension.model, dimension.parameter): position
            for position, dimension in enumerate(space.dimensions)
        }

    def stations(self, model: SearchedModel) -> int:
        """How many models work on the model's requests."""
        return len(_stations(model))

    def places(self, index: int, coordinates: Sequence[Coordinate], default: Trial) -> Places:
        """The `default` trial in the first row, then the coordinates, as the model of that index
        sees them.
        """
        at = np.array(coordinates, dtype=np.intp).reshape(len(coordinates), len(self._dimensions))
        settings = self._settings(index, at, default)
        columns = [
            column
            for number, model in enumerate(self._models)
            for column in self._positions(
                model,
                settings if number == index else self._settings(number, at, default),
            )
        ]
        columns += [
            column
            for position in range(len(self._dimensions))
            for column in self._field(position, at)
        ]
        return Places(settings, np.stack(columns, axis=1))

    def busy_shares(
        self, index: int, measured: Sequence[Measurement], at: Places, throughput: Floats
    ) -> Floats | None:
        """How busy the models that work on the model's requests were, as logarithms; None if it is
        alone, and at request rates, where nothing need be the limit.
        """
        model = self._models[index]
        names = [facts.name for facts in _stations(model)]
        if len(names) < 2 or model.settings.load_kind is not LoadKind.CONCURRENCY:
            return None
        return busy_shares(measured, throughput, model.facts.name, names, at.settings.instances)

    def _settings(self, index: int, at: np.ndarray[Any, Any], default: Trial) -> Settings:
        model, work = self._models[index], default.workloads[index]
        name = model.facts.name
        variants = {variant.model: variant for variant in work.variant.served}
        instances, batches, delays = [], [], []
        for facts in _stations(model):
            variant = variants[facts.name]
            count = sum(count for count, _ in variant.instances(gpus=self._gpus))
            instances.append(self._column(facts.name, INSTANCES, at, count, count))
            limit = max(variant.max_batch_size, 1)
            own = limit if variant.has_dynamic_batching else 1
            batches.append(
                self._column(facts.name, BATCH_LIMIT, at, own, _formed(model, facts, limit))
            )
            delays.append(self._delays(model.varied[facts.name], at, variant.config))
        load, size = work.load.value, work.load.batch_size
        loads = self._column(name, model.settings.load_kind.value, at, load, load)
        client = self._column(name, _CLIENT_BATCH, at, size, size)
        return Settings(
            np.stack(instances, axis=1),
            np.stack(batches, axis=1),
            np.maximum(loads, 1) * client,
            client,
            np.stack(delays, axis=1),
        )

    def _column(
        self, model: str, parameter: str, at: np.ndarray[Any, Any], default: float, other: float
    ) -> Floats:
        """A parameter of the default, and then of each coordinate: `other` where it has no
        dimension.
        """
        position = self._index.get((model, parameter))
        if position is None:
            rest = np.full(len(at), float(other))
        else:
            rest = np.array(self._dimensions[position].values, dtype=float)[at[:, position]]
        return np.concatenate([[float(default)], rest])

    def _delays(self, model: VariedModel, at: np.ndarray[Any, Any], default: ModelConfig) -> Floats:
        """How long the model waits for full batches: by default, and then at each coordinate."""
        config, position = model.facts.config, self._index.get((model.facts.name, _BATCHING))
        if position is None:
            values, chosen = other_parameters(model).get(_BATCHING, (None,)), np.zeros(len(at), int)
        else:
            values, chosen = tuple(self._dimensions[position].values), at[:, position]
        delays = [_delay_s(apply_parameters(config, {_BATCHING: one})) for one in values]
        return np.array([_delay_s(default), *np.array(delays)[chosen]])

    def _positions(self, model: SearchedModel, settings: Settings) -> list[Floats]:
        """Sizes count as far as the load makes use of them, and a little for themselves."""
        instances, batch = settings.instances, settings.batch
        used, formed = instances, batch
        if model.settings.load_kind is LoadKind.CONCURRENCY:
            flight, client = settings.flight[:, None], settings.client[:, None]
            used = np.minimum(instances, np.maximum(flight / client, 1))
            formed = np.minimum(batch, np.maximum(_GATHERED * flight / instances, client))
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

    def _field(self, position: int, at: np.ndarray[Any, Any]) -> list[Floats]:
        """Any other field of a model configuration: numbers in their order, others apart."""
        dimension = self._dimensions[position]
        if dimension.is_ordered or len(dimension.values) < 2:
            return []
        numbers = [_number(value) for value in dimension.values]
        known = [number for number in numbers if number is not None]
        if len(known) == len(numbers):
            scaled = np.log2(1 + np.abs(np.array(known)))
            spread = float(np.ptp(scaled)) or 1.0
            values = (scaled - scaled.min()) / spread
            return [np.concatenate([[values.mean()], values[at[:, position]]])]
        return [
            np.concatenate([[0.0], _CHOICE * (at[:, position] == choice)])
            for choice in range(len(dimension.values))
        ]


def _stations(model: SearchedModel) -> Sequence[ModelFacts]:
    """The models that have instances."""
    return [varied.facts for varied in model.varied.values() if not varied.facts.is_ensemble]


def _formed(model: SearchedModel, facts: ModelFacts, limit: int) -> int:
    """The largest batch that forms where the batch limit is not varied."""
    fields = other_parameters(model.varied[facts.name])
    first = {field: values[0] for field, values in fields.items()}
    config = apply_parameters(facts.config, first)
    return max(max_batch_size(config), 1) if _BATCHING in config else 1


def _delay_s(config: ModelConfig) -> float:
    """How long batches wait until they are full; with preferred sizes they wait for those."""
    return 0.0 if largest_preferred_batch_size(config) else queue_delay_us(config) / 1e6


def _number(value: Any) -> float | None:
    """What orders a value of a field: itself, or the only number in it."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return float(value)
    if isinstance(value, Mapping) and len(value) == 1:
        return _number(next(iter(value.values())))
    return None
