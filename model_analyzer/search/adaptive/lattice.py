# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Where the trials of a search lie: which coordinates are legal, and which share a variant."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.trials import LoadKind, Trial
from model_analyzer.noise.ties import total_load
from model_analyzer.search.trial_map import Coordinate, Dimension, TrialMap

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
