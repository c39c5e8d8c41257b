# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The requests of a log: CSV with a header, or a JSON object in each line.

Times are numbers (seconds, or smaller units, since 1970 or since the begin of the log) or ISO 8601
texts. So the traces of Azure's language models (`TIMESTAMP`) and of Mooncake (`timestamp`, in
milliseconds) can be read as they are.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from decimal import Decimal, InvalidOperation
from enum import Enum
from itertools import chain
from operator import itemgetter
from typing import Any

# Names of the column with the times, in lower case, the most likely one first.
_COLUMNS = (
    "timestamp", "@timestamp", "time", "ts", "datetime", "date", "arrival_time", "arrival",
    "arrived_at", "start_time", "request_time",
)  # fmt: skip
# Only Mooncake's traces have this column: their times are in milliseconds.
_MOONCAKE = "hash_ids"


class LogUnit(Enum):
    """The unit of times that are numbers."""

    SECONDS = "s"
    MILLISECONDS = "ms"
    MICROSECONDS = "us"
    NANOSECONDS = "ns"


_NS_PER = {unit.value: 1000**power for unit, power in zip(LogUnit, (3, 2, 1, 0), strict=True)}
# A time since 1970 is above these numbers of its unit from 1973 on.
_SINCE_1970 = (("ns", 10**17), ("us", 10**14), ("ms", 10**11))

_OTHER_SEPARATORS = {";": "semicolons", "\t": "tabs"}
# Not the header of a CSV file whose first column is named "[time]".
_JSON_ARRAY = re.compile(r'\s*\[\s*(?:[\[{"\d-]|$)')
_JSON_LINES = "write one JSON object per line"

_ISO = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?)(?:[.,](\d+))?\s*(Z|[+-]\d\d:?\d\d)?")
MOST_REQUESTS = 5_000_000
_MOST_DAYS_NS = 7 * 86_400 * 10**9


