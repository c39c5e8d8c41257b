# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Many lines in little memory."""

from __future__ import annotations

import zlib
from collections.abc import Hashable, Iterator, MutableMapping
from typing import TypeVar

K = TypeVar("K", bound=Hashable)

# The first lines stay as they are: to compress them, reading would take a fifth longer.
_PLAIN = 100_000

# Lines of outcomes are alike: together they take an eighth of the memory. A larger block would
# hardly be smaller, and it takes longer to get one line out of it.
_BLOCK = 64
_FASTEST = 1


class PackedLines(MutableMapping[K, bytes]):
    """Lines by key, in the order of adding. A line ends with a line break, and has no other.

    What is removed or replaced still takes memory.
    """

    def __init__(self) -> None:
        self._numbers: dict[K, int] = {}
        self._plain: list[bytes] = []
        self._blocks: list[bytes] = []
        self._rest: list[bytes] = []  # the lines of the next block
        self._opened = -1, [b""]  # the block that was read last, with its lines

    def __setitem__(self, key: K, line: bytes) -> None:
        if len(self._plain) < _PLAIN:
            self._numbers[key] = len(self._plain)
            self._plain.append(line)
            return
        if len(self._rest) == _BLOCK:
            self._blocks.append(zlib.compress(b"".join(self._rest), _FASTEST))
            self._rest = []
        self._numbers[key] = len(self._plain) + len(self._blocks) * _BLOCK + len(self._rest)
        self._rest.append(line)

    def __getitem__(self, key: K) -> bytes:
        number = self._numbers[key]
        if number < len(self._plain):
            return self._plain[number]
        block, place = divmod(number - len(self._plain), _BLOCK)
        if block == len(self._blocks):
            return self._rest[place]
        opened, lines = self._opened
        if opened != block:
            lines = zlib.decompress(self._blocks[block]).split(b"\n")
            self._opened = block, lines
        return lines[place] + b"\n"

    def __delitem__(self, key: K) -> None:
        del self._numbers[key]

    def __contains__(self, key: object) -> bool:
        return key in self._numbers

    def __iter__(self) -> Iterator[K]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)
