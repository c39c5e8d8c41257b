# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Encrypted connections: gRPC to a server of our own, HTTPS to a proxy before somebody else's."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.sizes import small_and_full

ONE = ("--run-config-search-disable", "-c", "1")


@pytest.fixture
def grpc_flags(scene, certificates) -> dict[str, Any]:
    """A model whose server and clients show each other their certificates."""
    return {
        "triton_server_flags": {
            "grpc-use-ssl": True,
            "grpc-use-ssl-mutual": True,
            "grpc-root-cert": certificates["ca.pem"],
            "grpc-server-cert": certificates["server.pem"],
            "grpc-server-key": certificates["server.key"],
        },
        "perf_analyzer_flags": {
            **scene.config["perf_analyzer_flags"],
            "ssl-grpc-use-ssl": True,
            "ssl-grpc-root-certifications-file": certificates["ca.pem"],
            "ssl-grpc-certificate-chain-file": certificates["client.pem"],
            "ssl-grpc-private-key-file": certificates["client.key"],
        },
    }


@small_and_full("per_model", True, False)
def test_mutual_tls_over_grpc(scene, grpc_flags, per_model: bool) -> None:
    changes = {"profile_models": {"add_sub": grpc_flags}} if per_model else grpc_flags

    status, output = scene.profile(*ONE, **changes)

    assert status == 0, output
    assert len(scene.rows) == 1
    assert "Traceback" not in output


@pytest.mark.slow
def test_a_broken_client_key_is_named_in_one_line(scene, grpc_flags, certificates) -> None:
    key = certificates.corrupt("client.key", 0.15)
    grpc_flags["perf_analyzer_flags"]["ssl-grpc-private-key-file"] = key

    status, output = scene.profile(*ONE, **grpc_flags)

    assert status == 2
    (line,) = [line for line in output.splitlines() if line.startswith("model-analyzer:")]
    assert "ssl-grpc-private-key-file" in line
    assert key in line
    assert "Traceback" not in output


@pytest.mark.slow
def test_a_client_key_that_only_does_not_work_ends_the_run_too(
    scene, grpc_flags, certificates
) -> None:
    key = certificates.corrupt("client.key", 0.5)  # in a part that reading it does not check
    grpc_flags["perf_analyzer_flags"]["ssl-grpc-private-key-file"] = key
    began = time.monotonic()

    status, output = scene.profile(*ONE, **grpc_flags)

    assert status == 1
    assert "gRPC cannot use the private key" in output
    assert time.monotonic() - began < 20


@pytest.mark.slow
def test_a_server_with_an_unknown_certificate_is_refused_at_once(scene, grpc_flags) -> None:
    del grpc_flags["perf_analyzer_flags"]["ssl-grpc-root-certifications-file"]

    status, output = scene.profile(*ONE, **grpc_flags)

    assert status == 1
    assert "does not answer" in output
    assert "handshake failed" in output.lower()


def https_flags(scene, certificates, **changes: Any) -> dict[str, Any]:
    return {
        "perf_analyzer_flags": {
            **scene.config["perf_analyzer_flags"],
            "ssl-https-verify-peer": 1,
            "ssl-https-verify-host": 2,
            "ssl-https-ca-certificates-file": certificates["ca.pem"],
            "ssl-https-client-certificate-type": "PEM",
            "ssl-https-client-certificate-file": certificates["client.pem"],
            "ssl-https-private-key-type": "PEM",
            "ssl-https-private-key-file": certificates["client.key"],
            "http-header": ["Authorization: Bearer s3cr3t", "X-Tenant: t3nant"],
            **changes,
        }
    }


@pytest.mark.slow
def test_https_through_a_proxy(scene, remote, tls_proxy, certificates) -> None:
    server = remote("explicit")
    proxy = tls_proxy(server.http)

    status, output = scene.profile(
        *ONE, "-v",
        **server.reached("http", triton_http_endpoint=proxy, **https_flags(scene, certificates)),
    )  # fmt: skip

    assert status == 0, output
    assert len(scene.rows) == 1
    assert f"-u {proxy}" in output
    assert "-H 'Authorization: ******'" in output
    written = [path for path in scene.directory.rglob("*") if path.is_file()]
    for secret in ("s3cr3t", "t3nant"):
        assert secret not in output
        holders = [path.name for path in written if secret.encode() in path.read_bytes()]
        assert holders == ["config.yaml"]


@pytest.mark.slow
def test_a_broken_client_key_for_https_is_named(scene, remote, tls_proxy, certificates) -> None:
    server = remote("explicit")
    key = certificates.corrupt("client.key", 0.15)

    status, output = scene.profile(
        *ONE,
        **server.reached("http", triton_http_endpoint=tls_proxy(server.http)),
        **https_flags(scene, certificates, **{"ssl-https-private-key-file": key}),
    )

    assert status == 2
    assert f"ssl-https-private-key-file: {key} does not contain" in output


@pytest.mark.slow
def test_a_proxy_with_an_unknown_certificate_is_refused_at_once(
    scene, remote, tls_proxy, certificates
) -> None:
    server = remote("explicit")
    flags = https_flags(scene, certificates)
    del flags["perf_analyzer_flags"]["ssl-https-ca-certificates-file"]
    reached = server.reached("http", triton_http_endpoint=tls_proxy(server.http))

    status, output = scene.profile(*ONE, **reached, **flags)
    assert status == 1
    assert "TLS: " in output

    # 0 means off, though it is text
    flags["perf_analyzer_flags"]["ssl-https-verify-peer"] = 0
    flags["perf_analyzer_flags"]["ssl-https-verify-host"] = 0
    status, output = scene.profile(*ONE, **reached, **flags)
    assert status == 0, output
