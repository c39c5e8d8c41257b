# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Stage 3, the workplace: directories to write to, programs to start, and complete models; and
stage 4, serving: the running server, and the facts that only it knows.

Detects problems before the first measurement: for `profile`, its dry run, `doctor` and `config
validate`; also optional packages that are not installed.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Protocol

from model_analyzer.app.bench.devices import (
    Devices,
    Job,
    devices_of,
    embedded_server,
    launcher,
    local_gpus,
    served_gpus,
)
from model_analyzer.app.bench.searched_subjects import (
    Models,
    facts_from_server,
    ineffective,
    infeasible,
    read_models,
    repository_facts,
    searched_subjects,
)
from model_analyzer.config.places import Places
from model_analyzer.domain.hardware import Machine, kind_of
from model_analyzer.domain.models import ModelFacts, empty, is_decoupled
from model_analyzer.domain.settings import ExecutorKind, LaunchMode, ModelType, ProfileSettings
from model_analyzer.domain.settings import Protocol as ClientProtocol
from model_analyzer.errors import (
    ConfigError,
    Problem,
    RepositoryError,
    RepositoryInUse,
    unwritable,
    wrong,
)
from model_analyzer.extras import check_extra, install_command
from model_analyzer.reports.libraries import needed_packages, possible
from model_analyzer.reports.write import ExportDirectory
from model_analyzer.runner.file_trees import create_output, held, prepare_output
from model_analyzer.runner.gpus import VISIBLE_DEVICES, ObservedGpus, named_gpus
from model_analyzer.runner.host import read_destination, this_machine
from model_analyzer.runner.load.command import named_files
from model_analyzer.runner.load.feasible import without_any, without_some
from model_analyzer.runner.process import ReadyGuard
from model_analyzer.runner.repository import ModelRepository, check_apart, other_models, stage
from model_analyzer.runner.runtime import Program, executable, find_genai_perf, find_perf_analyzer
from model_analyzer.runner.server.endpoints import remote_endpoints
from model_analyzer.runner.server.life import Launcher, acts_when_unloaded
from model_analyzer.runner.server.local import EmbeddedServer
from model_analyzer.runner.server.log import ServerLog
from model_analyzer.runner.server.triton import TritonServer
from model_analyzer.runner.versions import OPENAI_FROM, described, is_before, named, refusal
from model_analyzer.runner.workspace import Workspace
from model_analyzer.search.plan import Subject
from model_analyzer.writing import empty_output


@dataclass(frozen=True, slots=True, kw_only=True)
class Preflight:
    """The first two stages, their problems, and warnings about variants that will be left out.
    `remarks` are about options without effect: the search says them, too.
    """

    devices: Devices
    models: Models
    problems: Sequence[Problem]
    warnings: Sequence[Problem]
    remarks: Sequence[str]

    def raise_any(self) -> None:
        """Raises ConfigError with all problems, if there are any."""
        if self.problems:
            raise ConfigError(*self.problems)


def preflight(job: Job, stack: ExitStack) -> Preflight:
    """Checks the machine and the model repository; starts no server and writes no file."""
    settings, places = job.settings, job.places
    models = read_models(settings, places)
    problems = [
        *models.problems,
        *infeasible(settings, models.facts, places),
        *_not_writable(settings, places),
        *_missing_programs(job),
        *missing_packages(settings, places),
        *missing_docker_sdk(settings, places),
    ]
    warnings = [*left_out_formats(settings, places)]
    gpus = None
    try:
        gpus = local_gpus(settings, job.environment, stack)
        if not (gpus and gpus.devices):
            refused, cautions = without_gpus(settings, models.facts, places)
            problems += refused
            warnings += cautions
    except ConfigError as error:
        problems += error.problems
    return Preflight(
        devices=devices_of(job, gpus),
        models=models,
        problems=problems,
        warnings=warnings,
        remarks=() if problems else [*ineffective(settings, models.facts)],
    )


def _not_writable(settings: ProfileSettings, places: Places) -> Iterator[Problem]:
    """Problems of the directories that a run writes to."""
    directories = {
        "export_path": settings.export.path,
        "output_model_repository_path": settings.repository.output,
    }
    if not settings.checkpoint.disabled:
        directories["checkpoint_directory"] = settings.checkpoint.directory
    for option, path in directories.items():
        reason = read_destination(path).reason
        if reason:
            yield Problem(
                where=places.for_all(option),
                message=f"{path} cannot be written: {reason}",
                hint=f"check --{option.replace('_', '-')}; a missing directory is created",
            )


