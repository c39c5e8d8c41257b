# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The requests of a log: when each was due, and which input it has.

`reading.log_rows` reads the rows in all forms, with their times and units.

Input data for perf_analyzer, with an entry for each request of a log. Pure.

perf_analyzer gives its requests the entries of a file in their order; a request with a larger batch
takes as many entries. So the entries are written in the order of the requests.
"""

from __future__ import annotations

import errno
import hashlib
import json
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from model_analyzer.domain.flags import Flag
from model_analyzer.domain.foreign_json import TooDeep, no_number
from model_analyzer.domain.traffic import MOST_REQUESTS, Traffic
from model_analyzer.domain.words import counted, number_text
from model_analyzer.reading.json_stream import JsonStream, TooLong
from model_analyzer.reading.log_rows import (
    MOST_PART,
    NS_PER,
    Extent,
    LogProblem,
    LogRows,
    LogUnit,
    Row,
    amount_of,
    cell_of,
    columns_of,
    date_of,
    foreign_header,
    has_fraction,
    known_log,
    number_of,
    rows_of,
    time_column,
    unit_of,
    unknown_form,
)
from model_analyzer.reading.untrusted import open_regular, open_text

# AIPerf's export has the requests of its warm-up, too.
_PHASE, _WARM_UP = "metadata.benchmark_phase", "warmup"

_DISORDER = (
    "; they are not in order: check that they are not durations"
    " (a log sorted by the end of its requests is fine)"
)
_ONE_EACH = 'write one object for each request, with its time, as in {"timestamp": 1.5}'
# The name of a column, rather than a line of text.
_NAME = re.compile(r"[\w @.()/-]+")
_NS_PER_S = 10**9
_MOST_DAYS_NS = 7 * 86_400 * _NS_PER_S


# Whole numbers of 64 bits, one for each of millions of requests.
Numbers = npt.NDArray[np.int64]
# So many of them are compared at a time.
_AT_A_TIME = 2**16


@dataclass(frozen=True, slots=True, eq=False)
class RequestLog:
    """The times of requests in nanoseconds, ascending; the first is 0. `inputs` says which entry of
    the input data each of them has, from 0 on; it is empty if the log does not say so. `reading`
    says how the times in `column` were read, and what was left out.
    """

    times: Numbers
    inputs: Numbers
    column: str = ""
    reading: str = ""

    @property
    def identity(self) -> str:
        """A fingerprint (32 hex digits) of what is sent."""
        digest = hashlib.sha256(self.times.data)
        digest.update(self.inputs.data)
        return digest.hexdigest()[:32]

    @property
    def seconds(self) -> float:
        """The time from the first request to the last."""
        return float(self.times[-1]) / _NS_PER_S

    def described(self, speed: float) -> str:
        """What a replay at this speed sends, and how the times were read. The rate is that from the
        first request to the last, as measured.
        """
        seconds = self.seconds / speed
        rate = number_text((len(self.times) - 1) / seconds)
        most = _most_within(self.times, _NS_PER_S * speed)
        return (
            f"{counted(len(self.times), 'request')} in {number_text(seconds)} s"
            f" ({rate}/s, at most {most:,} in a second), times in {self.column!r} read as"
            f" {self.reading}"
        )


def _most_within(times: Numbers, span_ns: float) -> int:
    """The most of the ascending times that are in one span."""
    most = 0
    for begin in range(0, len(times), _AT_A_TIME):
        firsts = times[begin : begin + _AT_A_TIME]
        ends = np.searchsorted(times, firsts + span_ns)
        most = max(most, int((ends - np.arange(begin, begin + len(firsts))).max()))
    return most


def _rounded(billionths: Any) -> Any:
    """The nearest whole numbers."""
    return (billionths + _NS_PER_S // 2) // _NS_PER_S


class _Times:
    """Times in a unit that is not known yet, in twelve bytes each: whole ones and billionths."""

    def __init__(self) -> None:
        self._whole, self._billionths = array("q"), array("I")

    def __len__(self) -> int:
        return len(self._whole)

    def append(self, number: int) -> None:
        """Adds a time in billionths of the unit."""
        whole, billionths = divmod(number, _NS_PER_S)
        self._whole.append(whole)
        self._billionths.append(billionths)

    def extent(self, *, has_fractions: bool) -> Extent:
        whole, billionths = self._arrays()
        least, most = int(whole.min()), int(whole.max())
        return Extent(
            len(whole),
            least * _NS_PER_S + int(billionths[whole == least].min()),
            most * _NS_PER_S + int(billionths[whole == most].max()),
            has_fractions=has_fractions,
        )

    def into_ns(self, least: int, ns_per_unit: int) -> Numbers:
        """How many nanoseconds after the least time each of them is: at most some days. They take
        the place of the times.
        """
        times, billionths = self._arrays()
        times -= least // _NS_PER_S
        times *= ns_per_unit
        for begin in range(0, len(times), _AT_A_TIME):
            part = slice(begin, begin + _AT_A_TIME)
            times[part] += _rounded(billionths[part].astype(np.int64) * ns_per_unit)
        times -= _rounded(least % _NS_PER_S * ns_per_unit)
        return times

    def _arrays(self) -> tuple[Numbers, npt.NDArray[np.uint32]]:
        return np.frombuffer(self._whole, np.int64), np.frombuffer(self._billionths, np.uint32)


class _BadRow(Exception):
    """What is wrong with a row, and what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class _Requests:
    """The requests in the rows of a log, with times in a unit that is not known yet."""

    def __init__(
        self, column: str, read: Callable[[Any], int | None], input_column: str, entries: int
    ) -> None:
        self._column, self._read = column, read
        self._input_column, self._entries = input_column, entries
        self.times, self.inputs = _Times(), array("q")
        self.warm_ups = 0
        self._has_fractions = False
        self._least, self._most = (inf, ""), (-inf, "")

    def add(self, number: int, row: Row) -> None:
        """Adds the row that begins at a line, or in a document (0). Raises LogProblem."""
        if cell_of(row, _PHASE) == _WARM_UP:
            self.warm_ups += 1
            return
        try:
            self._add(number, row)
        except _BadRow as problem:
            place = "" if number else f" in {self._place(number)}"
            raise LogProblem(number, f"{problem}{place}", problem.hint) from None

    def _add(self, number: int, row: Row) -> None:
        value = _cell(row, self._column)
        time = self._read(value)
        if time is None:
            hint = "times are dates, such as 2026-11-02T09:30:00.5Z, or numbers from 0"
            raise _BadRow(f"has {str(value)[:40]!r} in place of a time", hint)
        if self._input_column:
            self.inputs.append(_entry(row, self._input_column, self._entries))
        if len(self.times) == MOST_REQUESTS:
            raise LogProblem(number, f"has more than {MOST_REQUESTS:,} requests", "use a part")
        if time < self._least[0]:
            self._least = time, self._place(number)
        if time > self._most[0]:
            self._most = time, self._place(number)
        self._has_fractions = self._has_fractions or has_fraction(value)
        self.times.append(time)

    def _place(self, number: int) -> str:
        """Where the row is that is added now."""
        return f"line {number}" if number else f"request {len(self.times) + self.warm_ups + 1}"

    @property
    def span(self) -> str:
        """From where to where the times go."""
        return f"from {self._least[1]} to {self._most[1]}"

    def extent(self) -> Extent:
        """Raises LogProblem if all times are equal."""
        if self._least[0] >= self._most[0]:
            others = (
                f", besides {counted(self.warm_ups, 'warm-up request')}" if self.warm_ups else ""
            )
            raise LogProblem(0, f"needs requests at two different times at least{others}")
        return self.times.extent(has_fractions=self._has_fractions)


