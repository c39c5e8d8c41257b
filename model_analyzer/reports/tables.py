# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Rows and columns, independent of any format."""

from __future__ import annotations

import csv
import io
import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.measurements import Measurement, Values
from model_analyzer.domain.metrics import ALIASES, METRICS, Source
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.domain.secrets import masked
from model_analyzer.domain.trials import Load, LoadKind
from model_analyzer.reports.axes import Axes
from model_analyzer.reports.loads import load_text
from model_analyzer.results.ranking import Ranking, VariantResult
from model_analyzer.results.rows import Cell

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Headers and rows; every row has one cell for each header."""

    headers: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def to_csv(self) -> str:
        """Comma separated text with a header line, and an empty line at its end."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.headers)
        writer.writerows([show(cell) for cell in row] for row in self.rows)
        return text.getvalue() + "\n"


def percent_text(percent: float) -> str:
    """A part of something, in whole percent where that says enough."""
    return f"{percent:.0f} %" if percent >= 1 else f"{percent:.2g} %"


def show(cell: Cell) -> str:
    """A cell as text: numbers with as many decimals as mean something, at least one; what there is
    no value for is empty.
    """
    if cell is None:
        return ""
    if not isinstance(cell, float):
        return str(cell)
    if abs(cell) >= 99.95:
        return f"{cell:.1f}"
    text = f"{cell:.3f}".rstrip("0")
    text = f"{text}0" if text.endswith(".") else text
    return text.removeprefix("-") if float(text) == 0 else text


def instances_text(variant: ModelVariant, *, gpus: int) -> str:
    """`2:GPU + 1:CPU`; of an ensemble those of its parts, with commas between."""
    return ",".join(
        " + ".join(f"{count}:{kind}" for count, kind in part.instances(gpus=gpus))
        for part in variant.served
    )


Getter = Callable[[MeasuredTrial, Ranking], Cell]


def _joined(values: Iterable[Cell]) -> Cell:
    """One cell for several models: the value itself where there is only one."""
    cells = list(values)
    if all(cell is None for cell in cells):
        return None
    return cells[0] if len(cells) == 1 else ",".join(show(cell) for cell in cells)


# A header, and how to get the cell from what a row is about.
Column = tuple[str, Callable[..., Cell]]


def _load(kind: LoadKind) -> Getter:
    def get(item: MeasuredTrial, ranking: Ranking) -> Cell:
        loads = [work.load for work in item.trial.workloads]
        return _joined(load.value if load.kind is kind else None for load in loads)

    return get


def _intervals(item: MeasuredTrial, ranking: Ranking) -> Cell:
    """The files of the intervals."""
    return _joined(work.flags.get("request-intervals") for work in item.trial.workloads)


# The columns that say under which load a row was measured, by the field.
_LOADS: Mapping[str, Column] = {
    LoadKind.CONCURRENCY.value: ("Concurrency", _load(LoadKind.CONCURRENCY)),
    LoadKind.REQUEST_RATE.value: ("Request Rate", _load(LoadKind.REQUEST_RATE)),
    LoadKind.REQUEST_INTERVALS.value: ("Request Intervals", _intervals),
}


def _with_loads(fields: Sequence[str], items: Iterable[MeasuredTrial]) -> Sequence[str]:
    """The fields with those loads, in place of others, that there are: whatever was asked for, a
    table says what was measured.
    """
    kinds = {work.load.kind.value for item in items for work in item.trial.workloads}
    at = next((index for index, field in enumerate(fields) if field in _LOADS), None)
    if at is None or not kinds:
        return fields
    others = [field for field in fields[at + 1 :] if field not in _LOADS or field in kinds]
    return [
        *fields[:at],
        *(field for field in _LOADS if field in kinds and field not in others),
        *others,
    ]


def _variants(cell: Callable[[ModelVariant], Cell]) -> Getter:
    """A cell made of each variant of the trial."""
    return lambda item, _: _joined(cell(work.variant) for work in item.trial.workloads)


