# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""After a search: the whole load sweep for the best variants, then the highest load that passes.

The sweep stops when the objectives no longer gain. If some load passes the constraints and the
next higher one fails, the boundary between them is found by binary search.
"""

from __future__ import annotations

import logging
from collections.abc import Generator, Sequence
from dataclasses import replace
from itertools import pairwise

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.profiles import MeasuredTrial, Profile, TrialRecord
from model_analyzer.domain.trials import Trial
from model_analyzer.search.plan import Plan, Subject

log = logging.getLogger(__name__)

_WINDOW = 4
_LEAST_GAIN = 0.05

Step = Generator[Trial, Outcome, Measurement | None]


def refine(
    subject: Subject,
    records: Sequence[TrialRecord],
    *,
    best: int,
    loads: Sequence[int],
    steps: int,
) -> Plan:
    """Refines the `best` variants of `records` and the default one over `loads`, ascending.

    At most `steps` further loads are tried for each variant between the last that passes and
    the first that fails.
    """
    added: list[TrialRecord] = []
    for trial in best_trials(subject.goal, records, best):
        refinement = _Refinement(subject.goal, trial, records)
        yield from refinement.sweep(loads)
        yield from refinement.search_boundary(loads, steps)
        added += refinement.added
    return added


def best_trials(goal: Goal, records: Sequence[TrialRecord], count: int) -> Sequence[Trial]:
    """The best trial of each of the `count` best combinations of variants, and of the default.

    Those that pass the constraints come first, then those that fail, the nearest first: they may
    have been measured under one load only, and pass under a lower one.
    """
    measured = Profile(records=tuple(records)).measured
    ordered = goal.best_first(measured, lambda item: item.measurement)
    first: dict[tuple[str, ...], MeasuredTrial] = {}
    for item in ordered:
        first.setdefault(_identity(item.trial), item)
    chosen = list(first.values())[:count]
    chosen += [
        item
        for item in first.values()
        if item not in chosen and all(work.variant.is_default for work in item.trial.workloads)
    ]
    return [item.trial for item in chosen]


def _identity(trial: Trial) -> tuple[str, ...]:
    """What tells combinations of variants apart; the same content may have two names."""
    return tuple(work.variant.name + work.variant.identity for work in trial.workloads)


class _Refinement:
    """The loads of one combination of variants: what is known already is not asked again."""

    def __init__(self, goal: Goal, trial: Trial, records: Sequence[TrialRecord]) -> None:
        self._goal = goal
        self._trial = trial
        self._known = {record.trial.key: record.outcome for record in records}
        self.added: list[TrialRecord] = []

    def sweep(self, loads: Sequence[int]) -> Generator[Trial, Outcome, None]:
        done: list[Measurement] = []
        for value in loads:
            if self._gains_no_more(done):
                what = self._trial.workloads[0].load.kind.value.replace("_", " ")
                log.info("Terminating %s sweep - throughput is decreasing", what)
                return
            measurement = yield from self._measure(value)
            if measurement is None:
                return
            done.append(measurement)

    def search_boundary(self, loads: Sequence[int], steps: int) -> Generator[Trial, Outcome, None]:
        pairs = [
            (low, high)
            for low, high in pairwise(loads)
            if self._passes(low) is True and self._passes(high) is False
        ]
        if not pairs:
            return
        low, high = pairs[-1]
        for _ in range(steps):
            middle = (low + high) // 2
            if middle == low:
                return
            measurement = yield from self._measure(middle)
            if measurement is not None and self._goal.passes(measurement):
                low = middle
            else:
                high = middle

    def _measure(self, value: int) -> Step:
        trial = self._under(value)
        if trial.key not in self._known:
            outcome = yield trial
            self._known[trial.key] = outcome
            self.added.append(TrialRecord(trial=trial, outcome=outcome))
        known = self._known[trial.key]
        return known if isinstance(known, Measurement) else None

    def _passes(self, value: int) -> bool | None:
        known = self._known.get(self._under(value).key)
        return self._goal.passes(known) if isinstance(known, Measurement) else None

    def _under(self, value: int) -> Trial:
        """The trial with this load on all its models."""
        return replace(
            self._trial,
            workloads=tuple(
                replace(work, load=replace(work.load, value=value))
                for work in self._trial.workloads
            ),
        )

    def _gains_no_more(self, done: Sequence[Measurement]) -> bool:
        window = done[-_WINDOW:]
        if len(window) < _WINDOW:
            return False
        return max(self._goal.score(later, window[0]) for later in window) < _LEAST_GAIN
