# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Takes the measurements that are missing to say how many replicas serve a rate."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from model_analyzer.app.bench.job import Job
from model_analyzer.app.run.caller import Caller
from model_analyzer.app.run.extra import Extra, measure_extra, repetition
from model_analyzer.domain.arrivals import without_load_flags
from model_analyzer.domain.budget import Budget
from model_analyzer.domain.goals import Constraint, Goal
from model_analyzer.domain.loads import workload_words
from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.metrics import metric_of
from model_analyzer.domain.models import empty
from model_analyzer.domain.numbers import number_text
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.settings import LaunchMode, ModelSettings, ProfileSettings
from model_analyzer.domain.traffic import Arrivals, Traffic
from model_analyzer.domain.trials import LoadKind, Trial
from model_analyzer.domain.words import counted
from model_analyzer.errors import wrong
from model_analyzer.features.capacity.facts.capacity import capacity_of
from model_analyzer.features.capacity.facts.missing import Missing
from model_analyzer.features.capacity.facts.points import Lack, Point, requests_needed
from model_analyzer.features.capacity.facts.replica import Keeps, keeps_at
from model_analyzer.noise.noise_model import NoiseModel
from model_analyzer.search.plan import PartialPlan, Plan, Subject, recorded, side_by_side
from model_analyzer.search.rounds import measured_again
from model_analyzer.state.profile_state import ProfileState

log = logging.getLogger(__name__)

# Each step measures what the last one left open: usually first rates, then the gap between two.
_MOST_STEPS, _USUAL_TRIALS = 5, 12

# The most rounds of a rate in a run. The first one expects somewhat more requests than the
# percentile needs, so that chance seldom gives too few; it lasts at least so many seconds.
_ROUNDS, _MARGIN, _LEAST_S = 4, 1.2, 2.0

# The largest share of the rest of the budget, and of the time limit of perf_analyzer, that a
# round is planned to take.
_SHARE = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureOrder:
    """What to measure: what is missing for the `goal` of a model. `variant` is the only variant to
    measure, None for the one that carries most; requests have `batch_size` inferences.
    All replicas together have to carry the `needed` requests per second. `conditions` is the
    number of the group that new measurements are compared with; None means
    that of the run. `budget_s` is the most time to measure.
    """

    model: str
    goal: Goal
    variant: str | None
    batch_size: int
    needed: float
    conditions: int | None
    budget_s: float


def measure_capacity(job: Job, order: MeasureOrder, caller: Caller) -> int:
    """Measures until nothing is missing, or until further measurements do not help; the exit
    status. The outcomes are in the checkpoint. Raises ConfigError or CheckpointError if the model
    cannot be measured as before.
    """
    if job.settings.server.launch is LaunchMode.C_API:
        raise wrong("--measure", "not in launch mode c_api, where no server answers users")
    extra = Extra(
        model=order.model,
        goal=order.goal,
        conditions=order.conditions,
        option="--measure",
        purpose="capacity",
        usual_trials=_USUAL_TRIALS,
    )
    measuring = extra.job(
        job,
        lambda model: replace(
            model,
            batch_sizes=(order.batch_size,),
            load_kind=LoadKind.REQUEST_RATE,
            traffic=_users(model),
            perf_analyzer_flags=without_load_flags(model.perf_analyzer_flags),
            genai_perf_flags=empty(),
            in_rounds=True,
        ),
    )
    plan = _Planning(order, extra, job.settings).plan
    return measure_extra(measuring, extra, plan, caller, job)


def _users(model: ModelSettings) -> Traffic:
    """The traffic of independent users, from as many generators as the run has."""
    generators = 1 if model.traffic is None else model.traffic.generators
    return Traffic(arrivals=Arrivals.POISSON, generators=generators)


