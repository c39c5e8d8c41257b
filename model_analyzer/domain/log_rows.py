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
from itertools import chain
from typing import Any

from model_analyzer.domain.foreign_json import TooDeep, parse_json

Row = Mapping[str, Any]
Numbered = Iterator[tuple[int, str]]

# The columns of rows that are made here.
ACCESS_TIME = "time"
EXPORT_TIME = "requests.timestamp"
TRACE_TIME = "timestamps.REQUEST_START"

# nginx and Apache: ADDRESS - USER [10/Oct/2000:13:55:36 -0700] "
_SERVER_LINE = re.compile(r'\S+ \S+ .*?\[(?P<time>\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\] "')
# Envoy's default format: [2016-04-15T20:17:00.310Z] "
_PROXY_LINE = re.compile(r'\[(?P<time>\d{4}-\d\d-\d\dT[\d:.]+Z)\] "')
# Not the header of a CSV file whose first column is named "[time]".
_JSON_ARRAY = re.compile(r'\s*\[\s*(?:[\[{"\d-]|$)')
_JSON_LINES = "write one JSON object per line"


@dataclass(frozen=True, slots=True)
class LogProblem(Exception):
    """What is wrong with a log, at a line (from 1; 0: the whole file), and what to do."""

    line: int
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class LogRows:
    """Rows of a log, each with the line where it begins; 0 in a document. `is_csv` tells whether
    names and cells are those of CSV.
    """

    rows: Iterator[tuple[int, Row]]
    is_csv: bool = False


def rows_of(lines: Iterable[str]) -> LogRows:
    """The rows of a log. Raises LogProblem, also while the rows are read."""
    numbered = enumerate(lines, start=1)
    try:
        first = next((number, line) for number, line in numbered if line.strip())
    except StopIteration:
        raise LogProblem(0, "is empty") from None
    rest = chain([first], numbered)
    for pattern in (_SERVER_LINE, _PROXY_LINE):
        if pattern.match(first[1]):
            return LogRows(_access_rows(pattern, rest))
    if _JSON_ARRAY.match(first[1]) or _begins_document(first[1]):
        return LogRows(_document_rows("".join(line for _, line in rest)))
    if first[1].lstrip().startswith("{"):
        return LogRows(_json_rows(rest))
    return LogRows(_csv_rows(rest), is_csv=True)


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
        yield number, {ACCESS_TIME: match["time"]}


def _begins_document(line: str) -> bool:
    """Whether a JSON object begins here that goes on in further lines, or holds experiments."""
    text = line.strip()
    return text == "{" or re.match(r'\{\s*"experiments"', text) is not None


def _document_rows(text: str) -> Iterator[tuple[int, Row]]:
    content = _parsed(0, text, "write one JSON object per line, or one array of objects")
    if isinstance(content, dict):
        content = list(_exported(content))
    elif content and _is_traced(content[0]):
        content = list(_traced(content))
    if not content or not all(isinstance(row, dict) for row in content):
        raise LogProblem(0, "is JSON without a list of requests", _JSON_LINES)
    for row in content:
        yield 0, row


def _exported(content: Mapping[str, Any]) -> Iterator[Row]:
    """The requests in an export of perf_analyzer, with an experiment for each load; or the object
    itself.
    """
    experiments = content.get("experiments")
    if not isinstance(experiments, list):
        yield content
        return
    if len(experiments) != 1:
        raise LogProblem(
            0, f"has {len(experiments)} experiments of perf_analyzer", "use a file with one load"
        )
    requests = experiments[0].get("requests") if isinstance(experiments[0], dict) else None
    for request in requests if isinstance(requests, list) else ():
        yield {EXPORT_TIME: request.get("timestamp") if isinstance(request, dict) else None}


def _is_traced(item: Any) -> bool:
    """Whether it is an event in a trace of Triton."""
    return isinstance(item, dict) and "id" in item and isinstance(item.get("timestamps"), list)


def _traced(items: Iterable[Any]) -> Iterator[Row]:
    """The requests in a trace of Triton: events of requests, mixed. Requests that an ensemble or
    another model sends have a parent, which is told before they start; no user sent them.
    """
    sent_by_models: set[str] = set()
    for item in items:
        if not isinstance(item, dict):
            raise LogProblem(0, "is no trace of Triton: it has events that are not objects")
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
                yield {TRACE_TIME: event.get("ns")}


def _json_rows(numbered: Numbered) -> Iterator[tuple[int, Row]]:
    for number, line in numbered:
        if not line.strip():
            continue
        row = _parsed(number, line, _JSON_LINES)
        if not isinstance(row, dict):
            raise LogProblem(number, "is not a JSON object", _JSON_LINES)
        yield number, row


def _parsed(number: int, text: str, hint: str) -> Any:
    try:
        return parse_json(text, most_bytes=len(text))
    except TooDeep:
        raise LogProblem(number, "has too many brackets within brackets", hint) from None
    except ValueError:
        raise LogProblem(number, "is not JSON", hint) from None


def _csv_rows(numbered: Numbered) -> Iterator[tuple[int, Row]]:
    header: Sequence[str] = ()
    for number, cells in _csv_cells(numbered):
        if header:
            yield number, dict(zip(header, cells, strict=False))
        else:
            header = [cell.lstrip("\ufeff") for cell in cells]


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
