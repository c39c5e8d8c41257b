# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer profile`: settings → objects → loop → files."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
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
from model_analyzer.cli.signals import Interrupts
from model_analyzer.domain.goals import Goal
from model_analyzer.domain.models import ModelFacts, VariantNames
from model_analyzer.domain.settings import (
    LaunchMode,
    ModelSettings,
    ProfileSettings,
    ServerSettings,
)
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.errors import (
    EXIT_OK,
    EXIT_RUN_FAILED,
    ConfigError,
    Interrupted,
    OutputError,
    Problem,
)
from model_analyzer.profiling import TrialFinished, profile
from model_analyzer.reports.build import build_summary
from model_analyzer.reports.tables import answer_table, inference_table
from model_analyzer.reports.write import ExportDirectory
from model_analyzer.results.ranking import Ranking, rank
from model_analyzer.results.selection import top, top_with_default
from model_analyzer.runner.client.tls import access_flags
from model_analyzer.runner.host import describe_host
from model_analyzer.runner.load.command import named_files
from model_analyzer.runner.load.perf_analyzer import PerfAnalyzer
from model_analyzer.runner.monitors.cpu import CpuMonitor
from model_analyzer.runner.monitors.gpu import devices as find_devices
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
from model_analyzer.runner.served_models import other_models, served_facts
from model_analyzer.runner.server.local import LocalLauncher
from model_analyzer.runner.server.log import ServerLog
from model_analyzer.runner.server.remote import RemoteLauncher, remote_devices
from model_analyzer.runner.server.triton import Launcher, TritonServer
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
    runner: TrialRunner
    output: OutputRepository
    state: ProfileState
    export: ExportDirectory
    # identity of each variant that this run came across, by name
    visited: dict[str, str] = field(default_factory=dict)


def _prepare(settings: ProfileSettings, interrupts: Interrupts, stack: ExitStack) -> _Session:
    """Checks everything that can be checked, in the order of cost, and starts the server."""
    environment = dict(os.environ)
    is_remote = settings.server.launch is LaunchMode.REMOTE
    path = None if settings.server.reload_disable else settings.repository.path
    repository = ModelRepository(path) if path is not None else None
    facts: Mapping[str, ModelFacts] = {
        model.name: repository.facts(model.name) for model in settings.models if repository
    }
    prepare_output(
        settings.repository.output,
        override=settings.repository.override_output,
        kept=[
            *([("the model repository", path)] if path is not None else []),
            ("the checkpoint directory", settings.checkpoint.directory),
            ("the export directory", settings.export.path),
            ("the current directory", Path.cwd()),
        ],
    )
    export = ExportDirectory(settings.export.path)
    work = stack.enter_context(Workspace())
    launcher = _launcher(settings.server, repository, facts.values(), work)
    perf_analyzer = find_perf_analyzer(settings.load_generator.path, environment)
    state = stack.enter_context(
        ProfileState(settings.checkpoint.directory, retry_failed=settings.checkpoint.retry_failed)
    )
    access = {model.name: access_flags(model.perf_analyzer_flags) for model in settings.models}
    first = settings.models[0].name
    gpus = remote_devices(settings.server, access[first]) if is_remote else find_devices()
    server = stack.enter_context(
        TritonServer(
            launcher,
            settings.server,
            ServerLog(work / "none" if is_remote else _server_log(settings.server.log, work)),
            settles=settings.monitors.cpu,
        )
    )
    setups = {
        model.name: ServerSetup(
            launch=settings.server.launch.value,
            protocol=settings.server.protocol.value,
            devices=tuple(sorted(gpu.uuid for gpu in gpus)),
            flags={} if is_remote else model.server_flags,
            environment={} if is_remote else model.server_environment,
            access=access[model.name],
        )
        for model in settings.models
    }
    version = server.version(setups[first])
    if repository is None:
        facts = _served_facts(settings, server, setups)
    if is_remote:
        others = other_models(server.client(setups[first]), facts.values())
        if others:
            log.warning("The server has other models loaded: %s", ", ".join(others))
    create_output(settings.repository.output)
    state.describe(
        devices=gpus,
        host={
            **describe_host(),
            "Server": f"Triton {version} ({launcher.description})",
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
    )

    def monitor() -> CpuMonitor:
        return CpuMonitor(server.processes, settings.monitors.interval_s)

    runner = TrialRunner(
        server,
        load_generator,
        output,
        monitor=monitor if settings.monitors.cpu and not is_remote else None,
        interruptible=interrupts.interruptible,
    )
    return _Session(
        settings=settings,
        # without a GPU, searching GPU instances would find nothing; a remote server may have some
        models=tuple(
            replace(model, cpu_only=model.cpu_only or not (gpus or is_remote))
            for model in settings.models
        ),
        facts=facts,
        setups={name: replace(setup, version=version) for name, setup in setups.items()},
        server=server,
        runner=runner,
        output=output,
        state=state,
        export=export,
    )


def _launcher(
    settings: ServerSettings,
    repository: ModelRepository | None,
    models: Iterable[ModelFacts],
    work: Path,
) -> Launcher:
    """How the server comes to life in this launch mode."""
    match settings.launch:
        case LaunchMode.LOCAL:
            assert repository is not None, "only a remote server may have a repository of its own"
            triton = find_tritonserver(settings.path, os.environ)
            check_models_python(triton, os.environ)
            return LocalLauncher(triton, settings, stage(repository, models, work / "models"))
        case LaunchMode.REMOTE:
            return RemoteLauncher(settings)
        case mode:
            raise ConfigError(
                Problem(
                    where="triton_launch_mode",
                    what=f"mode {mode.value} is not built yet",
                    hint="use local or remote",
                )
            )


def _served_facts(
    settings: ProfileSettings, server: TritonServer, setups: Mapping[str, ServerSetup]
) -> Mapping[str, ModelFacts]:
    """What the models are, from the server, which is left as it was before."""
    facts = {}
    for name, setup in setups.items():
        facts[name] = served_facts(
            server.client(setup), name, timeout_s=settings.server.load_timeout_s
        )
        server.discard()
    return facts


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
    origin = origin_of(session.state.profile, session.state.newest)
    table = inference_table(rankings, settings.inference_fields, gpus=len(origin.devices))
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
            ranking, best=settings.best, origin=origin, difference=difference, complete=complete
        )
        summaries.append(summary)
        write_best(session.export, ranking, difference)
    paths = []
    if not settings.skip_summary:
        if table.rows:
            paths.append(session.export.write(table.to_csv(), "results", settings.inference_file))
        paths.append(write_results(session.export, rankings, origin))
        paths += [write_summary(session.export, summary) for summary in summaries]
        if not settings.skip_detailed:
            for ranking in rankings:
                for result in top(ranking, settings.best):
                    write_detail(session.export, result, origin)
    error_log = write_error_log(session.export, rankings)
    if verbosity > 0:
        for line in plain_table("Models (Inference)", table):
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
