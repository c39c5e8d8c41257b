# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What an adaptive search asked for, and what came back; and how exact each measurement is: a short
round counts for less than a long one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

import numpy as np

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.trials import Failure, Trial
from model_analyzer.noise.noise_model import NoiseModel
from model_analyzer.noise.pooling import in_rounds, pool
from model_analyzer.noise.ties import Comparison, chance_to_meet
from model_analyzer.search.adaptive.encoding import DEFAULT, Lattice
from model_analyzer.search.adaptive.queueing_model import Floats
from model_analyzer.search.plan import PartialPlan, Subject, recorded
from model_analyzer.search.refine import measured_again
from model_analyzer.search.trial_map import Coordinate


class Outcomes:
    """All trials of a search so far.

    `tried` has the trials that were asked for, `measured` the measurements of each and `failed` the
    last failure. `ranked` are the measured coordinates, best mean first; `under_way` are those that
    wait for an outcome, once for each trial, and `most_under_way` is the largest number of them so
    far. `loaded` is the coordinate whose outcome came last.
    """

    def __init__(self, subject: Subject, lattice: Lattice) -> None:
        self.goal = subject.goal
        self.in_rounds = subject.in_rounds
        self.lattice = lattice
        self.records: list[TrialRecord] = []
        self.tried: dict[Coordinate, Trial] = {}
        self.measured: dict[Coordinate, list[Measurement]] = {}
        self.failed: dict[Coordinate, Failure] = {}
        self.ranked: Sequence[Coordinate] = ()
        self.under_way: list[Coordinate] = []
        self.most_under_way = 1
        self.loaded = DEFAULT
        self._means: dict[Coordinate, Measurement] = {}
        self._attempts: dict[Coordinate, int] = {}

    def measure(self, coordinate: Coordinate, limit_s: float | None = None) -> PartialPlan[None]:
        """Asks for the trial at a coordinate (a repetition after the first time) and records the
        outcome. It may take `limit_s` seconds: see `Trial`.
        """
        if coordinate not in self.tried:
            self.tried[coordinate] = self.lattice.trial(coordinate)
        trial = self.next_of(coordinate)
        self._attempts[coordinate] = trial.repetition + 1
        self.under_way.append(coordinate)
        self.most_under_way = max(self.most_under_way, len(self.under_way))
        if limit_s is not None:
            trial = replace(trial, limit_s=limit_s)
        record = yield from recorded(trial)
        self.under_way.remove(coordinate)
        self.records.append(record)
        self._learn(coordinate, record.outcome)

    def _learn(self, coordinate: Coordinate, outcome: Measurement | Failure) -> None:
        self.loaded = coordinate
        if isinstance(outcome, Failure):
            self.failed[coordinate] = outcome
            return
        self.measured.setdefault(coordinate, []).append(outcome)
        self._means[coordinate] = pool(self.measured[coordinate])
        self.ranked = self.goal.best_first(self._means, self._means.__getitem__)

    def compare(self, trial: Trial, limit_s: float | None = None) -> PartialPlan[None]:
        """Asks for a trial that tells the gain over the default, and nothing to the search: the
        space need not have its load. It may take `limit_s` seconds: see `Trial`.
        """
        self.records.append((yield from recorded(replace(trial, limit_s=limit_s))))

    def next_of(self, coordinate: Coordinate) -> Trial:
        """The trial at a coordinate that was asked for, for its next measurement."""
        attempts, measured = self.attempts(coordinate), self.measured.get(coordinate, ())
        alone = self.goal.is_for_throughput and not self.goal.has_constraints
        return measured_again(self.tried[coordinate], attempts, measured, by_throughput=alone)

    @property
    def asked(self) -> int:
        """The number of all trials, those under way included."""
        return len(self.records) + len(self.under_way)

    @property
    def has_new_under_way(self) -> bool:
        """Whether a trial is under way that was never measured."""
        return any(coordinate not in self.measured for coordinate in self.under_way)

    def attempts(self, coordinate: Coordinate) -> int:
        """How often the trial was asked for; failures count."""
        return self._attempts.get(coordinate, 0)

    def mean(self, coordinate: Coordinate) -> Measurement:
        """The mean of all measurements of a trial; rounds are pooled."""
        return self._means[coordinate]

    def expected_s(self, coordinate: Coordinate | None) -> float:
        """How long the next measurement of a trial (None: a new one) may take: as long as the
        longest so far; in rounds as the longest first one, or as its further one is planned.
        """
        if coordinate in self.measured:
            runs, planned_s = self.measured[coordinate], self.next_of(coordinate).round_s
            if planned_s is not None:
                beside_s = (run.duration_s - min(m.seconds for m in run.models) for run in runs)
                return planned_s + max(beside_s)
        groups = (runs[:1] if self.in_rounds else runs for runs in self.measured.values())
        return max((run.duration_s for group in groups for run in group), default=0.0)

    @property
    def feasible(self) -> list[Coordinate]:
        """Coordinates whose mean meets the constraints, best mean first."""
        # feasible coordinates come before all others
        return list(takewhile(lambda c: self.goal.passes(self._means[c]), self.ranked))

    @property
    def is_feasible(self) -> bool:
        """Whether any measured trial meets the constraints in the mean."""
        return self.goal.passes(self.mean(self.ranked[0]))

    def is_first_look(self, coordinate: Coordinate) -> bool:
        """Whether a measured trial had only one round."""
        return self.in_rounds and len(self.measured[coordinate]) == 1

    @property
    def unloadable(self) -> set[tuple[int, ...]]:
        """The variants that did not load under one load, and so do not under any other."""
        variant = self.lattice.variant
        failed = {variant(c) for c, failure in self.failed.items() if failure.is_of_variant}
        return failed - {variant(c) for c in self.measured}

    @property
    def comparison(self) -> Comparison[Coordinate]:
        """Compares trials by their own measurements, without predictions."""
        return Comparison(self.goal, self.measured)

    def own_chance(self, coordinate: Coordinate) -> float:
        """The probability that a measured trial meets the constraints, by the measurements without
        predictions.
        """
        return chance_to_meet(self.goal, self.measured)(coordinate)

    def missing_default(self, coordinate: Coordinate) -> Coordinate | None:
        """The default configuration under the load of a measured trial, if it can and has yet to be
        measured there: without it, a gain over the default may come from the load.
        """
        lattice = self.lattice
        if lattice.is_of_default(coordinate):
            return None
        at = lattice.default_under(self.tried[coordinate], coordinate)
        is_possible = lattice.trial(at).is_legal and lattice.variant(at) not in self.unloadable
        return at if is_possible and at not in self.tried else None

    def missing_comparison(self, coordinate: Coordinate) -> Trial | None:
        """The variant of a measured trial under the load of the default configuration, where the
        default cannot run under the load of the trial, as with larger client batches. None if it
        can, or if both were measured under one load.
        """
        is_of_default = self.lattice.is_of_default
        defaults = [c for c in self.ranked if is_of_default(c)]
        if not defaults or is_of_default(coordinate) or self.missing_default(coordinate):
            return None
        content = self.tried[coordinate].content
        known = {each.trial.load for each in self.records if each.trial.content == content}
        loads = [self.tried[c].load for c in defaults]
        is_compared = any(load in known for load in loads)
        return None if is_compared else self.tried[coordinate].under(loads[0])


# The limits of a relative error: estimates from a few windows are rough.
_LEAST, _MOST = 0.25, 4.0


def relative_errors(runs: Sequence[Sequence[Measurement]], tag: str, index: int) -> Floats:
    """The standard error of a metric of the model at `index` in each measurement, as a multiple of
    the median. `runs` holds the measurements of each trial; the result has those of the first
    trial first. If a trial was not measured in rounds, its measurements count as usual ones.
    """
    relative = np.ones(sum(map(len, runs)))
    if not any(map(in_rounds, runs)):
        return relative
    noise = NoiseModel(runs)
    each = [
        noise.of([run], tag, index) if run.is_round else None for group in runs for run in group
    ]
    errors = np.array([np.nan if known is None else known.error for known in each])
    usual = np.nanmedian(errors) if np.isfinite(errors).any() else 0.0
    if usual > 0:
        relative = np.where(np.isnan(errors), 1.0, errors / usual).clip(_LEAST, _MOST)
    return relative
