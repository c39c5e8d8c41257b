# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The times in a log of requests: which column has them, and their unit.

A wrong unit replays a log a thousand times too fast or too slow. So a unit is taken from evidence,
in this order: what the user says, the name of the column, the size of times since 1970, the set of
columns of a known log, fractions, and the rate that would result. Without enough of it, the log is
refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from decimal import Decimal, InvalidOperation
from enum import Enum
from math import inf
from typing import Any

from model_analyzer.domain.words import number_text
from model_analyzer.reading.log_rows import (
    EXPORT_TIME,
    REPORT_TIME,
    TRACE_TIME,
    LogProblem,
    Row,
    columns_of,
)

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
