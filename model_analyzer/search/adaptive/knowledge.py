# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What an adaptive search knows: what was measured, what failed, and what follows for the rest."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile

import numpy as np
import numpy.typing as npt

from model_analyzer.domain.measurements import Measurement, Outcome, averaged
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.ties import (
    Comparison,
    cheapest_first,
    tied,
    undefeated,
)
from model_analyzer.domain.trials import Failure, LoadKind, Trial
from model_analyzer.search.adaptive.acquisition import (
    Prospect,
    gains,
    needed,
    prospect,
    standing,
)
from model_analyzer.search.adaptive.duration import loading, multiples
from model_analyzer.search.adaptive.encoding import Encoding
from model_analyzer.search.adaptive.failures import chances
from model_analyzer.search.adaptive.queueing import Floats
from model_analyzer.search.adaptive.surrogate import THROUGHPUT, Surrogate, Worlds
from model_analyzer.search.plan import Subject
from model_analyzer.search.space import Coordinate
from model_analyzer.search.trial_map import TrialMap

# So many trials are looked at for a decision, beside those near to the best ones known.
_CANDIDATES = 600
_NEAR = 3
# Those drawn at random stay for so many decisions: to find out whether they are legal takes long.
_KEPT_FOR = 4
# So many are drawn a few steps away from these: up to so many, in a part of the values.
_AROUND, _STEPS, _MOVED = 200, 3, 0.5

# Nothing is measured more often.
MOST_TIMES = 4

# A variant that was measured more often than this has told the most of what it can.
_PATIENCE = 3

# What meets the constraints when it is measured, but does so less likely than this, is no answer.
_BELIEVED = 0.5

# A lower load of the best is worth a measurement if it may be as good, up to this much of the
# score, with this probability.
_AS_GOOD, _MAY_BE = 0.03, 0.05
# Of a dimension with more values, only so many are tried beside a leader.
_MOST_VALUES = 200
# What is tried of a load: the lower ones that cost half and a quarter of it.
_PARTS_OF_A_LOAD = (4, 2)

# What is cheap to change: not the variant.
OF_THE_LOAD = ("batch_sizes", *(kind.value for kind in LoadKind))


class Coordinates:
    """Coordinates that are none of the space."""

    # the models as they are, unless they are in the space
    DEFAULT: Coordinate = ()


@dataclass(frozen=True, slots=True)
class Guess:
    """What to measure next, and the gain that is expected of it."""

    coordinate: Coordinate
    worth: float


@dataclass(frozen=True, slots=True)
class View:
    """What is thought of some trials, those known among them.

    `rows` tells which column of the prospect a coordinate is; the prospect is against the `leader`,
    `score` its mean over the worlds, and `keeps` the probability to meet the constraints. `chance`
    is the probability that there will be a measurement, `cost` what it costs.
    """

    rows: dict[Coordinate, int]
    leader: Coordinate
    prospect: Prospect
    score: Floats
    keeps: Floats
    chance: Floats
    cost: Floats

    def sure(self, at: Coordinate) -> float:
        """The probability that a trial meets the constraints."""
        return float(self.keeps[self.rows[at]])

    def lead(self, a: Coordinate, b: Coordinate) -> float:
        """By how much the first is thought to be better than the second, as a score."""
        return float(self.score[self.rows[a]] - self.score[self.rows[b]])

    def standing(self, at: Coordinate) -> float:
        """What it would be worth to recommend a trial."""
        return standing(float(self.score[self.rows[at]]), self.sure(at))


