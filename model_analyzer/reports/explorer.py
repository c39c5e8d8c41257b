# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The data of a page's table of all measurements, in a compact form."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, islice, repeat
from operator import attrgetter
from typing import Any

from model_analyzer.domain.goals import DEFAULT_OBJECTIVE
from model_analyzer.domain.measurements import Columns
from model_analyzer.domain.metrics import Better
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.domain.trials import LoadKind, load_words
from model_analyzer.noise.laws import add_up
from model_analyzer.reports.parameters import Axes, is_swept, parameter_name, token_tags
from model_analyzer.reports.tables import Table, decimals_of_column
from model_analyzer.results.columns import (
    BATCH_SIZE,
    LOADS,
    NAME,
    REQUESTS,
    SETTINGS,
    Cell,
    Column,
    Row,
    fewest_requests,
    metric_over_all,
    reports_gpus,
)
from model_analyzer.results.effects import varied_parameters
from model_analyzer.results.ranking import Ranking, VariantResult

# Metrics that the table shows by default.
_TOKENS = ("output_token_throughput", "time_to_first_token_p99", "inter_token_latency_p99")
_USUAL = (
    *_TOKENS,
    "perf_throughput",
    "perf_latency_p99",
    "cpu_used_ram",
    "gpu_used_memory",
    "gpu_utilization",
)

# Metrics of the latency breakdown.
_PHASES = (
    "perf_client_response_wait", "perf_server_queue", "perf_server_compute_input",
    "perf_server_compute_infer", "perf_server_compute_output",
)  # fmt: skip

_HARDWARE, _MEETS = "hardware", "meets_constraints"
_LOAD = "load"
_LOAD_KEYS = frozenset({_LOAD, BATCH_SIZE.key, *(column.key for column in LOADS.values())})

# So many cells show how long the numbers of a column are.
_ENOUGH = 2000

_BATCHING = ("max_batch_size", "dynamic_batching")


@dataclass(frozen=True, slots=True, kw_only=True)
class Explorer:
    """All measurements, grouped by variant; on several kinds of hardware, one kind after the other.
    `best_first` has their rows in the order of the ranking; None if they are in that order already.

    Each of `variants` has a cell for each `own` column, and as many measurements as `counts` says.
    `cells` has, for each of `columns`, the cells of all measurements, not rounded. `decimals` are
    those of each column of numbers, by key. `starts` are the rows of the best measurement of each
    kind; `runs` is the number of measurements where repetitions, which share a row, count, too.
    `times_add_up` tells whether the server's times are parts of a request for all variants.
    """

    own: tuple[Column[VariantResult], ...]
    variants: tuple[tuple[Cell, ...], ...]
    counts: tuple[int, ...]
    columns: tuple[Column[MeasuredTrial], ...]
    cells: tuple[Sequence[Cell], ...]
    decimals: Mapping[str, int]
    runs: int = 0
    starts: tuple[int, ...] = (0,)
    times_add_up: bool = True
    best_first: tuple[int, ...] | None = None

    @property
    def count(self) -> int:
        """The number of measurements."""
        return sum(self.counts)

    @property
    def order(self) -> Sequence[str]:
        """The keys of all columns as they are shown: the name, what was measured, the load, the
        settings. Without the name, the load is first, since it names the rows.
        """
        ranks = {each.key: 0 if each.key in (NAME.key, _HARDWARE) else 4 for each in self.own}
        ranks |= {column.key: self._rank(column) for column in self.columns}
        return sorted(ranks, key=ranks.__getitem__)

    def _rank(self, column: Column[MeasuredTrial]) -> int:
        if column.key in _LOAD_KEYS:
            return 3 if self.own[0].is_usual else 0
        if column.key == _MEETS:
            return 2
        return 1 if column.is_usual and column.better is not None else 5

    def to_json(self) -> str:
        """Compact JSON for the script of the page, column by column."""
        parts = {
            "own": _json(list(map(self._described, self.own))),
            "variants": _json(self.variants),
            "counts": _json(self.counts),
            "starts": _json(self.starts),
            "order": _json(self.order),
            "best_first": _json(self.best_first),
            "columns": _json(list(map(self._described, self.columns))),
            "cells": f"[{','.join(map(_cells_json, self.columns, self.cells))}]",
        }
        return "{" + ",".join(f'"{name}":{part}' for name, part in parts.items()) + "}"

    def first(self, count: int) -> Table:
        """The best `count` rows, with the columns that are shown by default."""
        of_rows = [*chain.from_iterable(map(repeat, self.variants, self.counts))]
        rows = (range(self.count) if self.best_first is None else self.best_first)[:count]
        variants = [of_rows[row] for row in rows]
        shown: dict[str, tuple[str, Sequence[Cell]]] = {}
        for place, own in enumerate(self.own):
            if own.is_usual:
                shown[own.key] = own.header, [cells[place] for cells in variants]
        for column, cells in zip(self.columns, self.cells, strict=True):
            if column.is_usual:
                first = [_rounded(column, cells[row]) for row in rows]
                shown[column.key] = column.header, first
        keys = [key for key in self.order if key in shown]
        return Table(
            headers=tuple(shown[key][0] for key in keys),
            rows=tuple(zip(*(shown[key][1] for key in keys), strict=True)),
            decimals={place: self.decimals.get(key, 0) for place, key in enumerate(keys)},
        )

    def _described(self, column: Column[Any]) -> Mapping[str, Any]:
        return {
            "key": column.key,
            "header": column.header,
            "number": column.is_number,
            "decimals": self.decimals.get(column.key, 0),
            "usual": column.is_usual,
            "metric": column.better is not None,
            "high": column.better is Better.HIGHER,
        }


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _rounded(column: Column[MeasuredTrial], cell: Cell) -> Cell:
    """A cell, rounded as in the page."""
    return cell if column.digits is None or cell is None else float(_format(column) % cell)


