# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Stage 3, the workplace: directories to write to, programs to start, and complete models."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from model_analyzer.app.bench.job import Job
from model_analyzer.app.bench.models import repository_facts
from model_analyzer.app.bench.preflight import Preflight
from model_analyzer.app.bench.searched_subjects import searched_subjects
from model_analyzer.config.places import Places
from model_analyzer.domain.models import ModelFacts, empty
from model_analyzer.domain.settings import LaunchMode, ModelType, ProfileSettings
from model_analyzer.errors import Problem, RepositoryError, RepositoryInUse, unwritable, wrong
from model_analyzer.reports.write import ExportDirectory
from model_analyzer.runner.gpus import VISIBLE_DEVICES
from model_analyzer.runner.load.command import named_files
from model_analyzer.runner.output_directory import create_output, held, prepare_output
from model_analyzer.runner.process import ReadyGuard
from model_analyzer.runner.repository import ModelRepository, check_apart
from model_analyzer.runner.runtime import Program, find_genai_perf, find_perf_analyzer
from model_analyzer.runner.server.log import ServerLog
from model_analyzer.runner.versions import OPENAI_FROM, is_before
from model_analyzer.runner.workspace import Workspace
from model_analyzer.search.plan import Subject
from model_analyzer.writing import empty_output

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workplace:
    """The directories, programs and models of a run.

    `work` is a temporary directory, and `guards` has a guard ready for the next perf_analyzer.
    `environment` is for the programs that the run starts. If only the server knows the models,
    `repository` is None, and `facts` and `subjects` are empty.
    """

    work: Path
    guards: ReadyGuard
    environment: Mapping[str, str]
    repository: ModelRepository | None
    server_log: ServerLog
    facts: Mapping[str, ModelFacts]
    subjects: Sequence[Subject]
    export: ExportDirectory
    perf_analyzer: Program
    genai_perf: Program | None


def prepare(job: Job, checked: Preflight, stack: ExitStack) -> Workplace:
    """Prepares the workplace, with the cheapest checks first. It starts a server only to complete
    model configurations.
    """
    settings = job.settings
    path = None if settings.server.reload_disable else settings.repository.path
    repository = ModelRepository(path) if path is not None else None
    work = stack.enter_context(Workspace())
    for_cuda = checked.devices.for_cuda
    environment = {**job.environment, **for_cuda}
    if for_cuda and any(VISIBLE_DEVICES in model.server_environment for model in settings.models):
        log.warning("%s of the server is set from --gpus: your value is ignored", VISIBLE_DEVICES)
    server_log = ServerLog(create_log(settings, work))
    facts: Mapping[str, ModelFacts] = empty()
    subjects: Sequence[Subject] = ()
    if repository is not None:
        facts = repository_facts(
            settings, checked.devices, environment, repository, server_log, work
        )
        subjects = searched_subjects(settings, facts, job.places)
    check_variants_directory(settings, None if repository is None else repository.path)
    export = ExportDirectory(settings.export.path)
    perf_analyzer = find_perf_analyzer(settings.load_generator.path, environment)
    if settings.server.is_openai and is_before(perf_analyzer.version, OPENAI_FROM):
        raise wrong(
            job.places.for_all("endpoint"),
            f"perf_analyzer {perf_analyzer.version} cannot measure OpenAI's API: {OPENAI_FROM} and"
            " newer can",
            "`model-analyzer runtime install`, or choose another with --perf-analyzer-path",
        )
    return Workplace(
        work=work,
        guards=stack.enter_context(ReadyGuard()),
        environment=environment,
        repository=repository,
        server_log=server_log,
        facts=facts,
        subjects=subjects,
        export=export,
        perf_analyzer=perf_analyzer,
        genai_perf=_genai_perf(settings, perf_analyzer),
    )


def create_log(settings: ProfileSettings, work: Path) -> Path:
    """The path of the server's log, emptied for this run. A remote server has none: then the path
    does not exist. Raises OutputError if the log cannot be written.
    """
    if settings.server.launch is LaunchMode.REMOTE:
        return work / "none"
    path = work / "server.log"
    if settings.server.log is not None and settings.server.launch is not LaunchMode.C_API:
        path = settings.server.log
    try:
        empty_output(path)
    except OSError as error:
        raise unwritable(path, error, "--triton-output-path") from error
    return path


def claim_output(settings: ProfileSettings, stack: ExitStack) -> None:
    """Creates the directory of the variants, and locks it until the `stack` closes."""
    create_output(
        settings.repository.output,
        override=settings.repository.override_output,
        spared=_spared(settings),
    )
    stack.enter_context(held(settings.repository.output))


def check_variants_directory(settings: ProfileSettings, repository: Path | None) -> None:
    """Raises RepositoryError if the directory of the variants cannot be created."""
    protected = [
        *([("the model repository", repository)] if repository is not None else []),
        ("the current directory", Path.cwd()),
        *_named_files(settings),
    ]
    output = settings.repository.output
    override = settings.repository.override_output
    prepare_output(output, override=override, protected=protected, spared=_spared(settings))
    if repository is not None:
        check_apart(output, repository)


def unusable_output(settings: ProfileSettings, places: Places) -> Iterator[Problem]:
    """The problem that keeps a run from creating the directory of its variants, if any. A run that
    uses it now is none: it will end.
    """
    repository = settings.repository.path
    is_read = not settings.server.reload_disable and repository is not None and repository.is_dir()
    try:
        check_variants_directory(settings, repository if is_read else None)
    except RepositoryInUse:
        return
    except RepositoryError as error:
        place = places.for_all("output_model_repository_path")
        yield Problem(where=place, message=error.message, hint=error.hint)


def _spared(settings: ProfileSettings) -> Sequence[tuple[str, Path]]:
    """Directories that are never removed, even inside the directory of the variants."""
    return (
        ("the checkpoint directory", settings.checkpoint.directory),
        ("the export directory", settings.export.path),
    )


def _named_files(settings: ProfileSettings) -> Iterator[tuple[str, Path]]:
    """Files that the user named, each with its description."""
    for description, path in (
        ("the configuration file", settings.config_file),
        ("the server's log", settings.server.log),
        ("perf_analyzer's output", settings.load_generator.output),
    ):
        if path is not None:
            yield description, path
    for model in settings.models:
        for flag, name in named_files(model.perf_analyzer_flags):
            yield f"the {flag} of {model.name}", Path.cwd() / name
        if model.traffic is not None and model.traffic.log:
            yield f"the log of {model.name}", Path.cwd() / model.traffic.log


def _genai_perf(settings: ProfileSettings, perf_analyzer: Program) -> Program | None:
    """genai-perf, if the run measures a language model with it; otherwise None."""
    is_wanted = any(model.genai_perf_flags for model in settings.models)
    if settings.load_generator.model_type is not ModelType.LLM or not is_wanted:
        return None
    program = find_genai_perf(perf_analyzer)
    if program is None or settings.server.launch is LaunchMode.C_API:
        reason = "is not installed" if program is None else "cannot measure in launch mode c_api"
        log.warning("genai-perf %s: token metrics come from perf_analyzer", reason)
        return None
    return program
