# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Ports that the options name."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from dataclasses import replace

import pytest

from model_analyzer.domain.settings import LaunchMode, ServerSettings
from model_analyzer.features.doctor.findings import Level
from model_analyzer.features.doctor.network_checks import Port, check_ports, judge_port
from tests.unit.builders import resolved


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


@pytest.fixture
def settings() -> ServerSettings:
    return resolved("").settings.server


def test_without_an_address_ports_are_chosen(settings: ServerSettings) -> None:
    (finding,) = check_ports(settings)

    assert (finding.level, finding.check) == (Level.OK, "ports")


def test_a_used_port_names_its_process(settings: ServerSettings, taken: int) -> None:
    first, *_ = check_ports(replace(settings, http_endpoints=(f"localhost:{taken}",)))

    assert first.level is Level.PROBLEM
    assert f"127.0.0.1:{taken} (triton_http_endpoint) cannot be used" in first.found
    assert f"process {os.getpid()}" in first.found
    assert "remove triton_http_endpoint" in first.fix


def test_a_free_port_is_ok() -> None:
    finding = judge_port(Port(option="triton_grpc_endpoint", address="127.0.0.1:9", reason=""))

    assert finding.level is Level.OK


def test_the_process_of_a_used_port_may_be_unknown() -> None:
    port = Port(option="triton_grpc_endpoint", address="127.0.0.1:9", reason="in use")

    assert judge_port(port).found.endswith("in use")


def test_a_server_elsewhere_has_to_listen(settings: ServerSettings, taken: int) -> None:
    remote = replace(settings, launch=LaunchMode.REMOTE, grpc_endpoints=(f"localhost:{taken}",))
    (there,) = check_ports(remote)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        (absent,) = check_ports(replace(remote, grpc_endpoints=(f"localhost:{port}",)))

    assert there.level is Level.OK
    assert absent.level is Level.PROBLEM
    assert "--triton-grpc-endpoint" in absent.fix
