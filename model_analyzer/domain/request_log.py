# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The requests of a log: when each was due, and which input it has.

`domain.log_rows` reads the rows in all forms, `domain.log_times` their times and units.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

from model_analyzer.domain.log_rows import LogProblem, Row, cell_of, columns_of, rows_of
from model_analyzer.domain.log_times import (
    amount_of,
    date_of,
    known_log,
    number_of,
    time_column,
    times_in_ns,
)
from model_analyzer.domain.numbers import number_text
from model_analyzer.domain.words import counted

# AIPerf's export has the requests of its warm-up, too.
_PHASE, _WARM_UP = "metadata.benchmark_phase", "warmup"

_OTHER_SEPARATORS = {";": "semicolons", "\t": "tabs"}
MOST_REQUESTS = 5_000_000
_NS_PER_S = 10**9
_MOST_DAYS_NS = 7 * 86_400 * _NS_PER_S


@dataclass(frozen=True, slots=True)
class RequestLog:
    """The times of requests in nanoseconds, ascending; the first is 0. `inputs` says which entry of
    the input data each of them has, from 0 on; it is empty if the log does not say so. `reading`
    says how the times were read, and what was left out.
    """

    times: Sequence[int]
    inputs: Sequence[int] = ()
    reading: str = ""

    @property
    def identity(self) -> str:
        """A fingerprint (32 hex digits) of what is sent."""
        digest = hashlib.sha256(array("q", self.times).tobytes())
        digest.update(array("q", self.inputs).tobytes())
        return digest.hexdigest()[:32]

    def described(self, speed: float) -> str:
        """What a replay at this speed sends, and how the times were read. The rate is that from the
        first request to the last, as measured.
        """
        seconds = self.times[-1] / _NS_PER_S / speed
        rate = number_text((len(self.times) - 1) / seconds)
        most = _most_within(self.times, _NS_PER_S * speed)
        return (
            f"{counted(len(self.times), 'request')} in {number_text(seconds)} s"
            f" ({rate}/s, at most {most:,} in a second), times read as {self.reading}"
        )


def _most_within(times: Sequence[int], span_ns: float) -> int:
    """The most of the ascending times that are in one span."""
    most = first = 0
    for last, time in enumerate(times):
        while time - times[first] >= span_ns:
            first += 1
        most = max(most, last - first + 1)
    return most


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
        raise LogProblem(0, "has no request below its header")
    known = known_log(first[1])
    name = column or time_column(first[1], known)
    for needed in (name, input_column or name):
        if not needed or cell_of(first[1], needed) is None:
            problem = _unusual_csv(first[1]) if log.is_csv else None
            raise problem or _no_column(*first, needed)
    is_dated = _is_dated(first[0], cell_of(first[1], name), unit)
    read = date_of if is_dated else number_of
    times: list[int] = []
    inputs: list[int] = []
    warm_ups = 0
    for number, row in chain([first], log.rows):
        if cell_of(row, _PHASE) == _WARM_UP:
            warm_ups += 1
            continue
        times.append(_time(number, row, name, read))
        if input_column:
            inputs.append(_entry(number, row, input_column, entries))
        if len(times) > MOST_REQUESTS:
            raise LogProblem(number, f"has more than {MOST_REQUESTS:,} requests", "use a part")
    if len(set(times)) < 2:
        raise LogProblem(0, "needs requests at two different times at least")
    reading = "dates"
    if not is_dated:
        times, reading = times_in_ns(times, column=name, unit=unit, known=known)
    if max(times) - min(times) > _MOST_DAYS_NS:
        hint = "" if unit or is_dated else "give unit (ms, us or ns), or "
        raise LogProblem(0, "lasts longer than a week", f"{hint}use a part of it")
    return _replayable(times, inputs, f"{reading}{_remarks(times, warm_ups)}")


def _is_dated(number: int, value: Any, unit: str) -> bool:
    """Whether times are dates, as the first one."""
    if number_of(value) is not None:
        return False
    if date_of(value) is None:
        raise _unreadable(number, value)
    if unit:
        raise LogProblem(number, f"has the date {value!r}", "remove unit")
    return True


def _time(number: int, row: Row, column: str, read: Callable[[Any], int | None]) -> int:
    value = _cell(number, row, column)
    time = read(value)
    if time is None:
        raise _unreadable(number, value)
    return time


def _remarks(times: Sequence[int], warm_ups: int) -> str:
    """What a user should know about the times, besides their unit."""
    remark = ""
    if all(time % _NS_PER_S == 0 for time in times) and len(set(times)) < len(times):
        remark = "; they are whole seconds, so the requests of a second are sent at once"
    left_out = f"; {counted(warm_ups, 'warm-up request')} left out" if warm_ups else ""
    return remark + left_out


def _replayable(times: Sequence[int], inputs: Sequence[int], reading: str) -> RequestLog:
    """The requests in the order of their times, from 0 on."""
    if any(earlier > later for earlier, later in pairwise(times)):
        order = sorted(range(len(times)), key=times.__getitem__)
        times = [times[place] for place in order]
        inputs = [inputs[place] for place in order] if inputs else inputs
    return RequestLog([time - times[0] for time in times], inputs or (), reading)


def _cell(number: int, row: Row, column: str) -> Any:
    value = cell_of(row, column)
    if value is None:
        raise LogProblem(number, f"has no {column!r}")
    return value


def _entry(number: int, row: Row, column: str, entries: int) -> int:
    """The number of an entry of the input data."""
    value = _cell(number, row, column)
    amount = amount_of(value)
    if amount is None or amount != int(amount) or amount >= entries:
        raise LogProblem(
            number,
            f"has {str(value)[:40]!r} as {column!r} in place of the number of an input: a whole"
            f" number from 0 to {entries - 1}",
        )
    return int(amount)


def _unreadable(number: int, value: Any) -> LogProblem:
    return LogProblem(number, f"has {str(value)[:40]!r} in place of a time")


def _no_column(number: int, row: Row, name: str) -> LogProblem:
    if name and name in row:
        return LogProblem(number, f"has no {name!r}")
    columns = columns_of(row)
    if name:
        return LogProblem(0, f"has no column {name!r}", f"it has {', '.join(columns)}"[:300])
    return LogProblem(
        0,
        "has no column that is known to hold times",
        f"give column: {' or '.join(columns)}"[:300],
    )


def _unusual_csv(row: Row) -> LogProblem | None:
    """Why the names of the columns are none, if they are none: other separators, or no header."""
    for separator, name in _OTHER_SEPARATORS.items():
        if any(separator in cell for cell in row):
            return LogProblem(0, f"separates its columns by {name}", "separate them by commas")
    is_data = all(row) and any(
        amount_of(cell) is not None or date_of(cell) is not None for cell in row
    )
    if is_data:
        return LogProblem(0, "has no header", "begin it with a line of column names, as in time,id")
    return None
