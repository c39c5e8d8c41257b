# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Every measurement as the page's table has it: compact, since it is in the page once."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, repeat
from typing import Any

from model_analyzer.domain.goals import DEFAULT_OBJECTIVE
from model_analyzer.domain.measurements import Columns, Measurement
from model_analyzer.domain.metrics import METRICS, Better, Metric
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.domain.trials import LoadKind
from model_analyzer.reports.axes import Axes
from model_analyzer.reports.loads import load_text
from model_analyzer.reports.parameters import parameter_name
from model_analyzer.reports.tables import Table, instances_text, reports_gpus
from model_analyzer.results.ranking import Ranking, VariantResult
from model_analyzer.results.rows import Cell, Row, differing_parameters

# Metrics that the table shows unless the reader chooses others.
_USUAL = (
    "output_token_throughput", "time_to_first_token_p99", "inter_token_latency_p99",
    "perf_throughput", "perf_latency_p99", "cpu_used_ram", "gpu_used_memory", "gpu_utilization",
)  # fmt: skip

# Those that tell where the time of a request goes.
_PHASES = (
    "perf_client_response_wait", "perf_server_queue", "perf_server_compute_input",
    "perf_server_compute_infer", "perf_server_compute_output",
)  # fmt: skip

# Fields of configurations that the columns about every variant say already.
_SAID = ("config.instance_group", "config.max_batch_size", "config.dynamic_batching")
_BATCHING = ("max_batch_size", "dynamic_batching")
_DIGITS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column: `key` in files, header for people, whether the table shows it at first; for a
    metric, which way is better. Numbers that were measured are shown with so many `digits`.
    """

    key: str
    header: str
    is_number: bool = False
    is_usual: bool = True
    better: Better | None = None
    digits: int | None = None

    def rounded(self, cell: Cell) -> Cell:
        """A cell as the table has it."""
        if self.digits is None or cell is None:
            return cell
        return float(self._format % cell)

    def to_json(self, cells: Sequence[Cell]) -> str:
        """Cells as the table has them."""
        if self.digits is None:
            return _json(cells)
        try:
            # all numbers by one format: a third of the time that one by one takes
            return f"[{','.join([self._format] * len(cells))}]" % tuple(cells)
        except TypeError:  # not all are known
            texts = ("null" if cell is None else self._format % cell for cell in cells)
            return f"[{','.join(texts)}]"

    @property
    def _format(self) -> str:
        return f"%.{self.digits}g"


@dataclass(frozen=True, slots=True, kw_only=True)
class Explorer:
    """All measurements, best first, those of a variant after each other: `counts` says how many
    each of `variants` has, which has a cell for each of `own` columns. Of each of `columns`,
    `cells` has the cells of all measurements, as they were measured.
    """

    own: tuple[Column, ...]
    variants: tuple[tuple[Cell, ...], ...]
    counts: tuple[int, ...]
    columns: tuple[Column, ...]
    cells: tuple[Sequence[Cell], ...]

    @property
    def count(self) -> int:
        """How many measurements there are."""
        return sum(self.counts)

    def to_json(self) -> str:
        """For the script of the page, column by column, in as few characters as can be."""

        def described(columns: Sequence[Column]) -> list[dict[str, Any]]:
            return [
                {
                    "key": column.key,
                    "header": column.header,
                    "number": column.is_number,
                    "usual": column.is_usual,
                    "metric": column.better is not None,
                    "high": column.better is Better.HIGHER,
                }
                for column in columns
            ]

        parts = {
            "own": _json(described(self.own)),
            "variants": _json(self.variants),
            "counts": _json(self.counts),
            "columns": _json(described(self.columns)),
            "cells": f"[{','.join(map(Column.to_json, self.columns, self.cells))}]",
        }
        return "{" + ",".join(f'"{name}":{part}' for name, part in parts.items()) + "}"

    def first(self, count: int) -> Table:
        """The first rows with the columns that are shown at first."""
        own = [index for index, column in enumerate(self.own) if column.is_usual]
        of_row = [index for index, column in enumerate(self.columns) if column.is_usual]
        variants = chain.from_iterable(map(repeat, self.variants, self.counts))
        return Table(
            headers=(
                *(self.own[index].header for index in own),
                *(self.columns[index].header for index in of_row),
            ),
            rows=tuple(
                (
                    *(variant[index] for index in own),
                    *(self.columns[index].rounded(self.cells[index][row]) for index in of_row),
                )
                for row, variant in enumerate(islice(variants, count))
            ),
        )


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


# A column with its cells, one for each measurement.
_Filled = tuple[Column, Sequence[Cell]]


def explorer_of(
    ranking: Ranking, front: Sequence[MeasuredTrial], *, gpus: int, always_gpus: bool
) -> Explorer:
    """The table of all measurements of the ranking, in their order; those of the `front` are
    marked.
    """
    marks: list[_Filled] = []
    if ranking.goal.has_constraints:
        column = Column(key="meets_constraints", header="Meets constraints")
        marks.append((column, [_yes_no(passes) for passes in ranking.passing]))
    of_front = {id(item) for item in front}
    column = Column(key="pareto_front", header="Pareto front", is_usual=False)
    marks.append((column, [_yes_no(id(item) in of_front) for item in ranking.measured]))
    axes = Axes(ranking.goal, ranking.results)
    marks += _bounded_columns(ranking, axes)
    first = ranking.goal.tags
    usual = {*_USUAL, *first}
    return _explorer(
        ranking.results, ranking.columns, marks, first, usual, gpus=gpus, always_gpus=always_gpus
    )


def _bounded_columns(ranking: Ranking, axes: Axes) -> list[_Filled]:
    """What is bounded for one of several models: other columns are about all of them."""
    columns: list[_Filled] = []
    for quantity in axes.of_single_models:
        key = f"{quantity.tag}.{quantity.model}"
        column = _metric_column(key, quantity.header, METRICS[quantity.tag], is_usual=True)
        columns.append((column, quantity.of_all(ranking.columns, ranking.measured)))
    return columns


def explorer_of_one(result: VariantResult, *, gpus: int, always_gpus: bool) -> Explorer:
    """The same for one variant: what it is need not be said in each row, and there is room for
    where the time goes.
    """
    columns = Columns([item.measurement for item in result.measured])
    usual = {*_USUAL, *_PHASES}
    found = _explorer([result], columns, [], (), usual, gpus=gpus, always_gpus=always_gpus)
    return replace(found, own=tuple(replace(column, is_usual=False) for column in found.own))


def _explorer(
    results: Sequence[VariantResult],
    metrics: Columns,
    marks: Sequence[_Filled],
    first: Sequence[str],
    usual: Collection[str],
    *,
    gpus: int,
    always_gpus: bool,
) -> Explorer:
    """Columns of each variant, of the load, `marks`, metrics, of which some come `first` and some
    are `usual`, and what the numbers rest on.
    """
    items = [item for result in results for item in result.measured]
    columns = [
        *_load_columns(items),
        *marks,
        *_metric_columns(items, metrics, first, usual, gpus=gpus, always_gpus=always_gpus),
        *_evidence_columns(results),
    ]
    own, about = _variants(results, gpus)
    return Explorer(
        own=own,
        variants=about,
        counts=tuple(len(result.measured) for result in results),
        columns=tuple(column for column, _ in columns),
        cells=tuple(cells for _, cells in columns),
    )


def _yes_no(answer: bool) -> str:
    return "yes" if answer else "no"


def _load_columns(items: Sequence[MeasuredTrial]) -> list[_Filled]:
    """What the client did: a number where all measurements have one load of the same kind."""
    loads = [item.trial.workloads[0].load for item in items]
    alike = all(
        work.load == load
        for item, load in zip(items, loads, strict=True)
        for work in item.trial.workloads[1:]
    )
    kinds = {load.kind for load in loads}
    if not alike or len(kinds) != 1 or LoadKind.REQUEST_INTERVALS in kinds:
        return [(Column(key="load", header="Load"), [load_text(item.trial) for item in items])]
    kind = kinds.pop()
    column = Column(key=kind.value, header=parameter_name(kind.value), is_number=True)
    columns: list[_Filled] = [(column, [load.value for load in loads])]
    if any(load.batch_size != 1 for load in loads):
        column = Column(key="batch_size", header="Client batch size", is_number=True)
        columns.append((column, [load.batch_size for load in loads]))
    return columns


def _metric_columns(
    items: Sequence[MeasuredTrial],
    metrics: Columns,
    first: Sequence[str],
    usual: Collection[str],
    *,
    gpus: int,
    always_gpus: bool,
) -> list[_Filled]:
    """Every metric that was measured; some of them `first`."""
    shown = [reports_gpus(item, gpus=gpus, always=always_gpus) for item in items]

    def cells(tag: str) -> Sequence[Cell]:
        values = metrics.of(tag)
        if tag.startswith("gpu_"):
            return [value if show else None for value, show in zip(values, shown, strict=True)]
        return values

    tags = [tag for tag in metrics.tags if not tag.startswith("gpu_") or any(shown)]
    return [
        (
            _metric_column(tag, METRICS[tag].header, METRICS[tag], is_usual=tag in usual),
            cells(tag),
        )
        for tag in dict.fromkeys([*first, *_USUAL, *tags])
        if tag in tags
    ]


def _metric_column(key: str, header: str, metric: Metric, *, is_usual: bool) -> Column:
    return Column(
        key=key,
        header=header,
        is_number=True,
        is_usual=is_usual,
        better=metric.better,
        digits=_DIGITS,
    )


def _evidence_columns(results: Sequence[VariantResult]) -> list[_Filled]:
    """How well each measurement is founded."""
    measurements = [item.measurement for result in results for item in result.measured]
    noises = [
        result.noise_model.of(item.runs, DEFAULT_OBJECTIVE)
        for result in results
        for item in result.measured
    ]

    def requests(one: Measurement) -> Cell:
        if len(one.models) == 1:
            return one.models[0].requests
        counts = [model.requests for model in one.models if model.requests is not None]
        return min(counts, default=None)

    def remarks(one: Measurement) -> Cell:
        return " ".join([notice.text for notice in one.notices]) if one.notices else None

    columns: list[_Filled] = [
        (
            Column(key="requests", header="Requests", is_number=True),
            [requests(one) for one in measurements],
        ),
        (
            Column(key="noise", header="Noise (±\u00a0%)", is_number=True, digits=3),
            [None if noise is None else noise.percent for noise in noises],
        ),
        (
            Column(key="remarks", header="Remarks", is_usual=False),
            [remarks(one) for one in measurements],
        ),
    ]
    return [(column, cells) for column, cells in columns if any(cell is not None for cell in cells)]


def _variants(
    results: Sequence[VariantResult], gpus: int
) -> tuple[tuple[Column, ...], tuple[tuple[Cell, ...], ...]]:
    """What the variants are: columns, and cells of each."""
    own = [
        Column(key="configuration", header="Configuration"),
        Column(key="instances", header="Instances"),
        Column(key="max_batch_size", header="Max batch size", is_number=True),
        Column(key="dynamic_batching", header="Dynamic batching"),
    ]
    further = _further(results)
    names = dict.fromkeys(name for row in further for name in row)
    own += [Column(key=name, header=parameter_name(name), is_usual=False) for name in names]
    about = []
    for result, row in zip(results, further, strict=True):
        served = [part for variant in result.variants for part in variant.served]
        about.append(
            (
                result.telling_name,
                ",".join(instances_text(variant, gpus=gpus) for variant in result.variants),
                _one_or_all([part.max_batch_size for part in served]),
                _one_or_all([_batching(part) for part in served]),
                *(row.get(name) for name in names),
            )
        )
    for index, column in enumerate(own):
        is_common = len(about) > 1 and len({cells[index] for cells in about}) == 1
        if column.key in _BATCHING and is_common:  # room for what was measured
            own[index] = replace(column, is_usual=False)
    return tuple(own), tuple(about)


def _further(results: Sequence[VariantResult]) -> Sequence[Row]:
    """What else the variants of one model differ in."""
    if len({tuple(variant.model for variant in result.variants) for result in results}) != 1:
        return [{} for _ in results]
    rows: list[Row] = [{} for _ in results]
    for position in range(len(results[0].variants)):
        differing = differing_parameters([result.variants[position] for result in results])
        for result, row in zip(results, rows, strict=True):
            variant = result.variants[position]
            prefix = f"{variant.model}." if len(result.variants) > 1 else ""
            row.update(
                {
                    prefix + name: value
                    for name, value in differing[variant.identity].items()
                    if not name.startswith(_SAID)
                }
            )
    return rows


def _batching(variant: ModelVariant) -> str:
    return "on" if variant.has_dynamic_batching else "off"


def _one_or_all(cells: Sequence[Cell]) -> Cell:
    return cells[0] if len(cells) == 1 else ",".join(map(str, cells))
