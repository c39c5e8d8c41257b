# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Second copies of lines that many outcomes need, so that no damaged line costs more than one.

A `copy` entry holds whole lines, compressed (deflate, base64). A line that is much like another
one in the file takes few bytes: that other line, named by its checksum in `like`, is the
dictionary. A damaged file is read again with what its copies restore.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Iterator, Mapping

from model_analyzer.state.format.lines import Entry, checksum_of

COPY = "copy"

_RAW = -15  # deflate without a header: the lines have checksums of their own
_CHUNK = 2**22


def copy_entry(lines: bytes, like: bytes = b"") -> Entry:
    """The entry that holds copies of some lines, which are much like another line."""
    return {
        "entry": COPY,
        **({"like": checksum_of(like)} if like else {}),
        "lines": deflated(lines, like),
    }


def copy_entries(lines: Iterable[bytes]) -> Iterator[Entry]:
    """Entries that hold copies of all the lines."""
    chunk: list[bytes] = []
    for line in lines:
        chunk.append(line)
        if sum(map(len, chunk)) > _CHUNK:
            yield copy_entry(b"".join(chunk))
            chunk = []
    if chunk:
        yield copy_entry(b"".join(chunk))


def restored(
    copies: Iterable[Entry], likes: Mapping[str, bytes], *, most_bytes: int
) -> Iterator[bytes]:
    """The lines in copies, as far as they can be read. `likes` has the lines of the file by their
    checksums; no more than `most_bytes` are made of what may be little.
    """
    for entry in copies:
        like = likes.get(entry.get("like", ""), b"")
        lines = inflated(entry.get("lines"), like, most_bytes=most_bytes)
        most_bytes -= len(lines)
        yield from lines.splitlines(keepends=True)


def deflated(data: bytes, like: bytes = b"") -> str:
    """The bytes as short text."""
    packer = zlib.compressobj(9, zlib.DEFLATED, _RAW, zdict=like)
    return base64.b64encode(packer.compress(data) + packer.flush()).decode()


def inflated(text: object, like: bytes = b"", *, most_bytes: int) -> bytes:
    """What `deflated` made text of; b"" where it is something else, or too much."""
    if not isinstance(text, str) or most_bytes <= 0:
        return b""
    try:
        unpacker = zlib.decompressobj(_RAW, zdict=like)
        data = unpacker.decompress(base64.b64decode(text, validate=True), most_bytes)
    except (ValueError, zlib.error):
        return b""
    return data if unpacker.eof else b""
