# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer profile`: settings → objects → loop → files."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from model_analyzer.cli.answer import answer
from model_analyzer.cli.conceal import Conceal, conceal_error, concealing
from model_analyzer.cli.console import View
from model_analyzer.cli.export import check_installed, originals_of
from model_analyzer.cli.gpus import served_gpus
from model_analyzer.cli.launch import (
    create_log,
    embedded_server,
    facts_from_server,
    launcher,
    repository_facts,
    server_setups,
    uuids,
)
from model_analyzer.cli.preflight import preflight
from model_analyzer.cli.progress.estimate import time_left
from model_analyzer.cli.progress.events import Phase
from model_analyzer.cli.progress.tracker import Tracker
from model_analyzer.cli.resume import open_state, settle_differences, tell_changed_secrets
from model_analyzer.cli.signals import Interrupts
from model_analyzer.cli.subjects import subjects_of
from model_analyzer.config.resolve import Resolved, described, search_settings
from model_analyzer.domain.metrics import Source
from model_analyzer.domain.models import ModelFacts, VariantNames
from model_analyzer.domain.printable import printable
from model_analyzer.domain.protocols import Monitor
from model_analyzer.domain.settings import (
    LaunchMode,
    ModelType,
    ProfileSettings,
    ProgressMode,
)
from model_analyzer.domain.trials import Trial
from model_analyzer.errors import (
    EXIT_OK,
    EXIT_RUN_FAILED,
    Interrupted,
    ModelAnalyzerError,
)
from model_analyzer.profiling import TrialFinished, profile
from model_analyzer.reports.write import ExportDirectory
from model_analyzer.results.circumstances import Circumstances
from model_analyzer.results.ranking import Ranking, rank
from model_analyzer.runner.gpus import VISIBLE_DEVICES, cuda_environment
from model_analyzer.runner.host import describe_host
from model_analyzer.runner.load.command import named_files
from model_analyzer.runner.load.perf_analyzer import PerfAnalyzer
from model_analyzer.runner.load.transcript import Transcript
from model_analyzer.runner.monitors.cpu import CpuMonitor
from model_analyzer.runner.monitors.gpu import ObservedGpus
from model_analyzer.runner.monitors.neighbours import Neighbours
from model_analyzer.runner.output_directory import create_output, held, prepare_output
from model_analyzer.runner.repository import (
    ModelRepository,
    OutputRepository,
    check_apart,
    stage,
)
from model_analyzer.runner.runtime import (
    Program,
    find_genai_perf,
    find_perf_analyzer,
)
from model_analyzer.runner.served_models import other_models
from model_analyzer.runner.server.c_api import EmbeddedServer
from model_analyzer.runner.server.log import ServerLog
from model_analyzer.runner.server.triton import TritonServer
from model_analyzer.runner.trial_runner import TrialRunner
from model_analyzer.runner.workspace import Workspace
from model_analyzer.search.choose import choose
from model_analyzer.search.plan import Subject
from model_analyzer.state.mismatch import Run
from model_analyzer.state.profile_state import ProfileState

log = logging.getLogger(__name__)


def run(resolved: Resolved[ProfileSettings], verbosity: int) -> int:
    """Profiles all models and writes what came of it; the exit status."""
    mode = resolved.settings.display.progress
    conceal = concealing(resolved.settings)
    view = View(verbosity, on_stderr=mode is ProgressMode.JSON, conceal=conceal)
    interrupts = Interrupts(view.say)
    interrupts.install()
    sink = view.progress(mode, clock=time.monotonic, stopping=lambda: interrupts.requested)
    tracker = Tracker(sink, clock=time.monotonic, hypothetically=view.hypothetically)
    with closing(tracker):
        try:
            status = _run(resolved, interrupts, view, tracker, conceal)
        except ModelAnalyzerError as error:
            conceal_error(error, conceal)
            tracker.run_finished(error.exit_status)
            raise
        tracker.run_finished(status)
    return status


