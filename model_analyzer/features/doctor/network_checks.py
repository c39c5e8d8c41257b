# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The addresses of the server in the options; and the Docker engine, if there is one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from model_analyzer.domain.settings import LaunchMode, ServerSettings
from model_analyzer.errors import RuntimeNotFound
from model_analyzer.features.doctor.findings import Finding, ok, problem, warning
from model_analyzer.runner.server.docker import Engine, look_at_engine
from model_analyzer.runner.server.endpoints import (
    each_server,
    given_addresses,
    listener,
    remote_endpoints,
    why_not_free,
)

_SOCKET = Path("/var/run/docker.sock")


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """An address for our server from `option`. `reason` says why the server cannot listen there, or
    is "". `user` is the process that listens there, if known.
    """

    option: str
    address: str
    reason: str
    user: str = ""


def read_ports(settings: ServerSettings) -> Iterator[Port]:
    for option, address in given_addresses(settings).items():
        reason = why_not_free(address)
        yield Port(
            option=option,
            address=f"{address.bind}:{address.port}",
            reason=reason,
            user=listener(address.port) if reason else "",
        )


def judge_port(port: Port) -> Finding:
    if not port.reason:
        return ok("port", f"{port.address} is free ({port.option})")
    user = f" by {port.user}" if port.user else ""
    return problem(
        "port",
        f"{port.address} ({port.option}) cannot be used: {port.reason}{user}",
        f"stop the program that uses it, or remove {port.option} to use a free port",
    )


def check_ports(settings: ServerSettings) -> Iterator[Finding]:
    """The ports of our own server, or of the remote ones."""
    if settings.launch is LaunchMode.REMOTE:
        yield from map(_remote, each_server(settings))
    elif settings.launch in (LaunchMode.LOCAL, LaunchMode.DOCKER):
        findings = [judge_port(port) for port in read_ports(settings)]
        yield from findings
        if len(findings) < 3:
            yield ok("ports", "the server will use free ports on the loopback interface")


def _remote(settings: ServerSettings) -> Finding:
    endpoints = remote_endpoints(settings)
    address = endpoints.for_protocol(settings.protocol)
    protocol = settings.protocol.value
    if address.accepts:
        return ok("remote server", f"{address} accepts connections ({protocol})")
    return problem(
        "remote server",
        f"no server listens on {address} ({protocol})",
        f"start the server, or give its address with --triton-{protocol}-endpoint",
    )


def check_docker(
    environment: Mapping[str, str], *, image: str, is_needed: bool, socket: Path = _SOCKET
) -> Finding:
    has_engine = "DOCKER_HOST" in environment or socket.exists()
    if not is_needed and not has_engine:
        return ok("Docker", "none, and only launch mode docker needs it")
    try:
        return judge_engine(look_at_engine(image), image=image, is_needed=is_needed)
    except RuntimeNotFound as error:
        return judge_silence(str(error), is_needed=is_needed)


def judge_engine(engine: Engine, *, image: str, is_needed: bool) -> Finding:
    state = f"{engine.version} answers"
    if not is_needed:
        return ok("Docker", state)
    if engine.has_image:
        return ok("Docker", f"{state} and has {image}")
    return warning(
        "Docker",
        f"{state} but does not have the image {image}: the run will pull it first",
        f"`docker pull {image}`",
    )


def judge_silence(reason: str, *, is_needed: bool) -> Finding:
    if not is_needed:
        return ok("Docker", f"cannot be used ({reason}), and only launch mode docker needs it")
    if "ermission denied" in reason:
        return problem(
            "Docker",
            reason,
            "`sudo usermod -aG docker $USER`, then log in again; or set DOCKER_HOST to an engine"
            " that you may use",
        )
    return problem("Docker", reason, "`systemctl start docker`, or fix the error that it reports")
