# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Asks a server over gRPC: one request at a time, or many at once, so that the batcher mixes them.

Steps of a sequence follow each other; several sequences are under way at once. Responses of
decoupled models come over a stream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import numpy as np
import tritonclient.grpc as grpcclient
from tritonclient.utils import InferenceServerException

from model_analyzer.features.proof.answers import Answer, Output, joined, rows
from model_analyzer.features.proof.input_set import Inputs, InputSet
from model_analyzer.runner.client.grpc import GrpcClient

T = TypeVar("T")

_FINAL = "triton_final_response"
_MOST_MESSAGE = 200  # characters

# The place of a request: the number of its sequence, and of its step.
Place = tuple[int, int]


class Unanswered(Exception):
    """The server has not answered in time, or cannot be reached."""


class Asking:
    """Asks questions of one model. Each call waits for at most `patience_s` for an answer."""

    def __init__(self, client: GrpcClient, inputs: InputSet, patience_s: float) -> None:
        self._client, self._headers = client.raw
        self._inputs = inputs
        self._patience_s = patience_s
        self._identities = count(1)  # of sequences: none is used twice

    def alone(self, number: int) -> Sequence[Answer]:
        """The answers to the steps of a sequence, asked one after the other. Raises Unanswered."""
        return [answer for _, answer in self._in_step([number])]

    def at_once(self, numbers: Sequence[int]) -> Iterator[tuple[Place, Answer]]:
        """The answers to these sequences, which may be repeated, all of them under way at once, in
        any order. Raises Unanswered.
        """
        yield from self._in_step(numbers)

    def in_batches(self, batches: Sequence[Sequence[int]]) -> Iterator[tuple[Place, Answer]]:
        """The answers to requests with these rows, of equal shapes, all of them at once: one answer
        for each row.
        """
        sent = []
        for batch in batches:
            steps = [self._inputs.sequences[number][0] for number in batch]
            inputs = {name: np.stack([step[name] for step in steps]) for name in steps[0]}
            sent.append(self._tensors(inputs))
        for place, answer in self._answers([({}, tensors) for tensors in sent]):
            batch = batches[place]
            for number, row in zip(batch, rows(answer, len(batch)), strict=True):
                yield (number, 0), row

    def _in_step(self, numbers: Sequence[int]) -> Iterator[tuple[Place, Answer]]:
        sequences = [self._inputs.sequences[number] for number in numbers]
        identities = [next(self._identities) for _ in numbers]
        for step in range(max(map(len, sequences))):
            running = [place for place, steps in enumerate(sequences) if step < len(steps)]
            requests = [
                (
                    self._position(identities[place], step, len(sequences[place])),
                    self._tensors(self._as_row(sequences[place][step])),
                )
                for place in running
            ]
            for place, answer in self._answers(requests):
                yield (numbers[running[place]], step), answer

    def _position(self, identity: int, step: int, steps: int) -> Mapping[str, Any]:
        if not self._inputs.is_sequence:
            return {}
        return {
            "sequence_id": identity,
            "sequence_start": step == 0,
            "sequence_end": step == steps - 1,
        }

    def _as_row(self, inputs: Inputs) -> Inputs:
        """The inputs with a batch dimension, if the model has one."""
        has_batch = self._inputs.has_batch
        return {name: array[np.newaxis] for name, array in inputs.items()} if has_batch else inputs

    def _tensors(self, inputs: Inputs) -> list[Any]:
        tensors = []
        for name, array in inputs.items():
            tensor = grpcclient.InferInput(name, list(array.shape), self._inputs.kinds[name])
            tensor.set_data_from_numpy(array)
            tensors.append(tensor)
        return tensors

    def _answers(
        self, requests: Sequence[tuple[Mapping[str, Any], list[Any]]]
    ) -> Iterator[tuple[int, Answer]]:
        """The answer to each request, by its place, in the order in which they come."""
        ask = self._streamed if self._inputs.is_decoupled else self._unary
        options = {"parameters": self._inputs.parameters or None}
        yield from ask([({**options, **position}, tensors) for position, tensors in requests])

    def _unary(
        self, requests: Sequence[tuple[Mapping[str, Any], list[Any]]]
    ) -> Iterator[tuple[int, Answer]]:
        answered: SimpleQueue[tuple[int, Any, Any]] = SimpleQueue()

        def callback(place: int) -> Callable[[Any, Any], None]:
            return lambda result, error: answered.put((place, result, error))

        for place, (options, tensors) in enumerate(requests):
            self._client.async_infer(
                self._inputs.model,
                tensors,
                callback(place),
                client_timeout=self._patience_s,
                headers=self._headers,
                **options,
            )
        for _ in requests:
            place, result, error = self._next(answered)
            yield place, _refusal(error) if error is not None else _outputs(result)

    def _streamed(
        self, requests: Sequence[tuple[Mapping[str, Any], list[Any]]]
    ) -> Iterator[tuple[int, Answer]]:
        answered: SimpleQueue[tuple[Any, Any]] = SimpleQueue()
        self._client.start_stream(
            lambda result, error: answered.put((result, error)), headers=self._headers
        )
        responses: dict[int, list[Mapping[str, Output]]] = {}
        try:
            for place, (options, tensors) in enumerate(requests):
                responses[place] = []
                self._client.async_stream_infer(
                    self._inputs.model,
                    tensors,
                    request_id=str(place),
                    enable_empty_final_response=True,
                    **options,
                )
            while responses:
                result, error = self._next(answered)
                if error is not None:  # it does not say which request it is about
                    yield from ((place, _refusal(error)) for place in responses)
                    return
                response = result.get_response()
                place = int(response.id)
                if response.outputs:
                    responses[place].append(_outputs(result))
                if response.parameters[_FINAL].bool_param:
                    yield place, joined(responses.pop(place))
        finally:
            self._client.stop_stream(cancel_requests=True)

    def _next(self, answered: SimpleQueue[T]) -> T:
        try:
            return answered.get(timeout=self._patience_s + 1)
        except Empty:
            raise Unanswered(f"no answer within {self._patience_s:.0f} s") from None


def _refusal(error: InferenceServerException) -> str:
    status = str(error.status())
    message = " ".join(str(error.message()).split())[:_MOST_MESSAGE]
    if any(word in status for word in ("DEADLINE_EXCEEDED", "UNAVAILABLE", "CANCELLED")):
        raise Unanswered(message or status)
    return message


def _outputs(result: Any) -> Mapping[str, Output]:
    return {
        output.name: Output(output.datatype, result.as_numpy(output.name))
        for output in result.get_response().outputs
    }
