# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer profile`: settings → objects → loop → files."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from model_analyzer.cli.console import View, plain_table
from model_analyzer.cli.export import (
    configuration_difference,
    origin_of,
    write_best,
    write_detail,
    write_error_log,
    write_results,
    write_summary,
)
from model_analyzer.cli.gpus import local_gpus, served_gpus
from model_analyzer.cli.signals import Interrupts
from model_analyzer.domain.goals import Goal
from model_analyzer.domain.metrics import Source
from model_analyzer.domain.models import ModelFacts, VariantNames
from model_analyzer.domain.protocols import Monitor
from model_analyzer.domain.settings import ModelSettings, ProfileSettings
from model_analyzer.domain.trials import ServerSetup, Trial
from model_analyzer.errors import EXIT_OK, EXIT_RUN_FAILED, Interrupted, OutputError
from model_analyzer.profiling import TrialFinished, profile
from model_analyzer.reports.build import build_summary
from model_analyzer.reports.tables import (
    Table,
    answer_table,
    gpu_table,
    inference_table,
    server_table,
)
from model_analyzer.reports.write import ExportDirectory
from model_analyzer.results.ranking import Ranking, rank
from model_analyzer.results.selection import top, top_with_default
from model_analyzer.runner.gpus import VISIBLE_DEVICES, cuda_environment
from model_analyzer.runner.host import describe_host
from model_analyzer.runner.load.command import named_files
from model_analyzer.runner.load.perf_analyzer import PerfAnalyzer
from model_analyzer.runner.monitors.cpu import CpuMonitor
from model_analyzer.runner.monitors.gpu import ObservedGpus
from model_analyzer.runner.repository import (
    ModelRepository,
    OutputRepository,
    create_output,
    fingerprint_files,
    prepare_output,
    stage,
)
from model_analyzer.runner.runtime import (
    check_models_python,
    find_perf_analyzer,
    find_tritonserver,
)
from model_analyzer.runner.server.local import LocalLauncher
from model_analyzer.runner.server.log import ServerLog
from model_analyzer.runner.server.triton import TritonServer
from model_analyzer.runner.trial_runner import TrialRunner
from model_analyzer.runner.workspace import Workspace
from model_analyzer.search.choose import choose
from model_analyzer.search.plan import SearchedModel, Subject
from model_analyzer.state.profile_state import ProfileState

log = logging.getLogger(__name__)


def run(settings: ProfileSettings, remarks: Sequence[str], verbosity: int) -> int:
    """Profiles all models and writes what came of it; the exit status."""
    view = View(verbosity)
    interrupts = Interrupts(view.say)
    interrupts.install()
    for remark in remarks:
        log.warning("%s", remark)
    with ExitStack() as stack:
        stack.enter_context(view)
        with interrupts.interruptible():
            session = _prepare(settings, interrupts, stack)
            _observe_idle(session)
        try:
            complete = _measure(session, interrupts, view)
            view.end()
            with interrupts.interruptible():
                session.server.begin_stop()
                rankings = _rankings(session)
                _write(session, rankings, view, complete=complete, verbosity=verbosity)
                session.server.stop()
        except Interrupted:
            session.state.save()
            return EXIT_RUN_FAILED
    if interrupts.requested or not all(ranking.results for ranking in rankings):
        return EXIT_RUN_FAILED
    return EXIT_OK


@dataclass(frozen=True, slots=True, kw_only=True)
class _Session:
    """The objects of a run."""

    settings: ProfileSettings
    models: tuple[ModelSettings, ...]
    facts: Mapping[str, ModelFacts]
    setups: Mapping[str, ServerSetup]
    server: TritonServer
    gpus: ObservedGpus
    runner: TrialRunner
    output: OutputRepository
    state: ProfileState
    export: ExportDirectory
    # identity of each variant that this run came across, by name
    visited: dict[str, str] = field(default_factory=dict)


