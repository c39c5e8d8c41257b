# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Measures configurations of models: job → bench → search → state → answers and files."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

from model_analyzer.app.bench.job import Job
from model_analyzer.app.delivery.answer import Delivery, deliver
from model_analyzer.app.delivery.files import originals_of
from model_analyzer.app.progress.events import Phase
from model_analyzer.app.progress.tracker import Tracker
from model_analyzer.app.session import Caller, Session, followed, prepare_session
from model_analyzer.app.shared_hosts import examine_shared_hosts
from model_analyzer.config.resolve import search_settings
from model_analyzer.domain.groups import group_members
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.profiles import Profile
from model_analyzer.errors import EXIT_OK, EXIT_RUN_FAILED, Interrupted, ModelAnalyzerError
from model_analyzer.forecast.time_left import time_left
from model_analyzer.profiling.events import TrialFinished
from model_analyzer.profiling.loop import profile as measure_all
from model_analyzer.results.circumstances import Circumstances, Intended
from model_analyzer.results.ranking import Ranking, rank
from model_analyzer.runner.server.triton import TritonServer
from model_analyzer.search.choose import choose
from model_analyzer.search.completed import CompletedSearch
from model_analyzer.search.plan import Subject, by_name

log = logging.getLogger(__name__)


def profile(job: Job, caller: Caller) -> int:
    """Profiles all models and writes the results; the exit status."""
    return followed(job, caller, _profile)


def _profile(job: Job, caller: Caller) -> int:
    interrupts = caller.interrupts
    with ExitStack() as stack:
        with interrupts.interruptible():
            session = prepare_session(job, caller, stack)
            _observe_idle(session, caller.tracker)
        try:
            error = None
            try:
                is_complete = _measure(session, caller)
            except Interrupted:
                raise
            except ModelAnalyzerError as raised:
                # report the measurements that were taken before the error
                error, is_complete = raised, False
            session.state.save()
            caller.tracker.phase(Phase.REPORTS)
            server = session.bench.serving.server
            with interrupts.interruptible():
                server.begin_stop()
                delivery = _deliver(session, is_complete=is_complete)
                caller.audience.deliver(delivery)
                server.stop()
            is_cut_short = interrupts.requested  # later interrupts only end the wait for uploads
        except Interrupted:
            session.state.save()
            return EXIT_RUN_FAILED
    if error is not None:
        raise error
    is_success = delivery.is_success(job.settings.export) and not is_cut_short
    return EXIT_OK if is_success else EXIT_RUN_FAILED


def _observe_idle(session: Session, tracker: Tracker) -> None:
    """Records the GPU metrics of the server without a model, unless the checkpoint has them."""
    settings, state = session.job.settings, session.state
    serving, monitors = session.bench.serving, settings.monitors
    if not (serving.gpus.devices and monitors.idle_s and settings.observes_idle):
        if state.newest is None:
            log.info("Profiling server only metrics... left out: no GPU to observe")
        return
    if set(state.profile.server_only) == {device.uuid for device in serving.gpus.devices}:
        return
    if not isinstance(serving.server, TritonServer):
        log.info("Profiling server only metrics... left out: no server without a model here")
        return
    log.info("Profiling server only metrics...")
    tracker.phase(Phase.OBSERVING_IDLE_SERVER)
    with serving.gpus.monitor(monitors.interval_s) as monitor:
        serving.server.rest(monitors.idle_s)
    state.record_server_only(monitor.observation.gpus)


def _measure(session: Session, caller: Caller) -> bool:
    """Runs the search of every subject; returns False if the run was interrupted."""
    settings, state, subjects = session.job.settings, session.state, session.bench.subjects
    slots = session.bench.executor.slots
    estimate = partial(time_left, settings=settings, slots=Counter(slot.kind for slot in slots))
    caller.tracker.searches(subjects, estimate)
    groups = by_name(subjects)
    for placed in groups:  # also for subjects that an interrupted run does not reach
        subject = placed[0]
        state.record_search(
            subject.name,
            search_settings(settings, group_members(subject.name)),
            subject.goal,
            subject.bases,
            [each.setup.kind for each in placed],
        )
    if session.bench.shared:
        caller.tracker.phase(Phase.TESTING_SLOTS)
        examine_shared_hosts(
            session.bench.shared,
            groups[0],
            session.bench.executor,
            state,
            is_stopping=lambda: caller.interrupts.requested,
        )
    for index, placed in enumerate(groups):
        if caller.interrupts.requested:
            return False
        caller.tracker.model_started(index, slots)
        _search(placed, session, caller)
        state.save(is_last=False)
    return not caller.interrupts.requested


def _search(placed: Sequence[Subject], session: Session, caller: Caller) -> None:
    """Runs the search for a subject, on all kinds of hardware at the same time."""
    settings, state = session.job.settings, session.state
    complete = _priced(session).efficiency.of_outcome
    names = VariantNames.known(state.profile.variants)
    searches = {
        each.lane: CompletedSearch(choose(each, settings.search, names), complete)
        for each in placed
    }
    events = measure_all(
        searches,
        session.bench.executor,
        state,
        is_stopping=lambda: caller.interrupts.requested,
    )
    for event in events:
        if isinstance(event, TrialFinished):
            event = replace(event, outcome=complete(event.trial, event.outcome))
        caller.tracker.tell(event)
        if isinstance(event, TrialFinished):
            for work in event.trial.workloads:
                session.bench.output.write(work.variant)
    caller.tracker.model_finished()
    for lane, search in searches.items():
        if search.conclusion is not None:
            state.record_conclusion(lane, search.conclusion)


def _priced(session: Session) -> Profile:
    """Everything recorded so far, with the prices of the run."""
    return replace(session.state.profile, prices=session.job.prices)


def _deliver(session: Session, *, is_complete: bool) -> Delivery:
    """Ranks the measurements, and writes the answers."""
    settings, state = session.job.settings, session.state
    facts = session.bench.serving.facts
    profile = _priced(session)
    return deliver(
        profile,
        None if settings.checkpoint.disabled else state.newest,
        [
            ranking
            for placed in by_name(session.bench.subjects)
            for ranking in _rankings(placed, profile)
        ],
        settings,
        session.place.export,
        originals={
            **originals_of(profile),
            **{name: model.config for name, model in facts.items()},
        },
        complete=is_complete,
        searched={subject.setup.kind for subject in session.bench.subjects},
    )


def _rankings(placed: Sequence[Subject], profile: Profile) -> Sequence[Ranking]:
    """The rankings of a subject: under the circumstances of this run on its kinds of hardware, and
    under the same on the others in the checkpoint.
    """
    subject = placed[0]
    conditions = tuple(model.conditions for model in subject.models)
    of_run = [Circumstances(setup=each.setup.identity, conditions=conditions) for each in placed]
    alike = Intended(setup=subject.setup, conditions=conditions)
    return rank(
        profile,
        subject.name,
        subject.goal,
        circumstances=[*of_run, alike],
        bases=subject.bases,
    )
