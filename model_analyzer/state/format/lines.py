# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Checkpoint lines: one JSON object each, ending with a checksum of the rest of the line.

A line reads `{"entry":KIND,…,"crc":"8 hex digits"}`. The checksum (CRC-32) covers the line as
it would be without the `crc` field, so any JSON tool can read the file and ours can trust it.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import orjson

_MARK = b',"crc":"'
_TAIL = len(_MARK) + 8 + len(b'"}')
_MARK_END = len(_MARK) - _TAIL
_SERIAL = re.compile(rb',"serial":[1-9][0-9]{0,17}\Z')
# what stands in the place of a line end, between a checksum and the next line
_LINE_END = re.compile(rb'(?<=,"crc":"[0-9a-f]{8}"\}).?(?=\{")', re.DOTALL)
MOST_BYTES = 64 * 2**20
# what handles an entry recurses, and Python does so less than a thousand times
_DEEPEST = 100

Entry = Mapping[str, Any]


class DamagedLine(ValueError):
    """A line that is not what was written; the text says how it shows."""


def encode(entry: Entry) -> bytes:
    """The line for `entry`, with its line end."""
    text = json.dumps(entry, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    try:
        body = text.encode()
    except UnicodeEncodeError:  # bytes that were no UTF-8, in a path or in a program's output
        body = json.dumps(entry, separators=(",", ":"), allow_nan=False).encode()
    return _sealed(body[:-1])


def _sealed(body: bytes) -> bytes:
    """The line with this body, which has no closing brace, and with its checksum."""
    return body + _MARK + b"%08x" % zlib.crc32(body + b"}") + b'"}\n'


def checksum_of(line: bytes) -> str:
    """The checksum that an intact line, with its line end, has."""
    return line[-11:-3].decode()


def with_serial(line: bytes, serial: int) -> bytes:
    """The line (with its line end) as the outcome of a journal that has this number."""
    return _sealed(line[: -_TAIL - 1] + b',"serial":%d' % serial)


def without_serial(line: bytes) -> bytes:
    """The line before `with_serial`. Raises ValueError where it has its number elsewhere."""
    body, replaced = _SERIAL.subn(b"", line[: -_TAIL - 1])
    if not replaced:
        raise ValueError("its serial number is not at its end")
    return _sealed(body)


def pieces(line: bytes) -> Sequence[bytes]:
    """The lines that became one because the end of the first is damaged."""
    return [piece.removesuffix(b"\n") + b"\n" for piece in _LINE_END.split(line)]


def split(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file with their ends; of one that is too long only the beginning."""
    while line := file.readline(MOST_BYTES + 1):
        yield line
        while len(line) > MOST_BYTES and not line.endswith(b"\n"):
            line = file.readline(MOST_BYTES + 1)


def decode(line: bytes) -> dict[str, Any]:
    """The entry of a line (with or without its line end)."""
    line = line.removesuffix(b"\n")
    if len(line) > MOST_BYTES:
        raise DamagedLine("a line of more than 64 MiB")
    if line[-_TAIL:_MARK_END] != _MARK or not line.endswith(b'"}'):
        raise DamagedLine("no checksum at its end")
    body = line[:-_TAIL] + b"}"
    if b"%08x" % zlib.crc32(body) != line[-10:-2]:
        raise DamagedLine("the checksum does not match")
    try:
        entry = parse(body)
    except (ValueError, RecursionError) as error:
        raise DamagedLine(f"not JSON: {error}") from error
    if not isinstance(entry, dict) or not isinstance(entry.get("entry"), str):
        raise DamagedLine("not an entry")
    if body.count(b"[") + body.count(b"{") > _DEEPEST and depth(entry) > _DEEPEST:
        raise DamagedLine("nested too deeply")
    return entry


def decode_again(line: bytes) -> dict[str, Any]:
    """The entry of a line that `decode` has found intact, without looking at that again."""
    entry: dict[str, Any] = json.loads(line)
    return entry


def depth(value: Any) -> int:
    """How many mappings and lists are inside one another."""
    deep, level = 0, [value]
    while level := [item for item in level if isinstance(item, (dict, list))]:
        deep += 1
        level = [
            inner for item in level for inner in (item.values() if isinstance(item, dict) else item)
        ]
    return deep


def parse(text: bytes) -> Any:
    """JSON that means one thing only: no key twice in an object, no number that is none.

    Raises ValueError, or RecursionError where it is nested too deeply.
    """
    try:
        value = orjson.loads(text)
        if orjson.dumps(value) == text:
            return value  # what comes out as it went in means one thing only
    except (ValueError, TypeError):
        pass  # what that parser does not know may be right, and the other one says what is wrong
    characters = text.decode()
    value, end = _DECODER.raw_decode(characters)
    if characters[end:].strip():
        raise ValueError("there is more behind it")
    return value


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        raise ValueError("a key stands twice in an object")
    return mapping


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_number)