@dataclass(frozen=True, slots=True)
class LogProblem(Exception):
    """What is wrong with a log, at a line (from 1; 0: the whole file), and what to do."""

    line: int
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class RequestLog:
    """The times of requests in nanoseconds, ascending; the first is 0. `inputs` says which entry of
    the input data each of them has, from 0 on; it is empty if the log does not say so.
    """

    times: Sequence[int]
    inputs: Sequence[int] = ()


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
    LogProblem for lines that cannot be read, and for logs with fewer than two requests.
    """
    numbered = enumerate(lines, start=1)
    try:
        first = next((number, line) for number, line in numbered if line.strip())
    except StopIteration:
        raise LogProblem(0, "is empty") from None
    if _JSON_ARRAY.match(first[1]):
        raise LogProblem(0, "is a JSON array", _JSON_LINES)
    requests: list[tuple[int, int]] = []
    is_json = first[1].lstrip().startswith("{")
    rows = (_json_rows if is_json else _csv_rows)(chain([first], numbered))
    try:
        first_number, first_row = next(rows)
    except StopIteration:
        raise LogProblem(0, "has no request below its header") from None
    name = column or _known_column(first_row)
    for needed in (name, input_column or name):
        if not needed or needed not in first_row:
            raise (None if is_json else _unusual_csv(first_row)) or _no_column(first_row, needed)
    read = _reader(first_number, first_row, name, unit)
    for number, row in chain([(first_number, first_row)], rows):
        time = read(number, _cell(number, row, name))
        entry = _entry(number, row, input_column, entries) if input_column else 0
        requests.append((time, entry))
        if len(requests) > MOST_REQUESTS:
            raise LogProblem(number, f"has more than {MOST_REQUESTS:,} requests", "use a part")
    requests.sort(key=itemgetter(0))
    first_ns, last_ns = requests[0][0], requests[-1][0]
    if last_ns == first_ns:
        raise LogProblem(0, "needs requests at two different times at least")
    if last_ns - first_ns > _MOST_DAYS_NS:
        hint = "give unit (ms, us or ns), or use a part of it"
        raise LogProblem(0, "lasts longer than a week", hint)
    times = [time - first_ns for time, _ in requests]
    return RequestLog(times, [entry for _, entry in requests] if input_column else ())


_Row = Mapping[str, Any]


def _json_rows(numbered: Iterator[tuple[int, str]]) -> Iterator[tuple[int, _Row]]:
    for number, line in numbered:
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            raise LogProblem(number, "is not JSON", _JSON_LINES) from None
        if not isinstance(row, dict):
            raise LogProblem(number, "is not a JSON object", _JSON_LINES)
        yield number, row


def _csv_rows(numbered: Iterator[tuple[int, str]]) -> Iterator[tuple[int, _Row]]:
    header: Sequence[str] = ()
    for number, cells in _csv_cells(numbered):
        if header:
            yield number, dict(zip(header, cells, strict=False))
        else:
            header = [cell.lstrip("\ufeff") for cell in cells]


def _csv_cells(numbered: Iterator[tuple[int, str]]) -> Iterator[tuple[int, Sequence[str]]]:
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


def _cell(number: int, row: _Row, column: str) -> Any:
    if row.get(column) is None:
        raise LogProblem(number, f"has no {column!r}")
    return row[column]


def _entry(number: int, row: _Row, column: str, entries: int) -> int:
    """The number of an entry of the input data."""
    value = _cell(number, row, column)
    amount = _amount(value)
    if amount is None or amount != int(amount) or amount >= entries:
        raise LogProblem(
            number,
            f"has {str(value)[:40]!r} as {column!r} in place of the number of an input: a whole"
            f" number from 0 to {entries - 1}",
        )
    return int(amount)


def _known_column(row: _Row) -> str:
    """The column that is known to hold times; "" if there is none."""
    by_name = {name.lower(): name for name in row}
    return next((by_name[name] for name in _COLUMNS if name in by_name), "")


def _no_column(row: _Row, name: str) -> LogProblem:
    if name:
        return LogProblem(0, f"has no column {name!r}", f"it has {', '.join(row)}"[:300])
    return LogProblem(
        0, "has no column that is known to hold times", f"give column: {' or '.join(row)}"[:300]
    )


def _unusual_csv(row: _Row) -> LogProblem | None:
    """Why the names of the columns are none, if they are none: other separators, or no header."""
    for separator, name in _OTHER_SEPARATORS.items():
        if any(separator in cell for cell in row):
            return LogProblem(0, f"separates its columns by {name}", "separate them by commas")
    is_data = all(row) and any(_amount(cell) is not None or _iso(cell) is not None for cell in row)
    if is_data:
        return LogProblem(0, "has no header", "begin it with a line of column names, as in time,id")
    return None


def _reader(number: int, row: _Row, column: str, unit: str) -> Callable[[int, Any], int]:
    """Reads times as the first one is written."""
    amount = _amount(row[column])
    if amount is None:
        if _iso(row[column]) is None:
            raise _unreadable(number, row[column])
        if unit:
            raise LogProblem(number, f"has the date {row[column]!r}", "remove unit")
        return _dated
    if not unit:
        usual = "ms" if _MOONCAKE in row else "s"
        unit = next((name for name, least in _SINCE_1970 if amount >= least), usual)
    return lambda line, value: _counted(line, value, _NS_PER[unit])


def _dated(number: int, value: Any) -> int:
    time = _iso(value)
    if time is None:
        raise _unreadable(number, value)
    return time


def _counted(number: int, value: Any, ns: int) -> int:
    amount = _amount(value)
    if amount is None:
        raise _unreadable(number, value)
    return round(amount * ns)


def _unreadable(number: int, value: Any) -> LogProblem:
    return LogProblem(number, f"has {str(value)[:40]!r} in place of a time")


def _amount(value: Any) -> Decimal | None:
    """A number, exactly as it is written; None for anything else."""
    if isinstance(value, bool):
        return None
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and 0 <= amount < Decimal(10) ** 19 else None


def _iso(value: Any) -> int | None:
    """A date with a time, in nanoseconds since 1970; without a zone, in UTC."""
    match = _ISO.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        return None
    zone = match[3] or "Z"
    zone = "+00:00" if zone == "Z" else zone if ":" in zone else f"{zone[:3]}:{zone[3:]}"
    try:
        time = datetime.fromisoformat(f"{match[1].replace(' ', 'T')}{zone}")
    except ValueError:
        return None
    since = time - datetime(1970, 1, 1, tzinfo=timezone.utc)
    fraction = int((match[2] or "0").ljust(9, "0")[:9])
    return (since.days * 86_400 + since.seconds) * 10**9 + fraction
