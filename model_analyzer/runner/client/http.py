# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A Triton server over HTTP, or HTTPS where a proxy in front of it speaks that."""

from __future__ import annotations

import http.client
import json
import math
import ssl
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import numpy as np
from tritonclient.utils import triton_to_np_dtype

from model_analyzer.domain.models import ModelConfig
from model_analyzer.domain.protobuf import from_json
from model_analyzer.domain.statistics import ModelStatistics
from model_analyzer.runner.client.interface import (
    PHASES,
    QUICK_S,
    STATISTICS_S,
    Answer,
    ServerCallError,
    input_tensors,
    loaded_versions,
    model_statistics,
)
from model_analyzer.runner.model_config import to_json

_DENIED = (401, 403, 407)

# What a proxy answers while there is nothing behind it.
_GATEWAY = (502, 503, 504)

_HEADER_LENGTH = "Inference-Header-Content-Length"


class HttpClient:
    """A `ServerClient` over HTTP; each call has a connection of its own. `tls` is None for
    connections in the clear.
    """

    def __init__(
        self, host: str, port: int, *, tls: ssl.SSLContext | None, headers: Mapping[str, str]
    ) -> None:
        self._host = host
        self._port = port
        self._tls = tls
        self._headers = headers

    def close(self) -> None:
        """Nothing stays open between calls."""

    def version(self) -> str:
        self._live()
        return str(self._call("GET", "/v2")["version"])

    def models(self) -> Mapping[str, tuple[str, ...]]:
        index = self._call("POST", "/v2/repository/index", b"{}")
        return loaded_versions(
            [(one["name"], one.get("version", ""), one.get("state", "")) for one in index]
        )

    def model_config(self, name: str) -> ModelConfig:
        answer = self._call("GET", f"/v2/models/{quote(name)}/config")
        try:
            return from_json(answer)
        except ValueError as error:
            raise ServerCallError(f"{name}: {error}") from error

    def load(self, name: str, config: ModelConfig | None, timeout_s: float) -> None:
        body = {} if config is None else {"parameters": {"config": to_json(config)}}
        path = f"/v2/repository/models/{quote(name)}/load"
        self._call("POST", path, json.dumps(body).encode(), timeout_s=timeout_s)

    def unload(self, name: str) -> None:
        self._call("POST", f"/v2/repository/models/{quote(name)}/unload", b"{}")

    def statistics(self, name: str) -> ModelStatistics:
        path = f"/v2/models/{quote(name)}/stats"
        answer = self._call("GET", path, timeout_s=STATISTICS_S)
        try:
            return model_statistics(
                (
                    int(one["inference_count"]),
                    int(one["execution_count"]),
                    map(_batch, one["batch_stats"]),
                )
                for one in answer["model_stats"]
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ServerCallError(f"{name}: these are no statistics: {error!r}") from error

    def infer_zeros(self, config: ModelConfig, timeout_s: float) -> Answer:
        path = f"/v2/models/{quote(config['name'])}/infer"
        header, body = _zeros(config)
        lengths = {_HEADER_LENGTH: str(len(header))}
        answer = json.loads(self._exchange("POST", path, header + body, timeout_s, lengths))
        return Answer(
            {
                output["name"]: output.get("parameters", {}).get("binary_data_size", 0)
                for output in answer.get("outputs", ())
            }
        )

    def text(self, path: str) -> str:
        """What is found at `path`, which need not be JSON."""
        return self._exchange("GET", path, None, QUICK_S).decode(errors="replace")

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
            return json.loads(answer or b"{}")
        except ValueError as error:
            raise ServerCallError("what answers there is not a Triton server") from error

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
        try:
            connection.request(method, path, body=body, headers=every)
            return _answer(connection)
        except (OSError, http.client.HTTPException) as error:
            raise _call_error(error) from error
        finally:
            connection.close()

    def _connection(self, timeout_s: float) -> http.client.HTTPConnection:
        if self._tls is None:
            return http.client.HTTPConnection(self._host, self._port, timeout=timeout_s)
        return http.client.HTTPSConnection(
            self._host, self._port, timeout=timeout_s, context=self._tls
        )


def _answer(connection: http.client.HTTPConnection) -> bytes:
    """The body of the answer; of tensors only the JSON that describes them."""
    response = connection.getresponse()
    body = response.read()
    if response.status < 400:
        return body[: int(response.getheader(_HEADER_LENGTH, len(body)))]
    try:
        told = json.loads(body)["error"]
    except (ValueError, TypeError, KeyError):
        told = ""  # not from a Triton server
    raise ServerCallError(
        told or f"HTTP status {response.status} {response.reason}",
        lost=not told and response.status in _GATEWAY,
        denied=response.status in _DENIED,
    )


def _batch(batch: Mapping[str, Any]) -> tuple[int, int, int]:
    """Size, count and nanoseconds."""
    ns = sum(int(batch[phase]["ns"]) for phase in PHASES)
    return int(batch["batch_size"]), int(batch["compute_infer"]["count"]), ns


def _zeros(config: ModelConfig) -> tuple[bytes, bytes]:
    """The JSON part of a request and the tensors behind it."""
    inputs, size = [], 0
    for tensor in input_tensors(config):
        bytes_here = math.prod(tensor.shape) * _item_bytes(tensor.kind)
        inputs.append(
            {
                "name": tensor.name,
                "datatype": tensor.kind,
                "shape": tensor.shape,
                "parameters": {"binary_data_size": bytes_here},
            }
        )
        size += bytes_here
    request = {"inputs": inputs, "parameters": {"binary_data_output": True}}
    return json.dumps(request).encode(), bytes(size)


def _item_bytes(kind: str) -> int:
    if kind == "BYTES":
        return 4  # the length of an empty text
    return 2 if kind == "BF16" else np.dtype(triton_to_np_dtype(kind)).itemsize


def _call_error(error: OSError | http.client.HTTPException) -> ServerCallError:
    if isinstance(error, TimeoutError):
        return ServerCallError("no answer in time", timed_out=True)
    if isinstance(error, ssl.SSLError):
        reason = getattr(error, "verify_message", "") or error.reason or str(error)
        return ServerCallError(f"TLS: {reason}", denied=True)
    if isinstance(error, OSError):
        return ServerCallError(error.strerror or str(error), lost=True)
    return ServerCallError(f"this is no HTTP: {error!r}")