def _run(
    resolved: Resolved[ProfileSettings],
    interrupts: Interrupts,
    view: View,
    tracker: Tracker,
    conceal: Conceal,
) -> int:
    for line in described(resolved.settings):
        log.debug("%s", line)
    for remark in resolved.remarks:
        log.warning("%s", remark)
    with ExitStack() as stack:
        with interrupts.interruptible():
            session = _prepare(resolved, interrupts, view, tracker, conceal, stack)
            _observe_idle(session, tracker)
        try:
            error = None
            try:
                complete = _measure(session, interrupts, tracker)
            except Interrupted:
                raise
            except ModelAnalyzerError as raised:
                # what was measured before it is still worth a report
                error, complete = raised, False
            session.state.save()
            tracker.phase(Phase.REPORTS)
            with interrupts.interruptible():
                session.server.begin_stop()
                rankings = _rankings(session)
                answers = answer(
                    session.state.profile,
                    None if session.settings.checkpoint.disabled else session.state.newest,
                    rankings,
                    session.settings,
                    session.export,
                    view,
                    originals={
                        **originals_of(session.state.profile),
                        **{name: facts.config for name, facts in session.facts.items()},
                    },
                    complete=complete,
                )
                session.server.stop()
            is_cut_short = interrupts.requested  # later ones only end the wait for uploads
        except Interrupted:
            session.state.save()
            return EXIT_RUN_FAILED
    if error is not None:
        raise error
    if is_cut_short or not all(ranking.results for ranking in rankings):
        return EXIT_RUN_FAILED
    if session.settings.export.fail_on_miss and not all(each.is_met for each in answers):
        return EXIT_RUN_FAILED
    return EXIT_OK


@dataclass(frozen=True, slots=True, kw_only=True)
class _Session:
    """The objects of a run."""

    settings: ProfileSettings
    facts: Mapping[str, ModelFacts]
    server: TritonServer | EmbeddedServer
    gpus: ObservedGpus
    runner: TrialRunner
    output: OutputRepository
    state: ProfileState
    export: ExportDirectory
    subjects: tuple[Subject, ...]


