# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The rows of a log of requests, in whatever form it is written: a JSON object in each line, a JSON
document with a list of requests, CSV with a header, or the access log of nginx or Envoy.

The times in a log of requests: which column has them, and their unit.

A wrong unit replays a log a thousand times too fast or too slow. So a unit is taken from evidence,
in this order: what the user says, the name of the column, the size of times since 1970, the set of
columns of a known log, fractions, and the rate that would result. Without enough of it, the log is
refused.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from decimal import Decimal, InvalidOperation
from enum import Enum
from itertools import chain, zip_longest
from math import inf
from typing import Any

from model_analyzer.domain.foreign_json import TooDeep, parse_json
from model_analyzer.domain.words import number_text
from model_analyzer.reading.json_stream import CutOff, JsonStream, TooLong

Row = Mapping[str, Any]
Numbered = Iterator[tuple[int, str]]

# The columns of rows that are made here.
ACCESS_TIME = "time"
EXPORT_TIME = "requests.timestamp"
REPORT_TIME = "requests.start_time"
TRACE_TIME = "timestamps.REQUEST_START"

# nginx and Apache: ADDRESS - USER [10/Oct/2000:13:55:36 -0700] "
_SERVER_LINE = re.compile(r'\S+ \S+ .*?\[(?P<time>\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\] "')
# Envoy's default format, and others of its times: [2016-04-15T20:17:00.310Z] "
_PROXY_LINE = re.compile(
    r'\[(?P<time>\d{4}-\d\d-\d\d[T ]\d[\d:.,]* ?(?:Z|UTC|[+-]\d\d:?(?:\d\d)?)?)\] "'
)
# The request in a line of both, if it infers nothing: it asks how the server is (Kubernetes,
# Prometheus, gRPC) or what it has, or it changes that (clients, tools). JSON and CSV of nginx,
# Envoy and Traefik have it in a column, or method and path in two.
_REQUEST = "request"
_METHODS = ("method", "request_method", "RequestMethod")
_PATHS = ("path", "request_uri", "uri", "RequestPath")
_PROBE = re.compile(
    r"(?:GET|HEAD) (?:\S*/v2(?:/health/\S*|/models/\S+|/trace/setting|/logging)?"
    r"|\S*/v2/\w+sharedmemory/\S*"
    r"|(?:https?://[^/\s]*)?/(?:metrics|health|healthz|livez|readyz|v1/models\S*))/?[ ?]"
    r"|POST (?:\S*/v2/(?:repository|\w+sharedmemory|trace|logging)(?:/\S*)?[ ?]"
    r"|/(?:grpc\.health\.v1\.Health/|grpc\.reflection\."
    r"|inference\.GRPCInferenceService/(?!Model(?:Stream)?Infer\b)))"
)
# A line of a log that is no list of requests: [2016-04-15 20:17:00.310][1][info] or [INFO] started.
# The header of a CSV file may begin with a column named "[time]".
_BRACKETED_LINE = re.compile(r'\[[^\]\["{}]+\]\s*[^\s,]')
# In perf_analyzer's export and guidellm's report; a row may have experiments of another kind.
_EXPERIMENTS = re.compile(
    r'^\{\s*"experiments"|"experiments"\s*:\s*\[\s*\{\s*"(?:experiment|requests|window_boundaries)"'
    r'|"benchmarks"\s*:\s*\[\s*\{\s*"type_"'
)
# What events in a trace of Triton have.
_TRACE_KEYS = {
    *("id", "model_name", "model_version", "request_id", "parent_id"),
    *("timestamps", "activity", "tensor"),
}
_JSON_ARRAY = re.compile(r'\s*\[\s*(?:[\[{"\d-]|$)')
_OTHER_SEPARATORS = {";": "semicolons", "\t": "tabs"}
MOST_PART = 2**18
# A row is in memory as a whole.
_MOST_LINE = 16 * 2**20
_JSON_LINES = "write one JSON object per line"


@dataclass(eq=False)
class LogProblem(Exception):
    """What is wrong with a log, at a line (from 1; 0: the whole file), and what to do."""

    line: int
    message: str
    hint: str = ""


