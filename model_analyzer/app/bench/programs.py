# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The programs of a run on this machine: found before anything else, or installed; and the server
of each launch mode.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from model_analyzer.app.bench.devices import Devices
from model_analyzer.domain.flags import CLIENT_SHM, shares_memory
from model_analyzer.domain.settings import LaunchMode, ProfileSettings
from model_analyzer.errors import RuntimeNotFound
from model_analyzer.runner.install import install as install_runtime
from model_analyzer.runner.repository import ModelRepository
from model_analyzer.runner.runtime import (
    Program,
    check_models_python,
    find_perf_analyzer,
    find_server_library,
    find_tritonserver,
    knows_flag,
)
from model_analyzer.runner.server.docker import ContainerLauncher, connect
from model_analyzer.runner.server.life import Launcher
from model_analyzer.runner.server.local import EmbeddedServer, LocalLauncher
from model_analyzer.runner.server.remote import RemoteLauncher
from model_analyzer.runner.workspace import Workspace

log = logging.getLogger(__name__)


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
