# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The rows of a log of requests, in whatever form it is written: a JSON object in each line, a JSON
document with a list of requests, CSV with a header, or the access log of nginx or Envoy.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any

from model_analyzer.domain.foreign_json import TooDeep, parse_json
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
