# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A run that measures: its caller, and what it needs before its first trial."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Protocol

from model_analyzer.app.bench.bench import Bench, set_up
from model_analyzer.app.bench.cluster import is_on_cluster, set_up_slots
from model_analyzer.app.bench.devices import Devices
from model_analyzer.app.bench.job import Job
from model_analyzer.app.bench.preflight import preflight
from model_analyzer.app.bench.programs import provide_programs
from model_analyzer.app.bench.remote_slots import has_several_servers, set_up_servers
from model_analyzer.app.bench.repository import fetched_for_user
from model_analyzer.app.bench.serving import Serving, make_server, serve
from model_analyzer.app.bench.workplace import Workplace, claim_output, prepare
from model_analyzer.app.conceal import Conceal, conceal_error
from model_analyzer.app.delivery.answer import Delivery
from model_analyzer.app.delivery.files import check_installed
from model_analyzer.app.ports import Interrupts, Questions
from model_analyzer.app.progress.events import Phase
from model_analyzer.app.progress.tracker import Tracker
from model_analyzer.app.resume import log_changed_secrets, open_state, settle_differences
from model_analyzer.config.resolve import described, search_settings
from model_analyzer.domain.groups import group_members, group_name
from model_analyzer.domain.settings import ProfileSettings
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.errors import ModelAnalyzerError
from model_analyzer.runner.host import core_count, describe_host
from model_analyzer.search.plan import Subject
from model_analyzer.state.mismatch import Run
from model_analyzer.state.profile_state import ProfileState

log = logging.getLogger(__name__)


class Audience(Protocol):
    """Shows the output of a run."""

    def print(self, text: str) -> None:
        """Shows output of perf_analyzer."""

    def deliver(self, delivery: Delivery) -> None:
        """Shows the answers, once their files are written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Whoever runs it, and may interrupt it or be asked. `conceal` masks secrets."""

    interrupts: Interrupts
    ask: Questions
    tracker: Tracker
    audience: Audience
    conceal: Conceal


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A run that can begin."""

    job: Job
    place: Workplace
    bench: Bench
    state: ProfileState


def followed(job: Job, caller: Caller, run: Callable[[Job, Caller], int]) -> int:
    """Runs it with everything around: settings in the log, and the end of the progress; the exit
    status.
    """
    for line in described(job.settings):
        log.debug("%s", line)
    for remark in job.remarks:
        log.warning("%s", remark)
    with closing(caller.tracker):
        try:
            status = run(job, caller)
        except ModelAnalyzerError as error:
            conceal_error(error, caller.conceal)
            caller.tracker.run_finished(error.exit_status)
            raise
        caller.tracker.run_finished(status)
    return status


def prepare_session(
    job: Job, caller: Caller, stack: ExitStack, *, is_search: bool = True
) -> Session:
    """Runs all checks, the cheapest first, and starts the server. `is_search` also compares the
    search settings with those of the checkpoint.
    """
    settings = job.settings
    if not settings.export.skip_summary:
        check_installed(settings.export.formats)
    if settings.repository.url is not None:
        with ExitStack() as before:  # what is known before a download, which may take long
            preflight(job, before).raise_any()
    job = fetched_for_user(job, stack)
    checked = preflight(job, stack)
    for warning in checked.warnings:
        log.warning("%s", warning)
    checked.raise_any()
    if settings.server.installs_runtime:
        provide_programs(settings, job.environment)
    devices = checked.devices
    place = prepare(job, checked, stack)
    state = open_state(
        settings.checkpoint,
        place.work,
        stack,
        ask=caller.ask,
        impatience=caller.interrupts.further,
    )
    bench = _make_bench(job, devices, place, caller, stack)
    state.fold()  # slots of a killed run end before new ones start on their hosts
    searches = _searches(settings, bench.serving.subjects) if is_search else {}
    _resume(job, state, place, bench.serving, devices.setups, searches, caller)
    return Session(job=job, place=place, bench=bench, state=state)


def _make_bench(
    job: Job, devices: Devices, place: Workplace, caller: Caller, stack: ExitStack
) -> Bench:
    """Starts the server, or the slots: of a cluster, or of several remote servers."""
    interruptible = caller.interrupts.interruptible
    has_slots = is_on_cluster(job) or has_several_servers(job)
    server = None if has_slots else make_server(job, devices, place, stack)
    caller.tracker.run_started([group_name(names) for names in job.settings.subjects])
    caller.tracker.phase(Phase.STARTING_SERVER)
    if server is None:
        claim_output(job.settings, stack)
        if is_on_cluster(job):
            return set_up_slots(job, devices, place, stack, interruptible=interruptible)
        return set_up_servers(
            job,
            devices,
            place,
            stack,
            conceal=caller.conceal,
            show=caller.audience.print,
            interruptible=interruptible,
        )
    serving = serve(job, devices, place, server)
    claim_output(job.settings, stack)
    return set_up(
        job,
        place,
        serving,
        server,
        conceal=caller.conceal,
        show=caller.audience.print,
        interruptible=interruptible,
    )


def _resume(
    job: Job,
    state: ProfileState,
    place: Workplace,
    serving: Serving,
    setups: Mapping[str, ServerSetup],
    searches: Mapping[str, Mapping[str, str]],
    caller: Caller,
) -> None:
    """Compares this machine with the machine of the checkpoint, and records it."""
    settings = job.settings
    run = Run(
        machines=serving.machines,
        ignores_gpus=settings.monitors.ignore_gpus,
        server=serving.description,
        models=serving.facts.values(),
        searches=searches,
    )
    with caller.tracker.paused():  # it may ask
        settle_differences(state, run, settings.checkpoint, caller.ask)
    log_changed_secrets(state, setups)
    perf_analyzer = place.perf_analyzer
    state.describe(
        devices=serving.gpus.devices,
        host={
            **describe_host(),
            "Server": serving.description,
            "perf_analyzer": f"{perf_analyzer.version} ({perf_analyzer.path})",
            "Protocol": settings.server.protocol.value,
        },
        cores=core_count(),
    )


def _searches(
    settings: ProfileSettings, subjects: Sequence[Subject]
) -> Mapping[str, Mapping[str, str]]:
    """The search settings of each subject, by name."""
    return {
        subject.name: search_settings(settings, group_members(subject.name)) for subject in subjects
    }
