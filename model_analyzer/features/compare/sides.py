# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The two servers of a live comparison: as the user names them, then started, or reached where they
run.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path

from model_analyzer.app.bench.devices import Job, provide_programs
from model_analyzer.app.bench.preflight import Preflight, preflight
from model_analyzer.app.bench.searched_subjects import fetched_for_user
from model_analyzer.app.bench.workplace import Workplace, prepare
from model_analyzer.app.run.caller import Caller
from model_analyzer.app.selection import goals_of, measured_subjects
from model_analyzer.config.given_options import GivenOptions
from model_analyzer.domain.goals import GoalOverride
from model_analyzer.domain.models import VariantNames, empty
from model_analyzer.domain.settings import LaunchMode, ProfileSettings
from model_analyzer.domain.trials import Load, LoadKind, Trial
from model_analyzer.domain.words import first_few
from model_analyzer.errors import RepositoryError, ServerError, wrong
from model_analyzer.features.proof.verification import PlainBench, plain_bench, plain_setup
from model_analyzer.results.ranking import rank
from model_analyzer.runner.client.connect import connect
from model_analyzer.runner.file_trees import CONFIG, link_tree, words_of
from model_analyzer.runner.load.child import most_memory_of_each
from model_analyzer.runner.monitors.usage import read_resources
from model_analyzer.runner.repository import LAYOUT, ModelRepository, model_names, stage
from model_analyzer.runner.server.endpoints import remote_endpoints
from model_analyzer.runner.server.triton import TritonServer
from model_analyzer.runner.timings import Timings
from model_analyzer.runner.versions import is_before
from model_analyzer.runner.workspace import Workspace
from model_analyzer.search.plan import Subject
from model_analyzer.state.checkpoint import Checkpoint

log = logging.getLogger(__name__)

# The options of a run with these flags, for these models.
Options = Callable[[Mapping[str, str], str], GivenOptions]

# The length of a round: of longer ones there are too few in minutes, and in shorter ones the start
# of perf_analyzer takes most of the time.
_ROUND_S = 2.0
_MOST_AT_ONCE = 64  # requests, unless the user asks for more
_BYTES_PER_MB = 1e6

