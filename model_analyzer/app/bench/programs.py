# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The programs of a run on this machine: found before anything else, or installed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from model_analyzer.domain.settings import LaunchMode, ProfileSettings
from model_analyzer.errors import RuntimeNotFound
from model_analyzer.runner.install import install as install_runtime
from model_analyzer.runner.runtime import (
    Program,
    check_models_python,
    find_perf_analyzer,
    find_server_library,
    find_tritonserver,
)
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