class LogRows:
    """Rows of a log, each with the line where it begins; 0 in a document. `header` has the names of
    the columns of CSV; it is empty in other forms. Requests that infer nothing are left out, and
    counted in `probes` while the rows are read.
    """

    def __init__(self, rows: Iterator[tuple[int, Row]], header: Sequence[str] = ()) -> None:
        self.rows, self.header = self._without_probes(rows), header
        self.probes = 0

    def _without_probes(self, rows: Iterator[tuple[int, Row]]) -> Iterator[tuple[int, Row]]:
        for number, row in rows:
            if _is_probe(row):
                self.probes += 1
            else:
                yield number, row


def rows_of(parts: Iterable[str]) -> LogRows:
    """The rows of a log, each read when it is asked for. The `parts` are its lines; longer ones are
    cut after `MOST_PART` characters. Raises LogProblem, also while the rows are read.
    """
    rest = iter(parts)
    number = 1
    for first in rest:
        if first.strip():
            break
        number += 1
    else:
        raise LogProblem(0, "is empty")
    rest = chain([first], rest)
    for pattern in (_SERVER_LINE, _PROXY_LINE):
        if pattern.match(first):
            return LogRows(_access_rows(pattern, _lines(rest, number)))
    if _BRACKETED_LINE.match(first):
        raise unknown_form(number)
    if _JSON_ARRAY.match(first) or _begins_document(first):
        return LogRows(_document_rows(rest))
    if first.lstrip().startswith("{"):
        return LogRows(_json_rows(_lines(rest, number)))
    records = _csv_cells(_lines(rest, number))
    header = [cell.lstrip("\ufeff") for cell in next(records, (0, ()))[1]]
    return LogRows(_csv_rows(header, records), header)


def unknown_form(number: int) -> LogProblem:
    """The problem of a first line that is no header of CSV, nor the begin of another known form."""
    return LogProblem(
        number,
        "is neither JSON, nor CSV with a header, nor a line of a known access log",
        "begin it with JSON, or with a line of column names, as in time,id",
    )


def _lines(parts: Iterable[str], number: int) -> Numbered:
    """The lines of which these are the parts, numbered from `number` on."""
    begun = ""
    for part in parts:
        begun += part
        if len(begun) > _MOST_LINE:
            raise LogProblem(number, f"has more than {_MOST_LINE // 2**20} MiB", _JSON_LINES)
        if len(part) < MOST_PART or part.endswith("\n"):
            yield number, begun
            begun, number = "", number + 1
    if begun:
        yield number, begun


def cell_of(row: Row, column: str) -> Any:
    """The value in a column; that of `a.b` may be in the object `a`. None if there is none."""
    if column in row:
        return row[column]
    outer, _, inner = column.partition(".")
    below = row.get(outer)
    return cell_of(below, inner) if inner and isinstance(below, Mapping) else None


def columns_of(row: Row) -> list[str]:
    """The names of all columns, those in an object as OBJECT.NAME."""
    return [
        f"{key}.{inner}" if inner else key
        for key, value in row.items()
        for inner in (columns_of(value) if isinstance(value, Mapping) and value else [""])
    ]


def _access_rows(pattern: re.Pattern[str], numbered: Numbered) -> Iterator[tuple[int, Row]]:
    for number, line in numbered:
        if not line.strip():
            continue
        match = pattern.match(line)
        if match is None:
            raise LogProblem(number, "is not a line of an access log like the first one")
        yield number, {ACCESS_TIME: match["time"], _REQUEST: line[match.end() :]}


def _begins_document(line: str) -> bool:
    """Whether a JSON object begins here that goes on in further lines, or holds experiments."""
    text = line.strip()
    return text == "{" or (text.startswith("{") and _EXPERIMENTS.search(text) is not None)


def _document_rows(blocks: Iterable[str]) -> Iterator[tuple[int, Row]]:
    stream = JsonStream(blocks)
    count = 0
    try:
        for row in _requests_in(stream):
            count += 1
            yield 0, row
        if stream.next_character():
            raise ValueError("more text follows")
    except ValueError as error:
        place = f" after request {count}" if count else ""
        if isinstance(error, CutOff):
            hint = "let the program that writes it end first, or complete it"
            raise LogProblem(0, f"is cut off{place}", hint) from None
        hint = f"{_JSON_LINES}, or one array of objects"
        raise _not_json(0, error, hint, place) from None
    if not count:
        raise _no_list()


