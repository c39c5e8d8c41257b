# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The map of a search as tables: a cell for each combination of two parameter values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.loads import load_words
from model_analyzer.domain.metrics import METRICS
from model_analyzer.domain.numbers import decimals_of, number_text, percent_text
from model_analyzer.domain.words import capitalized, counted
from model_analyzer.reports.headline import unit_text
from model_analyzer.reports.swept import parameter_name, value_text
from model_analyzer.results.columns import fewest_requests
from model_analyzer.results.ranking import Ranking, VariantResult
from model_analyzer.results.search_map import Place, SearchMap, search_maps


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
