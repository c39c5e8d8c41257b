# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Input data for perf_analyzer, with an entry for each request of a log. Pure.

perf_analyzer gives its requests the entries of a file in their order; a request with a larger batch
takes as many entries. So the entries are written in the order of the requests.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import orjson

from model_analyzer.domain.foreign_json import TooDeep, no_number
from model_analyzer.reading.json_stream import JsonStream, TooLong
from model_analyzer.reading.log_rows import LogProblem

# The size of the user's file, and of that for one perf_analyzer, which keeps all of it in memory.
MOST_INPUT_BYTES = 256 * 2**20


class InputEntries:
    """The entries of the user's file, as JSON without spaces."""

    def __init__(self) -> None:
        # one text for all: there may be millions of small ones
        self._content = bytearray()
        self._ends = array("q", [0])

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, number: int) -> bytes:
        return bytes(self._content[self._ends[number] : self._ends[number + 1]])

    def append(self, entry: bytes) -> None:
        self._content += entry
        self._ends.append(len(self._content))

    def size(self, number: int) -> int:
        """The bytes of an entry."""
        return self._ends[number + 1] - self._ends[number]


def parse_entries(blocks: Iterable[str]) -> InputEntries:
    """The entries of a file of input data, whose text comes in blocks. Raises LogProblem if they
    cannot be selected.
    """
    stream = JsonStream(blocks, constant=no_number)
    try:
        entries = _entries_of(stream)
        if stream.next_character():
            raise ValueError("more text follows")
    except TooDeep as error:
        raise LogProblem(stream.line, f"is {error}") from None
    except TooLong as error:
        raise LogProblem(stream.line, str(error)) from None
    except ValueError as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else error
        raise LogProblem(stream.line, f"is not JSON: {reason}") from None
    if not len(entries):
        raise _without_entries()
    return entries


def _without_entries() -> LogProblem:
    return LogProblem(0, 'has no list "data" with inputs')


def _entries_of(stream: JsonStream) -> InputEntries:
    entries = InputEntries()
    if stream.next_character() != "{":
        raise _without_entries()
    for key in stream.keys():  # noqa: SIM118  it is no mapping
        if key == "validation_data":
            message = "has validation_data, which a replay with inputs does not support"
            raise LogProblem(0, message)
        if key != "data" or stream.next_character() != "[":
            stream.value()
            continue
        for _ in stream.items():
            entry = stream.value()
            if not isinstance(entry, dict):
                message = f"has no mapping of tensors as input {len(entries)}"
                raise LogProblem(0, message, "a log cannot select sequences")
            try:
                entries.append(orjson.dumps(entry))
            except TypeError as error:  # a number or a text that is no standard JSON
                raise ValueError(str(error)) from None
    return entries


def size_of(entries: InputEntries, numbers: Iterable[int], batch_size: int) -> int:
    """The bytes of the inputs of requests that have the entries with these numbers."""
    return batch_size * sum(map(entries.size, numbers))


@dataclass(frozen=True, slots=True, eq=False)
class InputFile:
    """A file, in parts, for requests that have the entries with these numbers, one after the other;
    all items of a batch are alike.
    """

    entries: InputEntries
    numbers: Iterable[int]
    batch_size: int

    def __iter__(self) -> Iterator[bytes]:
        separator = b'{"data":['
        for number in self.numbers:
            for _ in range(self.batch_size):
                yield separator + self.entries[number]
                separator = b","
        yield b"]}"
