# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Opens connections, with keys, certificates and headers from perf_analyzer's flags."""

from __future__ import annotations

import logging
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from model_analyzer.domain.flags import header_parts, is_on
from model_analyzer.domain.settings import Protocol
from model_analyzer.errors import ConfigError, wrong
from model_analyzer.reading.untrusted import open_regular
from model_analyzer.runner.client.interface import ServerClient
from model_analyzer.runner.server.endpoints import Address, Endpoints

if TYPE_CHECKING:
    from model_analyzer.runner.client.http import HttpClient

log = logging.getLogger(__name__)

_GRPC_CA = "ssl-grpc-root-certifications-file"
_GRPC_KEY = "ssl-grpc-private-key-file"
_GRPC_CERTIFICATE = "ssl-grpc-certificate-chain-file"
_HTTPS_CA = "ssl-https-ca-certificates-file"
_HTTPS_KEY = "ssl-https-private-key-file"
_HTTPS_CERTIFICATE = "ssl-https-client-certificate-file"
_HTTPS_TYPES = ("ssl-https-private-key-type", "ssl-https-client-certificate-type")


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


@dataclass(frozen=True, slots=True)
class GrpcTls:
    """The files of an encrypted gRPC connection, by their names in tritonclient."""

    files: Mapping[str, str]


def access_flags(flags: Mapping[str, Any]) -> Mapping[str, Any]:
    """The flags of perf_analyzer for the access to the server: TLS and headers."""
    return {
        name: value
        for name, value in flags.items()
        if name.startswith("ssl-") or name == "http-header"
    }


def headers(flags: Mapping[str, Any]) -> Mapping[str, str]:
    """The headers to send with every call. Raises ConfigError for a header without a colon."""
    texts = flags.get("http-header", ())
    by_name = {}
    for text in (texts,) if isinstance(texts, str) else texts:
        name, colon, value = header_parts(text)
        if not (colon and name):
            # the message does not show the text, which may be a secret
            raise _problem("http-header", "expected NAME:VALUE, found no name", "")
        by_name[name] = value
    return by_name


def wants_grpc_tls(flags: Mapping[str, Any]) -> bool:
    return is_on(flags.get("ssl-grpc-use-ssl"))


def grpc_tls(flags: Mapping[str, Any]) -> GrpcTls | None:
    """The TLS files of gRPC, or None. Raises ConfigError if a file is invalid."""
    if not wants_grpc_tls(flags):
        return None
    # check the files first: gRPC would only say that the handshake failed
    _load(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), flags, _GRPC_CA, _GRPC_CERTIFICATE, _GRPC_KEY)
    names = {
        "root_certificates": _GRPC_CA,
        "private_key": _GRPC_KEY,
        "certificate_chain": _GRPC_CERTIFICATE,
    }
    return GrpcTls({name: flags[flag] for name, flag in names.items() if flag in flags})


def https_context(flags: Mapping[str, Any]) -> ssl.SSLContext:
    """The TLS context of HTTPS. Like perf_analyzer, it verifies the server's certificate and its
    name, unless a flag is 0. Raises ConfigError if a file is invalid.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    verifies = _number(flags, "ssl-https-verify-peer", 1) != 0
    context.check_hostname = verifies and _number(flags, "ssl-https-verify-host", 2) != 0
    context.verify_mode = ssl.CERT_REQUIRED if verifies else ssl.CERT_NONE
    if _HTTPS_CA not in flags:
        context.load_default_certs()
    if any(str(flags.get(name, "PEM")).upper() != "PEM" for name in _HTTPS_TYPES):
        log.warning(
            "only perf_analyzer uses the client certificate; model-analyzer itself reads only PEM"
            " files: convert it with openssl if the server requires one"
        )
        flags = {name: value for name, value in flags.items() if name == _HTTPS_CA}
    _load(context, flags, _HTTPS_CA, _HTTPS_CERTIFICATE, _HTTPS_KEY)
    return context


def _load(
    context: ssl.SSLContext, flags: Mapping[str, Any], ca: str, certificate: str, key: str
) -> None:
    """Loads the files in these flags into `context`."""
    if ca in flags:
        _must_be_readable(ca, flags[ca])
        try:
            context.load_verify_locations(flags[ca])
        except (OSError, ssl.SSLError) as error:
            raise _unusable(ca, flags[ca], error, "certificates in PEM form") from error
    if (certificate in flags) != (key in flags):
        flag, missing = (key, certificate) if key in flags else (certificate, key)
        raise _problem(flag, f"needs {missing}, too", "give both")
    if key not in flags:
        return
    _must_be_readable(certificate, flags[certificate])
    _must_be_readable(key, flags[key])
    try:
        # an empty password: never ask on the terminal
        context.load_cert_chain(flags[certificate], flags[key], password="")
    except (OSError, ssl.SSLError) as error:
        content = f"an unencrypted private key in PEM form that fits {flags[certificate]}"
        raise _unusable(key, flags[key], error, content) from error


def _must_be_readable(flag: str, path: str) -> None:
    try:
        open_regular(Path(path)).close()
    except OSError as error:
        raise _unusable(flag, path, error, "") from error


def _unusable(flag: str, path: str, error: OSError, content: str) -> ConfigError:
    if isinstance(error, ssl.SSLError):
        return _problem(flag, f"{path} does not contain {content}", error.reason or "")
    return _problem(flag, f"{path}: {error.strerror}", "")


def _problem(flag: str, message: str, hint: str) -> ConfigError:
    return wrong(f"perf_analyzer flag {flag}", message, hint)


def _number(flags: Mapping[str, Any], name: str, default: int) -> int:
    text = str(flags.get(name, default)).strip()
    if not text.isdecimal():
        raise _problem(name, f"expected 0, 1 or 2, found {text!r}", "")
    return int(text)