def _requests_in(stream: JsonStream) -> Iterator[Row]:
    """The objects of a list, or the requests in the file of a tool."""
    if stream.next_character() == "{":
        for key in stream.keys():  # noqa: SIM118  it is no mapping
            if key in _DOCUMENTS and stream.next_character() == "[":
                yield from _DOCUMENTS[key](stream)
            else:
                stream.value()
        return
    rows = _objects(stream)
    first = next(rows, None)
    if first is not None and _is_traced(first):
        yield from _traced(chain([first], rows))
    elif first is not None:
        yield first
        yield from rows


def _objects(stream: JsonStream) -> Iterator[dict[str, Any]]:
    for place, _ in enumerate(stream.items(), 1):
        value = stream.value()
        if not isinstance(value, dict):
            if place == 1:
                raise _no_list()
            raise LogProblem(0, f"has no object as item {place} of its list")
        yield value


def _exported(stream: JsonStream) -> Iterator[Row]:
    """The requests in an export of perf_analyzer, with an experiment for each load."""
    for key in _keys_of_only(stream, "experiments of perf_analyzer"):
        if key != "requests" or stream.next_character() != "[":
            stream.value()
            continue
        for request in _objects(stream):
            yield {EXPORT_TIME: request.get("timestamp")}


def _reported(stream: JsonStream) -> Iterator[Row]:
    """The requests in a report of guidellm, with a benchmark for each load: all that were sent,
    however they ended. (Until version 0.3, their times have another name.)
    """
    succeeded = whole = 0
    for key in _keys_of_only(stream, "benchmarks of guidellm"):
        if key != "requests" or stream.next_character() != "{":
            whole = max(whole, _succeeded_in_all(key, stream.value()))
            continue
        for status in stream.keys():  # noqa: SIM118  it is no mapping
            if stream.next_character() != "[":
                stream.value()
                continue
            for request in _objects(stream):
                succeeded += status == "successful"
                time = request.get("request_start_time", request.get("start_time"))
                if time is not None:  # it was sent
                    yield {REPORT_TIME: time}
    if succeeded < whole:
        raise LogProblem(
            0,
            f"has only a sample of the requests: {succeeded:,} of {whole:,} that succeeded",
            "run guidellm without a sample size",
        )


def _succeeded_in_all(key: str, value: Any) -> int:
    """How many requests succeeded, if this part of a benchmark of guidellm says so."""
    row = {key: value}
    for column in ("scheduler_metrics.requests_made.successful", "request_totals.successful"):
        if isinstance(count := cell_of(row, column), int):
            return count
    return 0


def _keys_of_only(stream: JsonStream, items: str) -> Iterator[str]:
    """The keys of the object that should be the only one in a list of `items`; its values follow
    them.
    """
    count = 0
    for _ in stream.items():
        count += 1
        if stream.next_character() != "{":
            raise _no_list()
        for key in stream.keys():  # noqa: SIM118  it is no mapping
            if count == 1:
                yield key
            else:
                stream.value()
    if count != 1:
        raise LogProblem(0, f"has {count} {items}", "use a file with one load")


# The lists of requests in documents of tools, by their keys.
_DOCUMENTS = {"experiments": _exported, "benchmarks": _reported}


def _is_traced(item: Row) -> bool:
    """Whether it is an event in a trace of Triton, of which only some have times."""
    return "id" in item and (
        isinstance(item.get("timestamps"), list) or (len(item) > 1 and item.keys() <= _TRACE_KEYS)
    )


