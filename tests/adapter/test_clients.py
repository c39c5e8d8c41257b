# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Both clients of a server, gRPC and HTTP, keep the same promises."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from model_analyzer.domain.measurements import BatchStatistics, ModelStatistics, RequestCounts
from model_analyzer.domain.settings import Protocol
from model_analyzer.errors import ConfigError
from model_analyzer.runner.client.connect import connect
from model_analyzer.runner.client.http import HttpClient
from model_analyzer.runner.client.interface import ServerCallError, ServerClient
from model_analyzer.runner.server.endpoints import Address, Endpoints

Connect = Callable[..., ServerClient]

CONFIG = {
    "name": "m",
    "backend": "python",
    "max_batch_size": 4,
    "input": ({"name": "IN", "data_type": "TYPE_FP32", "dims": (4,)},
              {"name": "TEXT", "data_type": "TYPE_STRING", "dims": (2,)}),
    "output": ({"name": "OUT", "data_type": "TYPE_FP32", "dims": (4,)},),
}  # fmt: skip


def with_fake(fault: str) -> dict[str, Any]:
    return {**CONFIG, "parameters": {"fake": {"string_value": fault}}}


@pytest.fixture(params=list(Protocol), ids=lambda protocol: protocol.value)
def protocol(request: pytest.FixtureRequest) -> Protocol:
    chosen: Protocol = request.param
    return chosen


@pytest.fixture
def client(elsewhere, protocol: Protocol) -> Connect:
    """Starts a server with a plan and connects to it, with perf_analyzer flags."""

    def make(flags: dict[str, Any] | None = None, **plan: Any) -> ServerClient:
        server = elsewhere(**plan)
        http, grpc = (
            Address("127.0.0.1", int(text.rpartition(":")[2]))
            for text in (server.http, server.grpc)
        )
        return connect(Endpoints(http, grpc, metrics=http), protocol, flags or {})

    return make


def test_a_server_reports_its_version(client: Connect) -> None:
    assert client(version="2.51.0").version() == "2.51.0"


def test_models_are_listed_with_their_loaded_versions(client: Connect) -> None:
    listed = client(repository=["a", "b"], loaded=["b"]).models()

    assert dict(listed) == {"a": (), "b": ("1",)}


@pytest.mark.parametrize("name", ["a+b", "m:1", "a@b,c=d", "50%", "[m]"])
def test_models_are_found_by_names_with_other_characters(client: Connect, name: str) -> None:
    server = client(repository=[name])

    server.load(name, None, 60)

    assert server.model_config(name)["name"] == name
    assert server.statistics(name)


def test_a_model_is_loaded_as_the_repository_has_it(client: Connect) -> None:
    server = client(repository=["a"])

    server.load("a", None, 60)

    config = server.model_config("a")
    assert config["input"][0]["dims"] == (4,)
    assert config["dynamic_batching"]["preferred_batch_size"] == (8,)


def test_a_model_is_loaded_with_a_configuration_and_unloaded(client: Connect) -> None:
    server = client()

    server.load("m", CONFIG, 60)
    assert server.model_config("m")["max_batch_size"] == 4
    server.unload("m")

    assert server.models().get("m", ()) == ()


def test_a_request_of_zeros_is_answered_with_sizes(client: Connect) -> None:
    server = client()
    server.load("m", CONFIG, 60)

    answer = server.infer_zeros(CONFIG, 60)

    assert answer.sizes == {"OUT": 16}
    assert not answer.is_empty


def test_an_answer_without_values_is_seen(client: Connect) -> None:
    server = client()
    server.load("m", with_fake("empty"), 60)

    assert server.infer_zeros(with_fake("empty"), 60).is_empty


def test_statistics_are_the_sum_over_all_versions(client: Connect) -> None:
    server = client()
    server.load("m", CONFIG, 60)
    for _ in range(3):
        server.infer_zeros(CONFIG, 60)

    assert server.statistics("m") == ModelStatistics(
        inferences=3,
        executions=3,
        batches=(BatchStatistics(1, 3, 3.0),),
        requests=RequestCounts(answered=3),
    )


