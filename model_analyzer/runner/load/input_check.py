# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Checks a file of input data against the inputs of a model, by perf_analyzer's rules. Pure.

perf_analyzer is stricter than JSON, and its messages name neither the input nor the element. What
it accepts but sends otherwise than written is a warning. It takes the way a number is written for
its type: FP32 needs a decimal point or an exponent, INT32 must have none. It reads INT8 and INT16
as 32 bits, and cuts them off. All rules were tried with version 2.51.
"""

from __future__ import annotations

import base64
import codecs
import json
import math
import re
import struct
from array import array
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from model_analyzer.domain.foreign_json import TooDeep, parse_with
from model_analyzer.domain.models import ModelConfig
from model_analyzer.domain.words import closest, counted
from model_analyzer.reading.json_stream import JsonStream, TooLong

_FLOATS = ("FP32", "FP64")
_ONLY_BYTES = ("FP16", "BF16")
_LARGEST_FP32 = 3.4028235677973366e38
_MOST_ELEMENTS = 3

_INTEGERS = {
    f"{sign}INT{bits}": (0, 2**bits - 1) if sign else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    for bits in (8, 16, 32, 64)
    for sign in ("", "U")
}
# What perf_analyzer reads before it cuts the value off.
_READ_AS = {
    name: _INTEGERS[name.replace("INT8", "INT32").replace("INT16", "INT32")] for name in _INTEGERS
}
BYTES_OF = {"BOOL": 1, "FP16": 2, "BF16": 2, "FP32": 4, "FP64": 8} | {
    name: int(name.split("INT")[1]) // 8 for name in _INTEGERS
}

# What is wrong, what to do, and whether perf_analyzer refuses it.
Judgement = tuple[str, str, bool]


def judge_elements(data_type: str, content: Sequence[Any]) -> Iterator[Judgement]:
    """Mistakes in the elements of a tensor."""
    if list in set(map(type, content)):
        yield "has lists in its list", "write all elements in one flat list", True
        return
    if data_type in _ONLY_BYTES:
        fix = 'write {"b64": "…"}, its bytes in base64'
        yield f"perf_analyzer reads {data_type} only as bytes", fix, True
        return
    if data_type not in (*_FLOATS, *_INTEGERS, "BOOL", "BYTES") or _is_usual(data_type, content):
        return
    wrong = [
        (number, item) for number, item in enumerate(content, 1) if not _is_read(data_type, item)
    ]
    if wrong:
        several = (
            f"element {number} is {describe(item)}: {_instead(data_type, item)}"
            for number, item in wrong[:_MOST_ELEMENTS]
        )
        more = len(wrong) - _MOST_ELEMENTS
        text = "; ".join(several) + (f"; and {more:,} more" if more > 0 else "")
        yield f"{text} ({data_type})", _RULES.get(data_type, ""), True
        return
    yield from _altered(data_type, content)


_RULES = dict.fromkeys(_FLOATS, "each number needs a decimal point")


def _is_usual(data_type: str, content: Sequence[Any]) -> bool:
    """Whether all elements are usual ones of the type: quick, for millions of elements."""
    types = set(map(type, content))
    if data_type in _INTEGERS:
        low, high = _INTEGERS[data_type]
        return types == {int} and low <= min(content) and max(content) <= high
    if data_type in _FLOATS:
        most = _LARGEST_FP32 if data_type == "FP32" else math.inf
        return types == {float} and -most < min(content) and max(content) < most
    if data_type == "BOOL":
        return types == {bool}
    return types == {str} and all(text.isascii() and "\0" not in text for text in content)


def _is_read(data_type: str, item: Any) -> bool:
    """Whether perf_analyzer takes the element."""
    if data_type in _INTEGERS:
        low, high = _READ_AS[data_type]
        return type(item) is int and low <= item <= high
    if data_type in _FLOATS:
        if type(item) is int:
            return not -(2**63) <= item < 2**64  # longer ones are read as floats
        return type(item) is float and not math.isinf(item)
    if data_type == "BOOL":
        return isinstance(item, bool)
    return isinstance(item, str) and not any("\ud800" <= letter <= "\udbff" for letter in item)


def _altered(data_type: str, content: Sequence[Any]) -> Iterator[Judgement]:
    """Elements that perf_analyzer takes, but sends otherwise than written."""
    low, high = _INTEGERS.get(data_type, (0, 0))
    for number, item in enumerate(content, 1):
        if data_type in _INTEGERS and not low <= item <= high:
            yield (
                f"element {number} is {item}: {data_type} holds {low} to {high}, so perf_analyzer"
                f" sends {(item - low) % (high - low + 1) + low}",
                "correct the number",
                False,
            )
            return
        if data_type == "FP32" and _LARGEST_FP32 < abs(item) < math.inf:
            what = f"element {number} is {item}: it is infinite as FP32"
            yield what, "give a smaller number", False
            return
        if data_type == "BYTES" and "\0" in item:
            what = f"element {number} has a zero byte: perf_analyzer cuts the text off there"
            yield (
                what,
                'write {"b64": "…"}: for each text its length in 4 bytes, then the text',
                False,
            )
            return
        if data_type == "BYTES" and any("\udc80" <= letter <= "\udcff" for letter in item):
            yield f"element {number} is not UTF-8: it is sent as it is", "save it as UTF-8", False
            return


def _instead(data_type: str, item: Any) -> str:
    """What to write instead of an element that is not read."""
    if data_type == "BYTES":
        is_plain = isinstance(item, (bool, int, float))
        return f"write {json.dumps(json.dumps(item))}" if is_plain else "write a text"
    if data_type == "BOOL":
        word = item.strip().lower() if isinstance(item, str) else item
        words = {0: "false", 1: "true", "true": "true", "false": "false"}
        return f"write {words[word]}" if word in words else "write true or false"
    try:
        number = float(item)
    except (TypeError, ValueError, OverflowError):
        return "write a number"
    if data_type in _FLOATS:
        if isinstance(item, float):
            return "it is too large"
        return f"write {number}" if math.isfinite(number) else f"write {item} without quotes"
    low, high = _INTEGERS[data_type]
    if not low <= number <= high:
        return f"write a number from {low} to {high}"
    return f"write {int(number)}" if number.is_integer() else "write a whole number"


def b64_elements(data_type: str, text: Any) -> tuple[int | None, str]:
    """The number of elements in base64, None if unknown, and what is wrong with it, or "".

    perf_analyzer skips characters that are not base64, and needs no padding.
    """
    if not isinstance(text, str):
        return None, f"is {describe(text)}, not a text"
    letters = [
        letter for letter in text if letter.isascii() and (letter.isalnum() or letter in "+/")
    ]
    size = len(letters) * 6 // 8
    if not text:
        return None, "is empty"
    if data_type == "BYTES":
        raw = base64.b64decode("".join(letters) + "A" * (-len(letters) % 4))[:size]
        number = _texts_in(raw)
        if number is None:
            return None, "is not a sequence of texts, each after its length in 4 bytes"
        return number, ""
    if data_type not in BYTES_OF:
        return None, ""
    number, rest = divmod(size, BYTES_OF[data_type])
    if rest:
        each = counted(BYTES_OF[data_type], "byte")
        return None, f"has {counted(size, 'byte')}, and an element of {data_type} has {each}"
    return number, ""


def _texts_in(raw: bytes) -> int | None:
    """The number of texts, each after its length; None if the bytes are no such sequence."""
    number = at = 0
    while at < len(raw):
        if at + 4 > len(raw):
            return None
        at += 4 + struct.unpack_from("<I", raw, at)[0]
        number += 1
    return number if at == len(raw) else None


def describe(value: Any) -> str:
    """A JSON value in a message."""
    match value:
        case None:
            return "null"
        case list():
            return "a list" if value else "an empty list"
        case dict():
            return "a mapping"
        case str():
            text = json.dumps(value[:20], ensure_ascii=True)
            return text[:-1] + '…"' if len(value) > 20 else text
        case _:
            return json.dumps(value)[:40]


def listed(sizes: Iterable[int]) -> str:
    """Sizes as JSON."""
    return json.dumps([*sizes])


_MOST_MISTAKES = 5
_LIST = "write a list of its elements"
_DATA = 'write {"data": [{"INPUT": […]}]}'


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


def check_data(blocks: Iterable[bytes], expected: Expected) -> CheckedData:
    """Checks the content of a file, which comes in blocks; of a large one, a step at a time. Raises
    TooLong for a step that is too large for that.
    """
    members = InputMembers(blocks)
    if members.has_mark:
        return _unusable("begins with a byte order mark", "save it as UTF-8 without a mark (BOM)")
    inputs, outputs = _Steps(expected.inputs, "input"), _Steps(expected.outputs, "output")
    try:
        found = [*islice(_mistakes(members, inputs, outputs, expected), _MOST_MISTAKES + 1)]
    except NoMapping as error:
        return _unusable(f'is {describe(error.content)}, not a mapping with "data"', _DATA)
    except TooDeep as error:
        return _unusable(f"is {error}", "write flat lists")
    except TooLong:
        raise
    except ValueError as error:
        return _unusable(f"is not JSON: {members.reason(error)}", "correct it there")
    if len(found) > _MOST_MISTAKES:
        found[_MOST_MISTAKES:] = [Mistake(what="has more mistakes", fix="first correct these")]
    found += [
        Mistake(
            what=f"the key {name!r} occurs twice in one mapping: perf_analyzer takes the first",
            fix="remove one",
            is_fatal=False,
        )
        for name in dict.fromkeys(members.repeated)
    ]
    return CheckedData(
        mistakes=tuple(found),
        step_shapes=frozenset() if found else frozenset(inputs.shapes),
        is_nested=inputs.is_nested,
    )


def _unusable(what: str, fix: str) -> CheckedData:
    return CheckedData(mistakes=(Mistake(what=what, fix=fix),))


def _shapes(step: Mapping[str, Any], tensors: Sequence[Tensor]) -> frozenset[Any]:
    """The tensors of a step, with their shapes."""
    present = (tensor for tensor in tensors if tensor.name in step)
    return frozenset((tensor.name, _shape(tensor, step[tensor.name])) for tensor in present)


def _shape(tensor: Tensor, value: Any) -> tuple[int, ...]:
    """The shape that is written beside the content, or that of the model."""
    return tuple(value["shape"]) if isinstance(value, dict) and "shape" in value else tensor.shape


def _mistakes(
    members: Iterable[tuple[str, Any]], inputs: _Steps, outputs: _Steps, expected: Expected
) -> Iterator[Mistake]:
    """The mistakes in all members of a file."""
    for key, value in members:
        if key == "data" and not inputs.is_present:
            if not isinstance(value, Iterator):
                yield Mistake(what=f'"data" is {describe(value)}, not a list', fix=_DATA)
                return
            yield from inputs.mistakes(value)
        elif key == "validation_data" and not outputs.is_present:
            yield from outputs.mistakes(value if isinstance(value, Iterator) else iter(()))
    if not inputs.is_present:
        yield Mistake(what='has no list "data"', fix=_DATA)
        return
    if not inputs.lengths:
        yield Mistake(what='"data" is empty', fix="give the inputs of one request at least")
    elif inputs.is_nested:
        yield from _streams(inputs.lengths, is_sequence=expected.is_sequence)
    if outputs.is_present and not outputs.fit(inputs):
        yield Mistake(
            what='"validation_data" has other lengths than "data"',
            fix="give the outputs of each step of data, in the same order",
        )


def _streams(lengths: Sequence[int], *, is_sequence: bool) -> Iterator[Mistake]:
    if is_sequence:
        if 0 in lengths:
            yield Mistake(what=f"stream {lengths.index(0) + 1} is empty", fix="remove it")
    elif not lengths[0]:
        yield Mistake(what="stream 1 is empty", fix="give the inputs of one request at least")
    elif len(lengths) > 1:
        yield Mistake(
            what=f"has {len(lengths)} streams, and the model has no sequences: perf_analyzer sends"
            " only stream 1",
            fix='write all mappings into one list "data"',
            is_fatal=False,
        )


class _Steps:
    """The steps of `data` or of `validation_data`, each judged when it is read. What stays is the
    number of steps in each stream, and the shapes of right steps.
    """

    def __init__(self, tensors: Sequence[Tensor], side: str) -> None:
        self._tensors, self._side = tensors, side
        self.is_present = self.is_nested = False
        self.lengths = array("q")
        self.shapes: set[Any] = set()

    def fit(self, other: _Steps) -> bool:
        return (self.is_nested, self.lengths) == (other.is_nested, other.lengths)

    def mistakes(self, entries: Iterator[Any]) -> Iterator[Mistake]:
        """Those in a list of mappings, or of streams, which are iterators of mappings."""
        self.is_present = True
        for number, entry in enumerate(entries, 1):
            is_stream = isinstance(entry, Iterator)
            if number == 1:
                self.is_nested = is_stream
            elif is_stream is not self.is_nested:
                described = describe([] if is_stream else entry)
                yield Mistake(
                    what=f"has lists and mappings as {self._side}s: entry {number} is {described}",
                    fix="give only mappings, or only lists of mappings (streams)",
                )
                return
            count = 0
            for count, step in enumerate(entry if is_stream else [entry], 1):
                of_stream = f" of stream {number}" if is_stream else ""
                place = f"step {count if is_stream else number}{of_stream}"
                yield from self._judged(step, place)
            self.lengths.append(count)

    def _judged(self, step: Any, place: str) -> Iterator[Mistake]:
        wrong = [*_step(step, self._tensors, place, self._side)]
        yield from wrong
        if not wrong:
            self.shapes.add(_shapes(step, self._tensors))


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
            near = closest(name, missing) or next(iter(missing), "")
            yield Mistake(
                what=f"{place} has {name!r}, which is not an {side} of the model",
                fix=f"did you mean {near}?" if near else f"{side}s are {', '.join(names)}",
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


# The exact parser needs a tenth of a second for this size; it also finds keys that occur twice.
_MOST_EXACT_BYTES = 2**21
_NOT_FINITE = re.compile(r"(?:^|(?<=[\[,:\s]))-?(?:Inf|NaN)(?=[\],}\s])")


class NoMapping(Exception):
    """The content of the file is JSON, but no mapping."""

    def __init__(self, content: Any) -> None:
        super().__init__("no mapping")
        self.content = content


class InputMembers:
    """The keys and values of a file whose content comes in blocks; those of a large one are read in
    parts. A list is an iterator of its entries, and so is a list among these.

    Iterating raises ValueError where the text is not JSON (see `reason`), also TooDeep and TooLong,
    and NoMapping. `repeated` are the keys that occur twice in a mapping, as far as that is known.
    """

    def __init__(self, blocks: Iterable[bytes]) -> None:
        rest = iter(blocks)
        self._begin = b""
        while len(self._begin) <= _MOST_EXACT_BYTES and (block := next(rest, b"")):
            self._begin += block
        self._is_small = len(self._begin) <= _MOST_EXACT_BYTES
        text = codecs.iterdecode(chain([self._begin], rest), "utf-8", "surrogateescape")
        self._stream = JsonStream(_with_nan(text), constant=_nan)
        self.repeated: list[str] = []

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return self._at_once() if self._is_small else self._in_turn()

    @property
    def has_mark(self) -> bool:
        """Whether the file begins with a byte order mark, which is no JSON."""
        return self._begin.startswith(codecs.BOM_UTF8)

    def reason(self, error: ValueError) -> str:
        """Why the text is not JSON, with the place of an error that was raised."""
        place, reason = f"line {self._stream.line}", str(error)
        if isinstance(error, json.JSONDecodeError):
            reason = error.msg
            if self._is_small:
                place = f"line {error.lineno}, column {error.colno}"
        return f"{place}: {reason}"

    def _at_once(self) -> Iterator[tuple[str, Any]]:
        content = parse_with(
            _NOT_FINITE.sub("NaN", self._begin.decode("utf-8", "surrogateescape")),
            pairs=self._first_of_each,
            constant=_nan,
        )
        if not isinstance(content, dict):
            raise NoMapping(content)
        for key, value in content.items():
            yield key, map(_as_iterator, value) if isinstance(value, list) else value

    def _first_of_each(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        mapping = dict(reversed(pairs))
        if len(mapping) < len(pairs):
            counts = Counter(name for name, _ in pairs)
            self.repeated.extend(name for name in mapping if counts[name] > 1)
        return mapping

    def _in_turn(self) -> Iterator[tuple[str, Any]]:
        stream = self._stream
        if stream.next_character() != "{":
            raise NoMapping([] if stream.next_character() == "[" else stream.value())
        for key in stream.keys():  # noqa: SIM118  it is no mapping
            if stream.next_character() != "[":
                yield key, stream.value()
                continue
            entries = _entries_of(stream)
            yield key, entries
            _exhaust(entries)
        if stream.next_character():
            raise ValueError("more text follows")


def _as_iterator(entry: Any) -> Any:
    return iter(entry) if isinstance(entry, list) else entry


def _entries_of(stream: JsonStream) -> Iterator[Any]:
    for _ in stream.items():
        if stream.next_character() != "[":
            yield stream.value()
            continue
        steps = (stream.value() for _ in stream.items())
        yield steps
        _exhaust(steps)


def _exhaust(items: Iterator[Any]) -> None:
    """Reads what nobody has asked for."""
    for _ in items:
        pass


def _with_nan(parts: Iterable[str]) -> Iterator[str]:
    """A text whose infinite numbers are NaN, as JSON knows it. It is cut after commas; a long part
    without one has no lists of numbers.
    """
    rest = ""
    for part in parts:
        begin, comma, end = part.rpartition(",")
        yield _NOT_FINITE.sub("NaN", f"{rest}{begin}{comma}" if comma else rest + end)
        rest = end if comma else ""
    yield _NOT_FINITE.sub("NaN", rest)


def _nan(name: str) -> float:
    return math.nan