def parse_log(
    lines: Iterable[str],
    *,
    column: str = "",
    unit: str = "",
    input_column: str = "",
    entries: int = 0,
) -> RequestLog:
    """All requests of a log.

    `column` and `unit` say where the times are and what they count; "" recognizes them. If an
    `input_column` is given, it has numbers of inputs, of which there are so many `entries`. Raises
    LogProblem for lines that cannot be read, for times of an uncertain unit, and for logs with
    fewer than two requests.
    """
    log = rows_of(lines)
    first = next(log.rows, None)
    if first is None:
        where = "below its header" if log.header else "of a user"
        raise LogProblem(0, f"has no request {where}")
    known = known_log(first[1])
    name = column or time_column(first[1], known)
    _check_columns(log, first, [name, input_column or name])
    is_dated = _is_dated(first[0], cell_of(first[1], name), unit)
    requests = _Requests(name, date_of if is_dated else number_of, input_column, entries)
    for number, row in chain([first], log.rows):
        requests.add(number, row)
    extent = requests.extent()
    decided, reading = LogUnit.SECONDS, "dates"
    if not is_dated:
        decided, reading = unit_of(extent, column=name, unit=unit, known=known)
    factor = NS_PER[decided]
    if (extent.most - extent.least) * factor > _MOST_DAYS_NS * _NS_PER_S:
        hint = "" if unit or is_dated else "give unit (ms, us or ns), or "
        raise LogProblem(0, f"lasts longer than a week, {requests.span}", f"{hint}use a part of it")
    times = requests.times.into_ns(extent.least, factor)
    if (times[1:] < times[:-1]).any() and (known is None or known.column != name.lower()):
        reading += _DISORDER
    replayed = _in_order(times, np.frombuffer(requests.inputs, np.int64))
    if extent.least * factor % _NS_PER_S**2 == 0:
        reading += _remark(replayed.times)
    if log.probes:
        reading += f"; {counted(log.probes, 'request')} without inference left out"
    if requests.warm_ups:
        reading += f"; {counted(requests.warm_ups, 'warm-up request')} left out"
    return replace(replayed, column=name, reading=reading)


