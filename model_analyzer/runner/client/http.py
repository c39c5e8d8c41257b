# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A client of a Triton server over HTTP, or over HTTPS through a proxy. Answers are limited in time
and size.
"""

from __future__ import annotations

import http.client
import io
import json
import math
import socket
import ssl
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any
from urllib.parse import quote

import numpy as np
from tritonclient.utils import triton_to_np_dtype

from model_analyzer.domain.foreign_json import parse_json
from model_analyzer.domain.measurements import ModelStatistics, RequestCounts
from model_analyzer.domain.models import ModelConfig
from model_analyzer.domain.protobuf import from_json
from model_analyzer.runner.client.interface import (
    NOT_TRITON,
    PHASES,
    QUICK_S,
    STATISTICS_S,
    InferenceAnswer,
    ServerCallError,
    config_of,
    input_tensors,
    loaded_versions,
    measurable_version,
    model_statistics,
    restricted,
    text_of,
)
from model_analyzer.runner.model_config import to_json

_DENIED = (401, 403, 407)

_NOT_FOUND = 404
_NO_SUCH_CALL = (_NOT_FOUND, 405, 501)

# The statuses of a proxy without a server behind it.
_GATEWAY = (502, 503, 504)

# Triton decodes nothing in a path, so these characters of a name are sent as they are.
_AS_THEY_ARE = "!$%&'()*+,:;=@[]"

_HEADER_LENGTH = "Inference-Header-Content-Length"

# The limits for an answer: for its text, and for all with its tensors, which are not stored.
_MOST_TEXT_BYTES = 64 * 2**20
_MOST_BYTES = 2**30
_PIECE_BYTES = 2**16

# The longest part of an error to show.
_MOST_CHARACTERS = 4000

# The exceptions for an answer with an unexpected structure.
_ODD = (KeyError, TypeError, AttributeError, ValueError, OverflowError, RecursionError)


class HttpClient:
    """A `ServerClient` over HTTP, with a new connection for each call. `tls` is None for
    unencrypted connections.
    """

    def __init__(
        self, host: str, port: int, *, tls: ssl.SSLContext | None, headers: Mapping[str, str]
    ) -> None:
        self._host = host
        self._port = port
        self._tls = tls
        self._headers = headers

    def close(self) -> None:
        """Does nothing: no connection is open between calls."""

    def version(self) -> str:
        self._live()
        answer = self._call("GET", "/v2")
        with _expected("the version of a Triton server"):
            server, version = text_of(answer["name"]), text_of(answer["version"])
            return measurable_version(server, version, answer.get("extensions", ()))

    def models(self) -> Mapping[str, tuple[str, ...]]:
        index = self._call("POST", "/v2/repository/index", b"{}")
        with _expected("the index of a model repository"):
            return loaded_versions([_row(entry) for entry in index])

    def model_config(self, name: str) -> ModelConfig:
        answer = self._call("GET", f"/v2/models/{_in_path(name)}/config")
        with _expected(f"the configuration of {name}"):
            return config_of(name, from_json(answer))

    def load(self, name: str, config: ModelConfig | None, timeout_s: float) -> None:
        body = {} if config is None else {"parameters": {"config": to_json(config)}}
        path = f"/v2/repository/models/{_in_path(name)}/load"
        self._call("POST", path, json.dumps(body).encode(), timeout_s=timeout_s)

    def unload(self, name: str) -> None:
        self._call("POST", f"/v2/repository/models/{_in_path(name)}/unload", b"{}")

    def statistics(self, name: str) -> ModelStatistics:
        path = f"/v2/models/{_in_path(name)}/stats"
        answer = self._call("GET", path, timeout_s=STATISTICS_S)
        with _expected(f"the statistics of {name}"):
            return model_statistics(
                (
                    int(version["inference_count"]),
                    int(version["execution_count"]),
                    map(_batch, version["batch_stats"]),
                    _requests(version["inference_stats"]),
                )
                for version in answer["model_stats"]
            )

    def infer_zeros(self, config: ModelConfig, timeout_s: float) -> InferenceAnswer:
        path = f"/v2/models/{_in_path(config['name'])}/infer"
        header, body = _zeros(config)
        lengths = {_HEADER_LENGTH: str(len(header))}
        text = self._exchange("POST", path, header + body, timeout_s, lengths)
        with _expected(f"the answer of {config['name']}"):
            return InferenceAnswer(
                {
                    text_of(output["name"]): int(
                        output.get("parameters", {}).get("binary_data_size", 0)
                    )
                    for output in parse_json(text).get("outputs", ())
                }
            )

    def text(self, path: str, timeout_s: float = QUICK_S, body: bytes | None = None) -> str:
        """The text at `path`, which need not be JSON, or the answer there to `body`. Raises
        ServerCallError.
        """
        method = "GET" if body is None else "POST"
        return self._exchange(method, path, body, timeout_s).decode(errors="replace")

    def _live(self) -> None:
        try:
            self.text("/v2/health/live")
        except ServerCallError as error:
            if error.timed_out or error.lost or error.denied:
                raise
            raise ServerCallError("the server is not live", lost=True) from error

    def _call(
        self, method: str, path: str, body: bytes | None = None, timeout_s: float = QUICK_S
    ) -> Any:
        answer = self._exchange(method, path, body, timeout_s)
        try:
            return parse_json(answer or b"{}")
        except ValueError as error:
            raise ServerCallError("the address does not belong to a Triton server") from error

    def _exchange(
        self,
        method: str,
        path: str,
        body: bytes | None,
        timeout_s: float,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        every = {**self._headers, **(headers or {})}
        connection = self._connection(timeout_s)
        with ExitStack() as stack:
            stack.callback(connection.close)
            try:
                connection.connect()
                stack.callback(connection.sock.close)
                connection.sock = BoundedSocket(connection.sock, timeout_s, _MOST_BYTES)
                connection.request(method, path, body=body, headers=every)
                return _answer(connection, absent=(_NOT_FOUND,) if body is None else _NO_SUCH_CALL)
            except (OSError, ValueError, http.client.HTTPException, TooLarge) as error:
                raise _call_error(error) from error

    def _connection(self, timeout_s: float) -> http.client.HTTPConnection:
        if self._tls is None:
            return http.client.HTTPConnection(self._host, self._port, timeout=timeout_s)
        return http.client.HTTPSConnection(
            self._host, self._port, timeout=timeout_s, context=self._tls
        )


def _in_path(name: str) -> str:
    """The name of a model in a path, encoded only where no request could have it."""
    return quote(name, safe=_AS_THEY_ARE)


def _answer(connection: http.client.HTTPConnection, *, absent: Collection[int]) -> bytes:
    """The body of the answer; without the tensors, only the JSON that describes them. A status in
    `absent` says that nothing takes this call.
    """
    response = connection.getresponse()
    length = response.getheader(_HEADER_LENGTH)
    text = _text(response, _MOST_TEXT_BYTES if length is None else int(length))
    if length is not None:
        while response.read(_PIECE_BYTES):
            pass  # tensors
    elif response.read(1):
        raise TooLarge
    if 200 <= response.status < 300:
        return text
    try:
        message = text_of(parse_json(text)["error"])[:_MOST_CHARACTERS]
    except _ODD:
        message = ""  # not from a Triton server
    if (refusal := restricted(message)) is not None:
        raise refusal
    status = f"HTTP status {response.status} {response.reason[:_MOST_CHARACTERS]}"
    raise ServerCallError(
        message or (f"{status}: {NOT_TRITON}" if response.status in _NO_SUCH_CALL else status),
        lost=not message and response.status in _GATEWAY,
        denied=response.status in _DENIED,
        absent=response.status in absent,
    )


def _text(response: http.client.HTTPResponse, size: int) -> bytes:
    """At most `size` bytes of the body. It allocates memory for received bytes only."""
    if not 0 <= size <= _MOST_TEXT_BYTES:
        raise TooLarge
    pieces, left = [], size
    while left and (piece := response.read(min(_PIECE_BYTES, left))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


@contextmanager
def _expected(content: str) -> Iterator[None]:
    """A block that parses an answer; raises ServerCallError if its structure is unexpected."""
    try:
        yield
    except _ODD as error:
        reason = f"{type(error).__name__}: {error}"[:200]
        raise ServerCallError(f"the server's answer is not {content} ({reason})") from error


def _row(entry: Mapping[str, Any]) -> tuple[str, str, str]:
    """The name, version and state of a model."""
    return (
        text_of(entry["name"]), text_of(entry.get("version", "")), text_of(entry.get("state", ""))
    )  # fmt: skip


def _batch(batch: Mapping[str, Any]) -> tuple[int, int, int]:
    """Size, count and nanoseconds."""
    ns = sum(int(batch[phase]["ns"]) for phase in PHASES)
    return int(batch["batch_size"]), int(batch["compute_infer"]["count"]), ns


def _requests(counts: Mapping[str, Any]) -> RequestCounts:
    return RequestCounts(
        answered=int(counts["success"]["count"]),
        failed=int(counts["fail"]["count"]),
        hits=int(counts["cache_hit"]["count"]),
        misses=int(counts["cache_miss"]["count"]),
    )


def _zeros(config: ModelConfig) -> tuple[bytes, bytes]:
    """The JSON part of a request, and the tensors after it."""
    inputs, size = [], 0
    for tensor in input_tensors(config):
        tensor_bytes = math.prod(tensor.shape) * _item_bytes(tensor.kind)
        inputs.append(
            {
                "name": tensor.name,
                "datatype": tensor.kind,
                "shape": tensor.shape,
                "parameters": {"binary_data_size": tensor_bytes},
            }
        )
        size += tensor_bytes
    request = {"inputs": inputs, "parameters": {"binary_data_output": True}}
    return json.dumps(request).encode(), bytes(size)


def _item_bytes(kind: str) -> int:
    if kind == "BYTES":
        return 4  # the length of an empty text
    return 2 if kind == "BF16" else np.dtype(triton_to_np_dtype(kind)).itemsize


def _call_error(
    error: OSError | ValueError | http.client.HTTPException | TooLarge,
) -> ServerCallError:
    if isinstance(error, TooLarge):
        return ServerCallError("the answer is too large for a Triton server")
    if isinstance(error, TimeoutError):
        return ServerCallError("no answer in time", timed_out=True)
    if isinstance(error, ssl.SSLError):
        reason = getattr(error, "verify_message", "") or error.reason or str(error)
        return ServerCallError(f"TLS: {reason}", denied=True)
    if isinstance(error, OSError):
        return ServerCallError(error.strerror or str(error), lost=True)
    return ServerCallError(f"the answer is not HTTP: {error!r}"[:_MOST_CHARACTERS])


class TooLarge(Exception):
    """The server sends more than `most_bytes`."""


class BoundedSocket:
    """The methods of a socket that `http.client` needs. The exchange must end within `timeout_s`
    seconds, and receive at most `most_bytes`. The owner of the real socket closes it.
    """

    def __init__(self, connected: socket.socket, timeout_s: float, most_bytes: int) -> None:
        self._socket = connected
        self._deadline = time.monotonic() + timeout_s
        self._bytes_left = most_bytes

    def sendall(self, data: Any) -> None:
        self._limit_wait()
        self._socket.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Stream(self))

    def receive_into(self, buffer: Any) -> int:
        self._limit_wait()
        count = self._socket.recv_into(buffer)
        self._bytes_left -= count
        if self._bytes_left < 0:
            raise TooLarge
        return count

    def close(self) -> None:
        """Does nothing: `http.client` closes the connection while the answer is still read."""

    def _limit_wait(self) -> None:
        seconds = self._deadline - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        self._socket.settimeout(seconds)


class _Stream(io.RawIOBase):
    def __init__(self, source: BoundedSocket) -> None:
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._source.receive_into(buffer)