def _cells_json(column: Column[MeasuredTrial], cells: Sequence[Cell]) -> str:
    """The cells of a column as JSON, rounded as in the page."""
    if column.digits is None:
        return _json(cells)
    number = _format(column)
    try:
        # one format for all numbers takes a third of the time
        return f"[{','.join([number] * len(cells))}]" % tuple(cells)
    except TypeError:  # some cells are None
        texts = ("null" if cell is None else number % cell for cell in cells)
        return f"[{','.join(texts)}]"


def _format(column: Column[MeasuredTrial]) -> str:
    return f"%.{column.digits}g"


# A column with its cells, one for each measurement. Cells of metrics are computed for all
# measurements at once, which is much faster.
_Filled = tuple[Column[MeasuredTrial], Sequence[Cell]]


def explorer_of(
    rankings: Sequence[Ranking], front: Iterable[MeasuredTrial], *, always_gpus: bool
) -> Explorer:
    """The table of all measurements of a model: one ranking for each kind of hardware, one after
    the other. A column marks the measurements of the Pareto `front` of each kind.
    """
    items = [item for ranking in rankings for item in ranking.measured]
    results = [result for ranking in rankings for result in ranking.results]
    goal = rankings[0].goal
    marks: list[_Filled] = []
    if goal.has_constraints:
        passing = {
            id(item)
            for ranking in rankings
            for item, passes in zip(ranking.measured, ranking.passing, strict=True)
            if passes and not goal.unchecked(item.measurement)
        }
        column = _membership(_MEETS, "Meets constraints", passing)
        marks.append(_filled(column, items))
    of_front = {id(item) for item in front}
    column = replace(_membership("pareto_front", "Pareto front", of_front), is_usual=False)
    marks.append(_filled(column, items))
    # constrained metrics of single models: the other columns are about all models together
    bounded = Axes(goal, results).of_single_models
    marks += [_filled(quantity.column, items) for quantity in bounded]
    metrics = (
        rankings[0].columns if len(rankings) == 1 else Columns([item.measurement for item in items])
    )
    # of a language model, other metrics come on request: all together are wider than a page
    usual = token_tags(goal) if _TOKENS[0] in metrics.tags else _USUAL
    explorer = _explorer(
        results,
        metrics,
        marks,
        goal.wishes_first(goal.tags),
        {*usual, *goal.tags},
        always_gpus=always_gpus,
    )
    explorer = replace(explorer, best_first=_best_first(rankings))
    if len(rankings) == 1:
        return explorer
    counts = [len(ranking.measured) for ranking in rankings]
    return replace(_with_hardware(explorer, results), starts=tuple(accumulate([0, *counts[:-1]])))


