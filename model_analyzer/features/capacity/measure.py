# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Takes the measurements that are missing to say how many replicas serve a rate."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from model_analyzer.app.bench.devices import Job
from model_analyzer.app.run.caller import Caller
from model_analyzer.app.run.measuring import Extra, measure_extra, repetition
from model_analyzer.domain.arrivals import without_load_flags
from model_analyzer.domain.goals import Constraint
from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.metrics import metric_of
from model_analyzer.domain.models import empty
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.settings import Budget, LaunchMode, ModelSettings, ProfileSettings
from model_analyzer.domain.traffic import Arrivals, Traffic
from model_analyzer.domain.trials import LoadKind, Trial, workload_words
from model_analyzer.domain.words import counted, number_text
from model_analyzer.errors import wrong
from model_analyzer.features.capacity.facts.capacity import ModelCapacity
from model_analyzer.features.capacity.facts.points import (
    Keeps,
    Lack,
    Point,
    keeps_at,
    requests_needed,
)
from model_analyzer.features.capacity.question import Question
from model_analyzer.noise.noise_model import NoiseModel
from model_analyzer.search.plan import PartialPlan, Plan, Subject, recorded, side_by_side
from model_analyzer.search.refine import measured_again
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


def measure_capacity(
    job: Job, known: ModelCapacity, question: Question, budget_s: float, caller: Caller
) -> int:
    """Measures until nothing is missing to answer the question about a model whose capacity is
    `known` so far, or until further measurements do not help, or for so many seconds; the exit
    status. The outcomes are in the checkpoint. Raises ConfigError or CheckpointError if the model
    cannot be measured as before.
    """
    if job.settings.server.launch is LaunchMode.C_API:
        raise wrong("--measure", "not in launch mode c_api, where no server answers users")
    extra = Extra(
        model=known.model,
        goal=known.goal,
        conditions=question.conditions,
        option="--measure",
        purpose="capacity",
        usual_trials=_USUAL_TRIALS,
    )
    batch_size = known.replica.batch_size
    measuring = extra.job(
        job,
        lambda model: replace(
            model,
            batch_sizes=(batch_size,),
            load_kind=LoadKind.REQUEST_RATE,
            traffic=_users(model),
            perf_analyzer_flags=without_load_flags(model.perf_analyzer_flags),
            genai_perf_flags=empty(),
            in_rounds=True,
        ),
    )
    planning = _Planning(question, batch_size, extra, job.settings, Budget(budget_s))
    return measure_extra(measuring, extra, planning.plan, caller, job)


def _users(model: ModelSettings) -> Traffic:
    """The traffic of independent users, from as many generators as the run has."""
    generators = 1 if model.traffic is None else model.traffic.generators
    return Traffic(arrivals=Arrivals.POISSON, generators=generators)


@dataclass(slots=True)
class _Planning:
    """Plans the measurements that are missing to answer a question; `settings` are those of the
    whole run.
    """

    question: Question
    batch_size: int
    extra: Extra
    settings: ProfileSettings
    budget: Budget
    outcomes: list[Outcome] = field(default_factory=list)
    taken: Counter[str] = field(default_factory=Counter)  # rounds, by trial

    def plan(self, state: ProfileState, subject: Subject) -> Plan:
        """Measures what is missing, then what is still missing, and so on."""
        records: list[TrialRecord] = []
        for _ in range(_MOST_STEPS):
            ranking = self.extra.ranking(state, subject, self.settings)
            assert ranking is not None, "checked before"
            known = self.question.known(state.profile, ranking, self.batch_size)
            (model,) = subject.models
            trials = [
                subject.trial(model.workload(each.variant, rate, each.batch_size))
                for each in known.missing
                if not (records and each.reason is Lack.NO_METRIC)  # it has not appeared
                for rate in each.rates
            ]
            measured = yield from side_by_side(
                self._rounds(trial, known.constraints, state)
                for trial in trials
                if self.taken[trial.key] < _ROUNDS
            )
            records += chain.from_iterable(measured)
            if not any(isinstance(each.outcome, Measurement) for each in chain(*measured)):
                break
            if not self.budget.covers(self.outcomes):
                log.warning(
                    "The time for measurements (%g s) is over: --budget gives more",
                    self.budget.seconds,
                )
                break
        return records

    def _rounds(
        self, trial: Trial, constraints: Sequence[Constraint], state: ProfileState
    ) -> PartialPlan[list[TrialRecord]]:
        """Rounds of a trial until it is certain whether it keeps the constraints."""
        records: list[TrialRecord] = []
        runs = [*_measured(trial, state)]
        while self.taken[trial.key] < _ROUNDS and self.budget.covers(self.outcomes):
            self.taken[trial.key] += 1
            record = yield from recorded(self._next(trial, constraints, state, runs))
            records.append(record)
            self.outcomes.append(record.outcome)
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
        left_s = self.budget.limit_s(self.outcomes)
        assert left_s is not None, "the budget has a limit"
        wanted_s = _MARGIN * requests_needed(constraints) / trial.workloads[0].load.value
        if runs:
            wanted_s = measured_again(again, again.repetition, runs).round_s or 0.0
        most_s = _SHARE * min(left_s, self.settings.load_generator.timeout_s)
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