def _prepare(
    resolved: Resolved[ProfileSettings],
    interrupts: Interrupts,
    view: View,
    tracker: Tracker,
    conceal: Conceal,
    stack: ExitStack,
) -> _Session:
    """Checks everything that can be checked, in the order of cost, and starts the server."""
    settings, places = resolved.settings, resolved.places
    if not settings.export.skip_summary:
        check_installed(settings.export.formats)
    environment = dict(os.environ)
    mode = settings.server.launch
    is_remote = mode is LaunchMode.REMOTE
    path = None if settings.server.reload_disable else settings.repository.path
    checked = preflight(settings, places, environment, stack)
    for warning in checked.warnings:
        log.warning("%s", warning)
    checked.raise_any()
    repository = ModelRepository(path) if path is not None else None
    work = stack.enter_context(Workspace())
    local = checked.gpus
    for_cuda = cuda_environment(local.devices if local else (), settings.monitors.gpus)
    environment |= for_cuda
    if for_cuda and any(VISIBLE_DEVICES in model.server_environment for model in settings.models):
        log.warning("%s of the server is chosen by --gpus: yours is left out", VISIBLE_DEVICES)
    setups = server_setups(settings, local.devices if local else (), for_cuda)
    server_log = ServerLog(create_log(settings, work))
    facts: Mapping[str, ModelFacts] = {}
    if repository is not None:
        facts = repository_facts(settings, environment, repository, setups, server_log, work)
    subjects = subjects_of(settings, facts, places) if repository else ()
    spared = [
        ("the checkpoint directory", settings.checkpoint.directory),
        ("the export directory", settings.export.path),
    ]
    prepare_output(
        settings.repository.output,
        override=settings.repository.override_output,
        kept=[
            *([("the model repository", path)] if path is not None else []),
            ("the current directory", Path.cwd()),
            *_named_files(settings),
        ],
        spared=spared,
    )
    if repository is not None:
        check_apart(settings.repository.output, repository.path)
    export = ExportDirectory(settings.export.path)
    perf_analyzer = find_perf_analyzer(settings.load_generator.path, environment)
    genai_perf = _genai_perf(settings, perf_analyzer)
    state = open_state(settings.checkpoint, work, stack, impatience=interrupts.further)
    server: TritonServer | EmbeddedServer
    if mode is LaunchMode.C_API:
        assert repository is not None, "only a remote server may have a repository of its own"
        server = embedded_server(settings, environment, repository, work)
    else:
        seen = path
        if repository is not None and mode is LaunchMode.LOCAL:
            seen = stage(repository, facts.values(), work / "models")
        server = stack.enter_context(
            TritonServer(
                launcher(settings, environment, seen),
                settings.server,
                server_log,
                settles=settings.monitors.cpu or bool(for_cuda.get(VISIBLE_DEVICES)),
                renews=bool(for_cuda.get(VISIBLE_DEVICES)),
            )
        )
    first = setups[settings.models[0].name]
    tracker.run_started(_searched(settings))
    tracker.phase(Phase.STARTING_SERVER)
    version = server.version(first)
    if isinstance(server, TritonServer):
        gpus = local or served_gpus(settings, server.metrics_url, first.access)
    else:
        assert local is not None, "where no server runs, nobody but the driver knows GPUs"
        gpus = local
    if isinstance(server, TritonServer) and is_remote:
        if repository is None:
            facts = facts_from_server(settings, server, setups)
            subjects = subjects_of(settings, facts, places)
        others = other_models(server.client(first), facts.values())
        if others:
            log.warning("The server has other models loaded: %s", ", ".join(others))
    create_output(
        settings.repository.output, override=settings.repository.override_output, spared=spared
    )
    stack.enter_context(held(settings.repository.output))
    machine = describe_host()
    served = f"Triton {version} ({server.description})"
    with tracker.paused():  # it may ask
        settle_differences(
            state,
            Run(
                devices=None if settings.monitors.ignore_gpus else gpus.devices,
                host={} if is_remote else machine,
                server=served,
                models=facts.values(),
                searches={
                    subject.name: search_settings(settings, subject.name.split(","))
                    for subject in subjects
                },
            ),
            settings.checkpoint,
        )
    tell_changed_secrets(state, setups)
    state.describe(
        devices=gpus.devices,
        host={
            **machine,
            "Server": served,
            "perf_analyzer": f"{perf_analyzer.version} ({perf_analyzer.path})",
            "Protocol": settings.server.protocol.value,
        },
    )
    output = OutputRepository(settings.repository.output, None if is_remote else repository)
    load_generator = PerfAnalyzer(
        perf_analyzer,
        settings.load_generator,
        settings.server.protocol,
        work_directory=work,
        user_directory=Path.cwd(),
        genai_perf=genai_perf,
        transcript=_transcript(settings, view, conceal),
    )

    # without a GPU, searching GPU instances would find nothing; a remote server may have some
    if not (gpus.devices or is_remote):
        subjects = [subject.without_gpus() for subject in subjects]
    if genai_perf is None:
        subjects = [subject.without_genai_perf() for subject in subjects]
    models = [model.settings for subject in subjects for model in subject.models]
    cpu_only = {model.name for model in models if model.cpu_only}
    # what one variant costs can only be held against what all others cost
    observes_all = settings.monitors.always_gpus or any(
        model.goal.needs(Source.GPU) for model in models
    )

    neighbours = Neighbours()

    def monitors(trial: Trial) -> Iterator[Monitor]:
        # elsewhere, the server's own work could not be told from that of others
        if mode in (LaunchMode.LOCAL, LaunchMode.C_API):
            yield neighbours.during(f"{trial.variants} at {trial.loads}")
        if settings.monitors.cpu and not is_remote:
            watched = server if isinstance(server, TritonServer) else load_generator
            yield CpuMonitor(watched.processes, settings.monitors.interval_s)
        on_gpus = any(
            work.variant.uses_gpus(gpus=len(gpus.devices)) and work.variant.model not in cpu_only
            for work in trial.workloads
        )
        if gpus.devices and (on_gpus or observes_all):
            yield gpus.monitor(settings.monitors.interval_s)

    runner = TrialRunner(
        server,
        load_generator,
        output,
        monitors=monitors,
        interruptible=interrupts.interruptible,
        conceal=conceal,
    )
    return _Session(
        settings=settings,
        facts=facts,
        subjects=tuple(
            replace(
                subject,
                # models that are searched together have the same
                setup=replace(
                    setups[subject.models[0].facts.name],
                    version=version,
                    devices=uuids(gpus.devices),
                ),
            )
            for subject in subjects
        ),
        server=server,
        gpus=gpus,
        runner=runner,
        output=output,
        state=state,
        export=export,
    )