def _traced(items: Iterable[Row]) -> Iterator[Row]:
    """The requests in a trace of Triton, which mixes the events of all requests. A request that an
    ensemble or another model sent is left out: no user sent it. It names its parent in an event
    before the one with its start.
    """
    sent_by_models: set[str] = set()
    has_any = False
    for item in items:
        request = str(item.get("id"))
        if "parent_id" in item:
            sent_by_models.add(request)
        events = item.get("timestamps")
        for event in events if isinstance(events, list) else ():
            if not isinstance(event, dict) or event.get("name") != "REQUEST_START":
                continue
            if request in sent_by_models:
                sent_by_models.remove(request)
            else:
                has_any = True
                yield {TRACE_TIME: event.get("ns")}
    if not has_any:
        raise LogProblem(
            0,
            "is a trace of Triton without a REQUEST_START of any user's request",
            "trace with level TIMESTAMPS, and rate 1 for all requests",
        )


def _json_rows(numbered: Numbered) -> Iterator[tuple[int, Row]]:
    for number, line in numbered:
        if not line.strip():
            continue
        try:
            row = parse_json(line, most_bytes=_MOST_LINE)
        except ValueError as error:
            raise _not_json(number, error, _JSON_LINES) from None
        if not isinstance(row, dict):
            raise LogProblem(number, "is not a JSON object", _JSON_LINES)
        yield number, row


def _is_probe(row: Row) -> bool:
    method, path = (next(filter(None, map(row.get, names)), "") for names in (_METHODS, _PATHS))
    return bool(_PROBE.match(f"{row.get(_REQUEST) or f'{method} {path}'} "))


def _not_json(number: int, error: ValueError, hint: str, place: str = "") -> LogProblem:
    if isinstance(error, TooDeep):
        return LogProblem(number, "has too many brackets within brackets", hint)
    if isinstance(error, TooLong):
        return LogProblem(number, str(error), hint)
    return LogProblem(number, f"is not JSON{place}", hint)


def _no_list() -> LogProblem:
    return LogProblem(0, "is JSON without a list of requests", _JSON_LINES)


def _csv_rows(
    header: Sequence[str], records: Iterable[tuple[int, Sequence[str]]]
) -> Iterator[tuple[int, Row]]:
    for number, cells in records:
        if len(cells) > len(header):
            raise foreign_header(header) or LogProblem(
                number,
                f"has {len(cells)} cells, and the header {len(header)}",
                "put cells with commas in quotes",
            )
        yield number, dict(zip_longest(header, cells, fillvalue=""))


def foreign_header(header: Sequence[str]) -> LogProblem | None:
    """Why this is no header of CSV with commas, if it seems to be none."""
    if header and header[0].startswith(("#", "sep=")):  # "sep=,": for Excel
        return LogProblem(0, "begins with a comment", "begin it with a line of column names")
    for separator, name in _OTHER_SEPARATORS.items():
        if any(separator in cell for cell in header):
            return LogProblem(0, f"separates its columns by {name}", "separate them by commas")
    return None


def _csv_cells(numbered: Numbered) -> Iterator[tuple[int, Sequence[str]]]:
    """The cells of each record, with the line where it begins: a quoted cell may have several
    lines. Blank lines are no records.
    """
    first_number, first_line = next(numbered)
    reader = csv.reader(chain([first_line], (line for _, line in numbered)), strict=True)
    while True:
        number = first_number + reader.line_num
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise LogProblem(number, f"is not CSV: {error}") from None
        if cells and not (len(cells) == 1 and cells[0].isspace()):
            yield number, [cell.strip() for cell in cells]


_NS_PER_S = 10**9


class LogUnit(Enum):
    """The unit of times that are numbers."""

    SECONDS = "s"
    MILLISECONDS = "ms"
    MICROSECONDS = "us"
    NANOSECONDS = "ns"


_S, _MS, _US, _NS = LogUnit
NS_PER = {_S: 10**9, _MS: 10**6, _US: 10**3, _NS: 1}
_WORDS = {unit: unit.name.lower() for unit in LogUnit}
# A time since 1970 is between these seconds: from 2008 to 2039. A clock that counts from elsewhere,
# such as the start of a machine, is rarely there.
_SINCE_1970 = (1_200_000_000, 2_200_000_000)

# Requests per second that people replay.
_LIKELY = (0.01, 100_000.0)

# The most requests per second that a name alone makes credible: the unit in the name of a column
# may be wrong, or that of another column.
_MOST_NAMED = 10_000.0