def _best_first(rankings: Sequence[Ranking]) -> tuple[int, ...] | None:
    """The rows of the measurements, best first: what is recommended, then all others by the goal;
    None if that is how they are.
    """
    rows: list[int] = []
    for ranking in rankings:
        if not ranking.measured:
            continue
        first, *others = enumerate(ranking.measured, len(rows))
        ordered = ranking.goal.best_first(others, lambda pair: pair[1].measurement)
        rows += (row for row, _ in (first, *ordered))
    return None if rows == [*range(len(rows))] else tuple(rows)


def _with_hardware(explorer: Explorer, results: Sequence[VariantResult]) -> Explorer:
    """The table with the kind of hardware after the name of each variant."""
    column = Column[VariantResult](
        key=_HARDWARE, name="Hardware", value=lambda result: result.best.trial.setup.kind
    )
    name, *others = explorer.own
    return replace(
        explorer,
        own=(name, column, *others),
        variants=tuple(
            (cells[0], column.value(result), *cells[1:])
            for cells, result in zip(explorer.variants, results, strict=True)
        ),
    )


def explorer_of_one(result: VariantResult, *, always_gpus: bool) -> Explorer:
    """The table for one variant: without columns about the variant by default, and with those of
    the latency breakdown.
    """
    columns = Columns([item.measurement for item in result.measured])
    has_tokens = _TOKENS[0] in columns.tags  # then the breakdown has other times
    usual = {*_USUAL, *(() if has_tokens else _PHASES)}
    explorer = _explorer([result], columns, [], (), usual, always_gpus=always_gpus)
    own = tuple(replace(column, is_usual=False) for column in explorer.own)
    return replace(explorer, own=own)


def _explorer(
    results: Sequence[VariantResult],
    metrics: Columns,
    marks: Sequence[_Filled],
    first: Sequence[str],
    usual: Collection[str],
    *,
    always_gpus: bool,
) -> Explorer:
    """The columns in this order: variant, load, `marks`, metrics (`first` ones first, `usual` ones
    shown by default), evidence.
    """
    items = [item for result in results for item in result.measured]
    columns = [
        *_load_columns(items),
        *marks,
        *_metric_columns(items, metrics, first, usual, always_gpus=always_gpus),
        *_evidence_columns(results),
    ]
    own, about = _variants(results)
    by_key: dict[str, Sequence[Cell]] = {column.key: cells for column, cells in columns}
    for place, column in enumerate(own):
        by_key[column.key] = [cells[place] for cells in about]
    return Explorer(
        own=own,
        variants=about,
        decimals={key: _decimals(cells) for key, cells in by_key.items()},
        counts=tuple(len(result.measured) for result in results),
        columns=tuple(column for column, _ in columns),
        cells=tuple(cells for _, cells in columns),
        runs=sum(len(item.runs) for item in items),
        times_add_up=all(
            add_up(each, uncached=result.best.trial.setup.uncached)
            for result in results
            for each in result.variants
        ),
    )


def _decimals(cells: Sequence[Cell]) -> int:
    """The decimals of a column; of a long one, those that evenly spaced cells need."""
    step = len(cells) // _ENOUGH | 1  # odd: loads repeat in tens or powers of two
    return decimals_of_column(islice(cells, 0, None, step))


def _filled(column: Column[MeasuredTrial], items: Sequence[MeasuredTrial]) -> _Filled:
    return column, list(map(column.value, items))


def _membership(key: str, name: str, members: Collection[int]) -> Column[MeasuredTrial]:
    """A column that tells whether a measured trial is among `members`, given by `id`."""
    return Column(key=key, name=name, value=lambda item: "yes" if id(item) in members else "no")


