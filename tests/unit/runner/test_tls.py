# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Keys and certificates, from perf_analyzer's flags."""

from __future__ import annotations

import ssl

import pytest

from model_analyzer.errors import ConfigError
from model_analyzer.runner.client.connect import access_flags, grpc_tls, https_context

GRPC = {
    "ssl-grpc-use-ssl": "true",
    "ssl-grpc-root-certifications-file": "ca.pem",
    "ssl-grpc-certificate-chain-file": "client.pem",
    "ssl-grpc-private-key-file": "client.key",
}
HTTPS = {
    "ssl-https-ca-certificates-file": "ca.pem",
    "ssl-https-client-certificate-file": "client.pem",
    "ssl-https-private-key-file": "client.key",
}


@pytest.fixture(autouse=True)
def here(monkeypatch, certificates) -> None:
    monkeypatch.chdir(certificates.directory)


def test_only_tls_and_header_flags_count_as_access() -> None:
    flags = {**GRPC, **HTTPS, "http-header": "A:b", "percentile": "95", "url": "x"}

    assert set(access_flags(flags)) == {*GRPC, *HTTPS, "http-header"}


@pytest.mark.parametrize("off", [{}, {"ssl-grpc-use-ssl": "false"}, {"ssl-grpc-use-ssl": "0"}])
def test_grpc_is_in_the_clear_unless_it_is_asked_for(off) -> None:
    assert grpc_tls({**GRPC, "ssl-grpc-use-ssl": "false", **off}) is None


def test_grpc_takes_the_files_that_are_given() -> None:
    tls = grpc_tls(GRPC)

    assert tls is not None
    assert tls.files == {
        "root_certificates": "ca.pem",
        "certificate_chain": "client.pem",
        "private_key": "client.key",
    }


@pytest.mark.parametrize(
    ("peer", "host", "verifies", "checks_name"),
    [
        (None, None, True, True),
        ("1", "2", True, True),
        ("1", "0", True, False),
        ("0", "2", False, False),
        ("0", "0", False, False),
    ],
)
def test_https_verifies_unless_a_flag_is_zero(peer, host, verifies, checks_name) -> None:
    flags = {"ssl-https-verify-peer": peer, "ssl-https-verify-host": host}

    context = https_context({name: value for name, value in flags.items() if value is not None})

    assert (context.verify_mode is ssl.CERT_REQUIRED) == verifies
    assert context.check_hostname == checks_name


@pytest.mark.parametrize(
    ("read", "flags", "changed", "words"),
    [
        (grpc_tls, GRPC, {"ssl-grpc-private-key-file": "missing"}, "missing: No such file"),
        (grpc_tls, GRPC, {"ssl-grpc-private-key-file": "server.key"}, "fits client.pem"),
        (
            grpc_tls,
            GRPC,
            {"ssl-grpc-private-key-file": "client.pem"},
            "client.pem does not contain",
        ),
        (grpc_tls, GRPC, {"ssl-grpc-root-certifications-file": "ca.key"}, "certificates in PEM"),
        (https_context, HTTPS, {"ssl-https-private-key-file": "missing"}, "missing: No such file"),
        (https_context, HTTPS, {"ssl-https-private-key-file": "server.key"}, "fits client.pem"),
        (https_context, HTTPS, {"ssl-https-ca-certificates-file": "gone"}, "gone: No such file"),
        (https_context, HTTPS, {"ssl-https-verify-peer": "yes"}, "expected 0, 1 or 2"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_its_flag(read, flags, changed, words) -> None:
    with pytest.raises(ConfigError) as raised:
        read({**flags, **changed})

    text = str(raised.value)
    assert words in text
    assert next(iter(changed)) in text
    assert "\n" not in text


@pytest.mark.parametrize("alone", ["client-certificate-file", "private-key-file"])
def test_a_key_is_of_no_use_without_its_certificate(alone: str) -> None:
    flags = {name: value for name, value in HTTPS.items() if not name.endswith(alone)}

    with pytest.raises(ConfigError, match="needs .*, too"):
        https_context(flags)


def test_an_encrypted_key_is_refused_without_asking_for_its_password(certificates) -> None:
    from cryptography.hazmat.primitives import serialization

    key = serialization.load_pem_private_key(
        (certificates.directory / "client.key").read_bytes(), None
    )
    (certificates.directory / "locked.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"s3cr3t"),
        )
    )

    with pytest.raises(ConfigError, match="unencrypted private key"):
        https_context({**HTTPS, "ssl-https-private-key-file": "locked.key"})


def test_files_that_only_perf_analyzer_can_read_get_a_warning(caplog) -> None:
    https_context({**HTTPS, "ssl-https-private-key-type": "DER"})

    assert "reads only PEM" in caplog.text