def _columns(gpus: int) -> Mapping[str, Column]:
    """The columns that are no metrics: header and how to get the cell."""
    return {
        "model_name": ("Model", lambda item, ranking: ranking.model),
        "batch_size": (
            "Batch",
            lambda item, _: _joined(work.load.batch_size for work in item.trial.workloads),
        ),
        **_LOADS,
        "model_config_path": ("Model Config Path", _variants(lambda variant: variant.full_name)),
        "instance_group": (
            "Instance Group",
            _variants(lambda variant: instances_text(variant, gpus=gpus)),
        ),
        "max_batch_size": (
            "Max Batch Size",
            _variants(lambda variant: _joined(part.max_batch_size for part in variant.served)),
        ),
        "satisfies_constraints": (
            "Satisfies Constraints",
            lambda item, ranking: "Yes" if ranking.goal.passes(item.measurement) else "No",
        ),
    }


def _metric(tag: str) -> Getter:
    """The metric; of several models `total, [one,other]`, where each has its own."""

    def get(item: MeasuredTrial, ranking: Ranking) -> Cell:
        value = item.measurement.value(tag)
        if len(item.trial.workloads) == 1 or value is None or METRICS[tag].is_of_the_server:
            return value
        own = [model.values.get(tag) for model in item.measurement.models]
        return f"{show(value)}, [{','.join(map(show, own))}]"

    return get


def _backend_parameter(key: str) -> Getter:
    def cell(variant: ModelVariant) -> Cell:
        parameters = variant.config.get("parameters", {})
        text: str | None = parameters.get(key, {}).get("string_value")
        return None if text is None else masked(key, text)

    return _variants(cell)


def inference_table(rankings: Sequence[Ranking], fields: Sequence[str], *, gpus: int) -> Table:
    """One row for each measurement, best first in each model. `fields` name the columns; one
    without any data is left out, with a warning.
    """
    parameters: dict[str, Column] = {
        field: (field, _backend_parameter(field.partition("/")[2]))
        for field in fields
        if field.startswith("backend_parameter/")
    }
    rows = _rows(rankings)
    fields = _with_loads(fields, (item for item, _ in rows))
    return _table("Inference", fields, rows, _columns(gpus), _metric, parameters)


def gpu_table(
    rankings: Sequence[Ranking], fields: Sequence[str], *, gpus: int, always: bool
) -> Table:
    """One row for each measurement and GPU, in the order of the inference table. Variants that
    only use CPUs have none, unless `always`.
    """
    rows = [
        ((item, ranking), uuid)
        for item, ranking in _rows(rankings)
        if reports_gpus(item, gpus=gpus, always=always)
        for uuid in item.measurement.gpus
    ]

    def of_row(column: Column) -> Column:
        header, get = column
        return header, lambda row, uuid: get(*row)

    columns: dict[str, Column] = {
        **{field: of_row(column) for field, column in _columns(gpus).items()},
        "gpu_uuid": ("GPU UUID", lambda row, uuid: uuid),
    }

    def metric(tag: str) -> Callable[..., Cell]:
        return lambda row, uuid: row[0].measurement.gpus[uuid].get(tag)

    fields = _with_loads(fields, (item for (item, _), _ in rows))
    return _table("GPU", fields, rows, columns, metric)


def server_table(server_only: Mapping[str, Values], fields: Sequence[str]) -> Table:
    """One row for each GPU (by UUID) under a server without models."""
    columns: dict[str, Column] = {
        "model_name": ("Model", lambda uuid, values: "triton-server"),
        "gpu_uuid": ("GPU UUID", lambda uuid, values: uuid),
    }

    def metric(tag: str) -> Callable[..., Cell]:
        return lambda uuid, values: values.get(tag)

    return _table("Server", fields, list(server_only.items()), columns, metric)


def reports_gpus(item: MeasuredTrial, *, gpus: int, always: bool) -> bool:
    """Whether GPU metrics of this measurement are to be shown: it has some, and its variants use
    GPUs, or the user wants them `always`.
    """
    return bool(item.measurement.gpus) and (
        always or any(work.variant.uses_gpus(gpus=gpus) for work in item.trial.workloads)
    )


