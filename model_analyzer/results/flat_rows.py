# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""All outcomes as flat rows, for use in other programs; and filters of them."""

from __future__ import annotations

import marshal
import operator
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from difflib import get_close_matches
from itertools import chain
from math import isnan
from typing import Any

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.metrics import METRICS, canonical, is_best_high
from model_analyzer.domain.models import PARAMETER, ModelVariant, differing_parameters
from model_analyzer.domain.profiles import TrialRecord, measured_trials
from model_analyzer.domain.trials import LoadKind, Workload
from model_analyzer.noise.pooling import pooled_trials
from model_analyzer.results.columns import Cell

# The values of a model in a trial, by column. Unknown values are left out.
Row = dict[str, Cell]

_FIRST = ("trial", "first_trial", "repetition", "model", "variant", "composing")
_LOAD = ("load", "concurrency", "request_rate", "batch_size")
_PLACE = ("hardware", "host", "node")
_LAST = (
    "server_batch_size", "measurements", "requests", "doubts", "failure", "message", *_PLACE,
    "started", "duration_s",
)  # fmt: skip

# The columns to filter and sort by, besides metrics.
TEXTS = ("model", "variant", "hardware", "host")
NUMBERS = ("concurrency", "request_rate", "batch_size")

_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "!=": operator.ne,
    "==": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
}
_FORM = re.compile(rf"\s*([\w/]+)\s*({'|'.join(_OPERATORS)})\s*(.*?)\s*", re.DOTALL)


class Rows(Collection[Row]):
    """One row for each model of each trial, in the order of the records (key and record).

    Rows are packed until they are used, since many take a lot of memory, and records are slow to
    make. `config.…` columns are the parameters in which the variants of a model differ: they are
    known after the last record. With `repetitions`, rows of single measurements also say which
    ones belong together: they have the key of the first measurement of their trial
    (`first_trial`), and the number of the `repetition`, which is 0 for the first.
    """

    def __init__(
        self, records: Iterable[tuple[str, TrialRecord]], *, repetitions: bool = False
    ) -> None:
        self._packed: list[bytes] = []
        layouts: dict[tuple[str, ...], int] = {}
        variants: dict[str, dict[str, ModelVariant]] = {}
        for key, record in records:
            for index, work in enumerate(record.trial.workloads):
                variant = work.variant
                variants.setdefault(variant.model, {})[variant.identity] = variant
                row = _row(key, record, index, work)
                if repetitions:
                    repetition = record.trial.repetition
                    row["first_trial"] = record.trial.first.key if repetition else key
                    row["repetition"] = repetition
                layout = layouts.setdefault(tuple(row), len(layouts))
                self._packed.append(marshal.dumps((layout, variant.identity, *row.values())))
        self._layouts = [*layouts]
        self._parameters = {
            identity: differing
            for by_identity in variants.values()
            for identity, differing in differing_parameters(by_identity.values()).items()
        }
        columns = chain.from_iterable((*self._layouts, *self._parameters.values()))
        self.columns = _in_display_order(dict.fromkeys(columns))

    def __len__(self) -> int:
        return len(self._packed)

    def __contains__(self, row: object) -> bool:
        return any(row == other for other in self)

    def __iter__(self) -> Iterator[Row]:
        for packed in self._packed:
            layout, identity, *cells = marshal.loads(packed)
            row: Row = dict(zip(self._layouts[layout], cells, strict=True))
            row.update(self._parameters[identity])
            yield row


def rows_of(records: Iterable[tuple[str, TrialRecord]]) -> Sequence[Row]:
    """The `Rows` of these records, as a list."""
    return [*Rows(records)]


def pooled_rows(records: Iterable[tuple[str, TrialRecord]]) -> Sequence[Row]:
    """The rows of trials, each with its measurements pooled as in rankings, and those of failures.

    The column `measurements` is added: the number of pooled ones. Place, host and node are those of
    the first of them.
    """
    pairs = [*records]
    measured = measured_trials(record for _, record in pairs)
    pooled = {id(item.trial): item for item in pooled_trials(measured)}
    counts: list[int] = []
    shown: list[tuple[str, TrialRecord]] = []
    for key, record in pairs:
        if isinstance(record.outcome, Measurement):
            item = pooled.get(id(record.trial))
            if item is None:
                continue  # it is pooled with an earlier one
            record = record._replace(outcome=item.measurement)
            counts += [len(item.runs)] * len(record.trial.workloads)
        else:
            counts += [0] * len(record.trial.workloads)
        shown.append((key, record))
    return [row | {"measurements": count} for row, count in zip(Rows(shown), counts, strict=True)]


def columns_of(rows: Iterable[Row], first: Sequence[str] = ()) -> Sequence[str]:
    """The columns that have data, in display order; the metrics in `first` before the others."""
    if isinstance(rows, Rows):
        return _in_display_order(rows.columns, first)
    present: dict[str, None] = {}
    for row in rows:
        present.update(dict.fromkeys(row))
    return _in_display_order(present, first)


