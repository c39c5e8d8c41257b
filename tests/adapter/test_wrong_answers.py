# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Servers that answer wrongly: an error in one line, in time, within bounds of memory.

Whatever a server answers: it is used, or an error says what is wrong with it.

`make fuzz` tries the same for much longer.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping

import pytest
from hypothesis import given

from model_analyzer.domain.settings import Protocol
from model_analyzer.runner.client.connect import connect
from model_analyzer.runner.client.http import HttpClient
from model_analyzer.runner.client.interface import ServerCallError
from model_analyzer.runner.gpus import TritonMetrics
from model_analyzer.runner.server.endpoints import Address, Endpoints
from tests.adapter.server_answers import (
    GRPC_ANSWERS,
    HTTP_ANSWERS,
    METRICS,
    grpc_is_used_or_refused,
    http_is_used_or_refused,
    metrics_are_used_or_left_out,
)
from tests.fakes.wrong_answers import Pieces, WrongServer, answer, content, drip, endless, raw

CONFIG = {
    "name": "m",
    "max_batch_size": 1,
    "input": ({"name": "IN", "data_type": "TYPE_FP32", "dims": (4,)},),
    "output": ({"name": "OUT", "data_type": "TYPE_FP32", "dims": (4,)},),
}
OK = b"HTTP/1.1 200 OK\r\n"

CALLS: dict[str, Callable[[HttpClient], object]] = {
    "version": lambda client: client.version(),
    "models": lambda client: client.models(),
    "config": lambda client: client.model_config("m"),
    "statistics": lambda client: client.statistics("m"),
    "infer": lambda client: client.infer_zeros(CONFIG, 5),
}

Serve = Callable[[Pieces], WrongServer]


@pytest.fixture
def serve() -> Iterator[Serve]:
    started: list[WrongServer] = []

    def start(pieces: Pieces) -> WrongServer:
        started.append(WrongServer(pieces))
        return started[-1]

    yield start
    for server in started:
        server.close()


def client_of(server: WrongServer) -> HttpClient:
    return HttpClient("127.0.0.1", server.port, tls=None, headers={})


