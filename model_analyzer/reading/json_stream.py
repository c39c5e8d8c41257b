# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Reads JSON in parts that need not fit into memory together: lists and objects are entered, and
only the values below are made.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from model_analyzer.domain.foreign_json import TooDeep, check_depth

# The longest value that is made.
MOST_CHARACTERS = 16 * 2**20

_SPACE = re.compile(r"[ \t\n\r]*")
_CLOSING = re.compile(r'["\]}]')
# A parser that lacks the rest of a value says so at its end, or at the begin of a text.
_NEAR = 16


class TooLong(ValueError):
    """A value with more characters than may be in memory."""

    def __init__(self, most_characters: int) -> None:
        super().__init__(f"has a value of more than {most_characters // 2**20} MiB")


class CutOff(ValueError):
    """A text that ends before its value does."""


class JsonStream:
    """A place in a JSON text that comes in blocks. Whoever enters an object or a list reads each
    value in it before going on. Raises ValueError where the text is not JSON.

    `constant` makes NaN and infinity, which are floats by default.
    """

    def __init__(
        self,
        blocks: Iterable[str],
        *,
        most_characters: int = MOST_CHARACTERS,
        constant: Callable[[str], Any] | None = None,
    ) -> None:
        self._blocks = iter(blocks)
        self._most_characters = most_characters
        self._decoder = json.JSONDecoder(parse_constant=constant)
        self._text = ""
        self._place = 0
        self._lines_before = 0

    @property
    def line(self) -> int:
        """The number of the line of this place, from 1 on; after an error in a value, its line."""
        return 1 + self._lines_before + self._text.count("\n", 0, self._place)

    def keys(self) -> Iterator[str]:
        """The keys of the object that begins here; its values follow them."""
        for _ in self._members("{", "}"):
            key = self.value()
            if not isinstance(key, str) or self.next_character() != ":":
                raise ValueError("it has an object without keys")
            self._place += 1
            yield key

    def items(self) -> Iterator[None]:
        """Stops at each item of the list that begins here."""
        return self._members("[", "]")

    def value(self) -> Any:
        """The value that begins here."""
        self.next_character()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._place)
            except RecursionError:
                raise TooDeep from None
            except json.JSONDecodeError as error:
                is_cut = error.pos > len(self._text) - _NEAR or error.msg.startswith("Unterminated")
                if is_cut and self._extend():
                    continue
                is_cut = is_cut and self._lacks_the_rest(error)
                self._place = error.pos
                if is_cut:
                    raise CutOff(str(error)) from None
                raise
            may_go_on = isinstance(value, (int, float)) and end > len(self._text) - _NEAR
            if may_go_on and self._extend():
                continue
            check_depth(self._text[self._place : end], value)
            self._place = end
            return value

    def next_character(self) -> str:
        """The next character that is no space; "" at the end."""
        while True:
            match = _SPACE.match(self._text, self._place)
            assert match is not None, "it matches nothing, too"
            self._place = match.end()
            if self._place < len(self._text):
                return self._text[self._place]
            if not self._extend():
                return ""

    def _members(self, opening: str, closing: str) -> Iterator[None]:
        self._take(opening)
        if self.next_character() != closing:
            yield
            while self.next_character() == ",":
                self._place += 1
                yield
        self._take(closing)

    def _lacks_the_rest(self, error: json.JSONDecodeError) -> bool:
        """Whether a value that cannot be read at the end of the text is one without its end."""
        return error.msg.startswith("Unterminated") or not _CLOSING.search(self._text, error.pos)

    def _take(self, character: str) -> None:
        found = self.next_character()
        if found != character:
            problem = ValueError if found else CutOff
            raise problem(f"it has no {character!r} where one belongs")
        self._place += 1

    def _extend(self) -> bool:
        """Adds as much text as is left, so that a long value is not tried too often; False at the
        end of the text.
        """
        left = len(self._text) - self._place
        if left > self._most_characters:
            raise TooLong(self._most_characters)
        added: list[str] = []
        size = 0
        for block in self._blocks:
            added.append(block)
            size += len(block)
            if size > left:
                break
        if size:
            self._lines_before += self._text.count("\n", 0, self._place)
            self._text, self._place = "".join([self._text[self._place :], *added]), 0
        return size > 0