def _check_columns(log: LogRows, first: tuple[int, Row], names: Sequence[str]) -> None:
    """Raises LogProblem unless each of these columns is there, and once."""
    for name in names:
        if not name or cell_of(first[1], name) is None:
            problem = _unusual_csv(log.header) if log.header else None
            raise problem or _no_column(*first, name)
        if log.header.count(name) > 1:
            raise LogProblem(0, f"has more than one column {name!r}", "rename all but one")


def _is_dated(number: int, value: Any, unit: str) -> bool:
    """Whether times are dates, as the first one."""
    if number_of(value) is not None or date_of(value) is None:
        return False
    if unit:
        raise LogProblem(number, f"has the date {value!r}", "remove unit")
    return True


def _remark(times: Numbers) -> str:
    """What a user should know about these ascending times, besides their unit."""
    if (times[1:] == times[:-1]).any() and not (times % _NS_PER_S).any():
        return "; they are whole seconds, so the requests of a second are sent at once"
    return ""


def _in_order(times: Numbers, inputs: Numbers) -> RequestLog:
    """The requests in the order of their times."""
    if (times[1:] < times[:-1]).any():
        order = np.argsort(times, kind="stable")
        times, inputs = times[order], inputs[order] if len(inputs) else inputs
    return RequestLog(times, inputs)


def _cell(row: Row, column: str) -> Any:
    value = cell_of(row, column)
    if value is None:
        raise _BadRow(f"has no {column!r}")
    return value


def _entry(row: Row, column: str, entries: int) -> int:
    """The number of an entry of the input data."""
    value = _cell(row, column)
    amount = amount_of(value)
    if amount is None or amount != int(amount) or amount >= entries:
        raise _BadRow(
            f"has {str(value)[:40]!r} as {column!r} in place of the number of an input: a whole"
            f" number from 0 to {entries - 1}"
        )
    return int(amount)