def _missing_programs(job: Job) -> Iterator[Problem]:
    """Programs that the user names and that are not here; nodes of a cluster have their own."""
    settings = job.settings
    named = {"perf_analyzer_path": settings.load_generator.path}
    if settings.server.launch is LaunchMode.LOCAL:
        named["triton_server_path"] = settings.server.path
    for option, name in named.items():
        if name is not None and settings.executor.kind is not ExecutorKind.RAY:
            try:
                executable(option, name, job.environment)
            except ConfigError as error:
                for problem in error.problems:
                    yield replace(problem, where=job.places.for_all(option))


def without_gpus(
    settings: ProfileSettings, facts: Mapping[str, ModelFacts], places: Places
) -> tuple[Sequence[Problem], Sequence[Problem]]:
    """Problems and warnings about instances on GPUs, for a machine without GPUs."""
    if settings.server.launch in (LaunchMode.REMOTE, LaunchMode.DOCKER):
        return (), ()  # the machine of the server may have GPUs
    problems: list[Problem] = []
    warnings: list[Problem] = []
    if named := named_gpus(settings.monitors.gpus):
        warnings.append(
            Problem(
                where=places.for_all("gpus"),
                message=f"this machine has no GPU, so none is used: not {', '.join(named)}",
                hint="remove gpus, or run this where they are",
            )
        )
    for model in settings.models:
        if model.name in facts:
            model_facts, place = facts[model.name], partial(places.for_model, model=model.name)
            refused = [*without_any(model, model_facts, search=settings.search, place=place)]
            problems += refused
            if not refused:
                warnings += without_some(model, model_facts, settings.composing, place=place)
    return problems, warnings


def missing_packages(settings: ProfileSettings, places: Places) -> Iterator[Problem]:
    """What this run cannot do without a package, besides the Docker SDK and Ray."""
    for option, value, package, extra, advice in _needed(settings):
        yield from _missing(package, extra, places.for_all(option), value, advice)


def missing_docker_sdk(settings: ProfileSettings, places: Places) -> Iterator[Problem]:
    """That it is missing, if this machine needs it; in a cluster, nodes do."""
    is_cluster = settings.executor.kind is ExecutorKind.RAY
    if settings.server.launch is LaunchMode.DOCKER and not is_cluster:
        where = places.for_all("triton_launch_mode")
        yield from _missing("docker", "docker", where, "launch mode docker")


def _missing(
    package: str, extra: str, where: str, value: str, advice: str = ""
) -> Iterator[Problem]:
    try:
        check_extra(extra)
        import_module(package)
    except ImportError as error:
        message = f"{value} needs the package {package}: {error}"
        yield Problem(where=where, message=message, hint=f"{install_command(extra)}{advice}")


def left_out_formats(settings: ProfileSettings, places: Places) -> Iterator[Problem]:
    """A format that is left out for want of a package, since another one is written anyway."""
    _, reason = possible(settings.export.formats)
    if reason and not settings.export.skip_summary:
        yield Problem(where=places.for_all("output_formats"), message=reason)


def with_possible_formats(settings: ProfileSettings) -> ProfileSettings:
    """The settings without a format that is left out."""
    export = settings.export
    formats, _ = possible(export.formats)
    return replace(settings, export=replace(export, formats=formats))


def _needed(settings: ProfileSettings) -> Iterator[tuple[str, str, str, str, str]]:
    """Option, value, package, its extra, and an alternative."""
    modes = (settings.search.mode, *(model.mode for model in settings.models))
    for mode in dict.fromkeys(filter(None, modes)):
        if mode.facts.package:
            option, value = "run_config_search_mode", f"search mode {mode.value}"
            package = mode.facts.package
            yield option, value, package, package, ", or --search adaptive"
    if not settings.export.skip_summary:
        for form, package in needed_packages(settings.export.formats):
            yield "output_formats", f"format {form}", package, form, ""


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


AnyServer = TritonServer | EmbeddedServer


