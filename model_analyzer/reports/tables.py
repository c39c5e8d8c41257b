# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Rows and columns, independent of any format."""

from __future__ import annotations

import csv
import io
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from model_analyzer.domain.metrics import ALIASES, METRICS
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.domain.trials import LoadKind
from model_analyzer.results.ranking import Ranking, VariantResult

log = logging.getLogger(__name__)

Cell = str | int | float | None


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


def show(cell: Cell) -> str:
    """A cell as text: numbers with as many decimals as mean something, at least one."""
    if not isinstance(cell, float):
        return str(cell)
    if abs(cell) >= 99.95:
        return f"{cell:.1f}"
    text = f"{cell:.3f}".rstrip("0")
    text = f"{text}0" if text.endswith(".") else text
    return text.removeprefix("-") if float(text) == 0 else text


def instances_text(variant: ModelVariant, *, gpus: int) -> str:
    """`2:GPU + 1:CPU`."""
    return " + ".join(f"{count}:{kind}" for count, kind in variant.instances(gpus=gpus))


Getter = Callable[[MeasuredTrial, VariantResult, Ranking], Cell]


def _load(kind: LoadKind) -> Getter:
    def get(item: MeasuredTrial, result: VariantResult, ranking: Ranking) -> Cell:
        load = item.trial.workloads[0].load
        return load.value if load.kind is kind else None

    return get


def _columns(gpus: int) -> Mapping[str, tuple[str, Getter]]:
    """The columns that are no metrics: header and how to get the cell."""
    return {
        "model_name": ("Model", lambda item, result, ranking: ranking.model),
        "batch_size": ("Batch", lambda item, *_: item.trial.workloads[0].load.batch_size),
        "concurrency": ("Concurrency", _load(LoadKind.CONCURRENCY)),
        "request_rate": ("Request Rate", _load(LoadKind.REQUEST_RATE)),
        "model_config_path": ("Model Config Path", lambda item, *_: item.trial.variants),
        "instance_group": (
            "Instance Group",
            lambda item, result, _: instances_text(result.variant, gpus=gpus),
        ),
        "max_batch_size": ("Max Batch Size", lambda item, result, _: result.variant.max_batch_size),
        "satisfies_constraints": (
            "Satisfies Constraints",
            lambda item, _, ranking: "Yes" if ranking.goal.passes(item.measurement) else "No",
        ),
    }


def _metric(tag: str) -> Getter:
    return lambda item, *_: item.measurement.value(tag)


def _backend_parameter(key: str) -> Getter:
    def get(item: MeasuredTrial, result: VariantResult, ranking: Ranking) -> Cell:
        parameters = result.variant.config.get("parameters", {})
        text: str | None = parameters.get(key, {}).get("string_value")
        return text

    return get


def inference_table(rankings: Sequence[Ranking], fields: Sequence[str], *, gpus: int) -> Table:
    """One row for each measurement, best first in each model. `fields` name the columns; one
    without any data is left out, with a warning.
    """
    columns = _columns(gpus)
    rows = [
        (item, result, ranking)
        for ranking in rankings
        for result in ranking.results
        for item in result.measured
    ]
    headers: list[str] = []
    cells: list[list[Cell]] = []
    for field in fields:
        if field in columns:
            header, get = columns[field]
        elif field.startswith("backend_parameter/"):
            header, get = field, _backend_parameter(field.partition("/")[2])
        elif ALIASES.get(field, field) in METRICS:
            tag = ALIASES.get(field, field)
            header, get = METRICS[tag].header, _metric(tag)
        else:
            log.warning('Inference output field "%s" is no metric and no column', field)
            continue
        values = [get(*row) for row in rows]
        if field not in columns and all(value is None for value in values):
            log.warning('Inference output field "%s", has no data', field)
            continue
        headers.append(header)
        cells.append(values)
    return Table(headers=tuple(headers), rows=tuple(zip(*cells, strict=True)) if cells else ())


def summary_table(results: Sequence[VariantResult], ranking: Ranking, *, gpus: int) -> Table:
    """One row for each variant, at its best measurement."""
    has_ram = any(result.best.measurement.value("cpu_used_ram") for result in results)
    headers = [
        "Model Config Name",
        "Max Batch Size",
        "Dynamic Batching",
        "Total Instance Count",
        "Load",
        "p99 Latency (ms)",
        "Throughput (infer/sec)",
    ]
    if has_ram:
        headers.append("Max CPU Memory Usage (MB)")
    headers.append("Constraints")
    rows = []
    for result in results:
        variant, best = result.variant, result.best
        row: list[Cell] = [
            variant.name,
            variant.max_batch_size,
            "Enabled" if variant.has_dynamic_batching else "Disabled",
            instances_text(variant, gpus=gpus),
            str(best.trial.workloads[0].load),
            best.measurement.value("perf_latency_p99"),
            best.measurement.value("perf_throughput"),
        ]
        if has_ram:
            row.append(best.measurement.value("cpu_used_ram"))
        row.append(
            "met"
            if result.passes
            else f"missed by {ranking.goal.shortfall(best.measurement):.0f} %"
        )
        rows.append(tuple(row))
    return Table(headers=tuple(headers), rows=tuple(rows))


def answer_table(results: Sequence[VariantResult], ranking: Ranking, *, gpus: int) -> Table:
    """The summary in as few characters as a terminal has."""
    rows = []
    for result in results:
        variant, best = result.variant, result.best
        load = best.trial.workloads[0].load
        rows.append(
            (
                variant.name,
                instances_text(variant, gpus=gpus),
                variant.max_batch_size,
                load.value if load.batch_size == 1 else f"{load.value} x {load.batch_size}",
                best.measurement.value("perf_throughput"),
                best.measurement.value("perf_latency_p99"),
                "yes" if result.passes else "NO",
            )
        )
    headers = ("Configuration", "Instances", "Batch", "Load", "Infer/s", "p99 ms", "Meets")
    return Table(headers=headers, rows=tuple(rows))


def detailed_table(result: VariantResult) -> Table:
    """Every measurement of one variant, highest p99 latency first."""
    columns = {
        "p99 Latency (ms)": "perf_latency_p99",
        "Client Response Wait (ms)": "perf_client_response_wait",
        "Server Queue (ms)": "perf_server_queue",
        "Server Compute Input (ms)": "perf_server_compute_input",
        "Server Compute Infer (ms)": "perf_server_compute_infer",
        "Server Compute Output (ms)": "perf_server_compute_output",
        "Throughput (infer/sec)": "perf_throughput",
        "Max CPU Memory Usage (MB)": "cpu_used_ram",
    }
    measured = sorted(
        result.measured,
        key=lambda item: item.measurement.value("perf_latency_p99") or 0,
        reverse=True,
    )
    present = {
        header: tag
        for header, tag in columns.items()
        if any(item.measurement.value(tag) is not None for item in measured)
    }
    rows = tuple(
        (
            str(item.trial.workloads[0].load),
            *(item.measurement.value(tag) for tag in present.values()),
            item.measurement.models[0].requests,
        )
        for item in measured
    )
    return Table(headers=("Load", *present, "Requests"), rows=rows)