def _rows(rankings: Sequence[Ranking]) -> Sequence[tuple[MeasuredTrial, Ranking]]:
    return [(item, ranking) for ranking in rankings for item in ranking.measured]


def _table(
    name: str,
    fields: Sequence[str],
    rows: Sequence[tuple[Any, ...]],
    columns: Mapping[str, Column],
    metric: Callable[[str], Callable[..., Cell]],
    sparse: Mapping[str, Column] = MappingProxyType({}),
) -> Table:
    """The `fields` of each row: one of `columns`, or a metric, or `sparse`; of the latter two
    those without any data are left out, with a warning.
    """
    headers: list[str] = []
    cells: list[list[Cell]] = []
    for field in fields:
        tag = ALIASES.get(field, field)
        if field in columns:
            header, get = columns[field]
        elif field in sparse:
            header, get = sparse[field]
        elif tag in METRICS:
            header, get = METRICS[tag].header, metric(tag)
        else:
            log.warning('%s output field "%s" is neither a metric nor a column', name, field)
            continue
        values = [get(*row) for row in rows]
        if rows and field not in columns and all(value is None for value in values):
            log.warning('%s output field "%s", has no data', name, field)
            continue
        headers.append(header)
        cells.append(values)
    return Table(headers=tuple(headers), rows=tuple(zip(*cells, strict=True)) if cells else ())


# Columns of reports about GPUs: headers and how to get the cells.
_GPU_COLUMNS: Sequence[tuple[str, Callable[[Measurement], Cell]]] = (
    ("Max GPU Memory Usage (MB)", lambda measurement: _whole(measurement.value("gpu_used_memory"))),
    ("Average GPU Utilization (%)", lambda measurement: measurement.value("gpu_utilization")),
)


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)


def _gpu_columns(
    items: Sequence[MeasuredTrial], *, gpus: int, always: bool
) -> Sequence[tuple[str, Sequence[Cell]]]:
    """The columns about GPUs that have any data: header and cells, one for each item."""
    shown = [reports_gpus(item, gpus=gpus, always=always) for item in items]
    columns = [
        (
            header,
            [
                get(item.measurement) if is_shown else None
                for item, is_shown in zip(items, shown, strict=True)
            ],
        )
        for header, get in _GPU_COLUMNS
    ]
    return [column for column in columns if any(cell is not None for cell in column[1])]


# What the tables of variants show anyway.
_IN_ANSWER = ("perf_throughput", "perf_latency_p99")
_TOKENS = ("output_token_throughput", "time_to_first_token_p99", "inter_token_latency_p99")
_IN_SUMMARY = (*_IN_ANSWER, "cpu_used_ram", "gpu_used_memory", "gpu_utilization")


def _goal_tags(results: Sequence[VariantResult], goal: Goal, shown: Collection[str]) -> list[str]:
    """The other metrics that the goal is about, as far as they were measured."""
    return [
        tag
        for tag in goal.tags
        if tag not in shown
        and any(result.best.measurement.value(tag) is not None for result in results)
    ]


def _has_ram(results: Sequence[VariantResult]) -> bool:
    return any(result.best.measurement.value("cpu_used_ram") for result in results)


