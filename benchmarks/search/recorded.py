# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of real runs as surfaces: the measurements count as the truth.

A recording is a CSV file with one row for each measurement of one model, as
`model-analyzer checkpoint export --format csv` writes it. These columns are used:

    model, variant, concurrency or request_rate, perf_throughput, perf_latency_avg,
    perf_latency_p99, cpu_used_ram (may be missing), failure (empty, or MODEL_NOT_LOADED, …),
    config.max_batch_size, config.instance_group.0.count, config.dynamic_batching… (the fields
    that differ between variants)

Rows of the same point are repetitions, and their mean is used. Every variant must have measurements
under every load, up to the first failed load. Instance counts increase by one; batch limits and
loads double. Values between two loads are interpolated over the logarithm of the load.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.search.families import limited_ways
from benchmarks.search.machine import Client, Floats, Response, Setting
from benchmarks.search.surface import AVERAGE, MEMORY, P99, THROUGHPUT, Axis, Noise, Surface, single
from model_analyzer.domain.trials import LoadKind
from model_analyzer.search.plan import doubling

Row = Mapping[str, str]

# This noise is added to the noise in the recording, as in a new measurement.
_NOISE = Noise(sigma=0.02, outliers=0.01)

# Limits are drawn in their middle.
_SHARE = 0.075


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """The values of a variant by load, ascending; `most` is the highest load that did not fail."""

    loads: Floats
    values: Mapping[str, Floats]
    memory: float
    most: float

    def at(self, loads: Floats, tag: str) -> Floats:
        return np.exp(np.interp(np.log(loads), np.log(self.loads), np.log(self.values[tag])))


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The curves of a recording by the setting of its model; other settings do not load."""

    model: str
    curves: Mapping[Setting, Curve]

    def respond(
        self, settings: Mapping[str, Setting], clients: Sequence[Client]
    ) -> Response | None:
        """The recorded values."""
        (client,) = clients
        curve = self.curves.get(settings[self.model])
        if curve is None:
            return None
        return Response(
            throughput=(curve.at(client.values, THROUGHPUT),),
            latency_avg=(curve.at(client.values, AVERAGE),),
            latency_p99=(curve.at(client.values, P99),),
            memory=curve.memory,
            fails=client.values > curve.most,
        )


def recorded_surfaces(directory: Path) -> Iterator[Surface]:
    """The surfaces of every recording in a directory: without constraints, and with constraints
    that 5 to 10 % of the points meet.

    Raises ValueError with the file name if a recording cannot be used.
    """
    for path in sorted(directory.glob("*.csv")):
        surface = recorded(path)
        yield surface
        for limited in limited_ways(surface):
            yield limited(surface, _SHARE)


def recorded(path: Path) -> Surface:
    """A recording as a surface without constraints. Raises ValueError if that is not possible."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    models = {row["model"] for row in rows}
    if len(models) != 1:
        raise ValueError(f"{path}: expected one model, found {len(models)}")
    (model,) = models
    kind = LoadKind.REQUEST_RATE if rows[0].get("request_rate") else LoadKind.CONCURRENCY
    loads = sorted({int(row[kind.value]) for row in rows})
    by_variant: dict[str, list[Row]] = {}
    for row in rows:
        by_variant.setdefault(row["variant"], []).append(row)
    curves = {}
    settings = {}
    for variant, group in by_variant.items():
        setting = _setting(group[0])
        settings[variant] = setting
        curve = _curve(path, variant, group, kind, loads)
        if curve is not None:
            curves[setting] = curve
    default = settings.pop(f"{model}_config_default", None)
    axis = Axis(
        instances=sorted({setting.instances for setting in settings.values()}),
        batch_limits=sorted({setting.batch_limit for setting in settings.values()}),
    )
    if default is None or default.instances != 1 or default.forms_batches:
        raise ValueError(
            f"{path}: expected a default with one instance and without dynamic batching"
        )
    _check_grid(path, axis, loads)
    return Surface(
        name=path.stem,
        family="recorded",
        facts=(single(model, max_batch_size=default.batch_limit),),
        options=_options(model, kind, axis, loads),
        axes={model: axis},
        loads=loads,
        source=Table(model=model, curves=curves),
        noise=_NOISE,
        load_kind=kind,
    )


def _setting(row: Row) -> Setting:
    batching = {
        key: cell for key, cell in row.items() if key.startswith("config.dynamic_batching") and cell
    }
    return Setting(
        instances=int(row.get("config.instance_group.0.count") or 1),
        batch_limit=max(int(row.get("config.max_batch_size") or 1), 1),
        forms_batches=bool(batching),
    )


def _curve(
    path: Path, variant: str, rows: Sequence[Row], kind: LoadKind, loads: Sequence[int]
) -> Curve | None:
    """The values of the variant by load; None if it has no measurement."""
    measured: dict[int, list[Row]] = {}
    for row in rows:
        if not row.get("failure"):
            measured.setdefault(int(row[kind.value]), []).append(row)
    if not measured:
        return None
    failed = [int(row[kind.value]) for row in rows if row.get("failure")]
    most = max(measured)
    wanted = [load for load in loads if load <= most]
    if sorted(measured) != wanted or (most < loads[-1] and not failed):
        raise ValueError(f"{path}: {variant} was not measured under all of the loads {loads}")

    def means(tag: str) -> Floats:
        return np.asarray([np.mean([float(row[tag]) for row in measured[load]]) for load in wanted])

    memory = [float(row[MEMORY]) for group in measured.values() for row in group if row.get(MEMORY)]
    return Curve(
        loads=np.asarray(wanted, dtype=float),
        values={tag: means(tag) for tag in (THROUGHPUT, AVERAGE, P99)},
        # what a variant needs at most is what it needs
        memory=max(memory, default=1.0),
        most=float(most) if failed else float("inf"),
    )


def _check_grid(path: Path, axis: Axis, loads: Sequence[int]) -> None:
    counts, limits = axis.instances, axis.batch_limits
    is_grid = (
        list(counts) == list(range(counts[0], counts[-1] + 1))
        and list(limits) == list(doubling(limits[0], limits[-1]))
        and list(loads) == list(doubling(loads[0], loads[-1]))
    )
    if not is_grid:
        raise ValueError(
            f"{path}: instances must increase by one, batch limits and loads must double; found"
            f" {list(counts)}, {list(limits)} and {list(loads)}"
        )


def _options(model: str, kind: LoadKind, axis: Axis, loads: Sequence[int]) -> Mapping[str, object]:
    load = kind.value
    return {
        "model_repository": "/models",
        "profile_models": {model: {"cpu_only": True}},
        "objectives": {THROUGHPUT: 1},
        "run_config_search_min_instance_count": axis.instances[0],
        "run_config_search_max_instance_count": axis.instances[-1],
        "run_config_search_min_model_batch_size": axis.batch_limits[0],
        "run_config_search_max_model_batch_size": axis.batch_limits[-1],
        f"run_config_search_min_{load}": loads[0],
        f"run_config_search_max_{load}": loads[-1],
    }
