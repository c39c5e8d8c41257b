# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Refinement after a search: the load sweep for the best variants, then the highest feasible load.

The sweep stops when the objectives no longer improve. If a load meets the constraints and the next
higher one violates them, a binary search finds the boundary between the two.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import TypeVar

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.profiles import MeasuredTrial, Profile, TrialRecord
from model_analyzer.domain.trials import Trial
from model_analyzer.search.plan import PartialPlan, Plan, Subject, goes_on, recorded, side_by_side

log = logging.getLogger(__name__)

_MIN_GAIN = 0.05

T = TypeVar("T")

# A plateau is seen in so many values.
_WINDOW = 4


def refine(
    subject: Subject,
    records: Sequence[TrialRecord],
    *,
    best: int,
    loads: Sequence[int],
    steps: int,
) -> Plan:
    """Refines the `best` variants of `records` and the default over `loads` (ascending).

    For each variant, the binary search between the last feasible and the first infeasible load
    measures at most `steps` further loads.
    """
    added = yield from side_by_side(
        _Refinement(subject, trial, records).plan(loads, steps)
        for trial in best_trials(subject.goal, records, best)
    )
    return list(chain.from_iterable(added))


def best_trials(goal: Goal, records: Sequence[TrialRecord], count: int) -> Sequence[Trial]:
    """The best trial of each of the `count` best combinations of variants, and of the default.

    Feasible trials come first, then infeasible ones by shortfall: they may be feasible under a
    lower load.
    """
    measured = Profile(records=tuple(records)).measured
    ordered = goal.best_first(measured, lambda measured_trial: measured_trial.measurement)
    first: dict[tuple[str, ...], MeasuredTrial] = {}
    for measured_trial in ordered:
        first.setdefault(_identity(measured_trial.trial), measured_trial)
    chosen = list(first.values())[:count]
    chosen += [
        measured_trial
        for measured_trial in first.values()
        if measured_trial not in chosen
        and all(workload.variant.is_default for workload in measured_trial.trial.workloads)
    ]
    return [measured_trial.trial for measured_trial in chosen]


def _identity(trial: Trial) -> tuple[str, ...]:
    """Identifies a combination of variants; the same content may have two names."""
    return tuple(workload.variant.name + workload.variant.identity for workload in trial.workloads)


class _Refinement:
    """The loads of one combination of variants; a known outcome is not asked for again."""

    def __init__(self, subject: Subject, trial: Trial, records: Sequence[TrialRecord]) -> None:
        self._subject = subject
        self._trial = trial
        self._outcomes = {record.trial.key: record.outcome for record in records}
        self._added: list[TrialRecord] = []

    def plan(self, loads: Sequence[int], steps: int) -> Plan:
        yield from self._sweep(loads)
        yield from self._search_boundary(loads, steps)
        return self._added

    def _sweep(self, loads: Sequence[int]) -> PartialPlan[None]:
        measurements: list[Measurement] = []
        for number, value in enumerate(loads, start=1):
            if self._has_plateaued(measurements):
                kind = self._trial.workloads[0].load.kind.value.replace("_", " ")
                log.info("Terminating %s sweep - throughput is decreasing", kind)
                return
            outcome = yield from self._measure(value)
            if isinstance(outcome, Measurement):
                measurements.append(outcome)
            elif not goes_on(
                self._subject, self._under(value), outcome, loads[number:],
                has_measured=bool(measurements),
            ):  # fmt: skip
                return

    def _search_boundary(self, loads: Sequence[int], steps: int) -> PartialPlan[None]:
        pairs = [
            (low, high)
            for low, high in pairwise(loads)
            if self._is_feasible(low) is True and self._is_feasible(high) is False
        ]
        if not pairs:
            return
        low, high = pairs[-1]
        for _ in range(steps):
            middle = (low + high) // 2
            if middle == low:
                return
            outcome = yield from self._measure(middle)
            if isinstance(outcome, Measurement) and self._subject.goal.passes(outcome):
                low = middle
            else:
                high = middle

    def _measure(self, value: int) -> PartialPlan[Outcome]:
        trial = self._under(value)
        if trial.key not in self._outcomes:
            record = yield from recorded(trial)
            self._outcomes[trial.key] = record.outcome
            self._added.append(record)
        return self._outcomes[trial.key]

    def _is_feasible(self, value: int) -> bool | None:
        outcome = self._outcomes.get(self._under(value).key)
        return self._subject.goal.passes(outcome) if isinstance(outcome, Measurement) else None

    def _under(self, value: int) -> Trial:
        """The trial with this load for all its models."""
        return replace(
            self._trial,
            workloads=tuple(
                replace(workload, load=replace(workload.load, value=value))
                for workload in self._trial.workloads
            ),
            refines=True,
        )

    def _has_plateaued(self, measurements: Sequence[Measurement]) -> bool:
        def is_flat(window: Sequence[Measurement]) -> bool:
            return max(self._subject.goal.score(later, window[0]) for later in window) < _MIN_GAIN

        return has_plateaued(measurements, is_flat, is_noisy=are_noisy(measurements))


def are_noisy(outcomes: Iterable[Outcome]) -> bool:
    """Whether some were measured in a round, which is short: noise of 5 % may hide growth."""
    return any(isinstance(each, Measurement) and each.is_round for each in outcomes)


def times_in_a_row(*, is_noisy: bool) -> int:
    """How often growth must be missing."""
    return 2 if is_noisy else 1


def has_plateaued(
    values: Sequence[T], is_flat: Callable[[Sequence[T]], bool], *, is_noisy: bool
) -> bool:
    """Whether the last values are flat; if they are noisy, also without the last one."""
    ends = range(len(values) + 1 - times_in_a_row(is_noisy=is_noisy), len(values) + 1)
    return all(end >= _WINDOW and is_flat(values[end - _WINDOW : end]) for end in ends)