# Names of the column with the times, in lower case, the most likely one first. `request_time` is
# none of them: nginx writes there how long a request took.
_COLUMNS = (
    "timestamp", "@timestamp", "time", "ts", "datetime", "date", "arrival_time", "arrival",
    "arrived_at", "start_time", "time_iso8601", "time_local",
)  # fmt: skip
# nginx: seconds since 1970 with milliseconds, beside dates to the second. Elsewhere, `msec` may be
# a duration.
_FINEST = "msec"
# Columns of logs in which a row is no request: requests per second over time (numbers), and all
# metrics of a request (k6).
_RATES = frozenset(
    {"rate", "rps", "qps", "requests", "requests/s", "requests_per_second", "request_rate"}
)
_METRICS = frozenset({"metric_name", "metric_value"})
_UNIT_IN_NAME = re.compile(
    r"(?:[._\-\s(]|(?<=[a-z])(?=[A-Z]))"
    r"(?i:(?P<ns>ns|nanos(?:econds)?)|(?P<us>us|micros(?:econds)?)|(?P<ms>ms|millis(?:econds)?)"
    r"|(?P<s>s|secs?|seconds))\)?$"
)


@dataclass(frozen=True, slots=True)
class _Rule:
    """The unit of times, and the requests per second that they must mean if they were seconds:
    `least` or more, and less than `most`.
    """

    unit: LogUnit
    least: float = 0.0
    most: float = inf


@dataclass(frozen=True, slots=True)
class _Kind:
    """How the times of a kind of log are read: whole numbers, and numbers with fractions. None:
    they do not say enough.

    Rates: a log of at most 500 requests per second (milliseconds) has one in two seconds if it is
    taken for seconds, whether its numbers have fractions or not; a request in 20 seconds is too few
    to be replayed.
    """

    whole: _Rule | None
    fractions: _Rule | None


_SECONDS = _Kind(_Rule(_S, least=0.01), _Rule(_S, least=0.01))
_FINE_SECONDS = _Kind(_Rule(_S, least=0.5), _Rule(_S, least=0.1))
_WHOLE_MILLISECONDS = _Rule(_MS, least=0.05 / 1000, most=0.5)
_MILLISECONDS = _Kind(_WHOLE_MILLISECONDS, None)
_NANOSECONDS = _Kind(_Rule(_NS), None)
# Mooncake's traces and AIPerf's inputs are milliseconds, guidellm's traces are seconds; they have
# the same columns.
_TRACE = _Kind(_WHOLE_MILLISECONDS, _Rule(_S, least=0.5))
_UNKNOWN = _Kind(_Rule(_S, least=0.5), _Rule(_S, least=0.5))


@dataclass(frozen=True, slots=True)
class KnownLog:
    """A kind of log that has `all_of` these columns (in lower case), and `one_of` these."""

    name: str
    column: str
    all_of: frozenset[str]
    kind: _Kind
    one_of: frozenset[str] = frozenset()


def _known(name: str, column: str, others: str, kind: _Kind, one_of: str = "") -> KnownLog:
    all_of = frozenset([column, *filter(None, others.split(", "))])
    return KnownLog(name, column, all_of, kind, frozenset(filter(None, one_of.split(", "))))


# The first one that fits counts. docs/guides/traffic.md has the same table for users.
_KNOWN_LOGS = (
    _known("Bailian's traces", "timestamp", "input_length, output_length", _FINE_SECONDS,
           "chat_id, parent_chat_id, turn"),
    _known("AIPerf's inputs", "timestamp", "", _MILLISECONDS, "text_input, payload, messages"),
    _known("Mooncake's traces and AIPerf's inputs", "timestamp", "input_length", _TRACE),
    _known("BurstGPT's traces", "timestamp", "request tokens, response tokens", _SECONDS),
    _known("AIPerf's export", "metadata.request_start_ns", "", _NANOSECONDS),
    _known("Traefik's access logs", "startutc", "", _SECONDS, "requestpath, requestmethod"),
    _known("inference-perf's reports", "start_time", "end_time, request, response", _SECONDS),
    _known("guidellm's reports", REPORT_TIME, "", _SECONDS),
    _known("perf_analyzer's export", EXPORT_TIME, "", _NANOSECONDS),
    _known("Triton's traces", TRACE_TIME.lower(), "", _NANOSECONDS),
)  # fmt: skip