def _load_columns(items: Sequence[MeasuredTrial]) -> list[_Filled]:
    """The load: numbers if all measurements have one load of the same kind, otherwise text."""
    loads = [item.trial.workloads[0].load for item in items]
    alike = all(
        work.load == load
        for item, load in zip(items, loads, strict=True)
        for work in item.trial.workloads[1:]
    )
    kinds = {load.kind for load in loads}
    if not alike or len(kinds) != 1 or LoadKind.REQUEST_INTERVALS in kinds:
        column = Column[MeasuredTrial](
            key=_LOAD, name="Load", value=lambda item: load_words(item.trial)
        )
        return [_filled(column, items)]
    kind = kinds.pop()
    column = LOADS[kind.value].renamed(parameter_name(kind.value))
    columns: list[_Filled] = [(column, [load.value for load in loads])]
    if any(load.batch_size != 1 for load in loads):
        column = BATCH_SIZE.renamed("Client batch size")
        columns.append((column, [load.batch_size for load in loads]))
    return columns


def _metric_columns(
    items: Sequence[MeasuredTrial],
    metrics: Columns,
    first: Sequence[str],
    usual: Collection[str],
    *,
    always_gpus: bool,
) -> list[_Filled]:
    """All measured metrics; those in `first` come first."""
    shown = [reports_gpus(item, always=always_gpus) for item in items]

    def cells(tag: str) -> Sequence[Cell]:
        values = metrics.of(tag)
        if tag.startswith("gpu_"):
            return [value if show else None for value, show in zip(values, shown, strict=True)]
        return values

    tags = [tag for tag in metrics.tags if not tag.startswith("gpu_") or any(shown)]
    return [
        (replace(metric_over_all(tag), is_usual=tag in usual), cells(tag))
        for tag in dict.fromkeys([*first, *_USUAL, *tags])
        if tag in tags
    ]


def _evidence_columns(results: Sequence[VariantResult]) -> list[_Filled]:
    """The reliability of each measurement: requests, noise, remarks."""
    items = [item for result in results for item in result.measured]
    models = {id(item): result.noise_model for result in results for item in result.measured}

    def noise(item: MeasuredTrial) -> Cell:
        estimate = models[id(item)].of(item.runs, DEFAULT_OBJECTIVE)
        return None if estimate is None else estimate.percent

    columns: tuple[Column[MeasuredTrial], ...] = (
        replace(REQUESTS, value=lambda item: fewest_requests(item.measurement)),
        Column(key="noise", name="Noise (±\u00a0%)", value=noise, is_number=True, digits=3),
        Column(
            key="remarks",
            name="Remarks",
            value=lambda item: " ".join(item.measurement.remarks) or None,
            is_usual=False,
        ),
    )
    filled = [_filled(column, items) for column in columns]
    return [(column, cells) for column, cells in filled if any(cell is not None for cell in cells)]


def _variants(
    results: Sequence[VariantResult],
) -> tuple[tuple[Column[VariantResult], ...], tuple[tuple[Cell, ...], ...]]:
    """The columns about variants, and their cells for each variant."""
    instances, *others = SETTINGS
    at_best = (replace(instances, key="instances"), *others)
    own = [NAME, *(column.adapted(attrgetter("best")) for column in at_best)]
    parameters = dict(zip(map(id, results), _other_parameters(results), strict=True))
    names = dict.fromkeys(name for row in parameters.values() for name in row)
    own += [_parameter(name, parameters) for name in names]
    about = [tuple(column.value(result) for column in own) for result in results]
    for index, column in enumerate(own):
        is_common = len(about) > 1 and len({cells[index] for cells in about}) == 1
        if column.key in _BATCHING and is_common:  # leaves space for metrics
            own[index] = replace(column, is_usual=False)
    return tuple(own), tuple(about)


def _parameter(name: str, rows: Mapping[int, Row]) -> Column[VariantResult]:
    """The column of a parameter that a user swept; `rows` are by the `id` of a result."""
    return Column(
        key=name,
        name=parameter_name(name),
        value=lambda result: rows[id(result)].get(name),
    )


def _other_parameters(results: Sequence[VariantResult]) -> Sequence[Row]:
    """The other parameters in which the variants of one model differ, for each result."""
    rows = varied_parameters([(each.variants, each.best.trial.gpus) for each in results])
    return [
        {name: "on" if value == "{}" else value for name, value in row.items() if is_swept(name)}
        for row in rows
    ]
