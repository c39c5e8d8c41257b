# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The server of a run, for each launch mode."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from model_analyzer.app.bench.devices import Devices
from model_analyzer.domain.flags import CLIENT_SHM, shares_memory
from model_analyzer.domain.settings import LaunchMode, ProfileSettings
from model_analyzer.runner.repository import ModelRepository
from model_analyzer.runner.runtime import (
    check_models_python,
    find_server_library,
    find_tritonserver,
    knows_flag,
)
from model_analyzer.runner.server.c_api import EmbeddedServer
from model_analyzer.runner.server.docker import ContainerLauncher, connect
from model_analyzer.runner.server.life import Launcher
from model_analyzer.runner.server.local import LocalLauncher
from model_analyzer.runner.server.remote import RemoteLauncher


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
