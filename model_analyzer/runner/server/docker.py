# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Servers in containers of the Docker engine.

The container belongs to a child process, container.py, which follows its log, ends with it, and
removes it. If that fails, the next run removes the container.

The arguments of a server's container, in the words of the Docker SDK. Pure.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import psutil

from model_analyzer.domain.flags import CLIENT_SHM, needs_client_shm
from model_analyzer.domain.models import thaw
from model_analyzer.domain.settings import DockerSettings, ServerSettings
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.errors import RuntimeNotFound, ServerError
from model_analyzer.extras import check_extra, install_command
from model_analyzer.runner.process import Process
from model_analyzer.runner.repository import links_outside
from model_analyzer.runner.server.endpoints import ANY, Endpoints
from model_analyzer.runner.server.local import OwnLauncher, expanded, server_command
from model_analyzer.runner.server.log import ServerLog
from model_analyzer.runner.workspace import has_ended, this_process

# The label for the process that started a container: see owner.py.
OWNER_LABEL = "model-analyzer.owner"

# The variable with the arguments for container.py.
VARIABLE = "MODEL_ANALYZER_CONTAINER"

# User arguments that are ignored: container.py decides how to wait for the container and remove it.
_WITHOUT_EFFECT = frozenset({"detach", "remove", "auto_remove", "stream", "stdout", "stderr"})


def container_arguments(
    setup: ServerSetup,
    docker: DockerSettings,
    endpoints: Endpoints,
    repository: Path,
    *,
    gpus: Sequence[str],
    links: Mapping[Path, Path],
    variables: Mapping[str, str],
    flags: Mapping[str, str],
    name: str,
    owner: str,
) -> dict[str, Any]:
    """The arguments to create the container, ready for JSON.

    The container sees `repository` at the same path, `links` (path inside to path outside), and the
    `gpus` with these UUIDs. `variables` are those of the image. `flags` of the server are
    overridden by the user's. The user's arguments are merged with the arguments that a run needs:
    the user's mounts, labels and variables override, and `command` replaces `tritonserver`.
    """
    user = {key: thaw(value) for key, value in setup.container.items()}
    shares_network = "host" in (user.get("network"), user.get("network_mode"))
    inside = endpoints if shares_network else _inside(endpoints)
    program = shlex.split(user.get("command", "tritonserver"))
    volumes = [*docker.mounts, *user.get("volumes", ())]
    arguments = {
        "name": name,
        "init": True,
        **{key: value for key, value in user.items() if key not in _WITHOUT_EFFECT},
        "detach": True,
        "command": [*program, *server_command(setup.flags, inside, repository, flags)],
        "environment": _environment(setup, gpus, user.get("environment", ()), variables),
        "labels": {**docker.labels, **_pairs(user.get("labels", ())), OWNER_LABEL: owner},
        "volumes": volumes,
        "mounts": _mounts(repository, links, {_target(volume) for volume in volumes}),
    }
    if not shares_network:
        arguments["ports"] = _published(endpoints)
    if gpus:
        arguments["device_requests"] = [{"device_ids": list(gpus), "capabilities": [["gpu"]]}]
    return arguments


def _inside(endpoints: Endpoints) -> Endpoints:
    """The addresses inside the container: its clients are outside of its network."""
    return Endpoints(*(replace(address, bind=ANY) for address in endpoints.addresses))


def _published(endpoints: Endpoints) -> dict[str, Any]:
    """The published ports; the number inside and outside is the same."""
    return {f"{a.port}/tcp": {"HostIp": a.bind, "HostPort": a.port} for a in endpoints.addresses}


def _environment(
    setup: ServerSetup, gpus: Sequence[str], texts: Sequence[str], variables: Mapping[str, str]
) -> dict[str, str]:
    """The container's variables; `texts` are the user's. An empty CUDA_VISIBLE_DEVICES hides GPUs
    that the image requests.
    """
    pairs = _pairs(texts)
    return {
        "CUDA_VISIBLE_DEVICES": ",".join(gpus),
        **pairs,
        **expanded(setup.environment, {**variables, **pairs}),
    }


def _mounts(
    repository: Path, links: Mapping[Path, Path], user_mounts: set[PurePosixPath]
) -> list[dict[str, Any]]:
    """The mounts of the repository and the targets of its links, except where the user mounts
    something.

    They are mounts, not volumes: the engine refuses a missing source instead of creating it.
    """
    sources = {} if PurePosixPath(repository) in user_mounts else {repository: repository}
    sources.update(
        (target, source)
        for target, source in links.items()
        if not any(target.is_relative_to(mounted) for mounted in user_mounts)
    )
    return [
        {"Type": "bind", "Source": str(source), "Target": str(target), "ReadOnly": True}
        for target, source in sources.items()
    ]


def _target(volume: str) -> PurePosixPath:
    """The path of a volume (SOURCE:TARGET:MODE, or only TARGET) inside the container."""
    return PurePosixPath((volume.split(":") * 2)[1])


def _pairs(texts: Sequence[str]) -> dict[str, str]:
    """NAME=VALUE texts as a mapping."""
    return {name: value for name, _, value in (text.partition("=") for text in texts)}


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
