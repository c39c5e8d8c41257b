# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The arguments of a server's container, in the words of the Docker SDK. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from model_analyzer.domain.models import thaw
from model_analyzer.domain.settings import DockerSettings
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.runner.server.endpoints import ANY, Endpoints
from model_analyzer.runner.server.local import expanded, server_command

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
