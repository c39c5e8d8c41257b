# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Takes the measurements that are missing to say how many replicas serve a rate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

from model_analyzer.app.bench.job import Job
from model_analyzer.app.run.beginning import begin
from model_analyzer.app.run.caller import Caller, followed
from model_analyzer.app.run.measuring import Session, make_ready
from model_analyzer.app.selection.circumstances import ranked
from model_analyzer.domain.arrivals import poisson_flags, without_load_flags
from model_analyzer.domain.goals import Goal
from model_analyzer.domain.hardware import place_text
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.settings import AdaptiveSettings, ProfileSettings, SearchMode
from model_analyzer.domain.trials import LoadKind, Trial
from model_analyzer.errors import EXIT_OK, EXIT_RUN_FAILED, CheckpointError, Interrupted, wrong
from model_analyzer.forecast.time_left import time_left
from model_analyzer.profiling.loop import profile as measure_all
from model_analyzer.results.capacity.capacity import ModelCapacity, capacity_of
from model_analyzer.results.capacity.missing import Missing
from model_analyzer.results.capacity.points import Lack, requests_needed
from model_analyzer.results.circumstances import differences
from model_analyzer.results.ranking import Ranking
from model_analyzer.search.plan import Plan, Subject, recorded, side_by_side
from model_analyzer.search.planned import PlannedSearch
from model_analyzer.state.profile_state import ProfileState

# Each round measures what the last one left open: usually first rates, then the gap between two.
_MOST_ROUNDS, _USUAL_TRIALS = 5, 5

# The requests of a measurement: as a multiple of those that a percentile needs, and at least; but
# only those that a percentile needs if more would take longer than so many seconds.
_MARGIN, _FEWEST, _USUAL_S = 4, 300, 60

