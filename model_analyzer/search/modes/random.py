# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Random search: draws of all combinations, each once: the baseline for every other search."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator
from random import Random

from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.trials import Trial
from model_analyzer.search.modes.mode import RefiningMode
from model_analyzer.search.modes.optuna import trial_counts
from model_analyzer.search.plan import Plan, log_skipped, recorded, side_by_side
from model_analyzer.search.trial_map import Coordinate, TrialMap

log = logging.getLogger(__name__)

# Where so many draws in a row give nothing new that is legal, the nearest to the last one is taken.
_DRAWS = 100


class RandomMode(RefiningMode):
    """Draws as many combinations as an Optuna search may try at most. Loads are drawn like all
    else, so no sweep follows.
    """

    title = "random"
    sweeps_loads = False

    def strategy(self, names: VariantNames, seed: int) -> RandomSearch:
        _, draws = trial_counts(self.space.size, self.settings.optuna)
        return RandomSearch(self.trial_map, names, draws, Random(seed))

    def left(self, done: int) -> float:
        _, draws = trial_counts(self.space.size, self.settings.optuna)
        return max(1 + draws - done, 0.0)


class RandomSearch:
    """The default, then `draws` of the trials of a map, none of them twice."""

    def __init__(self, trials: TrialMap, names: VariantNames, draws: int, random: Random) -> None:
        self._trials = trials
        self._names = names
        self._draws = draws
        self._random = random

    @property
    def most_trials(self) -> int:
        """The number of trials, the default included."""
        return 1 + self._draws

    def plan(self) -> Plan:
        log.info("")
        log.info("Starting random mode search")
        log.info("")
        return (yield from side_by_side(map(recorded, self._drawn())))

    def _drawn(self) -> Iterator[Trial]:
        default = self._trials.default(self._names)
        if default.is_legal:
            yield default
        else:
            log_skipped(default)
        place = self._trials.coordinate_of(default)
        known: set[Coordinate] = set() if place is None else {place}
        for _ in range(self._draws):
            coordinate = self._draw(known)
            if coordinate is None:
                return
            known.add(coordinate)
            yield self._trials.trial(coordinate, self._names)

    def _draw(self, known: Collection[Coordinate]) -> Coordinate | None:
        """A legal coordinate that is not known; None if there is none."""
        lengths = [len(dimension.values) for dimension in self._trials.space.dimensions]
        for _ in range(_DRAWS):
            drawn = tuple(map(self._random.randrange, lengths))
            if drawn not in known and self._trials.is_legal(drawn):
                return drawn
        return self._trials.nearest(drawn, known)


MODE = RandomMode
