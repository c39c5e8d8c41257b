# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The addresses of a server: from the user, or with free ports of this machine."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import psutil

from model_analyzer.domain.settings import Protocol, ServerSettings
from model_analyzer.errors import ServerError

LOOPBACK = "127.0.0.1"
ANY = "0.0.0.0"

# Triton's default ports, for remote servers.
_TRITON_HTTP = "localhost:8000"
_TRITON_GRPC = "localhost:8001"
_TRITON_METRICS = "http://localhost:8002/metrics"


@dataclass(frozen=True, slots=True)
class Address:
    """An address: the server listens on `bind`, and clients connect to `host`.

    `name` is the host as the user wrote it, which certificates contain. `is_https` is whether the
    scheme was https. `path` is the part after the port.
    """

    bind: str
    port: int
    name: str = "localhost"
    is_https: bool = False
    path: str = ""

    @property
    def host(self) -> str:
        return LOOPBACK if self.bind in (ANY, "::") else self.bind

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"

    @property
    def as_written(self) -> str:
        """The address for clients that compare names with certificates."""
        return f"{'https://' if self.is_https else ''}{self.name}:{self.port}"

    @property
    def accepts(self) -> bool:
        """Whether a program listens there."""
        try:
            socket.create_connection((self.host, self.port), timeout=1).close()
        except OSError:
            return False
        return True


@dataclass(frozen=True, slots=True)
class Endpoints:
    """The three addresses of a server."""

    http: Address
    grpc: Address
    metrics: Address

    @property
    def metrics_url(self) -> str:
        """The URL of the metrics, with Triton's default path if the user gave none."""
        address = self.metrics
        place = address.as_written if address.is_https else f"http://{address}"
        return f"{place}{address.path or '/metrics'}"

    @property
    def addresses(self) -> tuple[Address, ...]:
        return self.http, self.grpc, self.metrics

    def for_protocol(self, protocol: Protocol) -> Address:
        return self.http if protocol is Protocol.HTTP else self.grpc


def are_chosen(settings: ServerSettings) -> bool:
    """Whether we choose at least one port, so that a retry can use a different one."""
    return not all(_texts(settings).values())


def given_addresses(settings: ServerSettings) -> Mapping[str, Address]:
    """The addresses in the settings, by option."""
    texts = _texts(settings).items()
    return {option: _parse(given[0]) for option, given in texts if given}


def choose_endpoints(settings: ServerSettings) -> Endpoints:
    """The addresses in the settings; free ports for addresses that are not given.

    Raises ServerError if a program listens on a given port.
    """
    given = given_addresses(settings)
    options = _texts(settings)
    free = iter(_free_ports(len(options)))
    addresses = [
        given[option] if option in given else Address(LOOPBACK, next(free)) for option in options
    ]
    for option, address in given.items():
        reason = why_not_free(address)
        if reason:
            raise ServerError(
                f"cannot listen on {address.bind}:{address.port} ({_with_user(reason, address)}):"
                f" stop the program that uses it, or remove {option} to use a free port"
            )
    http, grpc, metrics = addresses
    return Endpoints(http, grpc, metrics)


def _with_user(reason: str, address: Address) -> str:
    user = listener(address.port)
    return f"{reason} by {user}" if user else reason


def _texts(settings: ServerSettings) -> Mapping[str, Sequence[str]]:
    return {
        "triton_http_endpoint": settings.http_endpoints,
        "triton_grpc_endpoint": settings.grpc_endpoints,
        "triton_metrics_url": settings.metrics_urls,
    }


def remote_endpoints(settings: ServerSettings) -> Endpoints:
    """The addresses of the first server; Triton's default ports for those that are not given."""
    (http, *_), (grpc, *_), (metrics, *_) = (
        settings.http_endpoints or [_TRITON_HTTP],
        settings.grpc_endpoints or [_TRITON_GRPC],
        settings.metrics_urls or [_TRITON_METRICS],
    )
    return Endpoints(http=_parse(http), grpc=_parse(grpc), metrics=_parse(metrics))


def each_server(settings: ServerSettings) -> Sequence[ServerSettings]:
    """The settings of each remote server, with one address of each kind. Of several servers, those
    that are not given are Triton's default ports on the same host.
    """
    if settings.count == 1:
        return (settings,)
    first, *_ = filter(None, _texts(settings).values())
    hosts = [_parse(text).name for text in first]
    http = settings.http_endpoints or [_on(host, _TRITON_HTTP) for host in hosts]
    grpc = settings.grpc_endpoints or [_on(host, _TRITON_GRPC) for host in hosts]
    metrics = settings.metrics_urls or [_on(host, _TRITON_METRICS) for host in hosts]
    return tuple(
        replace(settings, http_endpoints=(one,), grpc_endpoints=(two,), metrics_urls=(three,))
        for one, two, three in zip(http, grpc, metrics, strict=True)
    )


def _on(host: str, endpoint: str) -> str:
    return endpoint.replace("localhost", host)


def listening(endpoints: Endpoints, flags: Mapping[str, object]) -> bool:
    """Whether the server listens on all addresses that its flags allow."""
    by_switch = {
        "allow-http": endpoints.http,
        "allow-grpc": endpoints.grpc,
        "allow-metrics": endpoints.metrics,
    }
    return all(
        address.accepts
        for switch, address in by_switch.items()
        if str(flags.get(switch, "true")).lower() not in ("false", "0")
    )


def _parse(text: str) -> Address:
    scheme, _, location = text.rpartition("://")
    place, slash, path = location.partition("/")
    host, _, port = place.rpartition(":")
    bind = LOOPBACK if host == "localhost" else host
    return Address(
        bind,
        int(port),
        name=host,
        is_https=scheme.lower() == "https",
        path=slash + path if path else "",
    )


def why_not_free(address: Address) -> str:
    """Why a server cannot listen there, or "" if it can."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address.bind, address.port))
        except OSError as error:
            return error.strerror or str(error)
    return ""


def listener(port: int) -> str:
    """The process that listens on this port: its name and number, or "" if unknown."""
    try:
        for connection in psutil.net_connections(kind="tcp"):
            has_port = connection.laddr and connection.laddr.port == port
            if has_port and connection.status == psutil.CONN_LISTEN and connection.pid:
                return f"{psutil.Process(connection.pid).name()}, process {connection.pid}"
    except psutil.Error:
        pass  # we may not see processes of other users
    return ""


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for probe in sockets:
            probe.bind((LOOPBACK, 0))
        return [probe.getsockname()[1] for probe in sockets]
    finally:
        for probe in sockets:
            probe.close()
