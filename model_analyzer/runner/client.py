# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Talks to a Triton server about itself and its models, over gRPC, always with a deadline."""

from __future__ import annotations

import queue
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tritonclient.grpc as grpcclient
from tritonclient.utils import InferenceServerException, triton_to_np_dtype

from model_analyzer.domain.models import ModelConfig, is_decoupled
from model_analyzer.runner.model_config import from_message, to_json

_QUICK_S = 10.0


class ServerCallError(Exception):
    """The server refused, did not answer in time (`timed_out`) or went away (`lost`)."""

    def __init__(self, message: str, *, timed_out: bool = False, lost: bool = False) -> None:
        super().__init__(message)
        self.timed_out = timed_out
        self.lost = lost


@dataclass(frozen=True, slots=True)
class Answer:
    """The outputs of one inference: name to number of bytes."""

    sizes: Mapping[str, int]

    @property
    def is_empty(self) -> bool:
        return bool(self.sizes) and not any(self.sizes.values())


class ServerClient:
    """A connection to one server; close it with the server's end."""

    def __init__(self, address: str) -> None:
        self._client = grpcclient.InferenceServerClient(address)

    def close(self) -> None:
        self._client.close()

    def version(self) -> str:
        """The server's version; raises ServerCallError while it is not ready."""
        try:
            return str(self._client.get_server_metadata(client_timeout=_QUICK_S).version)
        except InferenceServerException as error:
            raise _call_error(error) from error

    def load(self, config: ModelConfig, timeout_s: float) -> None:
        """Loads a model with this configuration, in place of what the repository says.

        The whole configuration is sent: the server would not merge a part of one.
        """
        try:
            self._client.load_model(
                config["name"], config=to_json(config), client_timeout=timeout_s
            )
        except InferenceServerException as error:
            raise _call_error(error) from error

    def load_as_it_is(self, model: str, timeout_s: float) -> None:
        """Loads a model with the configuration that the repository has, if it has one."""
        try:
            self._client.load_model(model, client_timeout=timeout_s)
        except InferenceServerException as error:
            raise _call_error(error) from error

    def configuration(self, model: str) -> ModelConfig:
        """The configuration with which the server serves a loaded model."""
        try:
            answer = self._client.get_model_config(model, client_timeout=_QUICK_S)
        except InferenceServerException as error:
            raise _call_error(error) from error
        return from_message(answer.config)

    def infer_zeros(self, config: ModelConfig, count: int, timeout_s: float) -> Answer:
        """Sends `count` requests of zeros (empty text) at once to a model whose shapes are all
        fixed; the answer to the one that came back last.
        """
        inputs = _zeros(config)
        answers: queue.SimpleQueue[tuple[Any, Any]] = queue.SimpleQueue()
        for _ in range(count):
            self._client.async_infer(
                config["name"],
                inputs,
                lambda result, error: answers.put((result, error)),
                client_timeout=timeout_s,
            )
        for _ in range(count):
            try:
                result, error = answers.get(timeout=timeout_s + 1)
            except queue.Empty:
                raise ServerCallError("no answer", timed_out=True) from None
            if error is not None:
                raise _call_error(error)
            response = result.get_response()
        names = [output.name for output in response.outputs]
        # raw bytes: to make an array of too few of them is an error
        return Answer(dict(zip(names, map(len, response.raw_output_contents), strict=False)))


def _zeros(config: ModelConfig) -> list[Any]:
    batch = [1] if config.get("max_batch_size", 0) else []
    inputs = []
    for tensor in config["input"]:
        kind = tensor["data_type"].removeprefix("TYPE_").replace("STRING", "BYTES")
        shape = batch + [int(size) for size in tensor["dims"]]
        item = grpcclient.InferInput(tensor["name"], shape, kind)
        empty = b"" if kind == "BYTES" else 0
        item.set_data_from_numpy(np.full(shape, empty, dtype=triton_to_np_dtype(kind)))
        inputs.append(item)
    return inputs


def has_fixed_shapes(config: ModelConfig) -> bool:
    """Whether a request can be made up for the model without knowing more about it."""
    tensors: Sequence[Mapping[str, Any]] = (*config.get("input", ()), *config.get("output", ()))
    return (
        bool(config.get("input"))
        and all(int(size) > 0 for tensor in tensors for size in tensor.get("dims", (0,)))
        and all(
            triton_to_np_dtype(tensor["data_type"].removeprefix("TYPE_").replace("STRING", "BYTES"))
            for tensor in tensors
        )
        and "sequence_batching" not in config
        and not is_decoupled(config)
    )


def _call_error(error: InferenceServerException) -> ServerCallError:
    status = str(error.status())
    return ServerCallError(
        str(error.message()),
        timed_out="DEADLINE_EXCEEDED" in status,
        lost="UNAVAILABLE" in status,
    )
