# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Every measurement as the page's table has it: compact, since it is in the page once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.measurements import values_of
from model_analyzer.domain.metrics import METRICS, Better
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.reports.parameters import parameter_name
from model_analyzer.reports.tables import Table, instances_text, reports_gpus
from model_analyzer.results.ranking import VariantResult
from model_analyzer.results.rows import Cell, Row, differing_parameters
from model_analyzer.results.statistics import relative_noise

# Metrics that the table shows unless the reader chooses others.
_USUAL = (
    "output_token_throughput", "time_to_first_token_p99", "inter_token_latency_p99",
    "perf_throughput", "perf_latency_p99", "cpu_used_ram", "gpu_used_memory", "gpu_utilization",
)  # fmt: skip

# Fields of configurations that the columns about every variant say already.
_SAID = ("config.instance_group", "config.max_batch_size", "config.dynamic_batching")
_DIGITS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column: `key` in files, header for people, whether the table shows it at first; for a
    metric, which way is better.
    """

    key: str
    header: str
    is_number: bool = False
    is_usual: bool = True
    better: Better | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Explorer:
    """All measurements, best first. A row of `rows` begins with its place in `variants`, each of
    which has a cell for each of `own` columns; the cells after it are those of `columns`.
    """

    own: tuple[Column, ...]
    variants: tuple[tuple[Cell, ...], ...]
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def to_json(self) -> str:
        """For the script of the page, in as few characters as can be."""

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

        document = {
            "own": described(self.own),
            "variants": self.variants,
            "columns": described(self.columns),
            "rows": self.rows,
        }
        return json.dumps(document, separators=(",", ":"), ensure_ascii=False)

    def first(self, count: int) -> Table:
        """The first rows with the columns that are shown at first."""
        own = [index for index, column in enumerate(self.own) if column.is_usual]
        of_row = [index for index, column in enumerate(self.columns) if column.is_usual]
        return Table(
            headers=(
                *(self.own[index].header for index in own),
                *(self.columns[index].header for index in of_row),
            ),
            rows=tuple(
                (
                    *(self.variants[int(row[0] or 0)][index] for index in own),
                    *(row[index + 1] for index in of_row),
                )
                for row in self.rows[:count]
            ),
        )


def explorer_of(
    results: Sequence[VariantResult],
    goal: Goal,
    front: Sequence[MeasuredTrial],
    *,
    gpus: int,
    always_gpus: bool,
) -> Explorer:
    """The table of all measurements of the results, in their order; those of the `front` are
    marked.
    """
    items = [item for result in results for item in result.measured]
    of_front = {id(item) for item in front}
    columns = _load_columns(items)
    if goal.has_constraints:
        column = Column(key="meets_constraints", header="Meets constraints")
        columns.append((column, [_yes_no(goal.passes(item.measurement)) for item in items]))
    column = Column(key="pareto_front", header="Pareto front", is_usual=False)
    columns.append((column, [_yes_no(id(item) in of_front) for item in items]))
    columns += _metric_columns(items, goal, gpus=gpus, always_gpus=always_gpus)
    columns += _evidence_columns(items)
    variants = [index for index, result in enumerate(results) for _ in range(len(result.measured))]
    own, about = _variants(results, gpus)
    return Explorer(
        own=own,
        variants=about,
        columns=tuple(column for column, _ in columns),
        rows=tuple(zip(variants, *(cells for _, cells in columns), strict=True)),
    )


# A column with its cells, one for each measurement.
_Filled = tuple[Column, Sequence[Cell]]


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
    if not alike or len(kinds) != 1:
        return [(Column(key="load", header="Load"), [item.trial.loads for item in items])]
    kind = kinds.pop()
    column = Column(key=kind.value, header=parameter_name(kind.value), is_number=True)
    columns: list[_Filled] = [(column, [load.value for load in loads])]
    if any(load.batch_size != 1 for load in loads):
        column = Column(key="batch_size", header="Client batch size", is_number=True)
        columns.append((column, [load.batch_size for load in loads]))
    return columns


def _metric_columns(
    items: Sequence[MeasuredTrial], goal: Goal, *, gpus: int, always_gpus: bool
) -> list[_Filled]:
    """Every metric that was measured; those that the goal is about first."""
    shown = [reports_gpus(item, gpus=gpus, always=always_gpus) for item in items]
    measurements = [item.measurement for item in items]

    def cells(tag: str) -> Sequence[Cell]:
        values = values_of(measurements, tag)
        if tag.startswith("gpu_"):
            values = [value if show else None for value, show in zip(values, shown, strict=True)]
        return [None if value is None else float(f"{value:.{_DIGITS}g}") for value in values]

    tags = [tag for tag in _measured_tags(items) if not tag.startswith("gpu_") or any(shown)]
    first = [tag for tag in goal.tags if tag in tags]
    usual = {*first, *_USUAL}
    return [
        (
            Column(
                key=tag,
                header=METRICS[tag].header,
                is_number=True,
                is_usual=tag in usual,
                better=METRICS[tag].better,
            ),
            cells(tag),
        )
        for tag in dict.fromkeys([*first, *(tag for tag in _USUAL if tag in tags), *tags])
    ]


def _measured_tags(items: Sequence[MeasuredTrial]) -> Sequence[str]:
    present: set[str] = set()
    for item in items:
        measurement = item.measurement
        present.update(measurement.host)
        for model in measurement.models:
            present.update(model.values)
        for values in measurement.gpus.values():
            present.update(values)
    return [tag for tag in METRICS if tag in present]


def _evidence_columns(items: Sequence[MeasuredTrial]) -> list[_Filled]:
    """How well each measurement is founded."""

    def requests(item: MeasuredTrial) -> Cell:
        counts = [model.requests for model in item.measurement.models if model.requests is not None]
        return min(counts, default=None)

    def noise(item: MeasuredTrial) -> Cell:
        found = [relative_noise(model.windows) for model in item.measurement.models]
        known = [value for value in found if value is not None]
        return float(f"{max(known) * 100:.3g}") if known else None

    def remarks(item: MeasuredTrial) -> Cell:
        return " ".join(notice.text for notice in item.measurement.notices) or None

    columns: list[_Filled] = [
        (
            Column(key="requests", header="Requests", is_number=True),
            [requests(item) for item in items],
        ),
        (
            Column(key="noise", header="Noise (± %)", is_number=True),
            [noise(item) for item in items],
        ),
        (
            Column(key="remarks", header="Remarks", is_usual=False),
            [remarks(item) for item in items],
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
                result.name,
                ",".join(instances_text(variant, gpus=gpus) for variant in result.variants),
                _one_or_all([part.max_batch_size for part in served]),
                _one_or_all([_batching(part) for part in served]),
                *(row.get(name) for name in names),
            )
        )
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