class Knowledge:
    """Grows with every outcome. `default` are the models as they are, and `default_at` is their
    coordinate; `leaders` is what was measured, best mean first.
    """

    def __init__(
        self, subject: Subject, trial_map: TrialMap, names: VariantNames, seed: int
    ) -> None:
        self.goal = subject.goal
        self.records: list[TrialRecord] = []
        self.measured: dict[Coordinate, list[Measurement]] = {}
        self.leaders: Sequence[Coordinate] = ()
        self._means: dict[Coordinate, Measurement] = {}
        self._failed: dict[Coordinate, Failure] = {}
        self._asked: dict[Coordinate, int] = {}
        self._trials: dict[Coordinate, Trial] = {}
        self._map = trial_map
        self._names = names
        self._seed = seed
        self.default = trial_map.default(names)
        # a trial with two coordinates would be taken for two measurements
        self.default_at = trial_map.coordinate_of(self.default) or Coordinates.DEFAULT
        self._encoding = Encoding(subject, trial_map.space)
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
            for position, dimension in enumerate(trial_map.space.dimensions)
            if dimension.parameter not in OF_THE_LOAD
        ]
        self._legal: dict[Coordinate, bool] = {}
        self._drawn: tuple[int, Sequence[Coordinate]] = (-1, ())
        self._loaded = Coordinates.DEFAULT
        self._view: View | None = None
        self._recommended: Sequence[Coordinate] = ()

    # -- trials ------------------------------------------------------------------------------

    def measure(self, coordinate: Coordinate) -> Generator[Trial, Outcome, None]:
        """Asks for a trial, again if it was measured before, and remembers the outcome."""
        if coordinate not in self._trials:
            self._trials[coordinate] = self._trial(coordinate)
        trial = replace(self._trials[coordinate], repetition=self.times(coordinate))
        self._asked[coordinate] = trial.repetition + 1
        outcome = yield trial
        self.records.append(TrialRecord(trial=trial, outcome=outcome))
        self._view, self._recommended = None, ()
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

    def _trial(self, coordinate: Coordinate) -> Trial:
        if coordinate == self.default_at:
            return self.default
        return self._map.trial(coordinate, self._names)

    @property
    def recommended(self) -> Sequence[Coordinate]:
        """What to deploy, as far as is known, and then what ties with it and takes more."""
        if not self._recommended:
            self._recommended = self._recommend()
        return self._recommended

    def _recommend(self) -> Sequence[Coordinate]:
        if not self.passing:
            return self.leaders[:1]
        view, comparison = self.view(), self.comparison
        best = undefeated(comparison, self.passing, self._is_believed)
        order = sorted(best, key=lambda at: -view.standing(at))

        def lead(a: Coordinate, b: Coordinate) -> float:
            """As all measurements together have it, and their own. For another load, either will
            do: it is cheap to change, and waiting less is sure.
            """
            leads = view.lead(a, b), comparison.lead(a, b)
            return min(leads, key=abs) if self._variant(a) == self._variant(b) else sum(leads) / 2

        equal = tied(comparison, order, view.sure, lead)
        cheapest, *_ = cheapest_first(equal, self._trials.__getitem__, comparison)
        # what ties with the first under another load may be as good under a lower one still
        variant = self._variant(cheapest)
        alike = [at for at in best if at != cheapest and self._variant(at) == variant]
        lower = tied(comparison, [cheapest, *alike], view.sure, lead)
        everything = list(dict.fromkeys([*equal, *lower]))
        return cheapest_first(everything, self._trials.__getitem__, comparison)

    def _is_believed(self, at: Coordinate) -> bool:
        """Whether a trial that meets the constraints does not do so by luck: either it is likely to
        keep them, as all measurements together have it, or its own are enough to tell.
        """
        return self.view().sure(at) >= _BELIEVED or len(self.measured[at]) >= MOST_TIMES

    @property
    def doubted(self) -> list[Coordinate]:
        """What leads the recommendation by more than noise, and is likely to break a constraint."""
        best, comparison = self.recommended[0], self.comparison
        return [
            at
            for at in self.passing
            if comparison.is_better(at, best) and not self._is_believed(at)
        ]

    @property
    def comparison(self) -> Comparison[Coordinate]:
        """What the measurements say by themselves."""
        return Comparison(self.goal, self.measured)

    @property
    def contenders(self) -> list[Coordinate]:
        """What meets the constraints and leads what is recommended: by more than the noise of a
        single measurement, or what all measurements together take for luck.
        """
        best, comparison = self.recommended[0], self.comparison
        once = [
            at
            for at in self.passing
            if self.times(at) == 1 and 2 * comparison.lead(at, best) > comparison.apart(at, best)
        ]
        doubted = [at for at in self.doubted if self.times(at) < MOST_TIMES]
        return list(dict.fromkeys([*once, *doubted]))

    @property
    def lower_loads(self) -> list[Coordinate]:
        """Lower loads of what is recommended that were not measured, and may be as good."""
        best = self.recommended[0]
        return [at for at in self._lower_loads(best) if at not in self._trials and self._may(at)]

    def _may(self, at: Coordinate) -> bool:
        """Whether it may be as good as what is recommended, and meet the constraints."""
        view = self.view()
        score, best = view.prospect.score, view.rows[self.recommended[0]]
        row = view.rows[at]
        as_good = view.prospect.passes[:, row] & (score[:, row] >= score[:, best] - _AS_GOOD)
        return float(as_good.mean()) >= _MAY_BE

    def _lower_loads(self, coordinate: Coordinate) -> list[Coordinate]:
        """The loads of the space that are nearest to a quarter and to half of a coordinate's. Lower
        request rates give less, whatever the variant.
        """
        found: list[Coordinate] = []
        concurrencies = [
            (position, dimension.values)
            for position, dimension in enumerate(self._map.space.dimensions)
            if dimension.parameter == LoadKind.CONCURRENCY.value
        ]
        for part in _PARTS_OF_A_LOAD if coordinate and concurrencies else ():
            lower = list(coordinate)
            for position, values in concurrencies:
                wanted = math.log(values[coordinate[position]] / part)
                off = [abs(math.log(value) - wanted) for value in values]
                lower[position] = off.index(min(off))
            if tuple(lower) != coordinate and self._is_legal(tuple(lower)):
                found.append(tuple(lower))
        return list(dict.fromkeys(found))

    @property
    def passing(self) -> list[Coordinate]:
        """What meets the constraints as far as was measured, best mean first."""
        # these lead
        return list(takewhile(lambda at: self.goal.passes(self._means[at]), self.leaders))

    # -- what follows ------------------------------------------------------------------------

    @property
    def is_feasible(self) -> bool:
        """Whether the best trial meets the constraints, as far as was measured."""
        return self.goal.passes(self.mean(self.leaders[0]))

    @property
    def is_answered(self) -> bool:
        """Whether something is also thought to keep them, and did not do so by luck alone."""
        return self.is_feasible and max(map(self.view().sure, self.passing)) >= _BELIEVED

    def best_guess(self) -> Guess | None:
        """The trial to measure next, where there is one."""
        view = self.view()
        worth = self._gains(view) * view.chance
        tried = [view.rows[at] for at in self._trials]
        worth[tried] *= self._left_to_learn(view, tried)
        best = int(np.argmax(worth / view.cost))
        if worth[best] <= 0:
            return None
        return Guess(list(view.rows)[best], float(worth[best]))

    def promise(self) -> Mapping[Coordinate, float]:
        """What the measured trials but the leader are expected to gain over it."""
        view = self.view()
        worth = self._gains(view)
        return {at: float(worth[view.rows[at]]) for at in self.leaders if at != view.leader}

    def _gains(self, view: View) -> Floats:
        """What each trial of the view is expected to gain over the leader."""
        return gains(view.prospect, view.rows[view.leader], is_answered=self.is_answered)

    def _left_to_learn(self, view: View, tried: Sequence[int]) -> Floats:
        """How much of what could be known of the trials that were measured another measurement
        would tell, as parts of one.
        """
        of = view.prospect
        # of what it is worth, and of whether it meets the constraints
        unknown = np.hypot(of.score[:, tried].std(axis=0), of.shortfall[:, tried].std(axis=0) / 100)
        learned = unknown / np.maximum(np.hypot(unknown, of.noise), 1e-12)
        over = [at in self._failed or self.times(at) >= MOST_TIMES for at in self._trials]
        return np.where(over, 0.0, learned)

    def view(self) -> View:
        """What is thought of the trials known and of many others."""
        if self._view is None:
            self._view = self._learn()
        return self._view

    def _trusted(self, worlds: Sequence[Worlds], rows: Mapping[Coordinate, int]) -> Coordinate:
        """What is thought to be the best of all that were measured, not what seemed to be once: if
        anything meets the constraints, of those that do.
        """
        if not self.is_feasible:
            return self.leaders[0]
        known = self.passing
        of = prospect(self.goal, [one.take([rows[at] for at in known]) for one in worlds], 0)
        # an answer that breaks a constraint is worth nothing
        worth = of.passes.mean(axis=0) * np.exp(of.score.mean(axis=0))
        return known[int(np.argmax(worth))]

    def _learn(self) -> View:
        """Follows what was measured, and looks at trials, the known ones among them."""
        rows = {at: row for row, at in enumerate(dict.fromkeys(self._candidates()))}
        candidates = list(rows)[1:]
        data = [(rows[at], one) for at, found in self.measured.items() for one in found]
        which = np.array([row for row, _ in data], dtype=np.intp)
        worlds, chance, waiting = [], np.ones(len(rows)), np.zeros(len(rows))
        for index, surrogate in enumerate(self._surrogates):
            places = self._encoding.places(index, candidates, self.default)
            measured, known = [one for _, one in data], places.take(which)
            values = self._values(index, measured)
            shares = self._encoding.busy_shares(index, measured, known, values[THROUGHPUT])
            surrogate.learn(known, values, shares)
            worlds.append(surrogate.worlds(places))
            waiting = np.maximum(waiting, surrogate.waiting(places, worlds[-1]))
            works = chances(
                places,
                [rows[at] for at in self.measured],
                {rows[at]: failure for at, failure in self._failed.items()},
            )
            chance = np.minimum(chance, works)
        is_apart = self.default_at == Coordinates.DEFAULT
        chance[rows[Coordinates.DEFAULT]] *= is_apart and self.default.is_legal
        leader = self._trusted(worlds, rows)
        seen = prospect(self.goal, worlds, rows[leader])
        measuring = np.array([max(one.duration_s - one.loading_s, 0.0) for _, one in data])
        costs = self._costs(
            candidates,
            multiples(waiting, waiting[which], measuring),
            loading(self._loading_s(), measuring),
        )
        score, keeps = seen.score.mean(axis=0), seen.passes.mean(axis=0)
        return View(rows, leader, seen, score, keeps, chance, costs)

    def _values(self, index: int, measured: Sequence[Measurement]) -> dict[str, Floats]:
        """What was measured of one model, for the metrics that some measurement has: not a number
        in the others.
        """
        values = {}
        for tag in dict.fromkeys((THROUGHPUT, *needed(self.goal, index))):
            found = [one.model_value(index, tag) for one in measured]
            if any(value is not None for value in found):
                values[tag] = np.array([math.nan if one is None else one for one in found])
        return values

    def _costs(self, candidates: Sequence[Coordinate], measuring: Floats, load: float) -> Floats:
        """What measuring each costs, the default first: `measuring` it, and the `load` if it is not
        loaded. What a variant can tell, it has told after a few measurements: further ones cost
        more and more.
        """
        index = np.array(candidates, dtype=np.intp).reshape(
            len(candidates), len(self._map.space.dimensions)
        )
        variants = [(), *map(tuple, index[:, self._of_the_variant].tolist())]
        loaded = self._variant(self._loaded)
        missing = np.array([variant != loaded for variant in variants])
        times: Counter[tuple[int, ...]] = Counter()
        for at, asked in self._asked.items():
            times[self._variant(at)] += asked
        spent = np.array([times[variant] for variant in variants])
        return (measuring + load * missing) * np.maximum(spent / _PATIENCE, 1)

    def _loading_s(self) -> Floats:
        """How long it took each time that something else had to be loaded."""
        return np.array(
            [
                now.outcome.loading_s
                for before, now in pairwise(self.records)
                if isinstance(now.outcome, Measurement)
                and now.trial.content != before.trial.content
            ]
        )

    def _variant(self, coordinate: Coordinate) -> tuple[int, ...]:
        """What of a coordinate is not its load; nothing of the default."""
        return tuple(coordinate[position] for position in self._of_the_variant if coordinate)

    # -- candidates --------------------------------------------------------------------------

    def _candidates(self) -> Iterator[Coordinate]:
        """The default, what was tried, what is near to the best, and others at random."""
        yield Coordinates.DEFAULT
        yield from self._trials
        for known in self.leaders:
            yield from self._lower_loads(known)
        for leader in self.leaders[:_NEAR]:
            if leader != Coordinates.DEFAULT:
                yield from self._near(leader)
        sizes = np.array([len(dimension.values) for dimension in self._map.space.dimensions])
        generator = np.random.default_rng([self._seed, len(self.records)])
        yield from self._around(sizes, generator)
        yield from self._anywhere(sizes, len(self.records) // _KEPT_FOR)

    def _anywhere(self, sizes: npt.NDArray[np.intp], draw: int) -> Sequence[Coordinate]:
        """Trials at random, the same ones for the same draw."""
        if self._drawn[0] != draw:
            generator = np.random.default_rng([self._seed, draw])
            rows = generator.integers(0, sizes, size=(4 * _CANDIDATES, len(sizes)))
            self._drawn = draw, tuple(self._legal_ones(rows, _CANDIDATES))
        return self._drawn[1]

    def _around(
        self, sizes: npt.NDArray[np.intp], generator: np.random.Generator
    ) -> Iterator[Coordinate]:
        """Trials a few steps away from the best ones, in some of their values."""
        best = [at for at in self.leaders[:_NEAR] if at != Coordinates.DEFAULT]
        if best:
            count = 4 * _AROUND
            start = np.array(best)[generator.integers(0, len(best), size=count)]
            steps = generator.integers(-_STEPS, _STEPS + 1, size=start.shape)
            steps *= generator.random(start.shape) < _MOVED
            yield from self._legal_ones(np.clip(start + steps, 0, sizes - 1), _AROUND)

    def _legal_ones(self, rows: npt.NDArray[np.intp], most: int) -> Iterator[Coordinate]:
        """So many of the rows that are trials, each once."""
        found = 0
        for row in dict.fromkeys(map(tuple, rows.tolist())):
            if found < most and self._is_legal(row):
                found += 1
                yield row

    def _near(self, coordinate: Coordinate) -> Iterator[Coordinate]:
        """All that differ in one value only; of many values, those beside it and some far away."""
        for position, dimension in enumerate(self._map.space.dimensions):
            for index in _spread(coordinate[position], len(dimension.values)):
                near = (*coordinate[:position], index, *coordinate[position + 1 :])
                if self._is_legal(near):
                    yield near

    def _is_legal(self, coordinate: Coordinate) -> bool:
        if coordinate not in self._legal:
            self._legal[coordinate] = self._map.is_legal(coordinate)
        return self._legal[coordinate]


def _spread(index: int, count: int) -> Sequence[int]:
    """Indices of `count` values: all of them, or those around `index`, and as many over all."""
    if count <= _MOST_VALUES:
        return range(count)
    around = _MOST_VALUES // 4
    near = range(max(index - around, 0), min(index + around + 1, count))
    return sorted({*near, *range(0, count, -(-count // (2 * around))), count - 1})
