# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What an adaptive search knows: what was measured, what failed, and what follows for the rest."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from model_analyzer.domain.measurements import Measurement, Outcome, averaged
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.trials import Failure, LoadKind, Trial
from model_analyzer.search.adaptive.acquisition import Prospect, gains, needed, prospect
from model_analyzer.search.adaptive.encoding import Encoding
from model_analyzer.search.adaptive.failures import chances
from model_analyzer.search.adaptive.queueing import Floats
from model_analyzer.search.adaptive.surrogate import THROUGHPUT, Surrogate
from model_analyzer.search.plan import Subject
from model_analyzer.search.space import Coordinate
from model_analyzer.search.trial_space import TrialSpace

# So many trials are looked at for a decision, beside those near to the best ones known.
_CANDIDATES = 700
_NEAR = 3

# Loading another variant is worth this many measurements.
_RELOAD = 0.15

# What is cheap to change: not the variant.
_OF_THE_LOAD = ("batch_sizes", *(kind.value for kind in LoadKind))


class Coordinates:
    """Coordinates that are none of the space."""

    DEFAULT: Coordinate = ()


@dataclass(frozen=True, slots=True)
class Guess:
    """What to measure next, and the gain that is expected of it."""

    coordinate: Coordinate
    worth: float


@dataclass(frozen=True, slots=True)
class View:
    """What is thought of some trials, those known among them.

    `rows` tells which column of the prospect a coordinate is; the prospect is against the leader.
    `chance` is the probability that there will be a measurement, `cost` what it costs.
    """

    rows: dict[Coordinate, int]
    prospect: Prospect
    chance: Floats
    cost: Floats


