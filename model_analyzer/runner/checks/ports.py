# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The addresses of the server in the options."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from model_analyzer.domain.settings import LaunchMode, ServerSettings
from model_analyzer.runner.checks.finding import Finding, ok, problem
from model_analyzer.runner.server.endpoints import (
    each_server,
    given_addresses,
    listener,
    remote_endpoints,
    why_not_free,
)


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