WRONG: dict[str, Pieces] = {
    "a list": content([1]),
    "a list of lists": content([[1, 2], [3]]),
    "a number": content(7),
    "null": content(None),
    "a text": content("x"),
    "a list of texts": content(["x"]),
    "numbers for texts": content([{"name": 7, "version": 8, "state": 9}]),
    "null for texts": content([{"name": None}]),
    "a version that is none": content({"version": {"a": 1}}),
    "statistics that are none": content({"model_stats": [{"inference_count": "many"}]}),
    "statistics without end": content({"model_stats": 7}),
    "infinite statistics": answer(
        b'{"model_stats": [{"inference_count": 1e999, "execution_count": 1, "batch_stats": []}]}'
    ),
    "outputs that are none": content({"outputs": 7}),
    "outputs without names": content({"outputs": [{"name": ["x"]}]}),
    "odd parameters": content({"outputs": [{"name": "x", "parameters": 7}]}),
    "odd sizes": content({"outputs": [{"name": "x", "parameters": {"binary_data_size": "x"}}]}),
    "a configuration of numbers": content({"name": 7, "input": 8}),
    "no JSON": answer(b"<html>hello</html>"),
    "no text": answer(b"\xff\xfe\x00"),
    "very deep": answer(b"[" * 200_000),
    "a number of many digits": answer(b"[" + b"9" * 100_000 + b"]"),
    "an error that is none": answer(b'{"error": {"a": [1]}}', status="500 X"),
    "an error that is a list": answer(b"[1]", status="400 X"),
    "a redirection": answer(b"", status="302 Found", headers="Location: /v2\r\n"),
    "not modified": answer(b"", status="304 Not Modified"),
    "an odd status": raw(b"HTTP/1.1 abc OK\r\n\r\n"),
    "a status out of range": raw(b"HTTP/1.1 99999999 OK\r\n\r\n"),
    "another protocol": raw(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "nothing": raw(),
    "half a header": raw(b"HTTP/1.1 200 OK\r\nContent-Le"),
    "half a body": raw(OK + b"Content-Length: 100\r\n\r\n{"),
    "a length that is none": raw(OK + b"Content-Length: x\r\n\r\n"),
    "a negative length": raw(OK + b"Content-Length: -5\r\n\r\n{"),
    "a promised terabyte": raw(OK + b"Content-Length: 1099511627776\r\n\r\n{"),
    "odd chunks": raw(OK + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n"),
    "negative chunks": raw(OK + b"Transfer-Encoding: chunked\r\n\r\n-1\r\nabc"),
    "a chunk of a terabyte": raw(OK + b"Transfer-Encoding: chunked\r\n\r\nffffffffff\r\nabc"),
    "an odd inference header": answer(b"{}", headers="Inference-Header-Content-Length: many\r\n"),
    "a negative inference header": answer(b"{}", headers="Inference-Header-Content-Length: -1\r\n"),
    "a large inference header": answer(
        b"{}", headers="Inference-Header-Content-Length: 99999999999\r\n"
    ),
    "many headers": endless(OK, b"X: y\r\n"),
    "a header without end": endless(OK + b"X: ", b"y" * 4096),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_answer_is_an_error_in_one_line(serve: Serve, wrong: str, call: str) -> None:
    client = client_of(serve(WRONG[wrong]))
    try:
        CALLS[call](client)
    except ServerCallError as error:
        text = str(error)
        assert text
        assert len(text) < 5000


@pytest.mark.parametrize(
    ("wrong", "call"),
    [
        ("a list", "version"), ("a version that is none", "version"), ("null", "models"),
        ("numbers for texts", "models"), ("a list of lists", "config"), ("a text", "statistics"),
        ("infinite statistics", "statistics"), ("outputs that are none", "infer"),
        ("odd parameters", "infer"), ("a redirection", "models"), ("very deep", "config"),
    ],
)  # fmt: skip
def test_an_answer_with_an_unexpected_structure_is_refused(
    serve: Serve, wrong: str, call: str
) -> None:
    with pytest.raises(ServerCallError):
        CALLS[call](client_of(serve(WRONG[wrong])))


@pytest.mark.parametrize(
    "head",
    [b"\r\n", b"Transfer-Encoding: chunked\r\n\r\n", b"Content-Length: 999999999999\r\n\r\n"],
    ids=["no length", "chunked", "length"],
)
@pytest.mark.parametrize("call", ["models", "infer"])
def test_an_endless_body_needs_no_more_memory_than_an_answer(
    serve: Serve, head: bytes, call: str
) -> None:
    piece = b"10000\r\n" + b"x" * 65536 + b"\r\n" if b"chunked" in head else b"x" * 65536
    client = client_of(serve(endless(OK + head, piece)))
    tracemalloc.start()
    try:
        with pytest.raises(ServerCallError, match="too large"):
            CALLS[call](client)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 300 * 2**20


@pytest.mark.parametrize(
    "pieces",
    [
        drip(OK + b"Content-Length: 100000\r\n\r\n"),
        drip(OK + b"\r\n"),
        drip(OK + b"X-Header: "),
        drip(b"HTTP/1.1 200 "),
        drip(OK, b"X: y\r\n", every_s=0.1),
        drip(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        drip(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
    ],
    ids=["body", "body without length", "header", "status", "headers", "100s", "chunks"],
)
def test_a_slow_drip_ends_in_time(serve: Serve, pieces: Pieces) -> None:
    client = client_of(serve(pieces))
    began = time.monotonic()
    with pytest.raises(ServerCallError) as caught:
        client.load("m", None, timeout_s=0.5)
    assert caught.value.timed_out
    # each piece comes within the limit: without one for all of it, this would never end
    assert time.monotonic() - began < 60


def test_redirections_are_not_followed(serve: Serve) -> None:
    target = serve(content({"version": "2.51.0"}))
    location = f"Location: http://127.0.0.1:{target.port}/v2\r\n"
    source = serve(answer(b"", status="302 Found", headers=location))
    with pytest.raises(ServerCallError, match="302"):
        client_of(source).models()
    assert TritonMetrics(f"http://127.0.0.1:{source.port}/metrics", {}).gpus() == ()
    assert target.connections == 0


@pytest.mark.parametrize("wrong", WRONG)
def test_metrics_that_are_none_give_no_values(serve: Serve, wrong: str) -> None:
    server = serve(WRONG[wrong])
    assert TritonMetrics(f"http://127.0.0.1:{server.port}/metrics", {}).gpus() == ()


@pytest.mark.parametrize(
    "pieces",
    [answer(b"no"), raw(b"\x00" * 9), endless(b"", b"x" * 65536), content([1])],
    ids=["HTTP", "zeros", "endless", "JSON"],
)
def test_a_server_without_grpc_is_an_error(serve: Serve, pieces: Pieces) -> None:
    address = Address("127.0.0.1", serve(pieces).port)
    client = connect(Endpoints(address, address, address), Protocol.GRPC, {})
    try:
        with pytest.raises(ServerCallError):
            client.version()
    finally:
        client.close()


@given(HTTP_ANSWERS)
def test_any_answer_over_http_is_used_or_refused(example: Mapping[str, str]) -> None:
    http_is_used_or_refused(example)


@given(GRPC_ANSWERS)
def test_any_answer_over_grpc_is_used_or_refused(
    example: Mapping[str, tuple[int, str, str]],
) -> None:
    grpc_is_used_or_refused(example)


@given(METRICS)
def test_any_metrics_are_used_or_left_out(text: str) -> None:
    metrics_are_used_or_left_out(text)