class Knowledge:
    """Grows with every outcome. `leaders` is what was measured, in the order of a report."""

    def __init__(self, subject: Subject, space: TrialSpace, names: VariantNames, seed: int) -> None:
        self.goal = subject.goal
        self.records: list[TrialRecord] = []
        self.measured: dict[Coordinate, list[Measurement]] = {}
        self.leaders: Sequence[Coordinate] = ()
        self._means: dict[Coordinate, Measurement] = {}
        self._failed: dict[Coordinate, Failure] = {}
        self._asked: dict[Coordinate, int] = {}
        self._trials: dict[Coordinate, Trial] = {}
        self._space = space
        self._names = names
        self._seed = seed
        self._default = space.default(names)
        self._encoding = Encoding(subject, space)
        self._surrogates = [
            Surrogate(
                self._encoding.stations(model),
                is_open=model.settings.load_kind is LoadKind.REQUEST_RATE,
                seed=seed + index,
            )
            for index, model in enumerate(subject.models)
        ]
        self._of_the_variant = [
            position
            for position, axis in enumerate(space.axes)
            if axis.parameter not in _OF_THE_LOAD
        ]
        self._legal: dict[Coordinate, bool] = {}
        self._loaded = Coordinates.DEFAULT
        self._learnt = 0

    # -- trials ------------------------------------------------------------------------------

    def measure(self, coordinate: Coordinate) -> Generator[Trial, Outcome, None]:
        """Asks for a trial, again if it was measured before, and remembers the outcome."""
        if coordinate not in self._trials:
            self._trials[coordinate] = self._trial(coordinate)
        trial = replace(self._trials[coordinate], repetition=self.times(coordinate))
        self._asked[coordinate] = trial.repetition + 1
        outcome = yield trial
        self.records.append(TrialRecord(trial=trial, outcome=outcome))
        self._loaded = coordinate
        if isinstance(outcome, Failure):
            self._failed[coordinate] = outcome
            return
        self.measured.setdefault(coordinate, []).append(outcome)
        self._means[coordinate] = averaged(self.measured[coordinate])
        self.leaders = self.goal.best_first(self._means, self._means.__getitem__)

    def times(self, coordinate: Coordinate) -> int:
        """How often it was asked for, failures included."""
        return self._asked.get(coordinate, 0)

    def trial(self, coordinate: Coordinate) -> Trial:
        """A trial that was measured."""
        return self._trials[coordinate]

    def mean(self, coordinate: Coordinate) -> Measurement:
        """What was measured of a trial, in the mean."""
        return self._means[coordinate]

    def smallest(self) -> Coordinate:
        """The trial that is most likely to give a measurement."""
        start = (0,) * len(self._space.axes)
        return self._space.nearest(start, ()) or Coordinates.DEFAULT

    def _trial(self, coordinate: Coordinate) -> Trial:
        if coordinate == Coordinates.DEFAULT:
            return self._default
        return self._space.trial(coordinate, self._names)

    # -- what follows ------------------------------------------------------------------------

    @property
    def is_feasible(self) -> bool:
        """Whether the best trial keeps the constraints, as far as was measured."""
        return self.goal.passes(self.mean(self.leaders[0]))

    def best_guess(self, doubt: float) -> Guess | None:
        """The trial to measure next, where there is one: see `Surrogate.worlds` for `doubt`."""
        view = self.view(doubt)
        reference = view.rows[self.leaders[0]]
        worth = gains(view.prospect, reference, is_feasible=self.is_feasible) * view.chance
        known = [row for at, row in view.rows.items() if at in self._trials]
        worth[known] = 0.0
        best = int(np.argmax(worth / view.cost))
        if worth[best] <= 0:
            return None
        return Guess(list(view.rows)[best], float(worth[best]))

    def view(self, doubt: float = 1.0) -> View:
        """What is thought of the trials known and of many others."""
        rows = {at: row for row, at in enumerate(dict.fromkeys(self._candidates()))}
        candidates = list(rows)[1:]
        data = [(rows[at], one) for at, found in self.measured.items() for one in found]
        which = np.array([row for row, _ in data], dtype=np.intp)
        worlds, chance = [], np.ones(len(rows))
        for index, surrogate in enumerate(self._surrogates):
            places = self._encoding.places(index, candidates, self._default)
            if self._learnt < len(self.records):
                values = self._values(index, [one for _, one in data])
                surrogate.learn(places.take(which), values)
            worlds.append(surrogate.worlds(places, doubt))
            works = chances(
                places,
                [rows[at] for at in self.measured],
                {rows[at]: failure for at, failure in self._failed.items()},
            )
            chance = np.minimum(chance, works)
        self._learnt = len(self.records)
        reference = rows[self.leaders[0]]
        return View(rows, prospect(self.goal, worlds, reference), chance, self._costs(candidates))

    def _values(self, index: int, measured: Sequence[Measurement]) -> dict[str, Floats]:
        """What was measured of one model, for the metrics that every measurement has."""
        values = {}
        for tag in dict.fromkeys((THROUGHPUT, *needed(self.goal, index))):
            found = [one.model_value(index, tag) for one in measured]
            known = [value for value in found if value is not None]
            if len(known) == len(found):
                values[tag] = np.array(known, dtype=float)
        return values

    def _costs(self, candidates: Sequence[Coordinate]) -> Floats:
        """What measuring each costs, in measurements of what is loaded; the default's first."""
        costs = np.full(len(candidates) + 1, 1 + _RELOAD)
        if self._loaded == Coordinates.DEFAULT:
            costs[0] = 1.0
            return costs
        sizes = np.array(candidates, dtype=np.intp)[:, self._of_the_variant]
        loaded = np.array(self._loaded, dtype=np.intp)[self._of_the_variant]
        costs[1:][(sizes == loaded).all(axis=1)] = 1.0
        return costs

    # -- candidates --------------------------------------------------------------------------

    def _candidates(self) -> Iterator[Coordinate]:
        """The default, what was tried, what is near to the best, and others at random."""
        yield Coordinates.DEFAULT
        yield from self._trials
        for leader in self.leaders[:_NEAR]:
            if leader != Coordinates.DEFAULT:
                yield from self._near(leader)
        sizes = np.array([len(axis.values) for axis in self._space.axes])
        generator = np.random.default_rng([self._seed, len(self.records)])
        drawn = generator.integers(0, sizes, size=(4 * _CANDIDATES, len(sizes)))
        found = 0
        for row in dict.fromkeys(map(tuple, drawn.tolist())):
            if found < _CANDIDATES and self._is_legal(row):
                found += 1
                yield row

    def _near(self, coordinate: Coordinate) -> Iterator[Coordinate]:
        """All that differ in one value only."""
        for position, axis in enumerate(self._space.axes):
            for index in range(len(axis.values)):
                near = (*coordinate[:position], index, *coordinate[position + 1 :])
                if self._is_legal(near):
                    yield near

    def _is_legal(self, coordinate: Coordinate) -> bool:
        if coordinate not in self._legal:
            self._legal[coordinate] = self._space.is_legal(coordinate)
        return self._legal[coordinate]
