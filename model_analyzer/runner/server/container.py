# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Runs one container from its creation to its removal: a separate program.

docker.py starts it behind a guard, so a container behaves like any child process. Its output is the
log of the container, and its exit status that of the container. SIGTERM asks the container to end.
SIGHUP removes it at once: the guard sends it if model-analyzer wants to remove the container or has
ended itself, kill -9 included.

The arguments are JSON in an environment variable: they may contain secrets, and command lines are
public.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from collections.abc import Mapping
from typing import Any

import docker
from docker.errors import APIError, DockerException, NotFound
from docker.models.containers import Container
from urllib3.exceptions import HTTPError

from model_analyzer.runner.server.docker import OWNER_LABEL, VARIABLE

# The exit status of `docker run` if the engine refuses.
_REFUSED = 125

_SIGNALS = frozenset({signal.SIGHUP, signal.SIGTERM})

_ADVICE = (
    (
        r"port is already allocated|address already in use",
        "a port is already in use: stop the program that uses it, or change"
        " triton_http_endpoint, triton_grpc_endpoint and triton_metrics_url",
    ),
    (
        r"could not select device driver|nvidia-container",
        "the engine cannot give GPUs to containers: install the NVIDIA Container Toolkit",
    ),
    (
        r"bind source path does not exist",
        "the engine does not see the same files: run it on this machine; if model-analyzer runs"
        " in a container, mount the models there at their path on the host",
    ),
    (r"executable file not found", "the image has no such program: check triton_docker_image"),
)


def main() -> int:
    arguments = json.loads(os.environ.pop(VARIABLE))
    name, owner = arguments["name"], arguments["labels"][OWNER_LABEL]
    signal.signal(signal.SIGHUP, lambda *_: sys.exit(0))
    signal.signal(signal.SIGTERM, lambda *_: _ask_to_end(name))
    try:
        return _run(arguments)
    except (DockerException, HTTPError, OSError, TypeError, ValueError) as error:
        print(f"error: {_explained(error)}", flush=True)
        return _REFUSED
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)  # it happens already
        _remove(name, owner)


def _run(arguments: Mapping[str, Any]) -> int:
    container = _create(arguments)
    container.start()
    _copy_log(container)
    status = int(container.wait()["StatusCode"])
    container.reload()
    if container.attrs["State"].get("OOMKilled"):
        print("error: the container ran out of memory: see mem_limit in triton_docker_args")
    return status


def _create(arguments: Mapping[str, Any]) -> Container:
    """Creates the container. Not interruptible: `_remove` would miss a container created later."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        return docker.from_env().containers.create(**arguments)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)


def _copy_log(container: Container) -> None:
    """Prints the log; returns when the container has ended, or if its log cannot be read."""
    try:
        for part in container.logs(stream=True, follow=True):
            sys.stdout.buffer.write(part)
            sys.stdout.buffer.flush()
    except APIError as error:  # some log drivers cannot read their log
        print(f"The container's log cannot be read: {error.explanation}", flush=True)


def _ask_to_end(name: str) -> None:
    # a separate client: this interrupts a call of the first one
    try:
        container = docker.from_env().containers.get(name)
        container.kill(container.attrs["Config"].get("StopSignal") or "SIGTERM")
    except (DockerException, OSError):
        sys.exit(0)  # it does not run yet, or has ended


def _remove(name: str, owner: str) -> None:
    try:
        container = docker.from_env().containers.get(name)
        if container.labels.get(OWNER_LABEL) == owner:  # the name may have been taken already
            container.remove(force=True, v=True)
    except NotFound:
        pass
    except (DockerException, OSError) as error:
        print(f"error: container {name} was not removed: {_explained(error)}", flush=True)


def _explained(error: Exception) -> str:
    """The engine's own words in one line, with advice in front where there is any."""
    text = " ".join(str(getattr(error, "explanation", None) or error).split())
    for pattern, advice in _ADVICE:
        if re.search(pattern, text):
            return f"{advice} ({text})"
    return text


if __name__ == "__main__":
    sys.exit(main())
