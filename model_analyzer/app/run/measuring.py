# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The measurements of a run: its state, its bench, and the searches."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module

from model_analyzer.app.bench.bench import Bench, set_up
from model_analyzer.app.bench.devices import Devices
from model_analyzer.app.bench.job import Job
from model_analyzer.app.bench.serving import Serving, serve
from model_analyzer.app.bench.workplace import Workplace, claim_output
from model_analyzer.app.examine_shared_hosts import examine_shared_hosts
from model_analyzer.app.progress.events import Phase
from model_analyzer.app.progress.tracker import Tracker
from model_analyzer.app.resume import log_changed_secrets, open_state, settle_differences
from model_analyzer.app.run.beginning import Beginning
from model_analyzer.app.run.caller import Caller
from model_analyzer.config.resolve import search_settings
from model_analyzer.domain.costs import with_metered_power
from model_analyzer.domain.models import VariantNames, group_members, group_name
from model_analyzer.domain.profiles import Profile
from model_analyzer.domain.settings import ExecutorKind, ProfileSettings
from model_analyzer.forecast.time_left import time_left
from model_analyzer.profiling.loop import TrialFinished
from model_analyzer.profiling.loop import profile as measure_all
from model_analyzer.runner.host import core_count, describe_host, whole_seconds
from model_analyzer.runner.server.triton import TritonServer
from model_analyzer.search.choose import choose, refused_variants
from model_analyzer.search.plan import Subject, by_name
from model_analyzer.state.mismatch import Run
from model_analyzer.state.profile_state import ProfileState

log = logging.getLogger(__name__)

# The feature behind `--executor ray`, which is imported when a run asks for it.
_CLUSTER = "model_analyzer.features.cluster.cluster_bench"
# And the one that proves the outputs of what is recommended.
_OUTPUTS = "model_analyzer.features.proof.outputs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A run that can measure."""

    job: Job
    devices: Devices
    place: Workplace
    bench: Bench
    state: ProfileState

    @property
    def priced(self) -> Profile:
        """Everything recorded so far, with the prices of the run."""
        return replace(self.state.profile, prices=self.job.prices)


def make_ready(
    beginning: Beginning, caller: Caller, stack: ExitStack, *, is_search: bool = True
) -> Session:
    """Opens the state, and waits for the server or the slots. If it `is_search`, it also compares
    the search settings with those of the checkpoint, and observes the idle server.
    """
    job, place = beginning.job, beginning.place
    state = open_state(
        job.settings.checkpoint,
        place.work,
        stack,
        ask=caller.ask,
        impatience=caller.interrupts.further,
    )
    caller.tracker.run_started([group_name(names) for names in job.settings.subjects])
    caller.tracker.phase(Phase.STARTING_SERVER)
    bench = _make_bench(beginning, caller, stack)
    state.fold()  # slots of a killed run end before new ones start on their hosts
    searches = _searches(bench.serving.subjects, job.settings) if is_search else {}
    _resume(beginning, state, bench.serving, searches, caller)
    session = Session(job=job, devices=beginning.devices, place=place, bench=bench, state=state)
    if is_search:
        _observe_idle(session, caller.tracker)
    return session


def _searches(
    subjects: Sequence[Subject], settings: ProfileSettings
) -> Mapping[str, Mapping[str, str]]:
    """The search settings of each subject, by name."""
    return {
        subject.name: search_settings(settings, group_members(subject.name)) for subject in subjects
    }


def _make_bench(beginning: Beginning, caller: Caller, stack: ExitStack) -> Bench:
    """Waits for the server, or starts the slots: of a cluster, or of several remote servers."""
    job, devices, place = beginning.job, beginning.devices, beginning.place
    interruptible = caller.interrupts.interruptible
    conceal, show = caller.conceal, caller.audience.print
    if beginning.server is not None:
        serving = serve(job, devices, place, beginning.server)
        claim_output(job.settings, stack)
        return set_up(
            job,
            place,
            serving,
            beginning.server,
            conceal=conceal,
            show=show,
            tell=caller.tracker.overdue,
            interruptible=interruptible,
        )
    claim_output(job.settings, stack)
    if job.settings.executor.kind is ExecutorKind.RAY:
        cluster = import_module(_CLUSTER)
        bench: Bench = cluster.set_up_slots(job, devices, place, stack, interruptible=interruptible)
        return bench
    from model_analyzer.app.bench.remote_slots import set_up_servers

    return set_up_servers(
        job, devices, place, stack, conceal=conceal, show=show, interruptible=interruptible
    )


def _resume(
    beginning: Beginning,
    state: ProfileState,
    serving: Serving,
    searches: Mapping[str, Mapping[str, str]],
    caller: Caller,
) -> None:
    """Compares this machine with the machine of the checkpoint, and records it."""
    settings = beginning.job.settings
    run = Run(
        machines=serving.machines,
        ignores_gpus=settings.monitors.ignore_gpus,
        server=serving.description,
        models=serving.facts.values(),
        searches=searches,
    )
    with caller.tracker.paused():  # it may ask
        settle_differences(state, run, settings.checkpoint, caller.ask)
    log_changed_secrets(state, beginning.devices.setups)
    perf_analyzer = beginning.place.perf_analyzer
    state.describe(
        devices=serving.gpus.devices,
        host={
            **describe_host(),
            "Server": serving.description,
            "perf_analyzer": f"{perf_analyzer.version} ({perf_analyzer.path})",
            "Protocol": settings.server.spoken,
        },
        cores=core_count(),
    )


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
    observed = monitor.observation
    state.record_server_only(with_metered_power(observed.gpus, observed.counters))


def measure(session: Session, caller: Caller) -> bool:
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
            refused_variants(subject, settings.search),
        )
    _test_shared_hosts(groups[0], session, caller)
    for index, placed in enumerate(groups):
        if caller.interrupts.requested:
            return False
        caller.tracker.model_started(index, slots)
        _search(placed, session, caller)
        if not caller.interrupts.requested and settings.outputs.get("check", True):
            import_module(_OUTPUTS).check_outputs(session, placed, caller)
        state.save(is_last=False)
    return not caller.interrupts.requested


def _test_shared_hosts(placed: Sequence[Subject], session: Session, caller: Caller) -> None:
    """Tests hosts with several slots with the first subject, on all kinds of hardware."""
    if session.bench.shared:
        caller.tracker.phase(Phase.TESTING_SLOTS)
        examine_shared_hosts(
            session.bench.shared,
            placed,
            session.bench.executor,
            session.state,
            is_stopping=lambda: caller.interrupts.requested,
        )


def _search(placed: Sequence[Subject], session: Session, caller: Caller) -> None:
    """Runs the search for a subject, on all kinds of hardware at the same time."""
    settings, state = session.job.settings, session.state
    profile = session.priced
    complete = profile.completion(placed[0].goal)
    names = VariantNames.known(profile.variants)
    adaptive = settings.search.adaptive
    if not adaptive.counts_earlier_runs:
        adaptive = replace(adaptive, since=whole_seconds())
    chosen = replace(settings.search, adaptive=adaptive)
    searches = {each.lane: choose(each, chosen, names) for each in placed}
    events = measure_all(
        searches,
        session.bench.executor,
        state,
        complete=complete,
        is_stopping=lambda: caller.interrupts.requested,
    )
    for event in events:
        caller.tracker.tell(event)
        if isinstance(event, TrialFinished):
            for work in event.trial.workloads:
                session.bench.output.write(work.variant)
    caller.tracker.model_finished()
    for lane, search in searches.items():
        if search.conclusion is not None:
            state.record_conclusion(lane, search.conclusion)