def test_a_server_may_keep_its_statistics_to_itself(client: Connect) -> None:
    with pytest.raises(ServerCallError, match="switched off"):
        client(loaded=["m"], mute=True).statistics("m")


def test_a_refusal_is_passed_on_in_the_servers_words(client: Connect) -> None:
    with pytest.raises(ServerCallError, match="No module named 'nosuch'") as raised:
        client().load("m", with_fake("fail"), 60)

    assert not raised.value.timed_out
    assert not raised.value.denied


def test_a_load_has_a_deadline(client: Connect) -> None:
    began = time.monotonic()

    with pytest.raises(ServerCallError) as raised:
        client().load("m", with_fake("hang"), 0.5)

    assert raised.value.timed_out
    assert time.monotonic() - began < 60  # it hangs for ten minutes


def test_a_server_that_dies_is_lost(client: Connect) -> None:
    server = client()

    with pytest.raises(ServerCallError) as raised:
        server.load("m", with_fake("die"), 60)
    assert raised.value.lost
    with pytest.raises(ServerCallError) as raised:
        server.version()
    assert raised.value.lost


def test_a_missing_server_is_reported_at_once(protocol: Protocol) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = Address("127.0.0.1", free.getsockname()[1])
    taken_s = []
    for _ in range(3):
        began = time.monotonic()
        with pytest.raises(ServerCallError) as raised:
            connect(Endpoints(address, address, address), protocol, {}).version()
        assert raised.value.lost
        taken_s.append(time.monotonic() - began)
    assert min(taken_s) < 9  # a call has ten seconds


def test_headers_are_sent(client: Connect) -> None:
    flags = {"http-header": ("Authorization: Bearer s3cr3t", "X-Tenant:one")}

    assert client(flags, header="authorization:Bearer s3cr3t").version()


def test_a_denied_client_need_not_try_again(client: Connect) -> None:
    with pytest.raises(ServerCallError, match="who are you") as raised:
        client(header="authorization:Bearer s3cr3t").version()

    assert raised.value.denied


def test_a_header_without_a_name_is_refused_without_showing_it(protocol: Protocol) -> None:
    address = Address("127.0.0.1", 1)

    with pytest.raises(ConfigError) as raised:
        connect(Endpoints(address, address, address), protocol, {"http-header": "s3cr3t"})

    assert "http-header" in str(raised.value)
    assert "s3cr3t" not in str(raised.value)


def test_a_program_that_is_not_a_triton_server_is_reported(protocol: Protocol, tls_proxy) -> None:
    """A port that speaks TLS, addressed in the clear."""
    address = Address("127.0.0.1", int(tls_proxy(1).rpartition(":")[2]))

    with pytest.raises(ServerCallError):
        connect(Endpoints(address, address, address), protocol, {}).version()


class Other(BaseHTTPRequestHandler):
    """A server of another kind: it knows the protocol of inference, and nothing of Triton's."""

    status, body = 404, b'{"detail": "Not Found"}'

    def do_GET(self) -> None:
        body = self.body
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def test_a_server_that_does_not_know_a_call_of_triton_is_told_apart() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Other) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        client = HttpClient("127.0.0.1", server.server_port, tls=None, headers={})
        with pytest.raises(ServerCallError, match=r"404 Not Found: .* all calls of Triton"):
            client.model_config("m")
        server.shutdown()


@pytest.mark.parametrize("status", [400, 404, 500, 503])
def test_the_text_of_a_refusal_counts_whatever_its_status_in_a_version(status: int) -> None:
    said = {"status": status, "body": b'{"error": "Request for unknown model"}'}
    with ThreadingHTTPServer(("127.0.0.1", 0), type("Refusing", (Other,), said)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        client = HttpClient("127.0.0.1", server.server_port, tls=None, headers={})
        with pytest.raises(ServerCallError, match=r"^Request for unknown model$") as raised:
            client.model_config("m")
        server.shutdown()
    error = raised.value
    assert [error.lost, error.denied, error.timed_out] == [False] * 3
