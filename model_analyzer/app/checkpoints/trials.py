# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Chooses and sorts the trials of a checkpoint, or their single measurements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from model_analyzer.app.selection.asked_goals import completed_records, wishes_of_runs
from model_analyzer.domain.metrics import METRICS, is_best_high
from model_analyzer.domain.words import counted
from model_analyzer.errors import wrong
from model_analyzer.reports.flat_files import to_table
from model_analyzer.reports.formats import encode_rows
from model_analyzer.reports.parameters import parameters_of
from model_analyzer.reports.tables import Table
from model_analyzer.results.flat_rows import (
    NUMBERS,
    Row,
    RowFilter,
    Rows,
    column_named,
    pooled_rows,
    sort_rows,
)
from model_analyzer.state.checkpoint import Checkpoint

_MEASUREMENTS = ("Measurements", "measurements")
_REPETITION = ("Repetition", "repetition")
_METRICS = ("perf_throughput", "perf_latency_p99", "gpu_used_memory", "cpu_used_ram")


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Which trials, in which order: those that pass all filters, and of these at most `limit`.
    Without a column to sort by, the order is that of measuring. Several measurements of a trial are
    pooled, unless they are `single`.
    """

    filters: Sequence[RowFilter] = ()
    sort_by: str | None = None
    order: str | None = None
    limit: int | None = None
    single: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """What a query chooses, one row for each model of a trial or of a measurement. The `wishes` of
    the runs are the first metrics.
    """

    query: Query
    rows: Sequence[Row]
    wishes: Sequence[str] = ()

    def table(self) -> Table:
        """The rows for people: some metrics, and the columns of the query."""
        sort_by, filters = self.query.sort_by, self.query.filters
        queried = [*([sort_by] if sort_by else []), *(each.column for each in filters)]
        shown = (*self.wishes, *_METRICS, *queried)
        metrics = dict.fromkeys(name for name in shown if name in METRICS)
        columns = [
            ("Model", "model"),
            ("Variant", "variant"),
            ("Calls", "composing"),
            *parameters_of(self.rows),
            *places_of(self.rows),
            *((name.replace("_", " ").title(), name) for name in NUMBERS),
            *((METRICS[name].header, name) for name in metrics),
            *self._counts(),
        ]
        return to_table(self.rows, columns)

    def _counts(self) -> Sequence[tuple[str, str]]:
        """The column of measurements, where a trial has several."""
        header, name = _REPETITION if self.query.single else _MEASUREMENTS
        rare = 0 if self.query.single else 1
        return [(header, name)] if any(row[name] != rare for row in self.rows) else []

    @property
    def title(self) -> str:
        """What the rows are, with their number."""
        count = len({row["trial"] for row in self.rows})  # several models: several rows
        if self.query.single:
            return f"{counted(count, 'single measurement')}, not pooled"
        is_pooled = any(row["measurements"] != 1 for row in self.rows)
        return counted(count, "trial") + (", measurements pooled" if is_pooled else "")

    def encoded(self, form: str) -> bytes:
        """The rows for programs, as csv, json or parquet."""
        return encode_rows(self.rows, form, self.wishes)


def places_of(rows: Sequence[Row]) -> Sequence[tuple[str, str]]:
    """The columns of the hardware and of the host, where rows differ in them."""
    columns = (("Hardware", "hardware"), ("Host", "host"))
    return [pair for pair in columns if len({row.get(pair[1]) for row in rows}) > 1]


def parse_query(
    where: Sequence[str],
    sort_by: str | None,
    order: str | None,
    limit: int | None,
    *,
    single: bool = False,
) -> Query:
    """The query of these options. Raises ConfigError."""
    option = "--where"
    try:
        filters = [RowFilter.parse(text) for text in where]
        option = "--sort-by"
        column = column_named(sort_by) if sort_by else None
    except ValueError as error:
        raise wrong(option, str(error)) from error
    return Query(filters=filters, sort_by=column, order=order, limit=limit, single=single)


def choose_trials(checkpoint: Checkpoint, query: Query) -> Trials:
    """The trials or measurements of the checkpoint that the query chooses."""
    records = [*completed_records(checkpoint)]
    rows: Sequence[Row] = [
        row
        for row in (Rows(records, repetitions=True) if query.single else pooled_rows(records))
        if "failure" not in row and all(each.matches(row) for each in query.filters)
    ]
    is_descending = query.order == "desc"
    if query.sort_by is not None:
        is_descending = is_descending if query.order else is_best_high(query.sort_by)
        rows = sort_rows(rows, query.sort_by, descending=is_descending)
    elif is_descending:
        rows = rows[::-1]
    return Trials(query=query, rows=rows[: query.limit], wishes=wishes_of_runs(checkpoint))
