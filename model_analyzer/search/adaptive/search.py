# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The adaptive search: each trial is the one that is expected to change the answer most.

After every outcome a model of the server is learnt anew (`surrogate`), asked what each trial would
be worth (`acquisition`), and the best one is measured, until none is worth it. Then the best ones
are measured again, in turn, until it is clear which of them wins.
"""

from __future__ import annotations

import logging,os
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from model_analyzer.domain.measurements import Measurement, Outcome, averaged
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.settings import AdaptiveSettings, SearchSettings
from model_analyzer.domain.trials import Failure, LoadKind, Trial
from model_analyzer.search.adaptive.acquisition import Outlook, Prospect, gains, needed, outlook, prospect
from model_analyzer.search.adaptive.encoding import Encoding
from model_analyzer.search.adaptive.failures import chances
from model_analyzer.search.adaptive.queueing import Floats
from model_analyzer.search.adaptive.surrogate import THROUGHPUT, Surrogate, Worlds
from model_analyzer.search.plan import Plan, Subject
from model_analyzer.search.space import Coordinate
from model_analyzer.search.trial_space import TrialSpace

log = logging.getLogger(__name__)

# Any will do, as long as it stays: a search is continued by repeating it.
_SEED = 0

# So fine are the loads that are searched, where none are listed.
_LOAD_STEPS = 4

# More trials than these are not looked at for one decision.
_MOST_CANDIDATES = 2000

# A trial has to be expected to gain as much as this.
_WORTH = 0.005
# What counts as better, when it is said how likely something better remains.
_BETTER = 0.01

# How much less the surrogate is believed before it is believed that nothing is left.
_DOUBT = float(os.environ.get('DOUBT','4'))

# Another variant has to be loaded: that is worth so many measurements.
_RELOAD = 0.3

# The default is no point of the space.
_DEFAULT: Coordinate = ()


class AdaptiveSearch:
    """The plan of an adaptive search over one model, or over several measured together."""

    def __init__(
        self,
        subject: Subject,
        settings: SearchSettings,
        limits: AdaptiveSettings,
        names: VariantNames,
        *,
        seed: int = _SEED,
    ) -> None:
        self._subject = subject
        self._names = names
        self._space = TrialSpace(subject, settings, use_formula=False, load_steps=_LOAD_STEPS)
        self._limits = limits
        coarse = TrialSpace(subject, settings, use_formula=False)
        self._most = _most_trials(coarse.size, subject, limits)
        self._seed = seed

    @property
    def most_trials(self) -> int:
        """How many trials there are at most, the default's and repetitions included."""
        return self._most

    def plan(self) -> Plan:
        log.info("")
        log.info("Starting adaptive mode search to find optimal configs")
        log.info("")
        run = _Run(self._subject, self._space, self._names, self._seed)
        yield from run.measure(_DEFAULT)
        if not run.measured:
            yield from run.measure(run.smallest())
        kept = min(4, self._most // 4)  # for repetitions
        while run.measured and len(run.records) < self._most and not self._is_late(run):
            choice = None
            if len(run.records) < self._most - kept:
                choice = run.best_guess() or run.best_guess(doubt=_DOUBT)
            coordinate = choice.coordinate if choice else run.finalist()
            if coordinate is None:
                break
            yield from run.measure(coordinate)
        self._conclude(run)
        return run.records

    def _is_late(self, run: _Run) -> bool:
        if self._limits.budget_s is None:
            return False
        spent = [record.outcome.duration_s for record in run.records]
        return sum(spent) + max(spent, default=0) > self._limits.budget_s

    def _conclude(self, run: _Run) -> None:
        pass


def _most_trials(size: int, subject: Subject, limits: AdaptiveSettings) -> int:
    if limits.max_trials is not None:
        return limits.max_trials
    has_bounds = any(model.constraints for model in subject.goal.models)
    share = 0.04 if has_bounds else 0.03
    return max(12, min(int(size * share), 100))


@dataclass(frozen=True, slots=True)
class Guess:
    """What to measure next, and the gain that is expected of it."""

    coordinate: Coordinate
    worth: float


class _Run:
    """What one search knows: the trials measured and those that failed."""

    def __init__(
        self, subject: Subject, space: TrialSpace, names: VariantNames, seed: int
    ) -> None:
        self._subject = subject
        self._goal = subject.goal
        self._space = space
        self._names = names
        self._seed = seed
        self._default = space.default(names)
        self._encoding = Encoding(subject, space)
        self._surrogates = [
            Surrogate(
                self._encoding.stations(model),
                is_open=model.settings.load_kind is LoadKind.REQUEST_RATE,
                seed=seed + number,
            )
            for number, model in enumerate(subject.models)
        ]
        self.records: list[TrialRecord] = []
        self.measured: dict[Coordinate, list[Measurement]] = {}
        self.failed: dict[Coordinate, Failure] = {}
        self._last: Coordinate = _DEFAULT
        self._pool = self._all() if _count(space) <= 4 * _MOST_CANDIDATES else None

    # -- trials ------------------------------------------------------------------------------

    def measure(self, coordinate: Coordinate) -> Generator[Trial, Outcome, None]:
        trial = (
            self._default
            if coordinate == _DEFAULT
            else self._space.trial(coordinate, self._names)
        )
        done = self.measured.get(coordinate, [])
        trial = replace(trial, repetition=len(done))
        outcome = yield trial
        self.records.append(TrialRecord(trial=trial, outcome=outcome))
        self._last = coordinate
        if isinstance(outcome, Failure):
            self.failed[coordinate] = outcome
        else:
            self.measured.setdefault(coordinate, []).append(outcome)

    def smallest(self) -> Coordinate:
        start = tuple(0 for _ in self._space.axes)
        return self._space.nearest(start, ()) or _DEFAULT

    # -- decisions ---------------------------------------------------------------------------

    def leader(self) -> Coordinate:
        """What a report would recommend now."""
        means = {at: averaged(found) for at, found in self.measured.items()}
        return self._goal.best_first(means, lambda at: means[at])[0]

    def best_guess(self, *, doubt: float = 1.0) -> Guess | None:
        view = self._view(doubt)
        leader = self.leader()
        is_feasible = self._goal.passes(averaged(self.measured[leader]))
        reference = view.rows[leader]
        found = prospect(self._goal, view.worlds, reference)
        worth = gains(found, reference, is_feasible=is_feasible) * view.chance
        known = [row for at, row in view.rows.items() if at in self.measured or at in self.failed]
        worth[known] = -1.0
        best = int(np.argmax(worth / view.cost))
        if best in known or worth[best] < _WORTH:
            return None
        log.debug("Expected gain of the next trial: %.1f %% (%g)", 100 * worth[best], doubt)
        return Guess(view.candidates[best - 1], float(worth[best]))

    def finalist(self) -> Coordinate | None:
        view = self._view()
        leader = self.leader()
        reference = view.rows[leader]
        found = prospect(self._goal, view.worlds, reference)
        times = len(self.measured[leader])
        if times < 2:
            return leader
        passes = found.passes[:, reference].mean()
        if self._goal.passes(averaged(self.measured[leader])) and passes < 0.9 and times < 4:
            return leader
        better = ((found.score > 0) & found.passes).mean(axis=0)
        rivals = sorted(
            (at for at in self.measured if at != leader), key=lambda at: -better[view.rows[at]]
        )
        for rival in rivals[:2]:
            if better[view.rows[rival]] > 0.15 and len(self.measured[rival]) < times:
                return rival
        if times < 3 and any(better[view.rows[rival]] > 0.15 for rival in rivals[:2]):
            return leader
        return None

    def _view(self, doubt: float = 1.0) -> _View:
        candidates = self._candidates()
        rows = {_DEFAULT: 0, **{at: row for row, at in enumerate(candidates, start=1)}}
        data = [(rows[at], one) for at, found in self.measured.items() for one in found]
        which = np.array([row for row, _ in data])
        worlds = []
        for index, surrogate in enumerate(self._surrogates):
            places = self._encoding.places(index, candidates, self._default)
            tags = needed(self._goal, index)
            values = {}
            for tag in {THROUGHPUT, *tags}:
                got = [one.model_value(index, tag) for _, one in data]
                known = [value for value in got if value is not None]
                if len(known) == len(got):
                    values[tag] = np.maximum(np.array(known, dtype=float), 1e-9)
            worlds.append(surrogate.worlds(places.take(which), values, places, sorted(tags), doubt))
        chance = chances(
            places,
            [rows[at] for at in self.measured],
            {rows[at]: failure for at, failure in self.failed.items()},
        )
        return _View(candidates, rows, worlds, chance, self._costs(candidates))

    def _costs(self, candidates: Sequence[Coordinate]) -> Floats:
        """What measuring each costs, in measurements of what is loaded."""
        sizes = [
            position
            for position, axis in enumerate(self._space.axes)
            if axis.parameter not in ("batch_sizes", "concurrency", "request_rate")
        ]
        if self._last == _DEFAULT:
            return np.full(len(candidates) + 1, 1 + _RELOAD)
        at = np.array(candidates)[:, sizes]
        same = (at == np.array(self._last)[sizes]).all(axis=1)
        return np.concatenate([[1 + _RELOAD], np.where(same, 1.0, 1 + _RELOAD)])

    def _candidates(self) -> Sequence[Coordinate]:
        if self._pool is not None:
            return self._pool
        raise NotImplementedError

    def _all(self) -> Sequence[Coordinate]:
        every = product(*(range(len(axis.values)) for axis in self._space.axes))
        return [coordinate for coordinate in every if self._space.is_legal(coordinate)]


@dataclass(frozen=True, slots=True)
class _View:
    """Candidates, their rows, and what is thought of them."""

    candidates: Sequence[Coordinate]
    rows: dict[Coordinate, int]
    worlds: list[Worlds]
    chance: Floats
    cost: Floats


def _count(space: TrialSpace) -> int:
    return space.size
