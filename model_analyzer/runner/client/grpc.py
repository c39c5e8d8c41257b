# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A Triton server over gRPC."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
import tritonclient.grpc as grpcclient
from tritonclient.utils import InferenceServerException, triton_to_np_dtype

from model_analyzer.domain.measurements import ModelStatistics, RequestCounts
from model_analyzer.domain.models import ModelConfig
from model_analyzer.domain.protobuf import from_message
from model_analyzer.runner.client.connect import GrpcTls
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
)
from model_analyzer.runner.model_config import to_json

T = TypeVar("T")

_MOST_SENT_BYTES = 2**31 - 1
# The limit for an answer: the tensors of one inference.
_MOST_BYTES = 2**29

# Without this, gRPC waits up to two minutes before it reconnects.
_RECONNECT_MS = 1000

# The longest part of an error to show.
_MOST_CHARACTERS = 4000

_DENIED = ("UNAUTHENTICATED", "PERMISSION_DENIED")

# gRPC's message for a readable but invalid key
_BAD_KEY = "Failed to create security handshaker"


class GrpcClient:
    """A `ServerClient` over gRPC. `tls` is None for an unencrypted connection.

    `name` is the server's name in its certificate, which may differ from the address.
    """

    def __init__(
        self, address: str, *, tls: GrpcTls | None, name: str, headers: Mapping[str, str]
    ) -> None:
        _silence_grpc()
        options: list[tuple[str, Any]] = [
            ("grpc.max_send_message_length", _MOST_SENT_BYTES),
            ("grpc.max_receive_message_length", _MOST_BYTES),
            ("grpc.max_reconnect_backoff_ms", _RECONNECT_MS),
        ]
        if tls is not None and name:
            options.append(("grpc.ssl_target_name_override", name))
        files = {} if tls is None else {"ssl": True, **tls.files}
        self._client = grpcclient.InferenceServerClient(address, channel_args=options, **files)
        # gRPC metadata needs names in lower case
        self._headers = {header.lower(): value for header, value in headers.items()}

    @property
    def raw(self) -> tuple[grpcclient.InferenceServerClient, Mapping[str, str]]:
        """The client of tritonclient, and the headers for each of its calls."""
        return self._client, self._headers

    def close(self) -> None:
        self._client.close()

    def version(self) -> str:
        if not self._call(self._client.is_server_live):
            raise ServerCallError("the server is not live", lost=True)
        answer = self._call(self._client.get_server_metadata)
        return measurable_version(answer.name, answer.version, answer.extensions)

    def models(self) -> Mapping[str, tuple[str, ...]]:
        index = self._call(self._client.get_model_repository_index)
        return loaded_versions([(row.name, row.version, row.state) for row in index.models])

    def model_config(self, name: str) -> ModelConfig:
        return config_of(name, from_message(self._call(self._client.get_model_config, name).config))

    def load(self, name: str, config: ModelConfig | None, timeout_s: float) -> None:
        override = None if config is None else to_json(config)
        self._call(self._client.load_model, name, config=override, timeout_s=timeout_s)

    def unload(self, name: str) -> None:
        self._call(self._client.unload_model, name)

    def statistics(self, name: str) -> ModelStatistics:
        answer = self._call(self._client.get_inference_statistics, name, timeout_s=STATISTICS_S)
        return model_statistics(
            (
                version.inference_count,
                version.execution_count,
                map(_batch, version.batch_stats),
                _requests(version.inference_stats),
            )
            for version in answer.model_stats
        )

    def infer_zeros(self, config: ModelConfig, timeout_s: float) -> InferenceAnswer:
        result = self._call(self._client.infer, config["name"], _zeros(config), timeout_s=timeout_s)
        response = result.get_response()
        names = [output.name for output in response.outputs]
        # raw bytes: converting too few of them to an array raises
        return InferenceAnswer(
            dict(zip(names, map(len, response.raw_output_contents), strict=False))
        )

    def _call(
        self, method: Callable[..., T], *arguments: Any, timeout_s: float = QUICK_S, **options: Any
    ) -> T:
        try:
            return method(*arguments, headers=self._headers, client_timeout=timeout_s, **options)
        except InferenceServerException as error:
            raise _call_error(error) from error


def _silence_grpc() -> None:
    """Suppresses the traceback that gRPC logs for an invalid answer: the call also raises."""
    logger = logging.getLogger("grpc")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())


def _batch(batch: Any) -> tuple[int, int, int]:
    """Size, count and nanoseconds."""
    ns = sum(getattr(batch, phase).ns for phase in PHASES)
    return batch.batch_size, batch.compute_infer.count, ns


def _requests(counts: Any) -> RequestCounts:
    return RequestCounts(
        answered=counts.success.count,
        failed=counts.fail.count,
        hits=counts.cache_hit.count,
        misses=counts.cache_miss.count,
    )


def _zeros(config: ModelConfig) -> list[Any]:
    inputs = []
    for tensor in input_tensors(config):
        item = grpcclient.InferInput(tensor.name, list(tensor.shape), tensor.kind)
        empty = b"" if tensor.kind == "BYTES" else 0
        dtype = triton_to_np_dtype(tensor.kind)
        item.set_data_from_numpy(np.full(tensor.shape, empty, dtype=dtype))
        inputs.append(item)
    return inputs


def _call_error(error: InferenceServerException) -> ServerCallError:
    status, message = str(error.status()), str(error.message())[:_MOST_CHARACTERS]
    if (refusal := restricted(message)) is not None:
        return refusal
    if _BAD_KEY in message:
        return ServerCallError(
            "gRPC cannot use the private key or the certificate of the client", denied=True
        )
    if "UNIMPLEMENTED" in status:
        message = f"{message or 'not implemented'}: {NOT_TRITON}"
    return ServerCallError(
        message or f"the server gave no reason ({status})",
        timed_out="DEADLINE_EXCEEDED" in status,
        lost="UNAVAILABLE" in status,
        denied="handshake failed" in message or any(word in status for word in _DENIED),
    )
