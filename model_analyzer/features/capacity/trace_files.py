# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Reads a trace of a load: CSV with a time and a rate in each row."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path

from model_analyzer.config.sources import read_text
from model_analyzer.domain.ranges import MOST_DEMAND
from model_analyzer.domain.words import counted
from model_analyzer.errors import ConfigError, Problem
from model_analyzer.features.capacity.facts.traces import LoadTrace

_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?")
_MOST_ROWS, _MOST_DAYS = 100_000, 100


def read_trace(path: Path) -> LoadTrace:
    """The trace in a file. Raises ConfigError with the line of the first mistake."""
    return parse_trace(read_text(path), str(path))


def parse_trace(text: str, name: str) -> LoadTrace:
    """The trace in a text; `name` is the file in messages."""
    rows = [*_rows(text, name)]
    if len(rows) < 2:
        raise _wrong(name, 1, "a trace needs at least two rows of time and rate")
    first = rows[0][1]
    if rows[-1][1] - first > _MOST_DAYS * 86_400:
        raise _wrong(name, len(rows), f"a trace of more than {_MOST_DAYS} days")
    if not any(rate for *_, rate in rows):
        raise _wrong(name, 1, "the trace has no requests")
    return LoadTrace(
        times_s=tuple(time - first for _, time, _ in rows),
        rates=tuple(rate for *_, rate in rows),
        labels=tuple(label for label, *_ in rows),
    )


def _rows(text: str, name: str) -> Iterator[tuple[str, float, float]]:
    """Label, time in seconds and rate of each row; a first row of names is skipped."""
    last: float | None = None
    for line, cells in _lines(text, name):
        if len(cells) != 2:
            number = counted(len(cells), "cell")
            raise _wrong(name, line, f"expected a time and a rate, found {number}")
        time, rate = _seconds(cells[0]), _number(cells[1])
        if time is None:
            raise _wrong(name, line, f"{cells[0]!r} is not a time", "write 14:30, or seconds")
        if rate is None or not 0 <= rate <= MOST_DEMAND:
            raise _wrong(name, line, f"{cells[1]!r} is not a rate of requests per second")
        if last is not None and time <= last:
            raise _wrong(name, line, f"the time {cells[0]} is not after the last one")
        last = time
        yield cells[0], time, rate


def _lines(text: str, name: str) -> Iterator[tuple[int, Sequence[str]]]:
    """The cells of each row with its line, without empty rows and the names of the columns."""
    reader = csv.reader(text.splitlines())
    is_first = True
    try:
        for row in reader:
            if reader.line_num > _MOST_ROWS:
                raise _wrong(name, reader.line_num, f"more than {_MOST_ROWS} rows")
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            if not is_first or _number(cells[-1]) is not None:
                yield reader.line_num, cells
            is_first = False
    except csv.Error as error:
        raise _wrong(name, reader.line_num, f"is not valid CSV: {error}") from error


def _seconds(text: str) -> float | None:
    """A time of day, a date with a time (ISO 8601), or a number of seconds."""
    clock = _CLOCK.fullmatch(text)
    if clock is not None:
        hours, minutes, seconds = (int(part or 0) for part in clock.groups())
        return 3600.0 * hours + 60 * minutes + seconds
    number = _number(text)
    if number is not None:
        return number
    try:
        moment = datetime.fromisoformat(text.removesuffix("Z"))
    except ValueError:
        return None
    # without a zone, all times are in the same one
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _wrong(name: str, line: int, message: str, hint: str = "") -> ConfigError:
    return ConfigError(Problem(where=f"{name}:{line}:1", message=message, hint=hint))
