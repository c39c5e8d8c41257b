# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Asks a server over gRPC: one request at a time, or many at once, so that the batcher mixes them.

Steps of a sequence follow each other; several sequences are under way at once. Responses of
decoupled models come over a stream.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import count
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import numpy as np
import tritonclient.grpc as grpcclient
from tritonclient.utils import InferenceServerException

from model_analyzer.domain.settings import Protocol
from model_analyzer.domain.trials import Trial, Workload
from model_analyzer.features.proof.answers import Answer, Output, joined, rows
from model_analyzer.features.proof.input_set import Inputs, InputSet
from model_analyzer.runner.client.connect import grpc_tls, headers
from model_analyzer.runner.client.grpc import GrpcClient
from model_analyzer.runner.server.triton import TritonServer

T = TypeVar("T")

_FINAL = "triton_final_response"
_MOST_MESSAGE = 200  # characters
_QUEUE = "maximum queue size"  # the server is there, and says that the queue is full

# The place of a request: the number of its sequence, and of its step.
Place = tuple[int, int]
# Which part of a sequence it is, and its tensors.
_Request = tuple[Mapping[str, Any], list[Any]]
_Answers = Generator[tuple[int, Answer], "tuple[int, _Request] | None", None]


def client_of(server: TritonServer, work: Workload, trial: Trial) -> closing[GrpcClient]:
    """A connection to the server that serves a workload of a trial."""
    url, access = server.route(work.variant, Protocol.GRPC).flags["url"], trial.setup.access
    return closing(GrpcClient(url, tls=grpc_tls(access), name="", headers=headers(access)))


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
        return [answer for _, answer in self.at_once([number])]

    def at_once(self, numbers: Sequence[int]) -> Iterator[tuple[Place, Answer]]:
        """The answers to these sequences, which may be repeated, all of them under way at once, in
        any order. Raises Unanswered.
        """
        sequences = [self._inputs.sequences[number] for number in numbers]
        identities = [next(self._identities) for _ in numbers]

        def request(place: int, step: int) -> _Request:
            position = self._position(identities[place], step, len(sequences[place]))
            return position, self._tensors(self._as_row(sequences[place][step]))

        # a step follows when its sequence is answered, not when all are: some may have to wait for
        # the end of others
        first = [request(place, 0) for place in range(len(sequences))]
        steps = [0] * len(sequences)
        answers = self._answers(first)
        place_and_answer = next(answers, None)
        while place_and_answer is not None:
            place, answer = place_and_answer
            yield (numbers[place], steps[place]), answer
            steps[place] += 1
            is_over = steps[place] == len(sequences[place])
            try:
                place_and_answer = answers.send(
                    None if is_over else (place, request(place, steps[place]))
                )
            except StopIteration:
                return

    def in_batches(self, batches: Sequence[Sequence[int]]) -> Iterator[tuple[Place, Answer]]:
        """The answers to requests with these rows, of equal shapes, all of them at once: one answer
        for each row.
        """
        requests: list[_Request] = []
        for batch in batches:
            steps = [self._inputs.sequences[number][0] for number in batch]
            inputs = {name: np.stack([step[name] for step in steps]) for name in steps[0]}
            requests.append(({}, self._tensors(inputs)))
        for place, answer in self._answers(requests):
            batch = batches[place]
            for number, row in zip(batch, rows(answer, len(batch)), strict=True):
                yield (number, 0), row

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

    def _answers(self, requests: Sequence[_Request]) -> _Answers:
        """The answer to each request, by its place, in the order in which they come. A request that
        is sent to the generator follows under its place.
        """
        if self._inputs.is_decoupled:
            return self._streamed(requests)
        return self._unary(requests)

    def _unary(self, requests: Sequence[_Request]) -> _Answers:
        answered: SimpleQueue[tuple[int, Any, Any]] = SimpleQueue()

        def send(place: int, request: _Request) -> None:
            position, tensors = request
            self._client.async_infer(
                self._inputs.model,
                tensors,
                lambda result, error: answered.put((place, result, error)),
                client_timeout=self._patience_s,
                headers=self._headers,
                parameters=self._inputs.parameters or None,
                **position,
            )

        for place, request in enumerate(requests):
            send(place, request)
        missing = len(requests)
        while missing:
            place, result, error = self._next(answered)
            further = yield place, _refusal(error) if error is not None else _outputs(result)
            if further is None:
                missing -= 1
            else:
                send(*further)

    def _streamed(self, requests: Sequence[_Request]) -> _Answers:
        answered: SimpleQueue[tuple[Any, Any]] = SimpleQueue()
        responses: dict[int, list[Mapping[str, Output]]] = {}
        has_batch = self._inputs.has_batch
        counts: dict[int, int] = {}  # of rows

        def send(place: int, request: _Request) -> None:
            position, tensors = request
            responses[place] = []
            counts[place] = tensors[0].shape()[0] if has_batch and tensors else 1
            self._client.async_stream_infer(
                self._inputs.model,
                tensors,
                request_id=str(place),
                enable_empty_final_response=True,
                parameters=self._inputs.parameters or None,
                **position,
            )

        self._client.start_stream(
            lambda result, error: answered.put((result, error)), headers=self._headers
        )
        try:
            for place, request in enumerate(requests):
                send(place, request)
            while responses:
                result, error = self._next(answered)
                if error is not None:  # it does not say which request it is about
                    for place in tuple(responses):
                        yield place, _refusal(error)
                    return
                response = result.get_response()
                place = int(response.id)
                if response.outputs:
                    responses[place].append(_outputs(result))
                if response.parameters[_FINAL].bool_param:
                    further = yield place, joined(responses.pop(place), counts[place])
                    if further is not None:
                        send(*further)
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
    is_lost = any(word in status for word in ("DEADLINE_EXCEEDED", "UNAVAILABLE", "CANCELLED"))
    if is_lost and _QUEUE not in message:
        raise Unanswered(message or status)
    return message


def _outputs(result: Any) -> Mapping[str, Output]:
    return {
        output.name: Output(output.datatype, result.as_numpy(output.name))
        for output in result.get_response().outputs
    }