_VERSION = "triton:"
_ALL = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A side with its name. Its `configurations`, a directory with MODEL/config.pbtxt, replace
    those of the model repository.
    """

    name: str
    job: Job
    configurations: Path | None = None


def targets(
    texts: Sequence[str], options: Options, models: Sequence[str], timings: Timings | None
) -> Iterator[Target]:
    """Each is a URL, a directory, or `triton:VERSION`. Without `models`, they have all that are
    there. Raises ConfigError or ServerError.
    """
    schemes = {text.partition("://")[0] for text in texts if "://" in text}
    if "grpc" in schemes and len(schemes) > 1:
        raise wrong("--live", "compare both servers over the same protocol: gRPC or HTTP")
    protocol = {"--client-protocol": "http"} if schemes - {"grpc"} else {}
    for text in texts:
        configurations, names = None, [*models]
        if "://" in text:
            flags = _of_url(text)
        elif text.startswith(_VERSION):
            flags = {"--runtime-version": text.removeprefix(_VERSION)}
        elif os.path.isdir(directory := os.path.expanduser(text)):
            path = Path(directory)
            names = names or [*model_names(path)]
            is_whole = any(path.glob("*/[0-9]*/"))
            if not is_whole and not any(path.glob(f"*/{CONFIG}")):
                raise wrong("--live", f"{text} has no model: {LAYOUT}")
            flags = {"--model-repository": directory} if is_whole else {}
            configurations = None if is_whole else path
        else:
            raise wrong(
                "--live",
                f"{text!r} is neither a directory, nor a URL such as grpc://host:8001, nor"
                f" {_VERSION}VERSION",
            )
        resolved = options({**flags, **protocol}, ",".join(names) or _ALL).profile()
        settings = resolved.settings
        if settings.server.launch is LaunchMode.REMOTE:
            settings = settings.without_patterns(_served_models(text, settings))
        if models:
            chosen = tuple(model for model in settings.models if model.name in models)
            if not chosen:
                raise wrong(
                    "--model", f"{text} has no model {first_few(models)} among those of the run"
                )
            settings = replace(settings, models=chosen)
        job = Job.of(replace(resolved, settings=settings), os.environ, timings)
        yield Target(name=text, job=job, configurations=configurations)


def loads_of(checkpoint: Checkpoint, asked: GoalOverride) -> Mapping[str, Load]:
    """The load at which each model of a checkpoint is best."""
    names = [*measured_subjects(checkpoint)]
    goals, _ = goals_of(checkpoint, names, asked)
    loads = {}
    for name in names:
        ranking, *_ = rank(checkpoint.profile, name, goals[name])
        load = ranking.results[0].best.trial.workloads[0].load if ranking.results else None
        if load is not None and load.value:  # times in a file have none
            loads[name] = load
    return loads


def _of_url(url: str) -> Mapping[str, str]:
    """The options for a server that runs there, and of which nothing is changed."""
    scheme, _, address = url.partition("://")
    endpoints = {
        "grpc": ("--triton-grpc-endpoint", address),
        "http": ("--triton-http-endpoint", address),
        "https": ("--triton-http-endpoint", url),
    }
    if scheme not in endpoints:
        raise wrong("--live", f"no server is reached by {url!r}: use grpc, http or https")
    return {
        "--triton-launch-mode": "remote",
        "--reload-model-disable": "true",
        **dict([endpoints[scheme]]),
    }


def _served_models(url: str, settings: ProfileSettings) -> Sequence[str]:
    """The models that the server has loaded. Raises ServerError."""
    server, (any_model, *_) = settings.server, settings.models
    flags = any_model.perf_analyzer_flags  # with the access of all
    try:
        with closing(connect(remote_endpoints(server), server.protocol, flags)) as client:
            return [name for name, versions in client.models().items() if versions]
    except ServerError as error:
        raise ServerError(f"{url}: cannot be asked for its models: {error}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSide:
    """A server that serves."""

    name: str
    settings: ProfileSettings
    bench: PlainBench

    @property
    def is_ours(self) -> bool:
        """Whether it was started here."""
        return self.settings.server.launch is not LaunchMode.REMOTE

    @property
    def answers_grpc(self) -> bool:
        """Whether its address for gRPC is known."""
        return self.is_ours or bool(self.settings.server.grpc_endpoints)

    @property
    def models(self) -> Mapping[str, Subject]:
        return {subject.name: subject for subject in self.bench.serving.subjects}

    @property
    def server(self) -> TritonServer:
        return self.bench.server

    @property
    def version(self) -> str:
        return self.bench.serving.version

    def trial(self, model: str, load: Load | None) -> Trial:
        """A round of the configuration that is served. Without a load, there are as many requests
        at once as keep all its instances busy.
        """
        subject = self.models[model]
        (searched,) = subject.models
        variant = VariantNames().default(searched.facts)
        if load is None:
            filling = variant.filling_concurrency(gpus=len(subject.setup.devices))
            load = Load(kind=LoadKind.CONCURRENCY, value=min(filling, _MOST_AT_ONCE))
        work = replace(searched.workload(variant, 1, 1), load=load)
        return Trial(workloads=(work,), setup=subject.setup, round_s=_ROUND_S)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """Both servers. Only one of them runs at a time if they are `alternating`."""

    base: LiveSide
    new: LiveSide
    alternating: bool

    def turn(self, server: TritonServer) -> None:
        """To be called before this server is used."""
        for side in (self.base, self.new) if self.alternating else ():
            if side.server is not server:
                side.server.stop()


def start(base: Target, new: Target, caller: Caller, stack: ExitStack) -> Sides:
    """Starts both servers; the `stack` ends them. Raises ConfigError, RepositoryError or
    ServerError.
    """
    one, two = (_Start.of(target, stack) for target in (base, new))
    # both sides are measured by the same program
    is_older = is_before(one.place.perf_analyzer.version, two.place.perf_analyzer.version)
    program = (two if is_older else one).place.perf_analyzer
    one, two = (
        replace(each, place=replace(each.place, perf_analyzer=program)) for each in (one, two)
    )
    first = one.served(caller, stack)
    needed = read_resources(first.server.processes).memory * _BYTES_PER_MB
    alternating = needed > most_memory_of_each(1)
    if alternating:
        first.server.stop()
    try:
        second = two.served(caller, stack)
    except ServerError as error:
        if alternating or not (one.is_ours and two.is_ours):
            raise
        log.info("NEW does not start beside BASE (%s): trying again without BASE", error)
        first.server.stop()
        second, alternating = two.served(caller, stack), True
    if alternating:
        log.info("There is no memory for two servers: each starts anew for its rounds")
    return Sides(base=first, new=second, alternating=alternating)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Start:
    """What a side needs to start; it writes below `work`."""

    name: str
    job: Job
    checked: Preflight
    place: Workplace
    work: Path

    @classmethod
    def of(cls, target: Target, stack: ExitStack) -> _Start:
        work = stack.enter_context(Workspace())
        job = fetched_for_user(replace(target.job, settings=_settings(target, work)), stack)
        if target.configurations is not None:
            job = _with_configurations(job, target.configurations, work / "repository")
        if job.settings.server.installs_runtime:
            provide_programs(job.settings, job.environment)
        checked = preflight(job, stack)
        checked.raise_any()
        place = prepare(job, checked, stack)
        return cls(name=target.name, job=job, checked=checked, place=place, work=work)

    @property
    def is_ours(self) -> bool:
        return self.job.settings.server.launch is not LaunchMode.REMOTE

    def served(self, caller: Caller, stack: ExitStack) -> LiveSide:
        """Starts the server with all models, or reaches it."""
        devices, repository = self.checked.devices, None
        setup = devices.setups[self.job.settings.models[0].name]
        if self.place.repository is not None:
            facts = self.place.facts.values()
            repository = self.work / "models"
            if not repository.exists():
                stage(ModelRepository(self.place.repository.path), facts, repository)
            parts = {part.name: None for each in facts for part in each.with_parts()}
            setup = plain_setup(setup, [*parts])
        devices = replace(devices, setups=dict.fromkeys(devices.setups, setup))
        log.info("Starting %s" if self.is_ours else "Connecting to %s", self.name)
        bench = plain_bench(
            self.job, devices, self.place, setup, self.work, repository, caller, stack
        )
        return LiveSide(name=self.name, settings=self.job.settings, bench=bench)


def _settings(target: Target, work: Path) -> ProfileSettings:
    """Those of a run that searches nothing and writes only below `work`."""
    settings = target.job.settings
    if settings.server.launch is LaunchMode.C_API:
        raise wrong("--live", "in launch mode c_api there is no server to compare")
    models = [
        replace(
            model,
            mode=None,
            batch_sizes=(1,),
            load_kind=LoadKind.CONCURRENCY,
            loads=(1,),
            traffic=None,
            parameters=empty(),
        )
        for model in settings.models
    ]
    server = settings.server
    if server.launch is not LaunchMode.REMOTE:  # both at free ports
        server = replace(server, http_endpoints=(), grpc_endpoints=(), metrics_urls=(), log=None)
    return replace(
        settings,
        models=tuple(models),
        server=server,
        composing=empty(),
        search=replace(settings.search.without_search, together=False),
        repository=replace(settings.repository, output=work / "output", override_output=False),
        checkpoint=replace(settings.checkpoint, disabled=True),
        export=replace(settings.export, path=work / "results"),
    )


def _with_configurations(job: Job, configurations: Path, target: Path) -> Job:
    """The job with a copy of its model repository, in which these configurations count."""
    source = job.settings.repository.path
    assert source is not None, "the options give a model repository"
    for name in model_names(source):
        link_tree(source / name, target / name)
    for name in model_names(configurations):
        config = target / name / CONFIG
        try:
            text = (configurations / name / CONFIG).read_bytes()
            config.unlink(missing_ok=True)  # a link to that of the user
            config.write_bytes(text)
        except OSError as error:
            raise RepositoryError(
                f"{configurations / name} has no model, and {source / name} with its configuration"
                f" cannot be written: {words_of(error)}: give its files with --model-repository"
            ) from error
    repository = replace(job.settings.repository, source=target)
    return replace(job, settings=replace(job.settings, repository=repository))
