# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures for tests/ and qa/ alike."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Every run tries the same few examples; `--hypothesis-profile nightly` tries many new ones. How
# long an example takes tells nothing but how busy the machine is.
settings.register_profile(
    "ci",
    max_examples=30,
    derandomize=True,
    deadline=None,
    suppress_health_check=[
        HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large,
        HealthCheck.large_base_example,
    ],
)  # fmt: skip
settings.register_profile(
    "nightly", settings.get_profile("ci"), max_examples=300, derandomize=False, print_blob=True
)
settings.load_profile("ci")

# our own programs start again and again: they are compiled once, wherever the tests run
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# whoever started the tests may have had these ignored (`make test &` in a script, nohup): what the
# tests start gets them as a user's programs do
signal.signal(signal.SIGINT, signal.default_int_handler)
for _number in (signal.SIGTERM, signal.SIGHUP):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, lambda *_: None)


@pytest.fixture(scope="session")
def program() -> str:
    """The model-analyzer command of this environment."""
    command = Path(sys.executable).with_name("model-analyzer")
    assert command.exists(), "install the project first: see the README"
    return str(command)


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
        pids = []
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                environment = Path("/proc", entry, "environ").read_bytes().split(b"\0")
                state = Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if wanted in environment and state != "Z":
                pids.append(int(entry))
        return pids

    def gone(self, within_s: float = 60.0) -> bool:
        """Whether no marked process is left after at most so many seconds.

        What tests start to see it killed must run longer than that by itself.
        """
        deadline = time.monotonic() + within_s
        while self.processes():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True


def without_charts(environment: dict[str, str]) -> dict[str, str]:
    """An environment in which charts are not drawn, see tests/fakes/charts."""
    path = [str(Path(__file__).parent / "tests" / "fakes" / "charts")]
    if environment.get("PYTHONPATH"):
        path.append(environment["PYTHONPATH"])
    return {**environment, "PYTHONPATH": os.pathsep.join(path)}


@pytest.fixture
def mark() -> Mark:
    return Mark(uuid.uuid4().hex)


@dataclass
class Engine:
    """The stand-in for the Docker engine, see tests/fakes/docker_engine.py."""

    directory: Path

    @property
    def host(self) -> str:
        """What DOCKER_HOST has to be."""
        return f"unix://{self.directory / 'socket'}"

    def plan(self, **changes: Any) -> None:
        path = self.directory / "plan.json"
        before = json.loads(path.read_text()) if path.exists() else {"images": {}, "registry": {}}
        # as a whole, since the engine may be reading it
        whole = path.with_suffix(".new")
        whole.write_text(json.dumps({**before, **changes}))
        whole.rename(path)

    def requests(self, method: str, suffix: str) -> list[dict[str, Any]]:
        """What was asked so far, of one kind."""
        path = self.directory / "log"
        entries = map(json.loads, path.read_text().splitlines()) if path.exists() else ()
        return [e for e in entries if e["method"] == method and e["path"].endswith(suffix)]

    @property
    def created(self) -> list[dict[str, Any]]:
        """The bodies of the requests that created containers."""
        return [entry["body"] for entry in self.requests("POST", "/containers/create")]

    @property
    def containers(self) -> list[Any]:
        """Containers that are there, running or not."""
        import docker

        client = docker.DockerClient(base_url=self.host)
        try:
            return client.containers.list(all=True, ignore_removed=True)
        finally:
            client.close()


@pytest.fixture
def engine() -> Iterator[Engine]:
    """A running stand-in; it must be empty again at the end."""
    # the path of a socket must be short
    made = Engine(Path(tempfile.mkdtemp(prefix="engine-")))
    made.plan()
    paths = [str(made.directory / name) for name in ("socket", "plan.json", "log")]
    program = Path(__file__).parent / "tests" / "fakes" / "docker_engine.py"
    process = subprocess.Popen([sys.executable, str(program), *paths])
    try:
        deadline = time.monotonic() + 60
        while not _accepts(paths[0]):
            assert time.monotonic() < deadline, "the stand-in engine does not start"
            time.sleep(0.02)
        yield made
        if process.poll() is None:
            assert made.containers == [], "containers were left behind"
    finally:
        process.terminate()
        process.wait(60)
        shutil.rmtree(made.directory)


def _accepts(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(path) == 0


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
