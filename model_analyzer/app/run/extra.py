# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A run that adds measurements of one model to its checkpoint, after the searches.

They are taken as those that are known: of the same model, on the same kind of server.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

from model_analyzer.app.bench.devices import Job
from model_analyzer.app.run.beginning import begin
from model_analyzer.app.run.caller import Caller, followed
from model_analyzer.app.run.measuring import Session, make_ready
from model_analyzer.app.selection import ranked
from model_analyzer.domain.goals import Goal
from model_analyzer.domain.hardware import place_text
from model_analyzer.domain.settings import ModelSettings, ProfileSettings
from model_analyzer.domain.trials import Trial
from model_analyzer.errors import EXIT_OK, EXIT_RUN_FAILED, CheckpointError, Interrupted, wrong
from model_analyzer.forecast.time_left import time_left
from model_analyzer.profiling.loop import profile as measure_all
from model_analyzer.results.conditions import differences
from model_analyzer.results.ranking import Ranking
from model_analyzer.search.plan import Plan, PlannedSearch, Subject
from model_analyzer.state.profile_state import ProfileState

# What to measure of a subject, given what is known so far.
ExtraPlan = Callable[[ProfileState, Subject], Plan]
Act = Callable[[Session, Caller], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """Measurements to add: of a `model`, for the `option` of the command line that asks for them.

    `purpose` is what they are for, in a word. About `usual_trials` are expected. `conditions` is
    the number of the group that they are compared with by the `goal`; None means that of the run.
    """

    model: str
    goal: Goal
    conditions: int | None
    option: str
    purpose: str
    usual_trials: int

    def job(self, job: Job, change: Callable[[ModelSettings], ModelSettings]) -> Job:
        """The job that measures only this model, with changed settings, at loads that are chosen
        later.
        """
        models = [model for model in job.settings.models if model.name == self.model]
        if not models:
            raise wrong(self.option, f"the run does not profile {self.model}")
        (goal,) = self.goal.models
        model = replace(
            models[0], goal=goal, mode=None, loads=(1,), parameters=MappingProxyType({})
        )
        search = replace(job.settings.search.without_search, together=False)
        settings = replace(job.settings, models=(change(model),), search=search)
        return replace(job, settings=settings)

    def ranking(
        self, state: ProfileState, subject: Subject, settings: ProfileSettings
    ) -> Ranking | None:
        """The ranking on the hardware of the subject; None if nothing was measured on it."""
        rankings = ranked(state.profile, self.model, self.goal, self.conditions, settings)
        return next((each for each in rankings if each.kind == subject.setup.kind), None)


def measure_extra(job: Job, extra: Extra, plan: ExtraPlan, caller: Caller, run: Job) -> int:
    """Measures what the plan asks for; the exit status. The outcomes are in the checkpoint. `job`
    comes from `Extra.job`, for the whole `run`. Raises ConfigError or CheckpointError if the model
    cannot be measured as before.
    """
    return in_session(job, extra, partial(_measure_all, extra, plan), caller, run)


def in_session(job: Job, extra: Extra, act: Act, caller: Caller, run: Job) -> int:
    """Calls `act` with the server of the run, as `measure_extra` does."""
    return followed(job, caller, _Acting(extra, act, run.settings).run)


class _Acting:
    """Does something in a session; `settings` are those of the whole run."""

    def __init__(self, extra: Extra, act: Act, settings: ProfileSettings) -> None:
        self._extra = extra
        self._act = act
        self._settings = settings

    def run(self, job: Job, caller: Caller) -> int:
        interrupts = caller.interrupts
        with ExitStack() as stack:
            with interrupts.interruptible():
                session = make_ready(begin(job, stack), caller, stack, is_search=False)
            try:
                for subject in session.bench.subjects:
                    self._check(session.state, subject)
                self._act(session, caller)
            except Interrupted:
                session.state.save()
                return EXIT_RUN_FAILED
            session.state.save()
            with interrupts.interruptible():
                session.bench.serving.server.begin_stop()
                session.bench.serving.server.stop()
        return EXIT_RUN_FAILED if interrupts.requested else EXIT_OK

    def _check(self, state: ProfileState, subject: Subject) -> None:
        """Raises CheckpointError if new measurements could not be compared with those of the
        checkpoint.
        """
        model = self._extra.model
        known = state.profile.bases.get(model)
        if known is not None and known != subject.bases:
            raise CheckpointError(
                f"{model} has changed since the checkpoint: run `model-analyzer profile` first"
            )
        ranking = self._extra.ranking(state, subject, self._settings)
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
                f"{model} was measured on another server ({'; '.join(map(str, changed))}): choose"
                " the measurements of this server with --conditions, or profile it again"
            )


def _measure_all(extra: Extra, plan: ExtraPlan, session: Session, caller: Caller) -> None:
    subjects, slots = session.bench.subjects, session.bench.executor.slots
    estimate = partial(
        time_left,
        settings=session.job.settings,
        slots=Counter(slot.kind for slot in slots),
        trials=extra.usual_trials,
    )
    caller.tracker.searches(subjects, estimate)
    caller.tracker.model_started(0, slots)
    events = measure_all(
        {
            # apart from the questions of its search
            subject.lane._replace(subject=f"{extra.purpose} of {subject.name}"): (
                PlannedSearch(plan(session.state, subject), None)
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


def repetition(trial: Trial, state: ProfileState) -> Trial:
    """The trial, or the first repetition of it that has no outcome yet."""
    while state.outcome_of(trial) is not None:
        trial = replace(trial, repetition=trial.repetition + 1)
    return trial
