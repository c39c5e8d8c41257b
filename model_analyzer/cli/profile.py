# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer profile`: settings → objects → loop → files."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
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
from model_analyzer.domain.protocols import Server
from model_analyzer.domain.settings import (
    LaunchMode,
    ModelSettings,
    ModelType,
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
from model_analyzer.runner.completion import Completion
from model_analyzer.runner.host import describe_host
from model_analyzer.runner.load.command import named_files
from model_analyzer.runner.load.feasible import impossible
from model_analyzer.runner.load.perf_analyzer import PerfAnalyzer
from model_analyzer.runner.load.transcript import Transcript
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
    Program,
    check_models_python,
    find_genai_perf,
    find_perf_analyzer,
    find_server_library,
    find_tritonserver,
)
from model_analyzer.runner.server.c_api import EmbeddedServer
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
            session = _prepare(settings, interrupts, view, stack)
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
    server: Server
    runner: TrialRunner
    output: OutputRepository
    state: ProfileState
    export: ExportDirectory
    # identity of each variant that this run came across, by name
    visited: dict[str, str] = field(default_factory=dict)


def _prepare(
    settings: ProfileSettings, interrupts: Interrupts, view: View, stack: ExitStack
) -> _Session:
    """Checks everything that can be checked, in the order of cost, and starts the server."""
    environment = dict(os.environ)
    assert settings.repository.path is not None, "only modes local and c_api are built"
    repository = ModelRepository(settings.repository.path)
    work = stack.enter_context(Workspace())
    server_log = ServerLog(_server_log(settings.server, work))
    gpus = find_devices()
    setups = {
        model.name: ServerSetup(
            launch=settings.server.launch.value,
            protocol=settings.server.protocol.value,
            devices=tuple(sorted(gpu.uuid for gpu in gpus)),
            flags=model.server_flags,
            environment=model.server_environment,
        )
        for model in settings.models
    }
    completion = Completion(
        repository,
        lambda staged: LocalLauncher(
            find_tritonserver(settings.server.path, environment), settings.server, staged
        ),
        settings.server,
        server_log,
        work / "completion",
    )
    facts = {
        name: repository.facts(name, complete=partial(completion.complete, setup=setup))
        for name, setup in setups.items()
    }
    _check_feasible(settings, facts)
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
    perf_analyzer = find_perf_analyzer(settings.load_generator.path, environment)
    genai_perf = _genai_perf(settings, perf_analyzer)
    state = stack.enter_context(
        ProfileState(settings.checkpoint.directory, retry_failed=settings.checkpoint.retry_failed)
    )

    server = _server(settings, repository, facts, server_log, work, stack)
    version = server.version(setups[settings.models[0].name])
    create_output(settings.repository.output)
    state.describe(
        devices=gpus,
        host={
            **describe_host(),
            "Server": f"Triton {version} ({server.description})",
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
        genai_perf=genai_perf,
        transcript=_transcript(settings, view),
    )

    def monitor() -> CpuMonitor:
        watched = server if isinstance(server, TritonServer) else load_generator
        return CpuMonitor(watched.processes, settings.monitors.interval_s)

    runner = TrialRunner(
        server,
        load_generator,
        output,
        monitor=monitor if settings.monitors.cpu else None,
        interruptible=interrupts.interruptible,
    )
    return _Session(
        settings=settings,
        # without a GPU, searching GPU instances would find nothing
        models=tuple(
            replace(
                model,
                cpu_only=model.cpu_only or not gpus,
                genai_perf_flags=model.genai_perf_flags if genai_perf is not None else {},
            )
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


def _server(
    settings: ProfileSettings,
    repository: ModelRepository,
    facts: Mapping[str, ModelFacts],
    server_log: ServerLog,
    work: Path,
    stack: ExitStack,
) -> TritonServer | EmbeddedServer:
    """What serves the variants, as the launch mode says."""
    environment = dict(os.environ)
    match settings.server.launch:
        case LaunchMode.LOCAL:
            triton = find_tritonserver(settings.server.path, environment)
            check_models_python(triton, environment)
            staged = stage(repository, facts.values(), work / "models")
            launcher = LocalLauncher(triton, settings.server, staged)
            return stack.enter_context(
                TritonServer(launcher, settings.server, server_log, settles=settings.monitors.cpu)
            )
        case LaunchMode.C_API:
            library = find_server_library(
                settings.server.install_path, environment, work / "library"
            )
            check_models_python(library, environment)
            return EmbeddedServer(library, settings.server, repository, work / "models")
        case mode:
            raise ConfigError(
                Problem(where="triton_launch_mode", what=f"{mode.value} is not available yet")
            )


def _check_feasible(settings: ProfileSettings, facts: Mapping[str, ModelFacts]) -> None:
    problems = [
        problem
        for model in settings.models
        for problem in impossible(
            model,
            facts[model.name],
            search=settings.search,
            server=settings.server,
            user_directory=Path.cwd(),
        )
    ]
    if problems:
        raise ConfigError(*problems)


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


def _transcript(settings: ProfileSettings, view: View) -> Callable[[str], None] | None:
    """Where the output of perf_analyzer goes, if anywhere."""
    if not settings.load_generator.keep_output:
        return None
    path = settings.load_generator.output
    return view.print if path is None else Transcript(path).add


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
            times_tokens=settings.load_generator.model_type is ModelType.LLM,
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


def _server_log(settings: ServerSettings, work: Path) -> Path:
    """The server's log file, empty: its lines of this run are what counts."""
    path = settings.log or work / "server.log"
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
