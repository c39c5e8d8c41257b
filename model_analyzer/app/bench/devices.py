# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The input of a run; and stage 1, its GPUs, from the driver, or from the server if there is no
driver, and how the server of each model is set up on them.

The programs of a run on this machine: found before anything else, or installed; and the server of
each launch mode.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from model_analyzer.config.places import Places
from model_analyzer.config.resolve import Resolved
from model_analyzer.config.sources import read_prices
from model_analyzer.domain.costs import Prices
from model_analyzer.domain.flags import CLIENT_SHM, shares_memory
from model_analyzer.domain.hardware import Device, kind_of
from model_analyzer.domain.models import is_pattern, unmatched
from model_analyzer.domain.secrets import Veil
from model_analyzer.domain.settings import LaunchMode, ModelSettings, ProfileSettings
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.domain.words import first_few
from model_analyzer.errors import ConfigError, Problem, RuntimeNotFound, wrong
from model_analyzer.runner.client.connect import access_flags
from model_analyzer.runner.gpus import (
    VISIBLE_DEVICES,
    Nvml,
    ObservedGpus,
    TritonMetrics,
    choose_gpus,
    cuda_environment,
)
from model_analyzer.runner.install import install as install_runtime
from model_analyzer.runner.repository import ModelRepository, model_names
from model_analyzer.runner.repository_copy import RepositoryCopy
from model_analyzer.runner.runtime import (
    Program,
    check_models_python,
    find_perf_analyzer,
    find_server_library,
    find_tritonserver,
    knows_flag,
    with_runtime,
)
from model_analyzer.runner.server.docker import ContainerLauncher, connect
from model_analyzer.runner.server.life import Launcher
from model_analyzer.runner.server.local import EmbeddedServer, LocalLauncher
from model_analyzer.runner.server.remote import RemoteLauncher
from model_analyzer.runner.timings import Timings
from model_analyzer.runner.workspace import Workspace
from model_analyzer.state.own_key import own_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The settings of a run, with remarks about them and where the user gave each; environment
    variables; and how long the runner waits. `fetched` is the copy of a model repository that the
    user has given as a URL; then the settings have its path. `prices` are those of the hardware,
    None if the user gave none.
    """

    settings: ProfileSettings
    places: Places
    environment: Mapping[str, str]
    timings: Timings = field(default_factory=Timings)
    remarks: Sequence[str] = ()
    fetched: RepositoryCopy | None = None
    prices: Prices | None = None

    @classmethod
    def of(
        cls,
        resolved: Resolved[ProfileSettings],
        environment: Mapping[str, str],
        timings: Timings | None = None,
    ) -> Job:
        """The job of these settings; `timings` are the default ones if None. Raises ConfigError if
        the file with prices is not valid, or if a pattern matches no model.
        """
        path = resolved.settings.prices
        return cls(
            settings=with_matching_models(resolved.settings, resolved.places),
            places=resolved.places,
            environment=with_runtime(environment, resolved.settings.server.runtime_version),
            timings=timings or Timings(),
            remarks=resolved.remarks,
            prices=None if path is None else read_prices(path),
        )


def with_matching_models(settings: ProfileSettings, places: Places) -> ProfileSettings:
    """The settings with the models of the repository in place of patterns. If the repository has a
    URL, patterns remain until it is fetched. Raises ConfigError if a pattern matches no model.
    """
    names = [model.name for model in settings.models]
    patterns = [name for name in names if is_pattern(name)]
    path, is_url = settings.repository.path, settings.repository.url is not None
    if not patterns or (is_url and not settings.server.reload_disable):
        return settings
    if path is None or settings.server.reload_disable:
        raise wrong(
            places.for_model("", patterns[0]),
            f"{patterns[0]!r} stands for models of a model repository, but this run reads none",
            "name each model",
        )
    models = model_names(path)
    if not models:
        return settings  # the check of the repository says more
    problems = [
        Problem(
            where=places.for_model("", name),
            message=f"no model of the model repository matches {name!r}",
            hint=f"models there: {first_few(models)}",
        )
        for name in unmatched(patterns, models)
    ]
    if problems:
        raise ConfigError(*problems)
    chosen = settings.without_patterns(models)
    if chosen.bls_calls and len(chosen.models) > 1:
        message = f"bls_composing_models needs exactly one profiled model, not {len(chosen.models)}"
        raise wrong(places.for_all("bls_composing_models"), message)
    return chosen


log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Devices:
    """The GPUs of the run, and the server setup of each model on them.

    `gpus` is None if only the server knows them. `for_cuda` are environment variables that show
    only these GPUs to the server and perf_analyzer. `setups` are by model.
    """

    gpus: ObservedGpus | None
    for_cuda: Mapping[str, str]
    setups: Mapping[str, ServerSetup]

    @property
    def uuids(self) -> tuple[str, ...]:
        """The UUIDs of the GPUs that this machine knows of."""
        return tuple(device.uuid for device in self.present)

    @property
    def present(self) -> tuple[Device, ...]:
        """The GPUs that this machine knows of."""
        return tuple(self.gpus.devices) if self.gpus else ()

    @property
    def shows_gpus(self) -> bool:
        """Whether the server sees any of the chosen GPUs."""
        return bool(self.for_cuda.get(VISIBLE_DEVICES))


def devices_of(job: Job, gpus: ObservedGpus | None) -> Devices:
    """The stage, from the GPUs of this machine."""
    present = gpus.devices if gpus else ()
    for_cuda = cuda_environment(present, job.settings.monitors.gpus)
    return Devices(
        gpus=gpus, for_cuda=for_cuda, setups=server_setups(job.settings, present, for_cuda)
    )


def local_gpus(
    settings: ProfileSettings, environment: Mapping[str, str], stack: ExitStack
) -> ObservedGpus | None:
    """The GPUs of this machine that the run uses; None if only the server knows them. Raises
    ConfigError for a requested GPU that does not exist.
    """
    requested = settings.monitors.gpus
    nvml = Nvml()
    if settings.monitors.ignore_gpus:
        log.info("GPU discovery is disabled: cannot verify that GPU devices match checkpoint")
        return ObservedGpus((), nvml.read, meter=nvml.meter)
    if settings.server.launch is LaunchMode.REMOTE and requested:
        return None
    stack.enter_context(nvml)
    if not nvml.gpus and requested and settings.server.launch is not LaunchMode.C_API:
        return None
    devices = choose_gpus(nvml.gpus, requested, environment.get(VISIBLE_DEVICES))
    return _with_warning(ObservedGpus(devices, nvml.read, nvml.driver, nvml.meter))


def served_gpus(
    settings: ProfileSettings, metrics_url: str, flags: Mapping[str, Any]
) -> ObservedGpus:
    """The requested GPUs that a running server reports. `flags` are perf_analyzer's flags for the
    connection.
    """
    metrics = TritonMetrics(metrics_url, flags)
    devices = choose_gpus(metrics.gpus(), settings.monitors.gpus, None)
    return _with_warning(ObservedGpus(devices, metrics.read))


def _with_warning(gpus: ObservedGpus) -> ObservedGpus:
    """The same GPUs, after a warning about metrics that they do not provide."""
    unknown = gpus.unknown()
    if unknown:
        log.warning("GPU metrics that are not available here: %s", unknown)
    return gpus


def server_setups(
    settings: ProfileSettings, devices: Sequence[Device], for_cuda: Mapping[str, str]
) -> Mapping[str, ServerSetup]:
    """The server setup of each model; `for_cuda` overrides the user's environment variables."""
    mode = settings.server.launch
    shown = frozenset(settings.server.show_environment)
    return {
        model.name: ServerSetup(
            launch=mode.value,
            protocol=settings.server.spoken,
            devices=kind_of(devices),
            flags=server_flags(model, settings),
            environment={}
            if mode is LaunchMode.REMOTE
            else {
                name: value
                for name, value in model.server_environment.items()
                if name not in for_cuda
            },
            container=settings.docker.container(model.docker_arguments)
            if mode is LaunchMode.DOCKER
            else {},
            access=access_flags(model.perf_analyzer_flags),
            veil=Veil(key=own_key(), shown=shown),
        )
        for model in settings.models
    }


