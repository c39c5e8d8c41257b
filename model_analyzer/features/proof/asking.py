# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Asks a server over gRPC: one request at a time, or many at once, so that the batcher mixes them;
and the requests that every configuration of a model answers: the user's input data, or made by a
seed within what the model accepts.

Steps of a sequence follow each other; several sequences are under way at once. Responses of
decoupled models come over a stream.

Made ones are unequal, so that answers of one request are wrong for another: texts of many lengths,
tensors whose free dimensions have several sizes, and pairs that differ in their last element only.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import numpy as np
import tritonclient.grpc as grpcclient
from tritonclient.utils import InferenceServerException

from model_analyzer.domain.flags import shapes_of
from model_analyzer.domain.models import ModelVariant, is_decoupled, max_batch_size
from model_analyzer.domain.settings import Protocol
from model_analyzer.domain.trials import Trial, Workload
from model_analyzer.features.proof.answers import Answer, Output, joined, rows
from model_analyzer.reading.untrusted import blocks_of, read_regular
from model_analyzer.runner.client.connect import grpc_tls, headers
from model_analyzer.runner.client.grpc import GrpcClient
from model_analyzer.runner.load.command import named_files
from model_analyzer.runner.load.input_check import Expected, InputMembers, Tensor
from model_analyzer.runner.load.logged_requests import MOST_INPUT_BYTES
from model_analyzer.runner.server.triton import TritonServer

Array = Any  # numpy's arrays of any type
# The inputs of a request without a batch dimension, by name.
Inputs = Mapping[str, Array]

_SEQUENCES, _STEPS = 4, 5
_SIZES = (1.0, 0.5, 1.0, 0.25, 0.75)  # of free dimensions, as a part of their usual size
_LETTERS = (1, 12, 300, 3, 40, 7, 90, 25)  # in made texts
_LARGEST = 100  # of made numbers: most tables of tokens have as many
_SEED = 20


class Unanswerable(Exception):
    """Why nothing can be asked, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputSet:
    """Sequences of requests to a `model`; where requests are independent, each is a sequence of
    one step. `kinds` are the data types of the inputs. If it `has_batch`, the model has a batch
    dimension. `parameters` belong to each request.
    """

    model: str
    sequences: tuple[tuple[Inputs, ...], ...]
    kinds: Mapping[str, str]
    has_batch: bool
    is_sequence: bool
    is_decoupled: bool
    parameters: Mapping[str, Any]


def input_set_for(work: Workload, most: int) -> InputSet:
    """At most so many sequences for a workload's model. Raises Unanswerable."""
    variant = work.variant
    parts = (variant, *variant.served)
    is_sequence = any("sequence_batching" in part.config for part in parts)
    expected = Expected.of(variant.config, shapes_of(work.flags), is_sequence=is_sequence)
    files = [Path(path) for flag, path in named_files(work.flags) if flag == "input-data"]
    try:
        given = [*islice(_given(files, expected), most)] if files else []
    except (OSError, ValueError, struct.error) as error:
        raise Unanswerable(f"the input data cannot be used: {error}") from None
    return InputSet(
        model=variant.model,
        sequences=tuple(given or _made(expected, variant, work.flags, most)),
        kinds={tensor.name: tensor.data_type for tensor in expected.inputs},
        has_batch=max_batch_size(variant.config) > 0,
        is_sequence=is_sequence,
        is_decoupled=any(is_decoupled(part.config) for part in parts),
        parameters=dict(_parameters(work.flags)),
    )


