# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A server with OpenAI's API: its models are known by name, and nothing is asked but that."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.settings import EndpointKind, Protocol
from model_analyzer.errors import RepositoryError, ServerError
from model_analyzer.runner.served_models import served_facts
from model_analyzer.runner.server.log import ServerLog
from model_analyzer.runner.server.remote import RemoteLauncher
from model_analyzer.runner.server.triton import TritonServer
from model_analyzer.runner.versions import named
from tests.adapter.test_remote_server import SETTINGS, SETUP
from tests.fakes.openai_server import running

SPOKEN = replace(
    SETTINGS, endpoint=EndpointKind.OPENAI, protocol=Protocol.HTTP, reload_disable=True
)


@pytest.fixture
def reach(tmp_path: Path) -> Callable[[str], TritonServer]:
    """Connects to an address."""

    def reached(address: str) -> TritonServer:
        settings = replace(SPOKEN, http_endpoints=(address,))
        return TritonServer(
            RemoteLauncher(settings), settings, ServerLog(tmp_path / "none"), settles=False
        )

    return reached


def test_a_model_is_reached_by_its_name(
    tmp_path: Path, reach: Callable[[str], TritonServer]
) -> None:
    with running(tmp_path / "port") as address, reach(address) as server:
        client = server.client(SETUP)
        variant = VariantNames().default(served_facts(client, "chat", timeout_s=9))
        with pytest.raises(RepositoryError, match="did you mean 'chat'"):
            served_facts(client, "chatt", timeout_s=9)

        assert named(server.version(SETUP)) == "a server with OpenAI's API"
        assert server.serve([variant], SETUP) is None
        assert server.statistics([variant]) == {}
        assert server.route(variant, Protocol.HTTP).flags == {
            "url": address.replace("localhost", "127.0.0.1"),
            "service-kind": "openai",
            "endpoint": "v1/chat/completions",
            "async": "true",
        }


def test_a_server_without_the_api_is_not_waited_for(reach: Callable[[str], TritonServer]) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        with pytest.raises(ServerError, match="the server has no OpenAI API"):
            reach(f"localhost:{other.server_port}").version(SETUP)
        other.shutdown()