def _prepare(settings: ProfileSettings, interrupts: Interrupts, stack: ExitStack) -> _Session:
    """Checks everything that can be checked, in the order of cost, and starts the server."""
    environment = dict(os.environ)
    assert settings.repository.path is not None, "only mode local is built"
    repository = ModelRepository(settings.repository.path)
    facts = {model.name: repository.facts(model.name) for model in settings.models}
    prepare_output(
        settings.repository.output,
        override=settings.repository.override_output,
        kept=[
            ("the model repository", settings.repository.path),
            ("the checkpoint directory", settings.checkpoint.directory),
            ("the export directory", settings.export.path),
            ("the current directory", Path.cwd()),
        ],
    )
    export = ExportDirectory(settings.export.path)
    local = local_gpus(settings, environment, stack)
    for_cuda = cuda_environment(local.devices if local else (), settings.monitors.gpus)
    environment |= for_cuda
    if for_cuda and any(VISIBLE_DEVICES in model.server_environment for model in settings.models):
        log.warning("%s of the server is chosen by --gpus: yours is left out", VISIBLE_DEVICES)
    triton = find_tritonserver(settings.server.path, environment)
    check_models_python(triton, environment)
    perf_analyzer = find_perf_analyzer(settings.load_generator.path, environment)
    state = stack.enter_context(
        ProfileState(settings.checkpoint.directory, retry_failed=settings.checkpoint.retry_failed)
    )

    work = stack.enter_context(Workspace())
    staged = stage(repository, facts.values(), work / "models")
    server = stack.enter_context(
        TritonServer(
            LocalLauncher(triton, settings.server, staged),
            settings.server,
            ServerLog(_server_log(settings.server.log, work)),
            settles=settings.monitors.cpu or bool(for_cuda.get(VISIBLE_DEVICES)),
            renews=bool(for_cuda.get(VISIBLE_DEVICES)),
        )
    )
    setups = {
        model.name: ServerSetup(
            launch="local",
            protocol=settings.server.protocol.value,
            flags={
                "metrics-interval-ms": max(1, round(settings.monitors.interval_s * 1000)),
                **model.server_flags,
            },
            environment={
                name: value
                for name, value in model.server_environment.items()
                if name not in for_cuda
            },
        )
        for model in settings.models
    }
    version = server.version(setups[settings.models[0].name])
    gpus = local or served_gpus(settings, server.metrics_url)
    if not settings.monitors.ignore_gpus:
        state.check_devices(gpus.devices)
    create_output(settings.repository.output)
    state.describe(
        devices=gpus.devices,
        host={
            **describe_host(),
            "Server": f"Triton {version} ({triton.path})",
            "perf_analyzer": f"{perf_analyzer.version} ({perf_analyzer.path})",
            "Protocol": settings.server.protocol.value,
        },
    )
    output = OutputRepository(settings.repository.output, repository)
    load_generator = PerfAnalyzer(
        perf_analyzer,
        settings.load_generator,
        settings.server.protocol,
        work_directory=work,
        user_directory=Path.cwd(),
    )

    # without a GPU, searching GPU instances would find nothing
    models = tuple(
        replace(model, cpu_only=model.cpu_only or not gpus.devices) for model in settings.models
    )
    cpu_only = {model.name for model in models if model.cpu_only}
    # what one variant costs can only be held against what all others cost
    observes_all = settings.monitors.always_gpus or any(
        model.goal.needs(Source.GPU) for model in models
    )

    def monitors(trial: Trial) -> Iterator[Monitor]:
        if settings.monitors.cpu:
            yield CpuMonitor(server.processes, settings.monitors.interval_s)
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
    )
    uuids = tuple(sorted(device.uuid for device in gpus.devices))
    return _Session(
        settings=settings,
        models=models,
        facts=facts,
        setups={
            name: replace(setup, version=version, devices=uuids) for name, setup in setups.items()
        },
        server=server,
        gpus=gpus,
        runner=runner,
        output=output,
        state=state,
        export=export,
    )


def _observe_idle(session: _Session) -> None:
    """Keeps what the server costs without a model, unless it is known for these GPUs."""
    monitors, state = session.settings.monitors, session.state
    is_wanted = monitors.always_gpus or not all(model.cpu_only for model in session.models)
    if not (session.gpus.devices and monitors.idle_s and is_wanted):
        if state.newest is None:
            log.info("Profiling server only metrics... left out: no GPU to observe")
        return
    if set(state.profile.server_only) == {device.uuid for device in session.gpus.devices}:
        return
    log.info("Profiling server only metrics...")
    with session.gpus.monitor(monitors.interval_s) as monitor:
        session.server.rest(monitors.idle_s)
    state.record_server_only(monitor.observation.gpus)