def summary_table(
    results: Sequence[VariantResult], ranking: Ranking, *, gpus: int, always_gpus: bool = False
) -> Table:
    """One row for each variant, at its best measurement."""
    of_gpus = _gpu_columns([result.best for result in results], gpus=gpus, always=always_gpus)
    has_ram = _has_ram(results)
    several = "," in ranking.model
    tokens = [
        tag
        for tag in _TOKENS
        if any(result.best.measurement.value(tag) is not None for result in results)
    ]
    of_goal = _goal_tags(results, ranking.goal, (*_IN_SUMMARY, *tokens))
    headers = [
        "Model Config Name",
        "Max Batch Size",
        "Dynamic Batching",
        "Total Instance Count",
        "Load",
        *(METRICS[tag].header for tag in tokens),
        "Average p99 Latency (ms)" if several else "p99 Latency (ms)",
        "Total Throughput (infer/sec)" if several else "Throughput (infer/sec)",
    ]
    headers += [METRICS[tag].header for tag in of_goal]
    if has_ram:
        headers.append("Max CPU Memory Usage (MB)")
    headers += [header for header, _ in of_gpus]
    has_repeated = any(len(result.best.runs) > 1 for result in results)
    if has_repeated:
        headers.append("Measured")
    if ranking.goal.has_constraints:
        headers.append("Constraints")
    rows = []
    for index, result in enumerate(results):
        best = result.best
        served = [part for variant in result.variants for part in variant.served]
        row: list[Cell] = [
            result.telling_name,
            _joined(part.max_batch_size for part in served),
            _joined("Enabled" if part.has_dynamic_batching else "Disabled" for part in served),
            ",".join(instances_text(variant, gpus=gpus) for variant in result.variants),
            load_text(best.trial),
            *(_metric(tag)(best, ranking) for tag in tokens),
            _metric("perf_latency_p99")(best, ranking),
            _metric("perf_throughput")(best, ranking),
            *(_metric(tag)(best, ranking) for tag in of_goal),
        ]
        if has_ram:
            row.append(best.measurement.value("cpu_used_ram"))
        row += [cells[index] for _, cells in of_gpus]
        if has_repeated:
            row.append(_times(result))
        if ranking.goal.has_constraints:
            row.append(_constraints_cell(result, ranking.goal))
        rows.append(tuple(row))
    return Table(headers=tuple(headers), rows=tuple(rows))


def _constraints_cell(result: VariantResult, goal: Goal) -> str:
    if not result.passes:
        return f"missed by {percent_text(goal.shortfall(result.best.measurement))}"
    kept, runs = _kept(result, goal)
    return "met" if kept == runs else f"met in {kept} of {runs}"


def _meets(result: VariantResult, goal: Goal) -> str:
    kept, runs = _kept(result, goal)
    if 0 < kept < runs:
        return f"{kept} of {runs}"
    return "yes" if result.passes else "NO"


def _kept(result: VariantResult, goal: Goal) -> tuple[int, int]:
    """In how many of its measurements the best load meets the constraints, and how many it has."""
    runs = result.best.runs
    return sum(map(goal.passes, runs)), len(runs)


def _times(result: VariantResult) -> str:
    """How often the best load was measured."""
    count = len(result.best.runs)
    return "once" if count == 1 else f"{count} times"


_SHORT_HEADERS = {
    "perf_throughput": "Infer/s",
    "perf_latency_p99": "p99 ms",
    "output_token_throughput": "Tokens/s",
    "cpu_used_ram": "RAM MB",
}


def answer_table(results: Sequence[VariantResult], goal: Goal, *, gpus: int) -> Table:
    """The summary in as few characters as a terminal has: where tokens are judged, it has whole
    answers only as far as the goal is about them; where there are no constraints, nothing about
    them.
    """
    of_single_models = Axes(goal, results).of_single_models
    others = _goal_tags(results, goal, _IN_ANSWER)
    if _has_ram(results) and "cpu_used_ram" not in others:
        others.append("cpu_used_ram")
    judges_tokens = any(METRICS[tag].source is Source.LLM for tag in others)
    usual = [tag for tag in _IN_ANSWER if tag in goal.tags or not judges_tokens]
    tags = [*usual, *others]
    has_repeated = any(len(result.best.runs) > 1 for result in results)
    rows = []
    for result in results:
        best = result.best
        served = [part for variant in result.variants for part in variant.served]
        loads = [work.load for work in best.trial.workloads]
        rows.append(
            (
                result.telling_name,
                ",".join(instances_text(variant, gpus=gpus) for variant in result.variants),
                _joined(part.max_batch_size for part in served),
                _joined(_short(load) for load in loads),
                *(best.measurement.value(tag) for tag in tags),
                *(quantity.of(best.measurement) for quantity in of_single_models),
                *([_times(result)] if has_repeated else []),
                *([_meets(result, goal)] if goal.has_constraints else []),
            )
        )
    metrics = [_SHORT_HEADERS.get(tag, METRICS[tag].header) for tag in tags]
    metrics += [quantity.header for quantity in of_single_models]
    if has_repeated:
        metrics.append("Measured")
    if goal.has_constraints:
        metrics.append("Meets")
    headers = ("Configuration", "Instances", "Batch", "Load", *metrics)
    return Table(headers=headers, rows=tuple(rows))