def _no_column(number: int, row: Row, name: str) -> LogProblem:
    if name and name in row:
        return LogProblem(number, f"has no {name!r}")
    columns = [each if each.isprintable() else repr(each) for each in columns_of(row)]
    if not columns:
        return LogProblem(number, "has a first object without columns")
    if name:
        return LogProblem(0, f"has no column {name!r}", f"it has {', '.join(columns)}"[:300])
    named = zip(columns, columns_of(row), strict=True)
    possible = [shown for shown, own in named if _may_be_time(cell_of(row, own))]
    hint = f"give column: {' or '.join(possible)}"[:300] if possible else _ONE_EACH
    return LogProblem(0, "has no column that is known to hold times", hint)


def _unusual_csv(header: Sequence[str]) -> LogProblem | None:
    """Why the names of the columns are none, if they are none: other separators, or no header."""
    if problem := foreign_header(header):
        return problem
    if all(header) and any(map(_may_be_time, header)):
        return LogProblem(0, "has no header", "begin it with a line of column names, as in time,id")
    is_text = len(header) == 1 and not _NAME.fullmatch(header[0])
    return unknown_form(0) if is_text else None


def _may_be_time(cell: object) -> bool:
    return amount_of(cell) is not None or date_of(cell) is not None


_MOST_BYTES = 2**30
# Files by their first bytes: what is wrong, and what to do.
_UNPACK = "unpack it"
_BINARY = {
    b"\x1f\x8b": ("is compressed by gzip", _UNPACK),
    b"\x28\xb5\x2f\xfd": ("is compressed by zstd", _UNPACK),
    b"\xfd7zXZ": ("is compressed by xz", _UNPACK),
    b"BZh": ("is compressed by bzip2", _UNPACK),
    b"PK\x03\x04": ("is a zip archive", _UNPACK),
    b"PAR1": ("is a Parquet file", "write CSV, or one JSON object per line"),
}


@dataclass(eq=False)
class ReplayProblem(Exception):
    """What is wrong with a file of a replay, and where; and what to do."""

    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Replay:
    """The requests of a log, and the `entries` of the input data from which it selects; None if it
    does not select.
    """

    log: RequestLog
    entries: InputEntries | None


def read_replay(traffic: Traffic, flags: Mapping[str, Flag], user_directory: Path) -> Replay:
    """The log of a load, and the data in the flag `input-data` if the log selects from it. Raises
    ReplayProblem, also for files that cannot be read. A run reads each file once.
    """
    entries = None
    path = user_directory / str(flags.get("input-data"))
    try:
        if traffic.input:
            entries = _read_entries(path)
        path = user_directory / traffic.log
        log = _read_log(path, traffic.column, traffic.unit, traffic.input, len(entries or ()))
    except LogProblem as error:
        line = f":{error.line}" if error.line else ""
        raise ReplayProblem(f"{path}{line}: {error.message}", error.hint) from None
    return Replay(log, entries)


@lru_cache(maxsize=8)
def _read_log(path: Path, column: str, unit: str, input_column: str, entries: int) -> RequestLog:
    return parse_log(
        _parts(path), column=column, unit=unit, input_column=input_column, entries=entries
    )


def _parts(path: Path, most_bytes: int = _MOST_BYTES) -> Iterator[str]:
    """The lines of a file, and parts of long ones, each read when it is asked for."""
    try:
        try:
            with open_text(path, most_bytes=most_bytes) as text:
                while part := text.readline(MOST_PART):
                    yield part
        except UnicodeDecodeError:
            raise _no_text(path) from None
    except OSError as error:
        hint = "use a part" if error.errno == errno.EFBIG else ""
        raise LogProblem(0, error.strerror or str(error), hint) from None


def _no_text(path: Path) -> LogProblem:
    with open_regular(path) as file:
        begin = file.read(max(map(len, _BINARY)))
    for mark, (message, hint) in _BINARY.items():
        if begin.startswith(mark):
            return LogProblem(0, message, hint)
    return LogProblem(0, "is not text in UTF-8")


@lru_cache(maxsize=8)
def _read_entries(path: Path) -> InputEntries:
    return parse_entries(_parts(path, MOST_INPUT_BYTES))


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