def known_log(row: Row) -> KnownLog | None:
    """The kind of log that has rows with these columns; None if it is not known."""
    names = {name.lower() for name in [*row, *columns_of(row)]}
    return next(
        (
            log
            for log in _KNOWN_LOGS
            if log.all_of <= names and (not log.one_of or log.one_of & names)
        ),
        None,
    )


def time_column(row: Row, known: KnownLog | None) -> str:
    """The column that holds times, with or without a unit in its name; "" if it is not known.
    Raises LogProblem if two columns have equal claims.
    """
    names = dict.fromkeys([*columns_of(row), *row])
    _check_requests(row)
    finest = number_of(row.get(_FINEST))
    is_fine = finest is not None and _sized_unit(finest, finest) is not None
    likely_names = [*((known.column,) if known else ()), *((_FINEST,) if is_fine else ())]
    for likely in (*likely_names, *_COLUMNS):
        for simplified in (str.lower, _without_unit):
            matches = [name for name in names if simplified(name) == likely]
            if len(matches) > 1:
                columns = " or ".join(map(repr, matches))
                raise LogProblem(0, f"may have its times in {columns}", f"give column: {columns}")
            if matches:
                return matches[0]
    return ""


def _check_requests(row: Row) -> None:
    """Raises LogProblem if the row is no request."""
    names = {name.lower(): name for name in row}
    for simplified in sorted(_RATES & names.keys()):
        if amount_of(row[names[simplified]]) is not None:
            raise LogProblem(
                0,
                f"has rates of requests ({names[simplified]!r}), not a row for each request",
                "write the rates as stages: [{rate: 40, for: 4s}, …], or give column for the times",
            )
    if names.keys() >= _METRICS:
        raise LogProblem(
            0,
            "has a row for each metric of a request",
            f"keep one metric, such as http_reqs, without the column {names['metric_name']}",
        )


def _without_unit(name: str) -> str:
    return _UNIT_IN_NAME.sub("", name).strip().lower()


@dataclass(frozen=True, slots=True)
class Extent:
    """The number of times, and the `least` and the `most` of them in billionths of their unit, of
    which these differ. `has_fractions` tells whether any is written with a fraction, also `.0`.
    """

    count: int
    least: int
    most: int
    has_fractions: bool


def unit_of(
    times: Extent, *, column: str, unit: str, known: KnownLog | None
) -> tuple[LogUnit, str]:
    """The unit of times, and in words how they are read. Raises LogProblem if it is not certain."""
    if known is not None and known.column != column.lower():
        known = None  # the user chose another column
    decided, reason = _decided(times, column, unit, known)
    return decided, f"{_WORDS[decided]}{reason}"


def _decided(times: Extent, column: str, unit: str, known: KnownLog | None) -> tuple[LogUnit, str]:
    """The unit, and why."""
    named, sized = _named_unit(column), _sized_unit(times.least, times.most)
    given = LogUnit(unit) if unit else None
    told = given or named
    # in a longer unit, times of this size would be after the year 30000
    is_impossible = bool(told and sized and NS_PER[told] > NS_PER[sized])
    if given and not is_impossible:
        return given, f", as unit: {unit} says"
    if told and sized and told is not sized:
        other = "" if is_impossible else f" or unit: {told.value}"
        raise LogProblem(
            0,
            f"has times in {column!r} whose size is that of {_WORDS[sized]} since 1970",
            f"say unit: {sized.value}{other}",
        )
    rate = (times.count - 1) * _NS_PER_S / (times.most - times.least)
    if named and rate * _NS_PER_S / NS_PER[named] > _MOST_NAMED:
        raise _unclear(rate, f"has times in {column!r} that are hardly {_WORDS[named]}")
    if named:
        return named, ", as the name of the column says"
    if sized:
        return sized, " since 1970"
    kind = _UNKNOWN if known is None else known.kind
    rule = kind.fractions if times.has_fractions else kind.whole
    if rule is None or not rule.least <= rate < rule.most:
        raise _unclear(rate, "does not say the unit of its times")
    if known is not None and kind.whole is not None and rule.unit is kind.whole.unit:
        return rule.unit, f", as in {known.name}"
    if times.has_fractions:
        return rule.unit, ", since they have fractions"
    return rule.unit, f": as milliseconds, there would be {number_text(rate * 1000)} requests/s"


