# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Checks whether a run would work on this machine, and says what to change if not."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path

from model_analyzer.app.bench.devices import (
    Devices,
    Job,
    devices_of,
    installs_load_generator,
    installs_server,
    launcher,
    local_gpus,
)
from model_analyzer.app.bench.searched_subjects import (
    fetched_for_user,
    ineffective,
    infeasible,
    read_models,
    repository_facts,
)
from model_analyzer.app.bench.workplace import (
    check_variants_directory,
    left_out_formats,
    missing_packages,
    without_gpus,
)
from model_analyzer.app.conceal import Conceal, concealing
from model_analyzer.app.starter import STARTER
from model_analyzer.config.given_options import GivenOptions, OptionOrigin
from model_analyzer.config.nodes import Entry, Node
from model_analyzer.config.options import options_of
from model_analyzer.config.table import DOCTOR
from model_analyzer.domain.models import ModelFacts, kind_of_group
from model_analyzer.domain.settings import (
    LaunchMode,
    ModelSettings,
    ProfileSettings,
    Protocol,
    ServerRestart,
    ServerSettings,
)
from model_analyzer.domain.trials import LoadKind
from model_analyzer.errors import ConfigError, ModelAnalyzerError, Problem, RepositoryError
from model_analyzer.features.doctor import machine_checks, model_checks, program_checks
from model_analyzer.features.doctor.findings import Finding, Level, ok, problem, warning
from model_analyzer.runner.client.connect import access_flags
from model_analyzer.runner.gpus import VISIBLE_DEVICES, TritonMetrics
from model_analyzer.runner.host import read_destination
from model_analyzer.runner.install import Platform
from model_analyzer.runner.repository import ModelRepository, model_names, stage
from model_analyzer.runner.runtime import Program, installed_runtime
from model_analyzer.runner.server.endpoints import each_server, remote_endpoints
from model_analyzer.runner.server.life import Launcher
from model_analyzer.runner.server.local import LocalLauncher
from model_analyzer.runner.server.log import ServerLog
from model_analyzer.runner.server.remote import RemoteLauncher
from model_analyzer.runner.server.triton import TritonServer
from model_analyzer.runner.timings import Timings
from model_analyzer.runner.workspace import Workspace
from model_analyzer.search.plan import SearchedModel
from model_analyzer.search.variants import groups_with

# The doctor waits less for a model to load than a run does by default.
_LOAD_S = 60
_USUAL_LOAD_S = 600

_FIX_FILES = "correct the file or name in the message, or leave the model out"

Findings = Iterator[Finding]


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """What to examine: a run, with the origins of its options; and whether models are loaded.
    `unfetched` are problems of a model repository with a URL. `of_slot` tells that this machine
    only measures: it neither searches nor writes reports.
    """

    job: Job
    origins: Sequence[OptionOrigin]
    with_models: bool
    unfetched: Sequence[Problem] = ()
    of_slot: bool = False

    @classmethod
    def of(
        cls,
        options: GivenOptions,
        environment: Mapping[str, str],
        timings: Timings | None,
        *,
        with_models: bool,
        stack: ExitStack | None = None,
    ) -> Examination:
        """That of the run, or of all models in the repository if the options name none. With a
        `stack`, the repository of a URL is fetched, and kept until the stack closes.
        """
        job = Job.of(options.profile(DOCTOR), environment, timings)
        unfetched: Sequence[Problem] = ()
        if stack is not None:
            try:
                job = fetched_for_user(job, stack)
            except ConfigError as error:
                unfetched = error.problems
        repository = job.settings.repository
        if repository.path is not None and not job.settings.models:
            where = str(repository.path)
            names = [Entry(name, where, Node(None, where)) for name in model_names(repository.path)]
            if names:
                every = Entry("profile_models", where, Node(tuple(names), where, is_mapping=True))
                given = [*options.command_line, every]
                resolved = replace(options, command_line=given).profile(DOCTOR)
                settings = replace(resolved.settings, repository=repository)
                job = replace(job, settings=settings, places=resolved.places)
        return cls(
            job=job,
            origins=options.origins(options_of(DOCTOR)),
            with_models=with_models,
            unfetched=unfetched,
        )


