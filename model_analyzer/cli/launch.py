# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What serves the models of a run, in each launch mode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from model_analyzer.domain.environment import Veil
from model_analyzer.domain.models import ModelFacts
from model_analyzer.domain.profiles import Device
from model_analyzer.domain.settings import LaunchMode, ModelSettings, ProfileSettings
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.errors import OutputError
from model_analyzer.runner.client.tls import access_flags
from model_analyzer.runner.completion import Completion
from model_analyzer.runner.repository import ModelRepository
from model_analyzer.runner.runtime import (
    check_models_python,
    find_server_library,
    find_tritonserver,
)
from model_analyzer.runner.served_models import served_facts
from model_analyzer.runner.server.c_api import EmbeddedServer
from model_analyzer.runner.server.docker import ContainerLauncher, connect
from model_analyzer.runner.server.local import LocalLauncher
from model_analyzer.runner.server.log import ServerLog
from model_analyzer.runner.server.remote import RemoteLauncher
from model_analyzer.runner.server.triton import Launcher, TritonServer
from model_analyzer.state.own_key import own_key
from model_analyzer.writing import empty_output


def server_setups(
    settings: ProfileSettings, devices: Sequence[Device], for_cuda: Mapping[str, str]
) -> Mapping[str, ServerSetup]:
    """How each model's server is started; variables in `for_cuda` are not the user's to set."""
    mode = settings.server.launch
    shown = frozenset(settings.server.show_environment)
    is_ours = mode in (LaunchMode.LOCAL, LaunchMode.DOCKER)
    return {
        model.name: ServerSetup(
            launch=mode.value,
            protocol=settings.server.protocol.value,
            devices=uuids(devices),
            flags=_server_flags(model, settings) if is_ours else {},
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


def _server_flags(model: ModelSettings, settings: ProfileSettings) -> Mapping[str, Any]:
    """The flags of the model's server, which measures as often as we look."""
    interval_ms = max(1, round(settings.monitors.interval_s * 1000))
    return {"metrics-interval-ms": interval_ms, **model.server_flags}


def uuids(devices: Sequence[Device]) -> tuple[str, ...]:
    return tuple(sorted(device.uuid for device in devices))


def launcher(
    settings: ProfileSettings, environment: Mapping[str, str], repository: Path | None
) -> Launcher:
    """What brings servers to life in the launch mode, once its programs have been found.

    They see this `repository`, unless they have one of their own.
    """
    if settings.server.launch is LaunchMode.REMOTE:
        return RemoteLauncher(settings.server)
    assert repository is not None, "only a remote server may have a repository of its own"
    if settings.server.launch is LaunchMode.DOCKER:
        return ContainerLauncher(connect(), settings.docker, settings.server, repository)
    triton = find_tritonserver(settings.server.path, environment)
    check_models_python(triton, environment)
    return LocalLauncher(triton, settings.server, repository)


def embedded_server(
    settings: ProfileSettings,
    environment: Mapping[str, str],
    repository: ModelRepository,
    work: Path,
) -> EmbeddedServer:
    """The server inside perf_analyzer, once its library has been found."""
    library = find_server_library(settings.server.install_path, environment, work / "library")
    check_models_python(library, environment)
    return EmbeddedServer(library, settings.server, repository, work / "models")


def repository_facts(
    settings: ProfileSettings,
    environment: Mapping[str, str],
    repository: ModelRepository,
    setups: Mapping[str, ServerSetup],
    server_log: ServerLog,
    work: Path,
) -> Mapping[str, ModelFacts]:
    """What the models are, from their files, and from a server where those leave it open."""
    completion = Completion(
        repository,
        partial(launcher, settings, environment),
        settings.server,
        server_log,
        work / "completion",
    )
    return {
        name: repository.facts(
            name, complete=partial(completion.complete, setup=setup), calls=settings.bls_calls
        )
        for name, setup in setups.items()
    }


def facts_from_server(
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


def create_log(settings: ProfileSettings, work: Path) -> Path:
    """The server's log file, empty: its lines of this run are what counts.

    Where the server is not ours, there is none.
    """
    if settings.server.launch is LaunchMode.REMOTE:
        return work / "none"
    path = work / "server.log"
    if settings.server.log is not None and settings.server.launch is not LaunchMode.C_API:
        path = settings.server.log
    try:
        empty_output(path)
    except OSError as error:
        raise OutputError(
            f"cannot write {path}: {error.strerror}; check --triton-output-path"
        ) from error
    return path
