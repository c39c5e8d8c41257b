# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Copies of lines that many outcomes need, so that a damaged line costs at most one outcome.

A `copy` entry holds whole lines, compressed (deflate, base64). A line that is similar to another
line of the file takes few bytes: the other line, which `like` names by its checksum, is the
dictionary of the compression. A damaged file is read again with the lines that its copies restore.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Iterator, Mapping

from model_analyzer.state.format.lines import Entry, checksum_of

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
