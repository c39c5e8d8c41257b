# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Servers as processes of this machine; and what all servers that we start have in common, as a
process or in a container: their arguments and variables, their addresses, and connections to
them.

The server as a library inside perf_analyzer (launch mode c_api), without a separate process.

perf_analyzer loads every model of its repository, and retries forever if a model does not load. So
each variant gets its own repository.
"""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import string
from collections.abc import Mapping, Sequence
from pathlib import Path

from model_analyzer.domain.flags import TRITON_SERVER_OWNED
from model_analyzer.domain.measurements import ServerStatistics
from model_analyzer.domain.models import (
    ModelConfig,
    ModelVariant,
    empty,
    fingerprint,
    without_cache,
)
from model_analyzer.domain.protocols import Route
from model_analyzer.domain.secrets import masked_command
from model_analyzer.domain.settings import Protocol, ServerSettings
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.errors import ServerError
from model_analyzer.runner.client.connect import connect
from model_analyzer.runner.client.interface import ServerClient
from model_analyzer.runner.file_trees import CONFIG, link_tree, words_of
from model_analyzer.runner.model_config import to_text
from model_analyzer.runner.process import Process
from model_analyzer.runner.repository import ModelRepository
from model_analyzer.runner.runtime import Program
from model_analyzer.runner.server.endpoints import (
    Endpoints,
    are_chosen,
    choose_endpoints,
    listening,
)
from model_analyzer.runner.server.log import ServerLog
from model_analyzer.runner.timings import DEFAULT
from model_analyzer.runner.workspace import shm_prefix

log = logging.getLogger(__name__)


def server_command(
    user_flags: Mapping[str, object],
    endpoints: Endpoints,
    repository: Path,
    extra: Mapping[str, str],
) -> list[str]:
    """The arguments that serve `repository` at `endpoints`.

    The user's flags override `extra` and our defaults, but not the flags that a run needs: ports,
    repository, explicit model control.
    """
    flags_kept = {
        name: value for name, value in user_flags.items() if name not in TRITON_SERVER_OWNED
    }
    defaults: dict[str, str] = {
        **extra,
        "http-address": endpoints.http.bind,
        "grpc-address": endpoints.grpc.bind,
        "exit-timeout-secs": f"{DEFAULT.grace_s:.0f}",
    }
    if "strict-model-config" not in flags_kept:
        # a variant is already complete: completing it would take a second each time
        defaults["disable-auto-complete-config"] = "true"
    flags: dict[str, object] = {
        **defaults,
        **flags_kept,
        "model-repository": str(repository),
        "model-control-mode": "explicit",
        "http-port": str(endpoints.http.port),
        "grpc-port": str(endpoints.grpc.port),
        "metrics-port": str(endpoints.metrics.port),
    }
    return [word for name, value in flags.items() for word in _flag(name, value)]


def server_environment(base: Mapping[str, str], setup: ServerSetup) -> Mapping[str, str]:
    """`base` with the user's variables; `$NAME` in their values is expanded from `base`."""
    return {**base, **expanded(setup.environment, base)}


def expanded(variables: Mapping[str, str], base: Mapping[str, str]) -> dict[str, str]:
    """`variables` with each `$NAME` replaced by its value in `base`, if it has one."""
    return {name: string.Template(value).safe_substitute(base) for name, value in variables.items()}


def _flag(name: str, value: object) -> list[str]:
    """A server flag on the command line; a tuple gives one flag for each item."""
    if isinstance(value, tuple):
        return [f"--{name}={item}" for item in value]
    if name == "disable-auto-complete-config":
        return [f"--{name}"] if str(value).lower() in ("true", "1") else []
    return [f"--{name}={value}"]


class OwnLauncher:
    """The addresses of a server on this machine, and connections to it."""

    advice = "--triton-output-path FILE stores its log"

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings

    def program_identity(self, setup: ServerSetup) -> str:
        return ""

    @property
    def ends_servers(self) -> bool:
        return True

    @property
    def ports_are_chosen(self) -> bool:
        return are_chosen(self._settings)

    def endpoints(self) -> Endpoints:
        return choose_endpoints(self._settings)

    def connect(self, endpoints: Endpoints, setup: ServerSetup) -> ServerClient | None:
        """A connection over the protocol of the settings; None until the server listens on all its
        addresses.
        """
        if not listening(endpoints, setup.flags):
            return None
        return connect(endpoints, self._settings.protocol, setup.access)


# where a server looks for backends by default
_BACKENDS = "/opt/tritonserver/backends"


