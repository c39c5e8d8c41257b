# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Checks a file of input data against the inputs of a model, by perf_analyzer's rules. Pure.

perf_analyzer is stricter than JSON, and its messages name neither the input nor the element. What
it accepts but sends otherwise than written is a warning. All rules were tried with version 2.51.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import islice
from typing import Any

from model_analyzer.domain.foreign_json import TooDeep, parse_standard, parse_with
from model_analyzer.domain.models import ModelConfig
from model_analyzer.domain.words import counted
from model_analyzer.runner.load.input_data import MOST_INPUT_BYTES
from model_analyzer.runner.load.input_elements import (
    b64_elements,
    describe,
    judge_elements,
    listed,
)

_MOST_MISTAKES = 5
# The exact parser needs a tenth of a second for this size; it also finds keys that occur twice.
_MOST_EXACT_BYTES = 2**21
_LIST = "write a list of its elements"
_NOT_FINITE = re.compile(r"(?<=[\[,:\s])-?(?:Inf|NaN)(?=[\],}\s])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """An input or output as perf_analyzer sees it: its shape has no batch dimension, and sizes
    from `--shape`; -1 is a free size.
    """

    name: str
    data_type: str
    shape: tuple[int, ...]
    is_optional: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """The tensors of a model. Only a sequence model gets several streams."""

    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    is_sequence: bool

    @classmethod
    def of(
        cls, config: ModelConfig, sizes: Mapping[str, tuple[int, ...]], *, is_sequence: bool
    ) -> Expected:
        """Those of a configuration, with the `sizes` of inputs with free dimensions."""
        inputs = (_tensor(tensor, sizes) for tensor in config.get("input", ()))
        outputs = (_tensor(tensor, {}) for tensor in config.get("output", ()))
        return cls(inputs=tuple(inputs), outputs=tuple(outputs), is_sequence=is_sequence)


def _tensor(tensor: Mapping[str, Any], sizes: Mapping[str, tuple[int, ...]]) -> Tensor:
    shape = tuple(int(size) for size in tensor.get("dims", ()))
    if min(shape, default=0) < 0:
        shape = sizes.get(tensor["name"], shape)
    data_type = str(tensor.get("data_type", "")).removeprefix("TYPE_")
    return Tensor(
        name=tensor["name"],
        data_type="BYTES" if data_type == "STRING" else data_type,
        shape=shape,
        is_optional=bool(tensor.get("optional")),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """What is wrong, where in the data, and what to write instead. A fatal one makes perf_analyzer
    or the server refuse the data.
    """

    what: str
    fix: str = ""
    is_fatal: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedData:
    """The mistakes in a file, and what its steps send together: names of inputs with their shapes.
    `is_nested` says whether it has streams.
    """

    mistakes: tuple[Mistake, ...] = ()
    step_shapes: frozenset[Any] = field(default_factory=frozenset)
    is_nested: bool = False


def check_data(raw: bytes, expected: Expected) -> CheckedData:
    """Checks the content of a file."""
    try:
        content, repeated = _parse(raw)
    except _NotJson as error:
        return CheckedData(mistakes=(error.mistake,))
    except TooDeep as error:
        return CheckedData(mistakes=(Mistake(what=f"is {error}", fix="write flat lists"),))
    if not isinstance(content, dict) or not isinstance(content.get("data"), list):
        return CheckedData(mistakes=(_without_data(content),))
    data = content["data"]
    is_nested = bool(data) and isinstance(data[0], list)
    found = [*islice(_mistakes(content, expected, is_nested=is_nested), _MOST_MISTAKES + 1)]
    if len(found) > _MOST_MISTAKES:
        found[_MOST_MISTAKES:] = [Mistake(what="has more mistakes", fix="first correct these")]
    found += [
        Mistake(
            what=f"the key {name!r} occurs twice in one mapping: perf_analyzer takes the first",
            fix="remove one",
            is_fatal=False,
        )
        for name in dict.fromkeys(repeated)
    ]
    steps = [step for stream in data for step in (stream if is_nested else [stream])]
    shapes = frozenset(_shapes(step, expected) for step in steps) if not found else frozenset()
    return CheckedData(mistakes=tuple(found), step_shapes=shapes, is_nested=is_nested)


def _shapes(step: Mapping[str, Any], expected: Expected) -> frozenset[Any]:
    """The inputs of a step, with their shapes."""
    tensors = (tensor for tensor in expected.inputs if tensor.name in step)
    return frozenset((tensor.name, _shape(tensor, step[tensor.name])) for tensor in tensors)


def _shape(tensor: Tensor, value: Any) -> tuple[int, ...]:
    """The shape that is written beside the content, or that of the model."""
    return tuple(value["shape"]) if isinstance(value, dict) and "shape" in value else tensor.shape


class _NotJson(Exception):
    """The content is not JSON."""

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(what)
        self.mistake = Mistake(what=what, fix=fix)


def _parse(raw: bytes) -> tuple[Any, Sequence[str]]:
    """The content, and the keys that occur twice in a mapping. Raises _NotJson.

    perf_analyzer takes the first of two equal keys, and knows NaN, Inf and Infinity, which become
    NaN here: so an infinite number in the content is one that was too large.
    """
    if len(raw) > _MOST_EXACT_BYTES:
        try:
            return parse_standard(raw, most_bytes=MOST_INPUT_BYTES), ()
        except json.JSONDecodeError:
            pass  # the exact parser knows more, and says where it is wrong
    repeated: list[str] = []

    def first_of_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        mapping = dict(reversed(pairs))
        if len(mapping) < len(pairs):
            names = [name for name, _ in pairs]
            repeated.extend(name for name in mapping if names.count(name) > 1)
        return mapping

    text = raw.decode("utf-8", "surrogateescape")
    if text.startswith("\ufeff"):
        raise _NotJson("begins with a byte order mark", "save it as UTF-8 without a mark (BOM)")
    try:
        content = parse_with(
            _NOT_FINITE.sub("NaN", text),
            most_bytes=MOST_INPUT_BYTES,
            pairs=first_of_each,
            constant=lambda _: math.nan,
        )
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise _NotJson(f"is not JSON: {place}: {error.msg}", "correct it there") from error
    return content, repeated


def _without_data(content: Any) -> Mistake:
    fix = 'write {"data": [{"INPUT": […]}]}'
    if not isinstance(content, dict):
        return Mistake(what=f'is {describe(content)}, not a mapping with "data"', fix=fix)
    if "data" in content:
        return Mistake(what=f'"data" is {describe(content["data"])}, not a list', fix=fix)
    return Mistake(what='has no list "data"', fix=fix)


def _mistakes(
    content: Mapping[str, Any], expected: Expected, *, is_nested: bool
) -> Iterator[Mistake]:
    data = content["data"]
    if not data:
        yield Mistake(what='"data" is empty', fix="give the inputs of one request at least")
    for number, stream in enumerate(data, 1):
        if isinstance(stream, list) is not is_nested:
            what = f'"data" has lists and mappings: entry {number} is {describe(stream)}'
            yield Mistake(what=what, fix="give only mappings, or only lists of mappings (streams)")
            return
    yield from _steps(data, expected.inputs, is_nested=is_nested, side="input")
    if is_nested:
        yield from _streams(data, expected)
    if "validation_data" in content:
        yield from _validation(content["validation_data"], data, expected, is_nested=is_nested)


def _streams(data: Sequence[Sequence[Any]], expected: Expected) -> Iterator[Mistake]:
    if expected.is_sequence:
        empty = [number for number, stream in enumerate(data, 1) if not stream]
        if empty:
            yield Mistake(what=f"stream {empty[0]} is empty", fix="remove it")
    elif not data[0]:
        yield Mistake(what="stream 1 is empty", fix="give the inputs of one request at least")
    elif len(data) > 1:
        yield Mistake(
            what=f"has {len(data)} streams, and the model has no sequences: perf_analyzer sends"
            " only stream 1",
            fix='write all mappings into one list "data"',
            is_fatal=False,
        )


def _validation(
    outputs: Any, data: Sequence[Any], expected: Expected, *, is_nested: bool
) -> Iterator[Mistake]:
    lengths = [len(stream) if is_nested else 1 for stream in data]
    fits = isinstance(outputs, list) and len(outputs) == len(data)
    if fits and is_nested:
        fits = [len(steps) if isinstance(steps, list) else -1 for steps in outputs] == lengths
    if not fits:
        yield Mistake(
            what='"validation_data" has other lengths than "data"',
            fix="give the outputs of each step of data, in the same order",
        )
        return
    yield from _steps(outputs, expected.outputs, is_nested=is_nested, side="output")


def _steps(
    data: Sequence[Any], tensors: Sequence[Tensor], *, is_nested: bool, side: str
) -> Iterator[Mistake]:
    for number, stream in enumerate(data, 1):
        for step_number, step in enumerate(stream, 1) if is_nested else [(number, stream)]:
            place = f"step {step_number}" + (f" of stream {number}" if is_nested else "")
            yield from _step(step, tensors, place, side)


def _step(step: Any, tensors: Sequence[Tensor], place: str, side: str) -> Iterator[Mistake]:
    if not isinstance(step, dict):
        what = f"{place} is {describe(step)}, not a mapping of {side}s"
        yield Mistake(what=what, fix='write {"NAME": […]}')
        return
    names = [tensor.name for tensor in tensors]
    missing = [tensor.name for tensor in tensors if tensor.name not in step]
    for tensor in tensors:
        if side == "output" and tensor.name in step and min(tensor.shape, default=0) < 0:
            what = f"{place}: perf_analyzer cannot compare output {tensor.name}, whose size varies"
            yield Mistake(what=what, fix=f"remove {tensor.name} from validation_data")
        elif tensor.name in step:
            yield from _value(tensor, step[tensor.name], f"{side} {tensor.name} of {place}")
        elif side == "input" and not tensor.is_optional:
            fix = f"give {tensor.name} in each step"
            yield Mistake(what=f"{place} has no input {tensor.name}", fix=fix)
    for name in step:
        if name not in (*names, "model"):  # perf_analyzer also takes "model"
            near = get_close_matches(name, missing, n=1) or missing[:1]
            yield Mistake(
                what=f"{place} has {name!r}, which is not an {side} of the model",
                fix=f"did you mean {near[0]}?" if near else f"{side}s are {', '.join(names)}",
            )


def _value(tensor: Tensor, value: Any, place: str) -> Iterator[Mistake]:
    """Mistakes in the value of a tensor: a list, or a mapping with content and shape."""
    shape: tuple[int, ...] | None = tensor.shape
    content = value
    if isinstance(value, dict):
        if "shape" in value:
            wrong = [*_wrong_shape(tensor, value["shape"], place)]
            yield from wrong
            shape = None if wrong else tuple(value["shape"])
        if "b64" not in value and "content" not in value:
            what = f"{place} is a mapping without content or b64"
            yield Mistake(what=what, fix=f'{_LIST}, or {{"content": […], "shape": […]}}')
            return
        content = value if "b64" in value else value["content"]
    if shape is not None and min(shape, default=0) < 0:
        yield Mistake(
            what=f"{place} has no shape, and that of the model is {listed(shape)}",
            fix=f'write {{"content": […], "shape": […]}}, or give shape: {tensor.name}:SIZE,…',
        )
        shape = None
    number = yield from _content(tensor, content, place)
    if number is not None and shape is not None and math.prod(shape) != number:
        yield Mistake(
            what=f"{place} has {counted(number, 'element')}, and its shape {listed(shape)} needs"
            f" {math.prod(shape):,}",
            fix="give all elements of one request, without a batch",
        )


def _content(tensor: Tensor, content: Any, place: str) -> Generator[Mistake, None, int | None]:
    """Mistakes in the elements; returns their number, or None if it is not to be compared."""
    if isinstance(content, list):
        for what, fix, is_fatal in judge_elements(tensor.data_type, content):
            yield Mistake(what=f"{place}: {what}", fix=fix, is_fatal=is_fatal)
        return None if list in set(map(type, content)) else len(content)
    if not isinstance(content, dict) or "b64" not in content:
        yield Mistake(what=f"{place} is {describe(content)}, not a list", fix=_LIST)
        return None
    number, why = b64_elements(tensor.data_type, content["b64"])
    if why:
        yield Mistake(what=f"{place}: b64 {why}", fix="encode the bytes of all elements")
    return number


def _wrong_shape(tensor: Tensor, shape: Any, place: str) -> Iterator[Mistake]:
    """The mistake of a written shape, if any."""
    is_list = isinstance(shape, list) and all(type(size) is int for size in shape)
    if not is_list or max(map(abs, shape), default=0) >= 2**31:
        yield Mistake(
            what=f"{place}: shape {json.dumps(shape)[:40]} is not a list of sizes",
            fix=f"write {listed(tensor.shape)}",
        )
        return
    if _matches(shape, tensor.shape):
        return
    is_free = min(tensor.shape, default=0) < 0
    fix = f"write {listed(tensor.shape)}" + (", with any size for -1" if is_free else "")
    if len(shape) == len(tensor.shape) + 1 and _matches(shape[1:], tensor.shape):
        fix = f"write {listed(shape[1:])}: perf_analyzer adds the batch"
    what = f"{place}: shape {listed(shape)} does not fit {listed(tensor.shape)}"
    yield Mistake(what=what, fix=fix)


def _matches(shape: Sequence[int], of_model: Sequence[int]) -> bool:
    return len(shape) == len(of_model) and all(
        size >= 0 and wanted in (size, -1) for size, wanted in zip(shape, of_model, strict=True)
    )