def examine(examination: Examination) -> Iterator[tuple[str, Finding]]:
    """Every finding with its subject, as soon as it is known, without secrets."""
    conceal = concealing(examination.job.settings)
    with Workspace() as work:
        for subject, finding in _Doctor(examination, work).examine():
            yield subject, _concealed(finding, conceal)


def examine_slot(job: Job) -> Iterator[tuple[str, Finding]]:
    """Every finding about a slot of this run on this machine. Models are not loaded."""
    return examine(Examination(job=job, origins=(), with_models=False, of_slot=True))


def _concealed(finding: Finding, conceal: Conceal) -> Finding:
    return replace(
        finding,
        found=conceal(finding.found),
        fix=conceal(finding.fix),
        details=tuple(map(conceal, finding.details)),
    )


class _Doctor:
    """One examination. `work` is a directory for what it needs on the way."""

    def __init__(self, examination: Examination, work: Path) -> None:
        self._examination = examination
        self._job = examination.job
        self._settings = self._job.settings
        self._environment = self._job.environment
        self._work = work
        self._server: Program | None = None
        self._load: Program | None = None
        self._models_python_works = True
        self._known = read_models(self._settings, self._job.places)

    def examine(self) -> Iterator[tuple[str, Finding]]:
        """Every finding with its subject; the quickest checks come first."""
        subjects: Mapping[str, Callable[[], Findings]] = {
            "Options": self._options,
            "Machine": self._machine,
            "Storage": self._storage,
            "Network": self._network,
            "GPUs": self._gpus,
            "Programs": self._programs,
            "Server and models": self._models,
        }
        for subject, check in subjects.items():
            for finding in check():
                yield subject, finding

    def _options(self) -> Findings:
        variables = [origin for origin in self._examination.origins if origin.is_variable]
        for origin in variables:
            yield ok(origin.where, f"{origin.text}{origin.replaced}")
        for remark in self._job.remarks:
            yield warning("option", remark, "change or remove it, unless that is what you want")
        judged = [*self._judged()]
        yield from judged
        has_problem = any(finding.level is Level.PROBLEM for finding in judged)
        if self._settings.config_file is not None:
            if not has_problem:
                yield ok("file", f"{self._settings.config_file} is valid")
        elif not variables:
            yield ok("defaults", "no file and no variables")

    def _judged(self) -> Findings:
        """Options that the models or the machine cannot satisfy."""
        facts, places = self._known.facts, self._job.places
        problems = [*infeasible(self._settings, facts, places)]
        warnings: list[Problem] = []
        if not self._examination.of_slot:
            problems += missing_packages(self._settings, places)
            warnings += left_out_formats(self._settings, places)
        with ExitStack() as stack:
            if not _devices(self._job, stack).present:
                refused, cautions = without_gpus(self._settings, facts, places)
                problems += refused
                warnings += cautions
        for error in (*self._examination.unfetched, *problems):
            fix = error.hint or f"change {error.where}"
            yield problem("option", f"{error.where}: {error.message}", fix)
        for remark in () if problems else ineffective(self._settings, facts):
            yield warning("option", remark, "correct it, unless that is what you want")
        for caution in warnings:
            fix = caution.hint or f"change {caution.where}"
            yield warning("option", f"{caution.where}: {caution.message}", fix)
        for name, error in self._known.broken.items():
            text = f"{error.where}: {error.message}"
            yield problem(f"model {name}", text, _FIX_FILES)

    def _machine(self) -> Findings:
        here, path = Platform.of_here(), self._settings.load_generator.path
        has_program = here.unfit is None or bool(
            program_checks.check_load_generator(path, self._environment)[1]
        )
        yield machine_checks.judge_platform(here, has_program=has_program)
        yield machine_checks.judge_load(machine_checks.read_load())
        yield machine_checks.judge_memory(machine_checks.read_memory())
        yield from machine_checks.check_group()
        yield machine_checks.judge_ulimits(
            machine_checks.read_ulimits(), connections=_connections(self._settings)
        )
        yield machine_checks.judge_governors(machine_checks.read_governors())
        if _needs_time_of_day(self._settings):
            yield machine_checks.judge_time_of_day(machine_checks.read_synchronised())

    def _storage(self) -> Findings:
        yield machine_checks.judge_shared_memory(machine_checks.read_shared_memory())
        settings = self._settings
        repository, url = settings.repository.path, settings.repository.url
        if url is not None and not self._examination.unfetched:
            yield machine_checks.check_store(url, self._environment)
        models = [model.name for model in settings.models]
        needed = (
            machine_checks.size_mib([repository / name for name in models]) if repository else 0.0
        )
        if repository is not None:
            yield machine_checks.check_readable("model repository", repository, models or None)
        places = [("export path", "--export-path", settings.export.path, 0.0)]
        if not settings.checkpoint.disabled:
            directory = settings.checkpoint.directory
            places.append(("checkpoints", "--checkpoint-directory", directory, 0.0))
        output = settings.repository.output
        in_the_way = _in_the_way(settings, repository)
        if models and in_the_way is not None:
            yield in_the_way
        else:
            places.append(("variants", "--output-model-repository-path", output, needed))
        places.append(("temporary files", "TMPDIR", self._work, 0.0))
        for name, option, path, mib in places:
            yield machine_checks.judge_place(name, option, read_destination(path), needed_mib=mib)

    @cached_property
    def _ports(self) -> Sequence[Finding]:
        """Of our own server, or one finding for each remote server."""
        return [*program_checks.check_ports(self._settings.server)]

    def _network(self) -> Findings:
        yield from self._ports
        yield program_checks.check_docker(
            self._environment,
            image=self._settings.docker.image,
            is_needed=self._settings.server.launch is LaunchMode.DOCKER,
        )

    def _gpus(self) -> Findings:
        if self._settings.monitors.ignore_gpus:
            yield ok("GPUs", "discovery is disabled (dcgm_disable)")
            return
        if self._settings.server.launch is LaunchMode.REMOTE:
            yield from self._served_gpus()
            return
        variable = self._environment.get(VISIBLE_DEVICES)
        yield from machine_checks.check_gpus(self._settings.monitors.gpus, variable)

    def _programs(self) -> Findings:
        environment = self._environment
        finding, self._server = program_checks.check_server(
            self._settings.server, environment, self._work / "library"
        )
        yield (
            program_checks.to_be_installed(finding) if installs_server(self._settings) else finding
        )
        finding, self._load = program_checks.check_load_generator(
            self._settings.load_generator.path, environment
        )
        yield (
            program_checks.to_be_installed(finding)
            if installs_load_generator(self._settings)
            else finding
        )
        if self._server is not None:
            runtime = installed_runtime(environment)
            python = program_checks.check_models_interpreter(self._server, runtime, environment)
            if python is not None:
                self._models_python_works = python.level is Level.OK
                yield python

    def _models(self) -> Findings:
        if not self._examination.with_models:
            yield ok("models", "not loaded (--no-models)")
            return
        if self._server is not None and self._models_python_works:
            yield from self._tiny_model(self._server)
        if not self._settings.models or self._examination.unfetched:
            return
        mode = self._settings.server.launch
        if mode is LaunchMode.REMOTE:
            yield from self._remote_models()
        elif mode is LaunchMode.C_API:
            yield ok("models", f"not loaded in launch mode {mode.value}: a run checks it")
        elif mode is LaunchMode.DOCKER or (self._server and self._models_python_works):
            yield from self._own_models()
        elif self._server is None and installs_server(self._settings):
            yield ok("models", "not loaded: the run installs the server first (runtime_install)")

    def _tiny_model(self, program: Program) -> Findings:
        repository = ModelRepository(STARTER / "model_repository")
        facts = repository.facts("add_sub")
        settings = replace(
            _tried(self._settings.server),
            protocol=Protocol.GRPC,
            restart=ServerRestart.AUTO,
        )
        staged = stage(repository, [facts], self._work / "tiny")
        start = LocalLauncher(program, settings, staged)
        with self._triton(start, settings, ServerLog(self._work / "tiny.log")) as server:
            worked = True
            for finding in model_checks.check_tiny_model(server, facts):
                worked = finding.level is Level.OK
                yield finding
            if worked and self._load is not None:
                protocol = self._settings.server.protocol
                yield model_checks.check_measuring(self._load, server, facts, protocol, self._work)

    def _triton(self, start: Launcher, settings: ServerSettings, log: ServerLog) -> TritonServer:
        return TritonServer(start, settings, log, settles=False, timings=self._job.timings)

    def _own_models(self) -> Findings:
        """The models of the run, each with its server flags and variables."""
        path = self._settings.repository.path
        assert path is not None, "only a remote server may have models of its own"
        settings = replace(self._settings, server=_tried(self._settings.server))
        with ExitStack() as stack:
            devices = _devices(replace(self._job, settings=settings), stack)
            environment = {**self._environment, **devices.for_cuda}
            log = ServerLog(self._work / "server.log")
            log.path.write_bytes(b"")
            if self._known.repository is not None:
                return  # reported under "Options"
            repository = ModelRepository(path)
            facts: dict[str, ModelFacts] = {}
            for name, setup in devices.setups.items():
                if name in self._known.broken:
                    continue
                try:
                    facts |= repository_facts(
                        settings,
                        replace(devices, setups={name: setup}),
                        environment,
                        repository,
                        log,
                        self._work / name,
                    )
                except ModelAnalyzerError as error:
                    yield problem(f"model {name}", str(error), _FIX_FILES)
            if not facts:
                return
            if self._server is not None:
                parts = {part.name: part for model in facts.values() for part in model.with_parts()}
                yield from program_checks.check_packages(path, list(parts.values()), self._server)
            yield from self._loads(settings, devices, environment, repository, facts, log)

    def _loads(
        self,
        settings: ProfileSettings,
        devices: Devices,
        environment: Mapping[str, str],
        repository: ModelRepository,
        facts: Mapping[str, ModelFacts],
        log: ServerLog,
    ) -> Findings:
        staged = stage(repository, facts.values(), self._work / "models")
        requests = self._first_requests(settings)
        try:
            start = launcher(settings, devices, environment, staged)
        except ModelAnalyzerError as error:
            yield problem("models", str(error), "first fix the problems of the programs above")
            return
        with self._triton(start, settings.server, log) as server:
            for name, fact in facts.items():
                yield model_checks.check_model(server, fact, devices.setups[name], requests[name])

    def _first_requests(self, settings: ProfileSettings) -> Mapping[str, model_checks.FirstRequest]:
        """The first request of each model. Options that are wrong are reported already, and
        genai-perf makes requests that perf_analyzer alone does not know.
        """

        def is_wrong(model: ModelSettings) -> bool:
            alone = replace(settings, models=(model,))
            return any(infeasible(alone, self._known.facts, self._job.places))

        return {
            model.name: model_checks.FirstRequest(
                program=None if model.genai_perf_flags or is_wrong(model) else self._load,
                settings=settings.load_generator,
                protocol=settings.server.protocol,
                flags=model.perf_analyzer_flags,
                batch_size=min(model.batch_sizes),
                work_directory=self._work,
                user_directory=Path.cwd(),
            )
            for model in settings.models
        }

    def _remote_models(self) -> Findings:
        """Each remote server, which is left as it is, with the models of the run. Where nothing
        listens, that is a finding of the network, and no server is waited for.
        """
        servers = each_server(self._settings.server)
        for of_one, listening in zip(servers, self._ports, strict=True):
            if listening.level is Level.PROBLEM:
                continue
            settings = replace(self._settings, server=of_one)
            with ExitStack() as stack:
                job = replace(self._job, settings=settings)
                setups = _devices(job, stack).setups
                log = ServerLog(self._work / "none")
                with self._triton(RemoteLauncher(of_one), of_one, log) as server:
                    yield from model_checks.check_served(
                        server,
                        setups,
                        self._first_requests(settings),
                        loads=not of_one.reload_disable,
                    )

    def _served_gpus(self) -> Findings:
        """The GPUs that each remote server reports."""
        settings = self._settings
        on_gpus = [
            model.name
            for model in settings.models
            if not (model.parameters or settings.search.disable)
            and _may_use_gpus(model, self._known.facts.get(model.name))
        ]
        for of_one in each_server(settings.server):
            metrics_url = remote_endpoints(of_one).metrics_url
            flags = settings.models[0].perf_analyzer_flags if settings.models else {}
            devices = TritonMetrics(metrics_url, access_flags(flags)).gpus()
            chosen = [gpu.device for gpu in devices]
            yield model_checks.judge_served_gpus(chosen, on_gpus)