# The largest share of the time limit of perf_analyzer that a measurement is planned to take.
_SHARE_OF_LIMIT = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What to measure: what is missing for the `goal` of a model. `variant` is the only variant to
    measure, None for the one that carries most; requests have `batch_size` inferences.
    `circumstances` is the number of the group that new measurements are compared with; None means
    that of the run.
    """

    model: str
    goal: Goal
    variant: str | None
    batch_size: int
    circumstances: int | None


def measure_capacity(job: Job, order: Order, caller: Caller) -> int:
    """Measures until nothing is missing, or until further measurements do not help; the exit
    status. The outcomes are in the checkpoint. Raises ConfigError or CheckpointError if the model
    cannot be measured as before.
    """
    measuring = _Measuring(order, job.settings)
    return followed(measuring.job(job), caller, measuring.run)


class _Measuring:
    """Takes the missing measurements of an order; `settings` are those of the whole run."""

    def __init__(self, order: Order, settings: ProfileSettings) -> None:
        self._order = order
        self._settings = settings

    def job(self, job: Job) -> Job:
        """The job that measures only this model, at rates that are chosen later."""
        models = [model for model in job.settings.models if model.name == self._order.model]
        if not models:
            raise wrong("--measure", f"the run does not profile {self._order.model}")
        (goal,) = self._order.goal.models
        model = replace(
            models[0],
            goal=goal,
            batch_sizes=(self._order.batch_size,),
            load_kind=LoadKind.REQUEST_RATE,
            loads=(1,),
            parameters=MappingProxyType({}),
            perf_analyzer_flags=without_load_flags(models[0].perf_analyzer_flags),
            in_instalments=False,  # each measurement has the requests that its percentile needs
        )
        search = replace(job.settings.search, mode=SearchMode.BRUTE, together=False, disable=True)
        return replace(job, settings=replace(job.settings, models=(model,), search=search))

    def run(self, job: Job, caller: Caller) -> int:
        interrupts = caller.interrupts
        with ExitStack() as stack:
            with interrupts.interruptible():
                session = make_ready(begin(job, stack), caller, stack, is_search=False)
            try:
                self._measure_all(session, caller)
            except Interrupted:
                session.state.save()
                return EXIT_RUN_FAILED
            session.state.save()
            with interrupts.interruptible():
                session.bench.serving.server.begin_stop()
                session.bench.serving.server.stop()
        return EXIT_RUN_FAILED if interrupts.requested else EXIT_OK

    def _measure_all(self, session: Session, caller: Caller) -> None:
        subjects, slots = session.bench.subjects, session.bench.executor.slots
        for subject in subjects:
            self._check(session.state, subject)
        # like an adaptive search, it chooses its trials by the last ones, and takes a few
        limited = AdaptiveSettings(max_trials=_USUAL_TRIALS)
        search = replace(session.job.settings.search, mode=SearchMode.ADAPTIVE, adaptive=limited)
        settings = replace(session.job.settings, search=search)
        count = Counter(slot.kind for slot in slots)
        caller.tracker.searches(subjects, partial(time_left, settings=settings, slots=count))
        caller.tracker.model_started(0, slots)
        events = measure_all(
            {
                # apart from the questions of its search
                subject.lane._replace(subject=f"capacity of {subject.name}"): PlannedSearch(
                    self._plan(session.state, subject), None
                )
                for subject in subjects
            },
            session.bench.executor,
            session.state,
            is_stopping=lambda: caller.interrupts.requested,
        )
        for event in events:
            caller.tracker.tell(event)
        caller.tracker.model_finished()

    def _check(self, state: ProfileState, subject: Subject) -> None:
        """Raises CheckpointError if new measurements could not be compared with those of the
        checkpoint.
        """
        known = state.profile.bases.get(self._order.model)
        if known is not None and known != subject.bases:
            raise CheckpointError(
                f"{self._order.model} has changed since the checkpoint: run `model-analyzer"
                " profile` first"
            )
        ranking = self._ranking(state, subject)
        if ranking is None or ranking.group is None:
            raise CheckpointError(
                f"{subject.name} was not measured {place_text(subject.setup.kind)}: run"
                " `model-analyzer profile` first"
            )
        then = ranking.group.sample
        now = replace(then, setup=subject.setup)
        changed = [] if then.setup.identity == now.setup.identity else differences(then, now)
        if changed:
            raise CheckpointError(
                f"{self._order.model} was measured on another server"
                f" ({'; '.join(map(str, changed))}): choose the measurements of this server with"
                " --circumstances, or profile it again"
            )

    def _ranking(self, state: ProfileState, subject: Subject) -> Ranking | None:
        """The ranking on the hardware of the subject; None if nothing was measured on it."""
        order = self._order
        rankings = ranked(
            state.profile, order.model, order.goal, order.circumstances, self._settings
        )
        return next((each for each in rankings if each.kind == subject.setup.kind), None)

    def _plan(self, state: ProfileState, subject: Subject) -> Plan:
        """Measures what is missing, then what is still missing, and so on."""
        records: list[TrialRecord] = []
        for _ in range(_MOST_ROUNDS):
            ranking = self._ranking(state, subject)
            assert ranking is not None, "checked before"
            known = capacity_of(
                state.profile,
                ranking,
                batch_size=self._order.batch_size,
                variant=self._order.variant,
            )
            trials = [
                trial
                for each in known.missing
                if not (records and each.reason is Lack.NO_METRIC)  # it has not appeared
                for trial in self._trials(each, known, subject)
            ]
            measured = yield from side_by_side(
                recorded(_repetition(trial, state)) for trial in trials
            )
            records += measured
            if not any(isinstance(record.outcome, Measurement) for record in measured):
                break
        return records

    def _trials(self, missing: Missing, known: ModelCapacity, subject: Subject) -> Iterator[Trial]:
        """The trials of a missing measurement."""
        (model,) = subject.models
        needed = requests_needed(known.constraints)
        wanted = max(_MARGIN * needed, _FEWEST)
        limit_s = _SHARE_OF_LIMIT * self._settings.load_generator.timeout_s
        for rate in missing.rates:
            work = model.workload(missing.variant, rate, missing.batch_size)
            usual = max(needed, min(wanted, _USUAL_S * rate))
            requests = min(usual, int(limit_s * rate))
            yield subject.trial(replace(work, flags=poisson_flags(work.flags, requests)))


def _repetition(trial: Trial, state: ProfileState) -> Trial:
    """The trial, or the first repetition of it that has no outcome yet."""
    while state.outcome_of(trial) is not None:
        trial = replace(trial, repetition=trial.repetition + 1)
    return trial