def server_flags(model: ModelSettings, settings: ProfileSettings) -> Mapping[str, Any]:
    """The flags of the model's server, which updates its metrics as often as the monitors read;
    none if the server is not ours.
    """
    if settings.server.launch not in (LaunchMode.LOCAL, LaunchMode.DOCKER):
        return {}
    interval_ms = max(1, round(settings.monitors.interval_s * 1000))
    return {"metrics-interval-ms": interval_ms, **model.server_flags}


def _install(environment: Mapping[str, str]) -> None:
    install_runtime(environment, python=None, locks=(), unverified=(), say=log.info)


def provide_programs(
    settings: ProfileSettings,
    environment: Mapping[str, str],
    install: Callable[[Mapping[str, str]], None] = _install,
) -> None:
    """Looks for each program that the run starts here. With `runtime_install`, it installs the
    runtime if the user names no path for a program and none starts.

    Raises RuntimeNotFound for a program that is missing, and ConfigError for a wrong path.
    """
    for find, may_install in _finders(settings, environment):
        try:
            find()
        except RuntimeNotFound as error:
            if not may_install:
                raise
            log.info("Installing the runtime, since %s", error.message)
            install(environment)
            find()


def _finders(
    settings: ProfileSettings, environment: Mapping[str, str]
) -> Iterator[tuple[Callable[[], Program], bool]]:
    """A function to find each program, and whether the runtime may be installed for it."""
    server, load = settings.server, settings.load_generator
    yield partial(find_perf_analyzer, load.path, environment), installs_load_generator(settings)
    match server.launch:
        case LaunchMode.LOCAL:
            yield partial(_server, server.path, environment), installs_server(settings)
        case LaunchMode.C_API:
            yield partial(_library, server.install_path, environment), installs_server(settings)


