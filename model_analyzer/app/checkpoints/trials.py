# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Chooses and sorts the measurements of a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from model_analyzer.domain.metrics import METRICS, is_best_high
from model_analyzer.errors import wrong
from model_analyzer.reports.flat_text import to_table
from model_analyzer.reports.formats import encode_rows
from model_analyzer.reports.tables import Table
from model_analyzer.results.conditions import Condition, column_named
from model_analyzer.results.flat_rows import NUMBERS, Row, rows_of, sort_rows
from model_analyzer.state.checkpoint import Checkpoint

_METRICS = ("perf_throughput", "perf_latency_p99", "gpu_used_memory", "cpu_used_ram")


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Which measurements, in which order: those that meet all conditions, and of these at most
    `limit`. Without a column to sort by, the order is that of measuring.
    """

    conditions: Sequence[Condition] = ()
    sort_by: str | None = None
    order: str | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """The measurements that a query chooses, one row for each model of a trial."""

    query: Query
    rows: Sequence[Row]

    def table(self) -> Table:
        """The rows for people: some metrics, and the columns of the query."""
        sort_by, conditions = self.query.sort_by, self.query.conditions
        queried = [*([sort_by] if sort_by else []), *(each.column for each in conditions)]
        metrics = dict.fromkeys(name for name in (*_METRICS, *queried) if name in METRICS)
        columns = [
            ("Model", "model"),
            ("Variant", "variant"),
            ("Calls", "composing"),
            *places_of(self.rows),
            *((name.replace("_", " ").title(), name) for name in NUMBERS),
            *((METRICS[name].header, name) for name in metrics),
        ]
        return to_table(self.rows, columns)

    def encoded(self, form: str) -> bytes:
        """The rows for programs, as csv, json or parquet."""
        return encode_rows(self.rows, form)


def places_of(rows: Sequence[Row]) -> Sequence[tuple[str, str]]:
    """The columns of the hardware and of the host, where rows differ in them."""
    columns = (("Hardware", "hardware"), ("Host", "host"))
    return [pair for pair in columns if len({row.get(pair[1]) for row in rows}) > 1]


def parse_query(
    where: Sequence[str], sort_by: str | None, order: str | None, limit: int | None
) -> Query:
    """The query of these options. Raises ConfigError."""
    option = "--where"
    try:
        conditions = [Condition.parse(text) for text in where]
        option = "--sort-by"
        column = column_named(sort_by) if sort_by else None
    except ValueError as error:
        raise wrong(option, str(error)) from error
    return Query(conditions=conditions, sort_by=column, order=order, limit=limit)


def choose_trials(checkpoint: Checkpoint, query: Query) -> Trials:
    """The measurements of the checkpoint that the query chooses."""
    rows: Sequence[Row] = [
        row
        for row in rows_of(checkpoint.records.items())
        if "failure" not in row and all(each.is_met_by(row) for each in query.conditions)
    ]
    is_descending = query.order == "desc"
    if query.sort_by is not None:
        is_descending = is_descending if query.order else is_best_high(query.sort_by)
        rows = sort_rows(rows, query.sort_by, descending=is_descending)
    elif is_descending:
        rows = rows[::-1]
    return Trials(query=query, rows=rows[: query.limit])
