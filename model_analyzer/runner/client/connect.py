# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Opens a connection to a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from model_analyzer.domain.settings import Protocol
from model_analyzer.runner.client.interface import ServerClient
from model_analyzer.runner.client.tls import grpc_tls, headers, https_context
from model_analyzer.runner.server.endpoints import Address, Endpoints

if TYPE_CHECKING:
    from model_analyzer.runner.client.http import HttpClient


def connect(endpoints: Endpoints, protocol: Protocol, flags: Mapping[str, Any]) -> ServerClient:
    """A connection over `protocol`, with TLS and headers from perf_analyzer's `flags`.

    Sends nothing yet. Raises ConfigError if a key or certificate is invalid.
    """
    address = endpoints.for_protocol(protocol)
    if protocol is Protocol.GRPC:
        from model_analyzer.runner.client.grpc import GrpcClient

        return GrpcClient(
            str(address),
            tls=grpc_tls(flags),
            name=address.name if address.name != address.host else "",
            headers=headers(flags),
        )
    return http_client(address, flags)


def http_client(address: Address, flags: Mapping[str, Any]) -> HttpClient:
    """A connection over HTTP, or over HTTPS if the address has that scheme."""
    from model_analyzer.runner.client.http import HttpClient

    tls = https_context(flags) if address.is_https else None
    host = address.name if address.is_https else address.host
    return HttpClient(host, address.port, tls=tls, headers=headers(flags))