class LocalLauncher(OwnLauncher):
    """Starts tritonserver behind a guard. `repository` is the staged model repository."""

    def __init__(self, program: Program, settings: ServerSettings, repository: Path) -> None:
        super().__init__(settings)
        self._program = program
        self._repository = repository

    @property
    def description(self) -> str:
        return str(self._program.path)

    def program_identity(self, setup: ServerSetup) -> str:
        variables = server_environment(self._program.environment, setup)
        backends = {**self._program.flags, **setup.flags}.get("backend-directory", _BACKENDS)
        python = shutil.which("python3", path=variables.get("PATH")) or ""
        files = [self._program.path, Path(python), *sorted(Path(str(backends)).glob("*/*"))]
        return fingerprint([_identity_of(file) for file in files])

    def start(self, endpoints: Endpoints, setup: ServerSetup, log_file: ServerLog) -> Process:
        prefix = shm_prefix(secrets.token_hex(4))
        command = [
            str(self._program.path),
            *server_command(setup.flags, endpoints, self._repository, self._program.flags),
            f"--backend-config=python,shm-region-prefix-name={prefix}",
        ]
        log.debug("Starting %s", masked_command(command))
        try:
            return Process(
                command,
                environment=server_environment(self._program.environment, setup),
                output=log_file.path,
                shm_prefix=prefix,
            )
        except OSError as error:  # for example, somebody removed the temporary files
            raise ServerError(
                f"tritonserver cannot be started: {error.filename}: {words_of(error)}; run the same"
                " command again to resume"
            ) from error


def _identity_of(file: Path) -> Sequence[str | int]:
    """Changes if somebody replaces the file."""
    try:
        status = file.stat()
    except OSError:
        return [str(file)]
    return [os.path.realpath(file), status.st_ino, status.st_size, status.st_mtime_ns]


class EmbeddedServer:
    """Prepares the repositories of perf_analyzer's embedded server in `directory`."""

    def __init__(
        self,
        library: Program,
        settings: ServerSettings,
        source: ModelRepository,
        directory: Path,
    ) -> None:
        self._library = library
        self._settings = settings
        self._source = source
        self._directory = directory
        self._environment: Mapping[str, str] = {}

    @property
    def description(self) -> str:
        return f"{self._library.path}, inside perf_analyzer"

    def version(self, setup: ServerSetup) -> str:
        """The library's version, if known."""
        return self._library.version

    def begin(self, setup: ServerSetup) -> None:
        """Does nothing: perf_analyzer starts the server."""

    def serve(self, variants: Sequence[ModelVariant], setup: ServerSetup) -> None:
        """Writes the repository of each variant, which perf_analyzer then loads."""
        self._environment = server_environment(self._library.environment, setup)
        for variant in variants:
            repository = self._repository(variant)
            shutil.rmtree(repository, ignore_errors=True)
            for part in variant.with_parts():
                config = without_cache(part.config) if setup.uncached else part.config
                self._write(part.model, config, repository / part.model)

    def discard(self) -> None:
        """Does nothing: no server runs between trials."""

    def begin_stop(self) -> None:
        """Does nothing: no server runs between trials."""

    def stop(self) -> None:
        """Does nothing: no server runs between trials."""

    @property
    def is_alive(self) -> bool:
        """Always True: only perf_analyzer can die."""
        return True

    def stubs(self) -> Sequence[int]:
        """Empty: the stubs belong to perf_analyzer."""
        return ()

    def route(self, variant: ModelVariant, protocol: Protocol) -> Route:
        """The route: the library and the variant's repository, without a protocol."""
        return Route(
            flags={
                "service-kind": "triton_c_api",
                "triton-server-directory": str(self._library.path),
                "model-repository": str(self._repository(variant)),
            },
            environment=self._environment,
            load_timeout_s=self._settings.load_timeout_s,
        )

    def statistics(self, variants: Sequence[ModelVariant]) -> ServerStatistics:
        """Empty: an embedded server cannot be queried."""
        return empty()

    def log_tail(self) -> tuple[str, ...]:
        """Empty: the library logs to perf_analyzer's output."""
        return ()

    def _repository(self, variant: ModelVariant) -> Path:
        return self._directory / variant.identity

    def _write(self, model: str, config: ModelConfig, target: Path) -> None:
        link_tree(self._source.path / model, target)
        file = target / CONFIG
        file.unlink(missing_ok=True)
        file.write_text(to_text(config), encoding="utf-8")