def _parameters(flags: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """perf_analyzer's flag `request-parameter`: NAME:VALUE:TYPE."""
    texts = flags.get("request-parameter", ())
    for text in (texts,) if isinstance(texts, str) else texts:
        name, _, rest = text.partition(":")
        value, _, kind = rest.rpartition(":")
        readers: Mapping[str, Any] = {"int": int, "bool": lambda word: word.lower() == "true"}
        yield name, readers.get(kind.lower(), str)(value)


# -- the user's data -------------------------------------------------------------------------------


def _given(files: Sequence[Path], expected: Expected) -> Iterator[tuple[Inputs, ...]]:
    """The sequences in files of input data, or in a directory with a file for each input."""
    if files[0].is_dir():
        yield ({each.name: _from_file(files[0] / each.name, each) for each in expected.inputs},)
        return
    for path in files:
        for key, entries in InputMembers(blocks_of(path)):
            for entry in entries if key == "data" and isinstance(entries, Iterator) else ():
                steps = entry if isinstance(entry, Iterator) else (entry,)
                inputs = tuple(_step(step, expected.inputs) for step in steps)
                yield from [inputs] if expected.is_sequence else ((each,) for each in inputs)


def _step(step: Mapping[str, Any], tensors: Iterable[Tensor]) -> Inputs:
    return {each.name: _value(step[each.name], each) for each in tensors if each.name in step}


def _value(value: Any, tensor: Tensor) -> Array:
    """A tensor as perf_analyzer's files have it."""
    shape: Sequence[int] = tensor.shape
    if isinstance(value, dict):
        shape = value.get("shape", shape)
        value = value.get("content", value)
    if isinstance(value, dict):
        return _from_bytes(base64.b64decode(value["b64"]), tensor).reshape(shape)
    if tensor.data_type == "BYTES":
        texts = [text.encode("utf-8", "surrogateescape") for text in value]
        return np.array(texts, dtype=np.object_).reshape(shape)
    return np.array(value, dtype=_dtype(tensor)).reshape(shape)


def _from_file(path: Path, tensor: Tensor) -> Array:
    raw = read_regular(path, most_bytes=MOST_INPUT_BYTES)
    if tensor.data_type == "BYTES":
        return np.array(raw.splitlines(), dtype=np.object_).reshape(tensor.shape)
    return _from_bytes(raw, tensor).reshape(tensor.shape)


def _from_bytes(raw: bytes, tensor: Tensor) -> Array:
    """The elements in a tensor's bytes."""
    if tensor.data_type != "BYTES":
        return np.frombuffer(raw, dtype=_dtype(tensor))
    from tritonclient.utils import deserialize_bytes_tensor

    return deserialize_bytes_tensor(raw)


def _dtype(tensor: Tensor) -> Any:
    from tritonclient.utils import triton_to_np_dtype

    dtype = triton_to_np_dtype(tensor.data_type)
    if dtype is None:
        raise Unanswerable(f"input {tensor.name} has the data type {tensor.data_type}")
    return dtype


# -- made by a seed --------------------------------------------------------------------------------


def _made(
    expected: Expected, variant: ModelVariant, flags: Mapping[str, Any], most: int
) -> Iterator[tuple[Inputs, ...]]:
    tensors = [tensor for tensor in expected.inputs if not tensor.is_optional]
    if not tensors:
        raise Unanswerable(f"{variant.model} has no input that has to be given")
    # the configuration has the dimensions that are free; the flags have their usual size
    free = {
        each["name"]: [int(size) < 0 for size in each.get("dims", ())]
        for each in variant.config.get("input", ())
    }
    text = flags.get("string-data", "")
    random = np.random.default_rng(_SEED)
    previous: Inputs = {}
    for number in range(min(most, _SEQUENCES) if expected.is_sequence else most):
        steps = []
        for step in range(_STEPS if expected.is_sequence else 1):
            place = number if step == 0 else number + step
            is_twin = place % 4 == 3 and step == 0 and bool(previous) and not text
            previous = {
                each.name: _changed(previous[each.name])
                if is_twin
                else _random(random, each, _shape(each, free[each.name], place), place, text)
                for each in tensors
            }
            steps.append(previous)
        yield tuple(steps)


def _shape(tensor: Tensor, free: Sequence[bool], number: int) -> tuple[int, ...]:
    """The shape of a request: free dimensions have several sizes."""
    if min(tensor.shape, default=0) < 0:
        raise Unanswerable(f"input {tensor.name} has no size (give the flag shape or input-data)")
    part = _SIZES[number % len(_SIZES)]
    return tuple(
        max(1, round(size * part)) if is_free else size
        for size, is_free in zip(tensor.shape, free, strict=True)
    )


def _random(random: Any, tensor: Tensor, shape: Sequence[int], number: int, text: str) -> Array:
    if tensor.data_type == "BYTES":
        texts = [
            text.encode() or _letters(random, _LETTERS[(number + place) % len(_LETTERS)])
            for place in range(int(np.prod(shape)))
        ]
        return np.array(texts, dtype=np.object_).reshape(shape)
    dtype = _dtype(tensor)
    if tensor.data_type == "BOOL":
        return random.random(shape) < 0.5
    if "INT" in tensor.data_type:
        return random.integers(0, _LARGEST, shape).astype(dtype)
    return random.uniform(-1, 1, shape).astype(dtype)


def _letters(random: Any, count: int) -> bytes:
    """Words of so many letters and blanks."""
    words = "".join(random.choice([*"abcdefghijklmnopqrstuvwxyz    "], count))
    return words.strip().encode() or b"a"


def _changed(array: Array) -> Array:
    """The same with another last element."""
    flat = array.copy().reshape(-1)
    if flat.size:
        last = flat[-1]
        if isinstance(last, bytes):
            flat[-1] = last + b"z"
        else:
            flat[-1] = not last if flat.dtype == np.bool_ else (last + 1) % _LARGEST
    return flat.reshape(array.shape)


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
