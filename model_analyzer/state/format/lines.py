# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Checkpoint lines: one JSON object each, ending with a checksum of the rest of the line.

A line reads `{"entry":KIND,…,"crc":"8 hex digits"}`. The checksum (CRC-32) covers the line as
it would be without the `crc` field, so any JSON tool can read the file and ours can trust it.

There are copies of lines that many outcomes need, so that a damaged line costs at most one outcome.
A `copy` entry holds whole lines, compressed (deflate, base64). A line that is similar to another
line of the file takes few bytes: the other line, which `like` names by its checksum, is the
dictionary of the compression. A damaged file is read again with the lines that its copies restore.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from model_analyzer.domain.foreign_json import TooDeep, parse_unambiguous

_MARK = b',"crc":"'
_TAIL = len(_MARK) + 8 + len(b'"}')
_MARK_END = len(_MARK) - _TAIL
MOST_BYTES = 64 * 2**20
_SERIAL = re.compile(rb',"serial":[1-9][0-9]{0,17}\Z')
# a damaged line end, between a checksum and the next line
_LINE_END = re.compile(rb'(?<=,"crc":"[0-9a-f]{8}"\}).?(?=\{")', re.DOTALL)

Entry = Mapping[str, Any]


class DamagedLine(ValueError):
    """A line that has changed since it was written; the message says how."""


def encode(entry: Entry) -> bytes:
    """The line for `entry`, with its line end."""
    text = json.dumps(entry, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    try:
        body = text.encode()
    except UnicodeEncodeError:  # a path or a program's output was not UTF-8
        body = json.dumps(entry, separators=(",", ":"), allow_nan=False).encode()
    return _sealed(body[:-1])


def _sealed(body: bytes) -> bytes:
    """The line with its checksum; `body` has no closing brace."""
    return body + _MARK + b"%08x" % zlib.crc32(body + b"}") + b'"}\n'


def checksum_of(line: bytes) -> str:
    """The checksum of an intact line with its line end."""
    return line[-11:-3].decode()


def with_serial(line: bytes, serial: int) -> bytes:
    """The line (with its line end) of an outcome, with its number in the journal."""
    return _sealed(line[: -_TAIL - 1] + b',"serial":%d' % serial)


def without_serial(line: bytes) -> bytes:
    """The line before `with_serial`. Raises ValueError if the number is not at its end."""
    body, replaced = _SERIAL.subn(b"", line[: -_TAIL - 1])
    if not replaced:
        raise ValueError("its serial number is not at its end")
    return _sealed(body)


def pieces(line: bytes) -> Sequence[bytes]:
    """The lines that became one because the end of the first is damaged."""
    return [piece.removesuffix(b"\n") + b"\n" for piece in _LINE_END.split(line)]


def split(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file with their ends; only the beginning of a line that is too long.

    Programs that copy texts, such as git, may have made CR LF of a line's end: here it is LF.
    """
    while line := file.readline(MOST_BYTES + 1):
        yield line[:-2] + b"\n" if line.endswith(b'"}\r\n') else line
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
        entry = parse_unambiguous(body, most_bytes=MOST_BYTES)
    except TooDeep as error:
        raise DamagedLine(str(error)) from error
    except ValueError as error:
        raise DamagedLine(f"not JSON: {error}") from error
    if not isinstance(entry, dict) or not isinstance(entry.get("entry"), str):
        raise DamagedLine("not an entry")
    return entry


def decode_again(line: bytes) -> dict[str, Any]:
    """The entry of a line that `decode` has checked before."""
    entry: dict[str, Any] = parse_unambiguous(line.removesuffix(b"\n"))
    return entry


COPY = "copy"

_RAW = -15  # deflate without a header: the lines have checksums of their own
_CHUNK = 2**22


def copy_entry(lines: bytes, similar: bytes = b"") -> Entry:
    """The entry with copies of some lines; `similar` is a similar line of the file."""
    return {
        "entry": COPY,
        **({"like": checksum_of(similar)} if similar else {}),
        "lines": deflated(lines, similar),
    }


def copy_entries(lines: Iterable[bytes]) -> Iterator[Entry]:
    """Entries with copies of all lines."""
    chunk: list[bytes] = []
    for line in lines:
        chunk.append(line)
        if sum(map(len, chunk)) > _CHUNK:
            yield copy_entry(b"".join(chunk))
            chunk = []
    if chunk:
        yield copy_entry(b"".join(chunk))


def restored(
    copies: Iterable[Entry], intact: Mapping[str, bytes], *, most_bytes: int
) -> Iterator[bytes]:
    """The readable lines in copies. `intact` has the lines of the file by their checksums; at most
    `most_bytes` are decompressed.
    """
    for entry in copies:
        similar = intact.get(entry.get("like", ""), b"")
        lines = inflated(entry.get("lines"), similar, most_bytes=most_bytes)
        most_bytes -= len(lines)
        yield from lines.splitlines(keepends=True)


def deflated(data: bytes, similar: bytes = b"") -> str:
    """The bytes, compressed, as a text."""
    packer = zlib.compressobj(9, zlib.DEFLATED, _RAW, zdict=similar)
    return base64.b64encode(packer.compress(data) + packer.flush()).decode()


def inflated(text: object, similar: bytes = b"", *, most_bytes: int) -> bytes:
    """The bytes of a text from `deflated`; b"" if it is not such a text, or too long."""
    if not isinstance(text, str) or most_bytes <= 0:
        return b""
    try:
        unpacker = zlib.decompressobj(_RAW, zdict=similar)
        data = unpacker.decompress(base64.b64decode(text, validate=True), most_bytes)
    except (ValueError, zlib.error):
        return b""
    return data if unpacker.eof else b""
