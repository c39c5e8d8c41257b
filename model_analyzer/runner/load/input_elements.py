# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which JSON values perf_analyzer takes as elements of each data type. Pure.

It takes the way a number is written for its type: FP32 needs a decimal point or an exponent, INT32
must have none. It reads INT8 and INT16 as 32 bits, and cuts them off.
"""

from __future__ import annotations

import base64
import json
import math
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from model_analyzer.domain.words import counted

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
