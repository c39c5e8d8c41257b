# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Servers in containers of the Docker engine.

The container belongs to a child process, container.py, which follows its log, ends with it, and
removes it. If that fails, the next run removes the container.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from model_analyzer.domain.flags import CLIENT_SHM, needs_client_shm
from model_analyzer.domain.settings import DockerSettings, ServerSettings
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.errors import RuntimeNotFound, ServerError
from model_analyzer.extras import check_extra, install_command
from model_analyzer.runner.owner import has_ended, this_process
from model_analyzer.runner.process import Process
from model_analyzer.runner.repository import links_outside
from model_analyzer.runner.server.container_arguments import (
    OWNER_LABEL,
    VARIABLE,
    container_arguments,
)
from model_analyzer.runner.server.endpoints import Endpoints
from model_analyzer.runner.server.local import OwnLauncher
from model_analyzer.runner.server.log import ServerLog

log = logging.getLogger(__name__)

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.images import Image

# The variable of NVIDIA's images with the version of tritonserver.
_VERSION = "TRITON_SERVER_VERSION"

# The time for the engine to remove a container; killing its server is fast.
_REMOVAL_S = 20.0
_ROOT = Path(__file__).parents[3]


def connect() -> DockerClient:
    """The Docker engine of DOCKER_HOST or of the current Docker context. Removes leftovers of
    killed runs there.

    Raises RuntimeNotFound if no engine answers.
    """
    try:
        check_extra("docker")
        import docker  # only when used: it is in an extra
    except ImportError as error:
        raise RuntimeNotFound(
            f"launch mode docker needs the Docker SDK for Python: {error}",
            install_command("docker"),
        ) from error
    try:
        engine = docker.from_env()
        _remove_orphans(engine)
    except (docker.errors.DockerException, OSError) as error:
        raise _no_engine(error) from error
    return engine


@dataclass(frozen=True, slots=True)
class Engine:
    """A running Docker engine: its name and version, and whether it has the image."""

    version: str
    has_image: bool


def look_at_engine(image: str) -> Engine:
    """The engine of `connect`. Raises RuntimeNotFound if no engine answers."""
    engine = connect()
    import docker

    try:
        version = engine.version()
        has_image = _find(engine, image) is not None
    except (docker.errors.DockerException, OSError) as error:
        raise _no_engine(error) from error
    finally:
        engine.close()
    return Engine(f"Docker {version.get('Version', 'of unknown version')}", has_image)


class ContainerLauncher(OwnLauncher):
    """Starts tritonserver in a container that sees `repository`, at the same path, read-only, and
    the GPUs with these UUIDs.
    """

    def __init__(
        self,
        engine: DockerClient,
        docker: DockerSettings,
        settings: ServerSettings,
        repository: Path,
        gpus: Sequence[str] = (),
        *,
        shares_memory: bool = False,
    ) -> None:
        super().__init__(settings)
        self._shares_memory = shares_memory
        self._engine = engine
        self._docker = docker
        self._repository = Path(os.path.abspath(repository))
        self._gpus = gpus

    @property
    def description(self) -> str:
        return self._docker.image

    def start(self, endpoints: Endpoints, setup: ServerSetup, log_file: ServerLog) -> Process:
        variables = self._variables(str(setup.container["image"]))
        version = variables.get(_VERSION, "")
        allows = self._shares_memory and needs_client_shm(version, unknown=False)
        arguments = container_arguments(
            setup,
            self._docker,
            endpoints,
            self._repository,
            gpus=self._gpus,
            links=links_outside(self._repository),
            variables=variables,
            flags={CLIENT_SHM: "true"} if allows else {},
            name=f"model-analyzer-{secrets.token_hex(4)}",
            owner=this_process(),
        )
        log.debug("Starting %s in %s", " ".join(arguments["command"]), arguments["image"])
        return _Container(self._engine, arguments, log_file.path)

    def _variables(self, image: str) -> Mapping[str, str]:
        """The variables of the image, which is pulled if it is missing."""
        import docker

        try:
            local_image = _find(self._engine, image)
            if local_image is None:
                self._pull(image)
                local_image = self._engine.images.get(image)
        except docker.errors.APIError as error:
            raise ServerError(
                f"image {image} is missing and cannot be pulled: {_cause(error)}; check"
                " triton_docker_image, and `docker login` if it is private"
            ) from error
        except OSError as error:
            raise _no_engine(error) from error
        variables = local_image.attrs["Config"].get("Env") or ()
        return dict(text.split("=", 1) for text in variables if "=" in text)

    def _pull(self, image: str) -> None:
        import docker

        log.info("Pulling the image %s", image)
        for event in self._engine.api.pull(image, stream=True, decode=True):
            if "error" in event:  # the HTTP status does not show it
                raise docker.errors.APIError("not pulled", explanation=event["error"])


def _find(engine: DockerClient, image: str) -> Image | None:
    import docker

    try:
        return engine.images.get(image)
    except docker.errors.ImageNotFound:
        return None


class _Container(Process):
    """A container, controlled through the process that runs it."""

    def __init__(self, engine: DockerClient, arguments: Mapping[str, Any], output: Path) -> None:
        self._engine = engine
        self._name = str(arguments["name"])
        super().__init__(
            # in our own directory: the interpreter imports modules from its current directory
            [sys.executable, "-m", "model_analyzer.runner.server.container"],
            directory=_ROOT,
            environment={**os.environ, VARIABLE: json.dumps(arguments)},
            output=output,
            farewell_s=_REMOVAL_S,
        )

    def tree(self) -> Sequence[psutil.Process]:
        """The container's processes; empty if the engine's process numbers differ from ours."""
        import docker

        try:
            top = self._engine.containers.get(self._name).top(ps_args="-eo pid,comm")
        except (docker.errors.DockerException, OSError):
            return []
        rows = [row for row in top["Processes"] or () if len(row) == 2 and row[0].isdecimal()]
        return [process for pid, name in rows for process in _processes(int(pid), name)]


def _processes(pid: int, name: str) -> Sequence[psutil.Process]:
    """The process with this number, if it also has this name; empty if not."""
    try:
        process = psutil.Process(pid)
        return [process] if process.name()[:15] == name[:15] else []
    except psutil.Error:
        return []


def _remove_orphans(engine: DockerClient) -> None:
    """Removes containers whose owner has ended."""
    import docker

    for container in engine.containers.list(
        all=True, filters={"label": OWNER_LABEL}, ignore_removed=True
    ):
        if has_ended(container.labels[OWNER_LABEL]):
            log.info("Removing container %s, a leftover of a killed run", container.name)
            try:
                container.remove(force=True, v=True)
            except docker.errors.APIError as error:
                log.debug("%s", error)  # a different run has removed it


def _no_engine(error: Exception) -> RuntimeNotFound:
    place = os.environ.get("DOCKER_HOST") or "the default address"
    return RuntimeNotFound(
        f"no Docker engine answers at {place} ({_cause(error)}): start it, set DOCKER_HOST, or"
        " use another --triton-launch-mode"
    )


def _cause(error: BaseException) -> str:
    """The root cause of an error, in one line."""
    inner: BaseException | None = error
    while inner is not None:
        words = getattr(inner, "explanation", None) or getattr(inner, "strerror", None)
        if words:
            return " ".join(str(words).split())
        inner = inner.__cause__ or inner.__context__
    return str(error)