def _short(load: Load) -> Cell:
    if load.kind is LoadKind.REQUEST_INTERVALS:
        return "from file"
    value = f"{load.value}/s" if load.kind is LoadKind.REQUEST_RATE else load.value
    return value if load.batch_size == 1 else f"{value} x {load.batch_size}"


_DETAILED = {
    "p99 Latency (ms)": "perf_latency_p99",
    "Client Response Wait (ms)": "perf_client_response_wait",
    "Server Queue (ms)": "perf_server_queue",
    "Server Compute Input (ms)": "perf_server_compute_input",
    "Server Compute Infer (ms)": "perf_server_compute_infer",
    "Server Compute Output (ms)": "perf_server_compute_output",
    "Throughput (infer/sec)": "perf_throughput",
    "p99 Time To First Token (ms)": "time_to_first_token_p99",
    "p99 Inter Token Latency (ms)": "inter_token_latency_p99",
    "Output Token Throughput (tokens/sec)": "output_token_throughput",
    "Max CPU Memory Usage (MB)": "cpu_used_ram",
}


def detailed_table(
    result: VariantResult, *, gpus: int = 0, offline: bool = False, always_gpus: bool = False
) -> Table:
    """Every measurement of one variant: online highest p99 latency first, offline highest
    throughput.
    """
    order = "perf_throughput" if offline else "perf_latency_p99"
    measured = sorted(
        result.measured, key=lambda item: item.measurement.value(order) or 0, reverse=True
    )
    present = {
        header: tag
        for header, tag in _DETAILED.items()
        if any(item.measurement.value(tag) is not None for item in measured)
    }
    of_gpus = _gpu_columns(measured, gpus=gpus, always=always_gpus)
    rows = tuple(
        (
            load_text(item.trial),
            *(item.measurement.value(tag) for tag in present.values()),
            *(cells[index] for _, cells in of_gpus),
            _requests(item.measurement),
        )
        for index, item in enumerate(measured)
    )
    headers = ("Load", *present, *(header for header, _ in of_gpus), "Requests")
    return Table(headers=headers, rows=rows)


def _requests(measurement: Measurement) -> Cell:
    counts = [model.requests for model in measurement.models]
    if all(count is None for count in counts):
        return None
    return counts[0] if len(counts) == 1 else " + ".join(show(count) or "?" for count in counts)


def composing_table(result: VariantResult) -> Table | None:
    """What the composing models did inside the server at the best measurement, in the order in
    which they are called; None if nothing was told about any.
    """
    rows = []
    for variant, model in zip(result.variants, result.best.measurement.models, strict=True):
        order = {part.model: place for place, part in enumerate(variant.with_parts())}
        for name in sorted(model.composing, key=lambda name: order.get(name, len(order))):
            values = model.composing[name]
            rows.append((name, *(values.get(tag) for tag in _COMPOSING.values())))
    return Table(headers=("Composing Model", *_COMPOSING), rows=tuple(rows)) if rows else None


_COMPOSING = {
    "Throughput (infer/sec)": "perf_throughput",
    "Server Queue (ms)": "perf_server_queue",
    "Server Compute Input (ms)": "perf_server_compute_input",
    "Server Compute Infer (ms)": "perf_server_compute_infer",
    "Server Compute Output (ms)": "perf_server_compute_output",
}
