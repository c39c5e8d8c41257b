# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Refinement after a search: the load sweep for the best variants, then the highest feasible load;
and confirmation, further rounds of the trials that may be the best, and their length.

The sweep stops when the objectives no longer improve. If a load meets the constraints and the next
higher one violates them, a binary search finds the boundary between the two.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from statistics import NormalDist
from typing import TypeVar

from model_analyzer.domain.arrivals import has_own_times, is_open, is_random
from model_analyzer.domain.goals import Goal
from model_analyzer.domain.measurements import REQUESTS_FOR_P99, Measurement, Outcome
from model_analyzer.domain.profiles import MeasuredTrial, Profile, TrialRecord
from model_analyzer.domain.settings import SearchSettings
from model_analyzer.domain.trials import Failure, LoadKind, Trial
from model_analyzer.noise.first_look import in_flight, least_s
from model_analyzer.noise.pooling import pool
from model_analyzer.noise.ties import Comparison, assured_first, chance_to_meet
from model_analyzer.search.plan import PartialPlan, Plan, Subject, goes_on, recorded, side_by_side

T = TypeVar("T")

log = logging.getLogger(__name__)

# The most finalists, and the most rounds of each.
FINALISTS, _ROUNDS = 4, 4
# Finalists are among so many of the best, and so many that miss a constraint by least: the noise of
# thousands would take seconds.
_SHORTLIST = 40
# A trial with a smaller chance to be the best cannot win.
_LEAST_CHANCE = 0.01
# The winner is clear if it meets the constraints with this chance.
_SURE = 0.9
_NORMAL = NormalDist()

# Seconds: shorter rounds tell little, longer ones are better measured as several.
_LEAST_S, _MOST_S = 2.0, 15.0
# If throughput is all that counts, so many requests are enough: more of them tell little beside the
# drift between rounds. But never in fewer seconds than these.
_ENOUGH, _SHORTEST_S = 1000, 1.0
# Under random arrivals, a long queue is rare and then lasts: further rounds are so many times
# as long as all before, and may take longer.
_OF_RANDOM, _MOST_OF_RANDOM_S = 2.0, 60.0


def measured_again(
    trial: Trial, attempt: int, measurements: Sequence[Measurement], *, by_throughput: bool = False
) -> Trial:
    """The trial for another attempt, the first of which is 0. A further round is as long as
    all of its `measurements` together, or twice as long under random arrivals; and for a slow model
    as long as any has to be: the runner would not measure for less. If trials are judged
    `by_throughput` alone, that of a fast model is shorter.
    """
    again = replace(trial, repetition=attempt)
    if trial.round_s is None or not attempt:
        return again
    seconds = sum(min(model.seconds for model in each.models) for each in measurements)
    wanted_s = further_s(seconds, is_random=any(map(is_random, trial.workloads)))
    rates = _rates(trial, measurements)
    if by_throughput and all(rates) and not any(map(is_open, trial.workloads)):
        wanted_s = min(wanted_s, max(seconds, _ENOUGH / min(rates), _SHORTEST_S))
    least_each_s = (
        least_s(rate, in_flight(work))
        for work, rate in zip(trial.workloads, rates, strict=True)
        if rate
    )
    return replace(again, round_s=max([wanted_s, *least_each_s]))


def further_s(earlier_s: float, *, is_random: bool) -> float:
    """The usual length of a further round, by the length of all before together."""
    if is_random:
        return min(max(_OF_RANDOM * earlier_s, _LEAST_S), _MOST_OF_RANDOM_S)
    return min(max(earlier_s, _LEAST_S), _MOST_S)


def _rates(trial: Trial, measurements: Sequence[Measurement]) -> Sequence[float]:
    """The requests per second of each workload so far; 0 if they were not counted."""
    rates = []
    for index in range(len(trial.workloads)):
        models = [each.models[index] for each in measurements]
        requests = sum(model.requests or 0 for model in models if model.seconds)
        rates.append(requests / sum(model.seconds for model in models) if requests else 0.0)
    return rates


def most_confirmed(subject: Subject, settings: SearchSettings) -> int:
    """The most trials of `confirm`: none if trials are not measured in rounds, or if nothing
    is searched and no load is open.
    """
    has_open_load = any(
        model.settings.load_kind is not LoadKind.CONCURRENCY for model in subject.models
    )
    confirms = subject.in_rounds and (has_open_load or not settings.disable)
    return FINALISTS * (_ROUNDS - 1) if confirms else 0


def confirm(subject: Subject, settings: SearchSettings, records: Sequence[TrialRecord]) -> Plan:
    """Measures the finalists of `records` again, in turn, so that drift affects all alike, until
    the winner is clear.
    """
    added: list[TrialRecord] = []
    for _ in range(most_confirmed(subject, settings) // FINALISTS):
        again = finalists(subject.goal, [*records, *added])
        if not again:
            break
        if not added:
            log.info("Measuring the best configurations again, for longer")
        added += yield from side_by_side(map(recorded, again))
    return added


def finalists(goal: Goal, records: Sequence[TrialRecord]) -> Sequence[Trial]:
    """The next rounds of the trials that may be the best; none if the winner is clear."""
    trials: dict[str, Trial] = {}
    runs: dict[str, list[Measurement]] = {}
    failed = {record.trial.first.key for record in records if isinstance(record.outcome, Failure)}
    # equal variants have several names, but one measurement
    for record in {record.trial.key: record for record in records}.values():
        key = record.trial.first.key
        if isinstance(record.outcome, Measurement) and key not in failed:
            trials.setdefault(key, record.trial.first)
            runs.setdefault(key, []).append(record.outcome)
    if not runs:
        return ()
    comparison = Comparison(goal, runs)
    sure = chance_to_meet(goal, runs, noise_model=comparison.noise_model)
    ordered = _shortlisted(goal, comparison, runs)
    best = assured_first(comparison, ordered, sure)[0]

    def chance(key: str) -> float:
        """The chance that a trial meets the constraints and is at least as good as the best."""
        if key == best:
            return sure(key)
        error = max(comparison.apart(key, best), 1e-9) / 2
        return _NORMAL.cdf(comparison.lead(key, best) / error) * sure(key)

    chances = {key: chance(key) for key in ordered}
    rivals = sorted(ordered, key=lambda key: -chances[key])[:FINALISTS]
    rivals = [key for key in rivals if chances[key] >= _LEAST_CHANCE]
    if rivals == [best] and sure(best) >= _SURE and not _is_first_look(trials[best], runs[best]):
        return ()
    again = [key for key in rivals if len(runs[key]) < _ROUNDS]
    return [measured_again(trials[key], len(runs[key]), runs[key]) for key in again]


def _is_first_look(trial: Trial, runs: Sequence[Measurement]) -> bool:
    """Whether so few requests of an open load were measured that queues and p99 are chance."""
    counts = [model.requests or 0 for model in pool(runs).models]
    return min(counts) < REQUESTS_FOR_P99 and any(
        is_open(work) and not has_own_times(work) for work in trial.workloads
    )


def _shortlisted(
    goal: Goal, comparison: Comparison[str], runs: Mapping[str, Sequence[Measurement]]
) -> Sequence[str]:
    """The best trials, and those nearest to the constraints, in order of merit."""
    ordered = goal.best_first(runs, comparison.mean)
    passing = [key for key in ordered if comparison.passes(key)]
    missing = ordered[len(passing) :]
    return [*passing[:_SHORTLIST], *missing[:_SHORTLIST]]


_MIN_GAIN = 0.05

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