def _measure(session: _Session, interrupts: Interrupts, view: View) -> bool:
    """Runs the search of every model; whether all of them came to their end."""
    settings = session.settings
    for model in session.models:
        if interrupts.requested:
            return False
        searched = SearchedModel(
            facts=session.facts[model.name],
            settings=model,
            inputs=_inputs(model),
            composing=settings.composing,
        )
        subject = Subject(models=(searched,), setup=session.setups[model.name])
        names = VariantNames.known(session.state.profile.variants)
        search = choose(subject, settings.search, names, best=settings.export.best)
        view.begin(model.name, search.most_trials, subject.goal)
        for event in profile(search, session.runner, session.state):
            view.show(event)
            if isinstance(event, TrialFinished):
                for work in event.trial.workloads:
                    session.visited[work.variant.name] = work.variant.identity
                    session.output.write(work.variant)
            if interrupts.requested:
                break
        session.state.save()
    return not interrupts.requested


def _inputs(model: ModelSettings) -> str:
    """A fingerprint of the files that the model's perf_analyzer flags name."""
    prints = [
        fingerprint_files(Path.cwd() / path) for _, path in named_files(model.perf_analyzer_flags)
    ]
    return ",".join(prints)


def _server_log(given: Path | None, work: Path) -> Path:
    """The server's log file, empty: its lines of this run are what counts."""
    path = given or work / "server.log"
    try:
        path.write_bytes(b"")
    except OSError as error:
        raise OutputError(
            f"cannot write {path}: {error.strerror}; check --triton-output-path"
        ) from error
    return path


def _rankings(session: _Session) -> Sequence[Ranking]:
    return [
        rank(
            session.state.profile,
            model.name,
            Goal(models=(model.goal,)),
            setup=session.setups[model.name].identity,
            files=session.facts[model.name].files,
            current=session.visited,
        )
        for model in session.models
    ]


def _tables(session: _Session, rankings: Sequence[Ranking]) -> Sequence[tuple[str, str, Table]]:
    """Title, file name and table of all that have rows."""
    settings, profile = session.settings.export, session.state.profile
    gpus = len(profile.devices)
    always = session.settings.monitors.always_gpus
    inference = inference_table(rankings, settings.inference_fields, gpus=gpus)
    of_gpus = gpu_table(rankings, settings.gpu_fields, gpus=gpus, always=always)
    server_only = server_table(profile.server_only, settings.server_fields)
    tables = (
        ("Models (Inference)", settings.inference_file, inference),
        ("Models (GPU Metrics)", settings.gpu_file, of_gpus),
        ("Server Only", settings.server_file, server_only),
    )
    return [found for found in tables if found[2].rows]


def _write(
    session: _Session,
    rankings: Sequence[Ranking],
    view: View,
    *,
    complete: bool,
    verbosity: int,
) -> None:
    """Tables, reports and configurations to deploy; then the answer on the screen."""
    settings = session.settings.export
    always_gpus = session.settings.monitors.always_gpus
    origin = origin_of(session.state.profile, session.state.newest)
    tables = _tables(session, rankings)
    measured = sum(len(ranking.results) for ranking in rankings)
    log.info(
        "Profile complete. Profiled %d configurations for models: %s",
        measured,
        [ranking.model for ranking in rankings],
    )
    summaries = []
    for ranking in rankings:
        difference = configuration_difference(ranking)
        summary = build_summary(
            ranking,
            best=settings.best,
            origin=origin,
            difference=difference,
            complete=complete,
            always_gpus=always_gpus,
        )
        summaries.append(summary)
        write_best(session.export, ranking, difference)
    paths = []
    if not settings.skip_summary:
        for _, name, table in tables:
            paths.append(session.export.write(table.to_csv(), "results", name))
        paths.append(write_results(session.export, rankings, origin))
        paths += [write_summary(session.export, summary) for summary in summaries]
        if not settings.skip_detailed:
            for ranking in rankings:
                for result in top(ranking, settings.best):
                    write_detail(session.export, result, origin, always_gpus=always_gpus)
    error_log = write_error_log(session.export, rankings)
    if verbosity > 0:
        for title, _, table in tables:
            for line in plain_table(title, table):
                view.print(line)
    for ranking, summary in zip(rankings, summaries, strict=True):
        shown = top_with_default(ranking, settings.best)
        view.answer(summary.sentence, answer_table(shown, ranking, gpus=len(origin.devices)))
        for remark in summary.remarks:
            log.warning("%s", remark)
    if error_log:
        log.warning("Some trials failed: see %s", error_log)
    for path in paths:
        view.print(f"wrote {path}")