def installs_load_generator(settings: ProfileSettings) -> bool:
    """Whether a run installs perf_analyzer if it is missing."""
    return settings.server.installs_runtime and settings.load_generator.path is None


def installs_server(settings: ProfileSettings) -> bool:
    """Whether a run installs tritonserver, or its library, if it is missing."""
    server = settings.server
    given = server.install_path if server.launch is LaunchMode.C_API else server.path
    return server.installs_runtime and given is None


def _server(given: str | None, environment: Mapping[str, str]) -> Program:
    server = find_tritonserver(given, environment)
    check_models_python(server, environment)
    return server


def _library(given: Path | None, environment: Mapping[str, str]) -> Program:
    with Workspace() as work:
        library = find_server_library(given, environment, work / "library")
        check_models_python(library, environment)
        return library


def launcher(
    settings: ProfileSettings,
    devices: Devices,
    environment: Mapping[str, str],
    repository: Path | None,
) -> Launcher:
    """The launcher of servers for the launch mode. The servers use this `repository` and these
    `devices`, unless they are remote. Raises RuntimeNotFound if a program is missing.
    """
    if settings.server.launch is LaunchMode.REMOTE:
        return RemoteLauncher(settings.server)
    assert repository is not None, "only a remote server can use a repository of its own"
    shares = any(shares_memory(model.perf_analyzer_flags) for model in settings.models)
    if settings.server.launch is LaunchMode.DOCKER:
        return ContainerLauncher(
            connect(),
            settings.docker,
            settings.server,
            repository,
            devices.uuids,
            shares_memory=shares,
        )
    triton = find_tritonserver(settings.server.path, environment)
    check_models_python(triton, environment)
    if shares and knows_flag(triton, CLIENT_SHM):
        triton = replace(triton, flags={**triton.flags, CLIENT_SHM: "true"})
    return LocalLauncher(triton, settings.server, repository)


def embedded_server(
    settings: ProfileSettings,
    environment: Mapping[str, str],
    repository: ModelRepository,
    work: Path,
) -> EmbeddedServer:
    """The server inside perf_analyzer. Raises RuntimeNotFound if its library is missing."""
    library = find_server_library(settings.server.install_path, environment, work / "library")
    check_models_python(library, environment)
    return EmbeddedServer(library, settings.server, repository, work / "models")