def _in_display_order(present: Collection[str], first: Sequence[str] = ()) -> Sequence[str]:
    parameters = [name for name in present if name.startswith(PARAMETER)]
    standard = dict.fromkeys((*_FIRST, *parameters, *_LOAD, *first, *METRICS))
    others = [name for name in present if name not in standard and name not in _LAST]
    return [name for name in (*standard, *others, *_LAST) if name in present]


def sort_rows(rows: Iterable[Row], column: str, *, descending: bool) -> Sequence[Row]:
    """The rows sorted by a column; rows without it come last."""
    all_rows = list(rows)

    def cell(row: Row) -> Any:
        return row[column]

    having = [row for row in all_rows if column in row]
    lacking = [row for row in all_rows if column not in row]
    return [*sorted(having, key=cell, reverse=descending), *lacking]


def best_of_variants(rows: Iterable[Row], tag: str) -> Sequence[Row]:
    """For each variant on each kind of hardware, its best row by a metric, in the order of `rows`;
    a row of a failure if it has no measurement.

    The columns `measurements` and `failures` have their numbers. The rows are `pooled_rows`.
    """
    groups: dict[tuple[Cell, ...], list[Row]] = {}
    for row in rows:
        identity = (row["model"], row["variant"], row.get("composing"), row["hardware"])
        groups.setdefault(identity, []).append(row)
    chosen = []
    for group in groups.values():
        failures = sum("failure" in row for row in group)
        measurements = sum(int(row["measurements"] or 0) for row in group)
        best = sort_rows(group, tag, descending=is_best_high(tag))[0]
        chosen.append(best | {"measurements": measurements, "failures": failures})
    return chosen


def _row(key: str, record: TrialRecord, index: int, work: Workload) -> Row:
    outcome, load = record.outcome, work.load
    row: Row = {
        "trial": key,
        "model": work.variant.model,
        "variant": work.variant.name,
        "load": load.kind.value,
        "batch_size": load.batch_size,
        "hardware": record.trial.setup.kind,
        "duration_s": outcome.duration_s,
    }
    if outcome.machine is not None:
        row["host"] = outcome.machine.host
    if load.kind is not LoadKind.REQUEST_INTERVALS:
        row[load.kind.value] = load.value
    if work.traffic is not None:
        row["arrivals"] = str(work.traffic)
    if work.variant.composing:
        row["composing"] = ", ".join(part.full_name for part in work.variant.composing)
    if record.node:
        row["node"] = record.node
    if outcome.started:
        row["started"] = moment_text(outcome.started)
    if not isinstance(outcome, Measurement):
        return row | {"failure": outcome.reason.name, "message": outcome.message}
    if outcome.doubts:
        row["doubts"] = " ".join(doubt.sentence for doubt in outcome.doubts)
    model = outcome.models[index]
    row.update(model.values)
    row.update(outcome.host)
    for tag in dict.fromkeys(tag for values in outcome.gpus.values() for tag in values):
        row[tag] = outcome.value(tag)
    if model.requests is not None:
        row["requests"] = model.requests
    counters = outcome.statistics.get(work.variant.model)
    # an ensemble itself executes no batches
    if counters and counters.mean_batch and not work.variant.is_ensemble:
        row["server_batch_size"] = round(counters.mean_batch, 3)
    return row


def moment_text(seconds: float) -> str | None:
    """Seconds since the epoch as ISO 8601 text in UTC; None if unknown (0)."""
    if not seconds:
        return None
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat(timespec="milliseconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFilter:
    """A comparison of a column with a value. A row without that column never matches."""

    column: str
    operator: str
    value: str | float

    @classmethod
    def parse(cls, text: str) -> RowFilter:
        """Parses `COLUMN OPERATOR VALUE`. Raises ValueError with a message for the user."""
        match = _FORM.fullmatch(text)
        if match is None or not match[3]:
            raise ValueError(f"{text!r} is not a filter: write, for example, perf_latency_p99<20")
        column, sign, value = column_named(match[1]), match[2], match[3]
        if column in TEXTS:
            if sign not in ("=", "==", "!="):
                raise ValueError(f"{text!r}: {column} is text: compare it with = or !=")
            return cls(column=column, operator=sign, value=value)
        try:
            number = float(value)
        except ValueError as error:
            raise ValueError(f"{text!r}: {value!r} is not a number") from error
        if isnan(number):
            raise ValueError(f"{text!r}: {value!r} is not a number")
        return cls(column=column, operator=sign, value=number)

    def matches(self, row: Row) -> bool:
        cell = row.get(self.column)
        return cell is not None and _OPERATORS[self.operator](cell, self.value)


def column_named(name: str) -> str:
    """The column with this name, or with this old name of a metric, to filter or sort by. Raises
    ValueError with the nearest name if there is none.
    """
    name = canonical(name)
    names = (*TEXTS, *NUMBERS, *METRICS)
    if name not in names:
        nearest = get_close_matches(name, names, n=1)
        hint = f"did you mean {nearest[0]!r}?" if nearest else ""
        hint = hint or f"give a metric or one of {', '.join((*TEXTS, *NUMBERS))}"
        raise ValueError(f"unknown column {name!r}: {hint}")
    return name
