# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The members of a file of input data, as perf_analyzer reads them. Pure.

perf_analyzer takes the first of two equal keys, and knows NaN, Inf and Infinity, which become NaN
here: so an infinite number in the content is one that was too large.
"""

from __future__ import annotations

import codecs
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from model_analyzer.domain.foreign_json import parse_with
from model_analyzer.reading.json_stream import JsonStream

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
