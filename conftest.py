# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures for tests/ and qa/ alike."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def program() -> str:
    """The model-analyzer command of this environment."""
    found = Path(sys.executable).with_name("model-analyzer")
    assert found.exists(), "install the project first: see the README"
    return str(found)


@dataclass(frozen=True)
class Mark:
    """An environment variable by which the processes of one test are found, however deep."""

    value: str

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "MODEL_ANALYZER_TEST": self.value}

    def processes(self) -> list[int]:
        """Running processes that carry the mark; zombies are left out."""
        wanted = f"MODEL_ANALYZER_TEST={self.value}".encode()
        found = []
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                environment = Path("/proc", entry, "environ").read_bytes().split(b"\0")
                state = Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if wanted in environment and state != "Z":
                found.append(int(entry))
        return found

    def gone(self, within_s: float = 10.0) -> bool:
        """Whether no marked process is left after at most so many seconds."""
        deadline = time.monotonic() + within_s
        while self.processes():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True


@pytest.fixture
def mark() -> Mark:
    return Mark(uuid.uuid4().hex)


@dataclass(frozen=True)
class Certificates:
    """Keys and certificates in a directory: NAME.key and NAME.pem, all signed by ca.pem.

    `server` is for localhost only, `client` for nobody in particular.
    """

    directory: Path

    def __getitem__(self, name: str) -> str:
        return str(self.directory / name)

    def corrupt(self, name: str, where: float) -> str:
        """A copy of a file with a few letters changed at `where`, from 0 to 1."""
        text = (self.directory / name).read_text()
        place = int(len(text) * where)
        broken = self.directory / f"broken-{where}-{name}"
        broken.write_text(text[:place] + "AAAAAAAA" + text[place + 8 :])
        return str(broken)


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """A certificate authority of our own, with a server and a client."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import rsa
    from cryptography.x509.oid import NameOID

    directory = tmp_path_factory.mktemp("certificates")
    now = datetime.now(timezone.utc)
    keys = {name: rsa.generate_private_key(65537, 2048) for name in ("ca", "server", "client")}
    names = {
        name: x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"test {name}")]) for name in keys
    }
    for name, key in keys.items():
        builder = (
            x509.CertificateBuilder()
            .subject_name(names[name])
            .issuer_name(names["ca"])
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=name == "ca", path_length=None), critical=True)
        )
        if name == "server":
            alternatives = x509.SubjectAlternativeName([x509.DNSName("localhost")])
            builder = builder.add_extension(alternatives, critical=False)
        certificate = builder.sign(keys["ca"], hashes.SHA256())
        pem = serialization.Encoding.PEM
        (directory / f"{name}.pem").write_bytes(certificate.public_bytes(pem))
        (directory / f"{name}.key").write_bytes(
            key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        )
    return Certificates(directory)


@pytest.fixture
def tls_proxy(certificates: Certificates) -> Iterator[Callable[[int], str]]:
    """Starts a proxy that speaks TLS, asks clients for their certificate, and passes everything
    on to a port; gives its address.
    """
    started = []

    def start(port: int) -> str:
        program = Path(__file__).parent / "tests" / "fakes" / "tls_proxy.py"
        process = subprocess.Popen(
            [sys.executable, str(program), str(port), str(certificates.directory)],
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout is not None
        return f"https://localhost:{int(process.stdout.readline())}"

    yield start
    for process in started:
        process.kill()
        process.communicate()
