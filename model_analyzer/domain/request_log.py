# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The times of requests in a log: CSV with a header, or a JSON object in each line.

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


def request_times(lines: Iterable[str], *, column: str = "", unit: str = "") -> Sequence[int]:
    """The times of all requests in nanoseconds, ascending; the first is 0.

    `column` and `unit` say where the times are and what they count; "" recognizes them. Raises
    LogProblem for lines that cannot be read, and for logs with fewer than two requests.
    """
    numbered = ((number, line) for number, line in enumerate(lines, start=1) if line.strip())
    try:
        first = next(numbered)
    except StopIteration:
        raise LogProblem(0, "is empty") from None
    times: list[int] = []
    is_json = first[1].lstrip().startswith("{")
    rows = _json_rows(first, numbered) if is_json else _csv_rows(first, numbered)
    try:
        number, row = next(rows)
    except StopIteration:
        raise LogProblem(0, "has no request below its header") from None
    name = _column(row, column)
    read = _reader(number, row, name, unit)
    times.append(read(number, row[name]))
    for number, row in rows:
        if name not in row or row[name] is None:
            raise LogProblem(number, f"has no {name!r}")
        times.append(read(number, row[name]))
        if len(times) > MOST_REQUESTS:
            raise LogProblem(number, f"has more than {MOST_REQUESTS:,} requests", "use a part")
    times.sort()
    if len(times) < 2 or times[-1] == times[0]:
        raise LogProblem(0, "needs requests at two different times at least")
    if times[-1] - times[0] > _MOST_DAYS_NS:
        raise LogProblem(0, "lasts longer than a week", "give unit, or use a part of it")
    return [time - times[0] for time in times]


_Row = Mapping[str, Any]


def _json_rows(
    first: tuple[int, str], others: Iterator[tuple[int, str]]
) -> Iterator[tuple[int, _Row]]:
    for number, line in _chained(first, others):
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


def _chained(
    first: tuple[int, str], others: Iterator[tuple[int, str]]
) -> Iterator[tuple[int, str]]:
    yield first
    yield from others


def _column(row: _Row, given: str) -> str:
    if given:
        if given not in row:
            raise LogProblem(0, f"has no column {given!r}", f"it has {', '.join(row)}"[:300])
        return given
    by_name = {name.lower(): name for name in row}
    for name in _COLUMNS:
        if name in by_name:
            return by_name[name]
    raise LogProblem(
        0, "has no column that is known to hold times", f"give column: {' or '.join(row)}"[:300]
    )


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
