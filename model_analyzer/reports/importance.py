# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The effects of parameters as rows to show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from model_analyzer.domain.metrics import METRICS
from model_analyzer.domain.trials import load_words
from model_analyzer.domain.words import decimals_of, number_text
from model_analyzer.reports.parameters import is_swept, parameter_name, value_text
from model_analyzer.reports.tables import Table
from model_analyzer.results.columns import Cell
from model_analyzer.results.effects import Effects, ValueEffect

_MOST_VALUES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A parameter value, and the best result with it: as text, with its load, and as a `share` (0
    to 1) of the best result of all values. `measurements` is their number.
    """

    value: str
    best: str
    load: str
    share: float
    measurements: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterRow:
    """One parameter; `left_out` is the number of values without a bar."""

    name: str
    bars: tuple[Bar, ...]
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Importance:
    """The best results by parameter; `method` explains them."""

    method: str
    rows: tuple[ParameterRow, ...]


def importance_rows(effects: Effects | None) -> Importance | None:
    """The effects as rows to show; None if there are none."""
    if effects is None:
        return None
    metric = METRICS[effects.tag]
    among = ", among the measurements that meet the constraints" if effects.constrained else ""
    return Importance(
        method=(
            f"For each value: the best {metric.name.lower()} ({metric.unit}) with it and its load,"
            f" whatever the other parameters are{among}, and the number of measurements with it."
        ),
        rows=tuple(_row(*effect) for effect in effects.parameters.items()),
    )


def swept_table(effects: Effects | None) -> Table | None:
    """The best result for each value of the fields that only a user sweeps, in few columns; None if
    there are none. Searches vary instances, batch limits and loads by themselves.
    """
    if effects is None:
        return None
    metric = METRICS[effects.tag]
    rows: list[tuple[Cell, ...]] = []
    for name, values in effects.parameters.items():
        if is_swept(name):
            row = _row(name, values)
            rows += (
                (row.name, bar.value, bar.best, bar.load, bar.measurements) for bar in row.bars
            )
    headers = ("Parameter", "Value", f"Best {metric.header}", "Load", "Measured")
    return Table(headers=headers, rows=tuple(rows)) if rows else None


def _row(parameter: str, values: Sequence[ValueEffect]) -> ParameterRow:
    shown = _spread(values)
    bests = [value.best for value in values if value.best is not None]
    decimals = decimals_of(bests)
    top = max(bests, default=0.0)
    return ParameterRow(
        name=parameter_name(parameter),
        bars=tuple(
            Bar(
                value=value_text(value.value),
                best="none" if value.best is None else number_text(value.best, decimals),
                load="" if value.trial is None else load_words(value.trial),
                share=(value.best or 0.0) / top if top > 0 else 0.0,
                measurements=value.measurements,
            )
            for value in shown
        ),
        left_out=len(values) - len(shown),
    )


def _spread(values: Sequence[ValueEffect]) -> Sequence[ValueEffect]:
    """The values; if too many, evenly spaced ones that include the best."""
    if len(values) <= _MOST_VALUES:
        return values
    last = len(values) - 1
    indices = [round(last * index / (_MOST_VALUES - 1)) for index in range(_MOST_VALUES)]
    best = max(range(len(values)), key=lambda index: values[index].best or 0.0)
    if best not in indices:
        nearest = min(range(1, _MOST_VALUES - 1), key=lambda index: abs(indices[index] - best))
        indices[nearest] = best
    return [values[index] for index in indices]