def _named_unit(column: str) -> LogUnit | None:
    match = _UNIT_IN_NAME.search(column)
    return LogUnit(match.lastgroup) if match else None


def _sized_unit(least: int, most: int) -> LogUnit | None:
    first, last = (limit * _NS_PER_S**2 for limit in _SINCE_1970)
    return next(
        (unit for unit, ns in NS_PER.items() if first <= least * ns and most * ns < last), None
    )


def _unclear(rate: float, why: str) -> LogProblem:
    """The problem of times that would mean this rate if they were seconds."""
    rates = {unit: rate * _NS_PER_S / ns for unit, ns in NS_PER.items()}
    least, most = _LIKELY
    likely = {unit: each for unit, each in rates.items() if least <= each <= most} or rates
    texts = (f"{number_text(each)} requests/s in {_WORDS[unit]}" for unit, each in likely.items())
    return LogProblem(
        0,
        f"{why}: there would be {' or '.join(texts)}",
        f"say {' or '.join(f'unit: {unit.value}' for unit in likely)}",
    )


# More than nanoseconds since 1970, and less than 64 bits hold.
_MOST_AMOUNT = 9 * 10**18
# The characters of a number of nanoseconds with all its decimals.
_LONGEST_NUMBER = 100


def amount_of(value: Any) -> Decimal | None:
    """A number, exactly as it is written; None for anything else."""
    if isinstance(value, bool) or (isinstance(value, str) and len(value) > _LONGEST_NUMBER):
        return None
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and 0 <= amount < _MOST_AMOUNT else None


def number_of(value: Any) -> int | None:
    """A time that is a number, in billionths of its unit; None for anything else."""
    if type(value) is int:
        return value * _NS_PER_S if 0 <= value < _MOST_AMOUNT else None
    amount = amount_of(value)
    return None if amount is None else round(amount * _NS_PER_S)


def has_fraction(value: Any) -> bool:
    """Whether a number is written with a fraction, also `.0`: tools that count milliseconds write
    whole numbers.
    """
    return isinstance(value, float) or (
        isinstance(value, str) and ("." in value or "e-" in value.lower())
    )


# Databases write a zone as +00 (PostgreSQL) or UTC (BigQuery).
_ISO = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:[.,](\d+))?\s*"
    r"(?:Z|UTC|GMT|([+-]\d\d):?(\d\d)?)?",
    re.IGNORECASE | re.ASCII,
)
# As web servers write it: 10/Oct/2000:13:55:36 -0700
_ACCESS = re.compile(r"(\d\d)/(\w{3})/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d{4})")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def date_of(value: Any) -> int | None:
    """A date with a time, in nanoseconds since 1970; without a zone, in UTC. None for anything
    else.
    """
    text = next(_iso_texts(value), "")
    match = _ISO.fullmatch(text)
    if match is None:
        return None
    day, clock, decimals, hours, minutes = match.groups()
    try:
        time = datetime.fromisoformat(f"{day}T{clock}{hours or '+00'}:{minutes or '00'}")
    except ValueError:
        return None
    since = time - datetime(1970, 1, 1, tzinfo=timezone.utc)
    fraction = int((decimals or "0").ljust(9, "0")[:9])
    return (since.days * 86_400 + since.seconds) * _NS_PER_S + fraction


def _iso_texts(value: Any) -> Iterator[str]:
    """The text of a date; a date of a web server as ISO 8601."""
    if isinstance(value, str):
        text = value.strip()
        match = _ACCESS.fullmatch(text)
        if match and match[2] in _MONTHS:
            month = _MONTHS.index(match[2]) + 1
            yield f"{match[3]}-{month:02}-{match[1]}T{match[4]}{match[5]}"
        yield text