class EndingServer(Protocol):
    """A server, or the servers of several slots, at the end of a run."""

    @property
    def description(self) -> str:
        """What serves, for people."""

    def begin_stop(self) -> None:
        """Asks the server to end, without waiting for it."""

    def stop(self) -> None:
        """Waits for the server to end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """The server of the run, its GPUs, the machine of each slot, and the subjects to search."""

    server: EndingServer
    version: str
    gpus: ObservedGpus
    machines: tuple[Machine, ...]
    facts: Mapping[str, ModelFacts]
    subjects: tuple[Subject, ...]

    @property
    def description(self) -> str:
        return f"{named(self.version)} ({self.server.description})"


def make_server(job: Job, devices: Devices, place: Workplace, stack: ExitStack) -> AnyServer:
    """The server, not started yet; the `stack` ends it. Raises RuntimeNotFound."""
    settings, repository = job.settings, place.repository
    if settings.server.launch is LaunchMode.C_API:
        assert repository is not None, "only a remote server can use a repository of its own"
        return embedded_server(settings, place.environment, repository, place.work)
    path = repository.path if repository is not None else None
    if repository is not None and settings.server.launch is LaunchMode.LOCAL:
        path = stage(repository, place.facts.values(), place.work / "models")
    return triton_server(
        launcher(settings, devices, place.environment, path), job, devices, place, stack
    )


def triton_server(
    launcher: Launcher, job: Job, devices: Devices, place: Workplace, stack: ExitStack
) -> TritonServer:
    """The server that this launcher starts or reaches; the `stack` ends it."""
    settings = job.settings
    return stack.enter_context(
        TritonServer(
            launcher,
            settings.server,
            place.server_log,
            settles=settings.monitors.cpu or devices.shows_gpus,
            renews=devices.shows_gpus,
            acts=partial(_acts, place),
            timings=job.timings,
        )
    )


def _acts(place: Workplace, name: str) -> bool:
    """Whether a model may do something when it is unloaded."""
    parts = (part for facts in place.facts.values() for part in facts.with_parts())
    config = next((part.config for part in parts if part.name == name), None)
    if place.repository is None or config is None:
        return True
    return acts_when_unloaded(place.repository.path / name, config)


def serve(job: Job, devices: Devices, place: Workplace, server: AnyServer) -> Serving:
    """Starts the server and asks it for facts that the files and the driver did not provide."""
    settings = job.settings
    first = devices.setups[settings.models[0].name]
    version = server.version(first)
    gpus = devices.gpus
    facts, subjects = place.facts, place.subjects
    if isinstance(server, TritonServer):
        gpus = gpus or served_gpus(settings, server.metrics_url, first.access)
        if settings.server.launch is LaunchMode.REMOTE:
            if place.repository is None:
                facts = facts_from_server(settings, server, devices.setups)
                subjects = searched_subjects(settings, facts, job.places)
            not_profiled = other_models(server.client(first), facts.values())
            if not_profiled:
                log.warning("The server has other models loaded: %s", ", ".join(not_profiled))
    check_version(job, version, facts)
    assert gpus is not None, "without a running server, only the driver knows the GPUs"
    return Serving(
        server=server,
        version=version,
        gpus=gpus,
        machines=(machine_of(job, place, gpus),),
        facts=facts,
        subjects=tuple(_placed(subject, devices, version, gpus) for subject in subjects),
    )


def check_version(job: Job, version: str, facts: Mapping[str, ModelFacts]) -> None:
    """Says what a server of this version can do. Raises ConfigError if perf_analyzer cannot measure
    a model on it.
    """
    server = job.settings.server
    if server.is_openai:
        log.info("The server has OpenAI's API: only the load varies, and it has no statistics")
        return
    log.info("%s", described(version))
    is_grpc = server.protocol is ClientProtocol.GRPC and server.launch is not LaunchMode.C_API
    problems = []
    for name, fact in facts.items():
        refused = refusal(version, over_grpc=is_grpc, decoupled=is_decoupled(fact.config))
        if refused is not None:
            why, advice = refused
            problems.append(Problem(where=f"model {name}", message=why, hint=advice))
    if problems:
        raise ConfigError(*problems)


def machine_of(job: Job, place: Workplace, gpus: ObservedGpus) -> Machine:
    """The machine that serves with these GPUs. Of a remote one, only its address is known."""
    server = job.settings.server
    if server.launch is LaunchMode.REMOTE:
        address = remote_endpoints(server).for_protocol(server.protocol)
        return Machine(host=address.as_written, devices=gpus.devices)
    return this_machine(gpus.devices, gpus.driver, place.environment)


def _placed(subject: Subject, devices: Devices, version: str, gpus: ObservedGpus) -> Subject:
    """The subject with its server setup, which is the same for all models of a group."""
    setup = devices.setups[subject.models[0].facts.name]
    placed = replace(
        setup, version=version, devices=kind_of(gpus.devices), uncached=subject.uncached
    )
    return replace(subject, setup=placed)