def _may_use_gpus(model: ModelSettings, facts: ModelFacts | None) -> bool:
    """Whether an automatic search places instances of the model, or of one that it calls, on GPUs;
    if the model is not known, it may.
    """
    if facts is None:
        return not model.cpu_only
    varied = SearchedModel(facts=facts, settings=model).varied.values()
    groups = [groups_with(part, 1) for part in varied if not part.facts.is_ensemble]
    return any(kind_of_group(group) == "GPU" for group in chain.from_iterable(groups))


def _in_the_way(settings: ProfileSettings, repository: Path | None) -> Finding | None:
    """The problem that keeps a run from creating the directory of its variants, if any."""
    can_be_read = repository is not None and repository.is_dir() and os.access(repository, os.R_OK)
    try:
        check_variants_directory(settings, repository if can_be_read else None)
    except RepositoryError as error:
        hint = error.hint or "choose another --output-model-repository-path"
        return problem("variants", error.message, hint)
    return None


def _tried(settings: ServerSettings) -> ServerSettings:
    """The server settings with free ports, since other checks examine the given ports; with less
    time to load a model, unless the user gave a time.
    """
    is_usual = settings.load_timeout_s == _USUAL_LOAD_S
    return replace(
        settings,
        http_endpoints=(),
        grpc_endpoints=(),
        metrics_urls=(),
        load_timeout_s=_LOAD_S if is_usual else settings.load_timeout_s,
    )


def _devices(job: Job, stack: ExitStack) -> Devices:
    """The GPUs of the run; none if the options name a GPU that does not exist, which another check
    reports.
    """
    try:
        gpus = local_gpus(job.settings, job.environment, stack)
    except ConfigError:
        gpus = None
    return devices_of(job, gpus)


def _needs_time_of_day(settings: ProfileSettings) -> bool:
    """Whether the run checks certificates or compares times with other machines."""
    return (
        settings.server.launch is LaunchMode.REMOTE
        or settings.checkpoint.storage is not None
        or any(access_flags(model.perf_analyzer_flags) for model in settings.models)
    )


def _connections(settings: ProfileSettings) -> int:
    """The number of connections of perf_analyzer: over HTTP, one for each request in flight."""
    if settings.server.protocol is not Protocol.HTTP:
        return 0
    listed = chain.from_iterable(
        model.loads for model in settings.models if model.load_kind is LoadKind.CONCURRENCY
    )
    return max(listed, default=settings.search.max_concurrency)