class _Planning:
    """Plans the missing measurements of an order; `settings` are those of the whole run."""

    def __init__(self, order: MeasureOrder, extra: Extra, settings: ProfileSettings) -> None:
        self._order = order
        self._extra = extra
        self._settings = settings
        self._budget = Budget(order.budget_s)
        self._outcomes: list[Outcome] = []
        self._taken: Counter[str] = Counter()  # rounds, by trial

    def plan(self, state: ProfileState, subject: Subject) -> Plan:
        """Measures what is missing, then what is still missing, and so on."""
        records: list[TrialRecord] = []
        for _ in range(_MOST_STEPS):
            ranking = self._extra.ranking(state, subject, self._settings)
            assert ranking is not None, "checked before"
            known = capacity_of(
                state.profile,
                ranking,
                batch_size=self._order.batch_size,
                needed=self._order.needed,
                variant=self._order.variant,
            )
            trials = [
                trial
                for each in known.missing
                if not (records and each.reason is Lack.NO_METRIC)  # it has not appeared
                for trial in self._trials(each, subject)
                if self._taken[trial.key] < _ROUNDS
            ]
            measured = yield from side_by_side(
                self._rounds(trial, known.constraints, state) for trial in trials
            )
            records += chain.from_iterable(measured)
            if not any(isinstance(each.outcome, Measurement) for each in chain(*measured)):
                break
            if not self._budget.covers(self._outcomes):
                log.warning(
                    "The time for measurements (%g s) is over: --budget gives more",
                    self._order.budget_s,
                )
                break
        return records

    def _trials(self, missing: Missing, subject: Subject) -> Iterator[Trial]:
        """The trials of a missing measurement."""
        (model,) = subject.models
        for rate in missing.rates:
            yield subject.trial(model.workload(missing.variant, rate, missing.batch_size))

    def _rounds(
        self, trial: Trial, constraints: Sequence[Constraint], state: ProfileState
    ) -> PartialPlan[list[TrialRecord]]:
        """Rounds of a trial until it is certain whether it keeps the constraints."""
        records: list[TrialRecord] = []
        runs = [*_measured(trial, state)]
        while self._taken[trial.key] < _ROUNDS and self._budget.covers(self._outcomes):
            self._taken[trial.key] += 1
            record = yield from recorded(self._next(trial, constraints, state, runs))
            records.append(record)
            self._outcomes.append(record.outcome)
            if not isinstance(record.outcome, Measurement):
                break
            runs.append(record.outcome)
            if _is_settled(trial, constraints, runs):
                break
        if runs:
            log.info("%s", _told(trial, constraints, runs))
        return records

    def _next(
        self,
        trial: Trial,
        constraints: Sequence[Constraint],
        state: ProfileState,
        runs: Sequence[Measurement],
    ) -> Trial:
        """The next round of a trial, which ends within the budget."""
        again = repetition(trial, state)
        left_s = self._budget.limit_s(self._outcomes)
        assert left_s is not None, "the budget has a limit"
        wanted_s = _MARGIN * requests_needed(constraints) / trial.workloads[0].load.value
        if runs:
            wanted_s = measured_again(again, again.repetition, runs).round_s or 0.0
        most_s = _SHARE * min(left_s, self._settings.load_generator.timeout_s)
        seconds = min(max(wanted_s, _LEAST_S), most_s)
        return replace(again, round_s=seconds, limit_s=left_s)


def _measured(trial: Trial, state: ProfileState) -> Iterator[Measurement]:
    """The rounds of a trial that were measured earlier."""
    end = repetition(trial, state).repetition
    for number in range(end):
        outcome = state.outcome_of(replace(trial, repetition=number))
        if isinstance(outcome, Measurement):
            yield outcome


def _is_settled(
    trial: Trial, constraints: Sequence[Constraint], runs: Sequence[Measurement]
) -> bool:
    """Whether further rounds would not change what these tell."""
    point = _point(trial, runs)
    if any(point.value(each.tag) is None for each in constraints):
        return True
    has_enough = (point.requests or 0) >= requests_needed(constraints)
    return has_enough and keeps_at(point, constraints, NoiseModel([runs])) is not Keeps.UNSURE


def _told(trial: Trial, constraints: Sequence[Constraint], runs: Sequence[Measurement]) -> str:
    """What all rounds of a trial tell together, as the answer will."""
    point = _point(trial, runs)
    values = [
        f"{metric.name} {number_text(value)} {metric.unit}"
        for metric in (metric_of(each.tag) for each in constraints)
        if (value := point.value(metric.tag)) is not None
    ]
    return (
        f"{workload_words(trial.workloads[0])}, {counted(len(runs), 'round')} together:"
        f" {', '.join(values) or 'no constrained metric'}"
    )


def _point(trial: Trial, runs: Sequence[Measurement]) -> Point:
    load = trial.workloads[0].load
    return Point(rate=load.value, batch_size=load.batch_size, runs=tuple(runs))
