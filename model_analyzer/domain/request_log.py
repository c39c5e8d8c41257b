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
    numbered = ((number, line) for number, line in enumerate(lines, start=1) if line.strip())
    try:
        first = next(numbered)
    except StopIteration:
        raise LogProblem(0, "is empty") from None
    requests: list[tuple[int, int]] = []
    is_json = first[1].lstrip().startswith("{")
    rows = _json_rows(first, numbered) if is_json else _csv_rows(first, numbered)
    try:
        first_number, first_row = next(rows)
    except StopIteration:
        raise LogProblem(0, "has no request below its header") from None
    name = _column(first_row, column)
    if input_column and input_column not in first_row:
        raise _no_column(first_row, input_column)
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
        raise LogProblem(0, "lasts longer than a week", "give unit, or use a part of it")
    times = [time - first_ns for time, _ in requests]
    return RequestLog(times, [entry for _, entry in requests] if input_column else ())


_Row = Mapping[str, Any]


def _json_rows(
    first: tuple[int, str], others: Iterator[tuple[int, str]]
) -> Iterator[tuple[int, _Row]]:
    for number, line in chain([first], others):
        try:
            row = json.loads(line)
        except ValueError:
            raise LogProblem(number, "is not JSON") from None
        if not isinstance(row, dict):
            raise LogProblem(number, "is not a JSON object")
        yield number, row


def _csv_rows(
    first: tuple[int, str], others: Iterator[tuple[int, str]]
) -> Iterator[tuple[int, _Row]]:
    header = [cell.strip().lstrip("\ufeff") for cell in next(csv.reader([first[1]]))]
    for number, line in others:
        try:
            cells = next(csv.reader([line], strict=True))
        except csv.Error as error:
            raise LogProblem(number, f"is not CSV: {error}") from None
        yield number, dict(zip(header, (cell.strip() for cell in cells), strict=False))


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


def _column(row: _Row, given: str) -> str:
    if given:
        if given not in row:
            raise _no_column(row, given)
        return given
    by_name = {name.lower(): name for name in row}
    for name in _COLUMNS:
        if name in by_name:
            return by_name[name]
    raise LogProblem(
        0, "has no column that is known to hold times", f"give column: {' or '.join(row)}"[:300]
    )


def _no_column(row: _Row, name: str) -> LogProblem:
    return LogProblem(0, f"has no column {name!r}", f"it has {', '.join(row)}"[:300])


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
