# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The effects of parameters as rows to show; and the map of a search: the best result for each
combination of two parameters, as tables with a cell for each of their values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.metrics import METRICS, Better
from model_analyzer.domain.trials import load_words
from model_analyzer.domain.words import capitalized, counted, decimals_of, number_text, percent_text
from model_analyzer.reports.headline import unit_text
from model_analyzer.reports.parameters import is_swept, parameter_name, value_text
from model_analyzer.reports.tables import Table
from model_analyzer.results.columns import Cell, fewest_requests
from model_analyzer.results.effects import Effects, ValueEffect, in_order, varied_parameters
from model_analyzer.results.ranking import Ranking, VariantResult

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


# Of all maps together; the first map is always complete.
_MOST_PLACES = 3000

# Of a map of one parameter: the row would be wider than screens.
_MOST_ALONE = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A combination of values: the best of its configurations, None if none was measured.

    `value` is its first objective, `share` (0 to 1) compares that with the best of the map; both
    are None if it has no such metric, and `share` is None unless it meets the constraints.
    `failed` is the number of failed trials.
    """

    result: VariantResult | None
    value: float | None
    share: float | None
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchMap:
    """The best results by two parameters: `values` down and across, `places` row by row; None where
    nothing was tried. A map of one parameter has one row, and no parameter down ("").
    """

    down: str
    across: str
    rows: tuple[Cell, ...]
    columns: tuple[Cell, ...]
    places: tuple[tuple[Place | None, ...], ...]


# A result or None for a failed trial, with the values of its parameters.
_Attempt = tuple[VariantResult | None, Mapping[str, Cell]]


def search_maps(ranking: Ranking) -> Sequence[SearchMap]:
    """The maps by each pair of the parameters in which configurations differ, failed ones included,
    the most telling first. Values are those of the first metric of the goal.

    Empty for rankings across models, without measurements, if the configurations do not differ, and
    if they differ in very many values of one parameter only.
    """
    if ranking.is_across_models or not ranking.results:
        return ()
    attempts = _attempts(ranking)
    names = list(dict.fromkeys(name for _, row in attempts for name in row))
    if len(names) == 1 and len(_values(attempts, names[0])) > _MOST_ALONE:
        return ()
    pairs = list(combinations(names, 2)) or [("", name) for name in names]
    maps: list[SearchMap] = []
    count = 0
    for down, across in pairs:
        rows, columns = _values(attempts, down), _values(attempts, across)
        count += len(rows) * len(columns)
        if not maps or count <= _MOST_PLACES:
            places = _places(attempts, ranking.goal.tags[0], (down, across))
            maps.append(
                SearchMap(
                    down=down,
                    across=across,
                    rows=rows,
                    columns=columns,
                    places=tuple(
                        tuple(places.get((row, column)) for column in columns) for row in rows
                    ),
                )
            )
    return maps


def _attempts(ranking: Ranking) -> Sequence[_Attempt]:
    """All results, best first, then the failed trials."""
    served = [(result.variants, result.best.trial.gpus) for result in ranking.results]
    served += [
        (tuple(work.variant for work in failed.trial.workloads), failed.trial.gpus)
        for failed in ranking.failed
    ]
    results = [*ranking.results, *(None for _ in ranking.failed)]
    return list(zip(results, varied_parameters(served), strict=True))


def _values(attempts: Sequence[_Attempt], name: str) -> tuple[Cell, ...]:
    """The values of a parameter, in order."""
    return tuple(sorted({row.get(name) for _, row in attempts}, key=in_order))


def _places(
    attempts: Sequence[_Attempt], tag: str, names: tuple[str, str]
) -> Mapping[tuple[Cell, Cell], Place]:
    """The place of each combination of values that was tried."""
    down, across = names
    tried: dict[tuple[Cell, Cell], list[VariantResult | None]] = {}
    for result, parameters in attempts:
        tried.setdefault((parameters.get(down), parameters.get(across)), []).append(result)
    best = {values: next(filter(None, results), None) for values, results in tried.items()}
    passing = [_value(result, tag) for result in best.values() if result and result.passes]
    choose = max if METRICS[tag].better is Better.HIGHER else min
    top = choose((value for value in passing if value is not None), default=None)
    return {
        values: Place(
            result=result,
            value=_value(result, tag),
            share=_share(_value(result, tag), top, tag) if result and result.passes else None,
            failed=tried[values].count(None),
        )
        for values, result in best.items()
    }


def _value(result: VariantResult | None, tag: str) -> float | None:
    return None if result is None else result.best.measurement.value(tag)


def _share(value: float | None, top: float | None, tag: str) -> float | None:
    if value is None or top is None:
        return None
    small, large = (value, top) if METRICS[tag].better is Better.HIGHER else (top, value)
    return small / large if large > 0 else 1.0


class CellKind(Enum):
    """The state of a combination; its value is the class of its cell in a page."""

    MEETS = "meets"
    MISSES = "misses"
    FAILED = "failed"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True, kw_only=True)
class MapCell:
    """A combination as text: its best value, and `lines` about it. `share` (0 to 1) compares the
    value with the best of the map. `configuration` is that of the value, `is_recommended` says that
    it is the answer.
    """

    kind: CellKind
    value: str
    lines: tuple[str, ...] = ()
    share: float = 0.0
    configuration: str = ""
    is_recommended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MapGrid:
    """A map as a table: `name` is that of both parameters, `down` and `across` are those of each;
    `rows` have the value of the first parameter, and the cells.
    """

    name: str
    down: str
    across: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[MapCell, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MapView:
    """The maps of a search, the most telling first; `method` explains them, `kinds` are those of
    their cells, `answer` says what the answer is.
    """

    method: str
    answer: str
    grids: tuple[MapGrid, ...]
    kinds: frozenset[CellKind]


def map_view(ranking: Ranking) -> MapView | None:
    """The maps to show; None if there are none."""
    maps = search_maps(ranking)
    if not maps:
        return None
    tag = ranking.goal.tags[0]
    places = [place for row in maps[0].places for place in row if place is not None]
    decimals = decimals_of(place.value for place in places if place.value is not None)
    grids = tuple(_grid(each, ranking, decimals) for each in maps)
    cells = (cell for grid in grids for _, row in grid.rows for cell in row)
    metric = METRICS[tag]
    return MapView(
        method=(
            "Each cell has the best measurement of the configurations with these values:"
            f" {metric.name.lower()} ({unit_text(tag, ranking.currency)}), its load,"
            " and the requests that it is based on."
        ),
        answer="recommended" if ranking.any_passes else "nearest to the constraints",
        grids=grids,
        kinds=frozenset(cell.kind for cell in cells),
    )


def _grid(each: SearchMap, ranking: Ranking, decimals: int) -> MapGrid:
    down, across = (parameter_name(name) if name else "" for name in (each.down, each.across))
    labels = [value_text(value) if each.down else "Best" for value in each.rows]
    cells = (tuple(_cell(place, ranking, decimals) for place in row) for row in each.places)
    return MapGrid(
        name=f"{down} by {across[:1].lower()}{across[1:]}" if down else across,
        down=down,
        across=across,
        columns=tuple(map(value_text, each.columns)),
        rows=tuple(zip(labels, cells, strict=True)),
    )


def _cell(place: Place | None, ranking: Ranking, decimals: int) -> MapCell:
    if place is None:
        return MapCell(kind=CellKind.EMPTY, value="not measured")
    if place.result is None:
        return MapCell(
            kind=CellKind.FAILED, value="✗ failed", lines=(counted(place.failed, "trial"),)
        )
    value = "no value" if place.value is None else number_text(place.value, decimals)
    return MapCell(
        kind=CellKind.MEETS if place.result.passes else CellKind.MISSES,
        value=value,
        lines=tuple(_lines(place, place.result, ranking.goal)),
        share=place.share or 0.0,
        configuration=place.result.telling_name,
        is_recommended=place.result is ranking.results[0],
    )


def _lines(place: Place, result: VariantResult, goal: Goal) -> Iterator[str]:
    """The load and the evidence of the best measurement, and what else happened."""
    if not result.passes:
        missed = percent_text(goal.shortfall(result.best.measurement))
        yield f"○ misses by {missed}"
    yield capitalized(load_words(result.best.trial))
    requests = fewest_requests(result.best.measurement)
    if requests is not None:
        yield f"from {counted(requests, 'request')}"
    if place.failed:
        yield f"✗ {counted(place.failed, 'trial')} failed"
