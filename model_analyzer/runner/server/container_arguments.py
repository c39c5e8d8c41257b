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
from model_analyzer.runner.server.command import expanded, server_command
from model_analyzer.runner.server.endpoints import ANY, Endpoints

# Names the process that started a container: see owner.py.
OWNER_LABEL = "model-analyzer.owner"

# Carries the arguments to container.py.
VARIABLE = "MODEL_ANALYZER_CONTAINER"

# These say how to wait for a container and when to remove it, which is not the user's business.
_WITHOUT_EFFECT = frozenset({"detach", "remove", "auto_remove", "stream", "stdout", "stderr"})


def container_arguments(
    setup: ServerSetup,
    docker: DockerSettings,
    endpoints: Endpoints,
    repository: Path,
    *,
    links: Mapping[Path, Path],
    variables: Mapping[str, str],
    name: str,
    owner: str,
) -> dict[str, Any]:
    """What to create the container with, ready for JSON.

    It sees `repository` at its own path, and `links` (path inside to path outside); `variables`
    are the image's own. What the user said is merged with what a run needs: the user's mounts,
    labels and variables win, and `command` stands in place of `tritonserver`.
    """
    given = {key: thaw(value) for key, value in setup.container.items()}
    shares_network = "host" in (given.get("network"), given.get("network_mode"))
    inside = endpoints if shares_network else _inside(endpoints)
    program = shlex.split(given.get("command", "tritonserver"))
    volumes = [*docker.mounts, *given.get("volumes", ())]
    arguments = {
        "name": name,
        "init": True,
        **{key: value for key, value in given.items() if key not in _WITHOUT_EFFECT},
        "detach": True,
        "command": [*program, *server_command(setup.flags, inside, repository, {})],
        "environment": _environment(setup, given.get("environment", ()), variables),
        "labels": {**docker.labels, **_pairs(given.get("labels", ())), OWNER_LABEL: owner},
        "volumes": volumes,
        "mounts": _mounts(repository, links, {_target(volume) for volume in volumes}),
    }
    if not shares_network:
        arguments["ports"] = _published(endpoints)
    if setup.devices:
        arguments["device_requests"] = [
            {"device_ids": list(setup.devices), "capabilities": [["gpu"]]}
        ]
    return arguments


def _inside(endpoints: Endpoints) -> Endpoints:
    """The server's own view: whoever reaches it comes from outside of its network."""
    return Endpoints(*(replace(address, bind=ANY) for address in endpoints.all))


def _published(endpoints: Endpoints) -> dict[str, Any]:
    """By port inside, which is the same outside, where clients find it."""
    return {f"{a.port}/tcp": {"HostIp": a.bind, "HostPort": a.port} for a in endpoints.all}


def _environment(
    setup: ServerSetup, given: Sequence[str], variables: Mapping[str, str]
) -> dict[str, str]:
    """An empty CUDA_VISIBLE_DEVICES hides the GPUs that an image asks for by itself."""
    own = _pairs(given)
    return {
        "CUDA_VISIBLE_DEVICES": ",".join(setup.devices),
        **own,
        **expanded(setup.environment, {**variables, **own}),
    }


def _mounts(
    repository: Path, links: Mapping[Path, Path], taken: set[PurePosixPath]
) -> list[dict[str, Any]]:
    """The repository, and where its links lead, unless the user has mounted something there.

    Mounts rather than volumes: the engine refuses a missing source instead of creating it.
    """
    wanted = {} if PurePosixPath(repository) in taken else {repository: repository}
    wanted.update(
        (target, source)
        for target, source in links.items()
        if not any(target.is_relative_to(mounted) for mounted in taken)
    )
    return [
        {"Type": "bind", "Source": str(source), "Target": str(target), "ReadOnly": True}
        for target, source in wanted.items()
    ]


def _target(volume: str) -> PurePosixPath:
    """Where a volume (SOURCE:TARGET:MODE, or TARGET alone) is seen inside."""
    return PurePosixPath((volume.split(":") * 2)[1])


def _pairs(texts: Sequence[str]) -> dict[str, str]:
    """NAME=VALUE texts as a mapping."""
    return {name: value for name, _, value in (text.partition("=") for text in texts)}