def _genai_perf(settings: ProfileSettings, perf_analyzer: Program) -> Program | None:
    """genai-perf, where a language model is to be measured by it."""
    wanted = any(model.genai_perf_flags for model in settings.models)
    if settings.load_generator.model_type is not ModelType.LLM or not wanted:
        return None
    found = find_genai_perf(perf_analyzer)
    if found is None or settings.server.launch is LaunchMode.C_API:
        reason = "is not installed" if found is None else "cannot measure in launch mode c_api"
        log.warning("genai-perf %s: token metrics come from perf_analyzer", reason)
        return None
    return found


def _transcript(
    settings: ProfileSettings, view: View, conceal: Conceal
) -> Callable[[str], None] | None:
    """Where the output of perf_analyzer goes, if anywhere: without secrets and escapes."""
    if not settings.load_generator.keep_output:
        return None
    path = settings.load_generator.output
    add = view.print if path is None else Transcript(path).add
    return lambda text: add(printable(conceal(text)))


def _searched(settings: ProfileSettings) -> Sequence[str]:
    """The names of what is searched, one after another."""
    names = [model.name for model in settings.models]
    return [",".join(names)] if settings.search.together else names


def _observe_idle(session: _Session, tracker: Tracker) -> None:
    """Keeps what the server costs without a model, unless it is known for these GPUs."""
    monitors, state = session.settings.monitors, session.state
    models = [model.settings for subject in session.subjects for model in subject.models]
    is_wanted = monitors.always_gpus or not all(model.cpu_only for model in models)
    if not (session.gpus.devices and monitors.idle_s and is_wanted):
        if state.newest is None:
            log.info("Profiling server only metrics... left out: no GPU to observe")
        return
    if set(state.profile.server_only) == {device.uuid for device in session.gpus.devices}:
        return
    if not isinstance(session.server, TritonServer):
        log.info("Profiling server only metrics... left out: no server without a model here")
        return
    log.info("Profiling server only metrics...")
    tracker.phase(Phase.OBSERVING_IDLE_SERVER)
    with session.gpus.monitor(monitors.interval_s) as monitor:
        session.server.rest(monitors.idle_s)
    state.record_server_only(monitor.observation.gpus)


def _measure(session: _Session, interrupts: Interrupts, tracker: Tracker) -> bool:
    """Runs the search of every subject; whether all of them came to their end."""
    settings = session.settings
    tracker.searches(session.subjects, partial(time_left, settings=settings))
    for subject in session.subjects:  # also of those that are not reached
        session.state.record_search(
            subject.name,
            search_settings(settings, subject.name.split(",")),
            subject.goal,
            subject.bases,
        )
    for index, subject in enumerate(session.subjects):
        if interrupts.requested:
            return False
        names = VariantNames.known(session.state.profile.variants)
        tracker.model_started(index)
        search = choose(
            subject,
            settings.search,
            settings.quick,
            settings.optuna,
            names,
            best=settings.export.best,
            adaptive=settings.adaptive,
        )
        for event in profile(search, session.runner, session.state):
            tracker.tell(event)
            if isinstance(event, TrialFinished):
                for work in event.trial.workloads:
                    session.output.write(work.variant)
            if interrupts.requested:
                break
        tracker.model_finished()
        if search.conclusion is not None:
            session.state.record_conclusion(subject.name, search.conclusion)
        session.state.save(is_last=False)
    return not interrupts.requested


def _named_files(settings: ProfileSettings) -> Iterator[tuple[str, Path]]:
    """Files that the user named, with what they are."""
    for what, path in (
        ("the configuration file", settings.config_file),
        ("the server's log", settings.server.log),
        ("perf_analyzer's output", settings.load_generator.output),
    ):
        if path is not None:
            yield what, path
    for model in settings.models:
        for flag, name in named_files(model.perf_analyzer_flags):
            yield f"the {flag} of {model.name}", Path.cwd() / name


def _rankings(session: _Session) -> Sequence[Ranking]:
    return [
        rank(
            session.state.profile,
            subject.name,
            subject.goal,
            circumstances=Circumstances(
                setup=subject.setup.identity,
                conditions=tuple(model.conditions for model in subject.models),
            ),
            bases=subject.bases,
        )
        for subject in session.subjects
    ]
