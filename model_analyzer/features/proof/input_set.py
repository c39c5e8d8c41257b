# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The requests that every configuration of a model answers: the user's input data, or made by a
seed within what the model accepts.

Made ones are unequal, so that answers of one request are wrong for another: texts of many lengths,
tensors whose free dimensions have several sizes, and pairs that differ in their last element only.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from model_analyzer.domain.flags import shapes_of
from model_analyzer.domain.models import ModelVariant, is_decoupled, max_batch_size
from model_analyzer.domain.trials import Workload
from model_analyzer.reading.untrusted import blocks_of, read_regular
from model_analyzer.runner.load.command import named_files
from model_analyzer.runner.load.input_check import Expected, InputMembers, Tensor
from model_analyzer.runner.load.input_data import MOST_INPUT_BYTES

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
