# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The map of a search: the best result for each combination of two parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from model_analyzer.domain.metrics import METRICS, Better
from model_analyzer.results.columns import Cell
from model_analyzer.results.effects import in_order
from model_analyzer.results.ranking import Ranking, VariantResult
from model_analyzer.results.varied import varied_parameters

# Of all maps together; the first map is always complete.
_MOST_PLACES = 3000

# Of a map of one parameter: the row would be wider than screens.
_MOST_ALONE = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A combination of values: the best of its configurations, None if none was measured.

    `value` is its first objective, `share` (0 to 1) compares that with the best of the map; both
    are None if it has no such metric, and `share` is None unless it meets the constraints.
    `configurations` and `measurements` are their numbers, `failed` is the number of failed trials.
    """

    result: VariantResult | None
    value: float | None
    share: float | None
    configurations: int
    measurements: int
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


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchMaps:
    """The maps of a search by each pair of its parameters, the most telling first. Values are those
    of the metric `tag`.
    """

    tag: str
    maps: tuple[SearchMap, ...]


@dataclass(slots=True)
class _Tally:
    """The results for a combination of values."""

    best: VariantResult | None = None
    configurations: int = 0
    measurements: int = 0
    failed: int = 0


# A result or None for a failed trial, with the values of its parameters.
_Attempt = tuple[VariantResult | None, Mapping[str, Cell]]


def search_maps(ranking: Ranking) -> SearchMaps | None:
    """The maps of the parameters in which configurations differ, failed ones included.

    None for rankings across models, without measurements, if the configurations do not differ, and
    if they differ in very many values of one parameter only.
    """
    if ranking.is_across_models or not ranking.results:
        return None
    attempts = _attempts(ranking)
    names = list(dict.fromkeys(name for _, row in attempts for name in row))
    if not names:
        return None
    tag = ranking.goal.tags[0]
    if len(names) == 1 and len(_values(attempts, names[0])) > _MOST_ALONE:
        return None
    pairs = list(combinations(names, 2)) or [("", names[0])]
    maps: list[SearchMap] = []
    count = 0
    for down, across in pairs:
        rows, columns = _values(attempts, down), _values(attempts, across)
        count += len(rows) * len(columns)
        if not maps or count <= _MOST_PLACES:
            maps.append(_map(attempts, tag, (down, across), (rows, columns)))
    return SearchMaps(tag=tag, maps=tuple(maps))


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


def _map(
    attempts: Sequence[_Attempt],
    tag: str,
    names: tuple[str, str],
    values: tuple[tuple[Cell, ...], tuple[Cell, ...]],
) -> SearchMap:
    tallies: dict[tuple[Cell, Cell], _Tally] = {}
    for result, parameters in attempts:
        tally = tallies.setdefault((parameters.get(names[0]), parameters.get(names[1])), _Tally())
        if result is None:
            tally.failed += 1
            continue
        tally.configurations += 1
        tally.measurements += len(result.measured)
        tally.best = tally.best or result
    rows, columns = values
    top = _best([tally.best for tally in tallies.values() if tally.best], tag)
    return SearchMap(
        down=names[0],
        across=names[1],
        rows=rows,
        columns=columns,
        places=tuple(
            tuple(_place(tallies.get((row, column)), tag, top) for column in columns)
            for row in rows
        ),
    )


def _place(tally: _Tally | None, tag: str, top: float | None) -> Place | None:
    if tally is None:
        return None
    value = _value(tally.best, tag)
    passes = tally.best is not None and tally.best.passes
    return Place(
        result=tally.best,
        value=value,
        share=_share(value, top, tag) if passes else None,
        configurations=tally.configurations,
        measurements=tally.measurements,
        failed=tally.failed,
    )


def _best(results: Sequence[VariantResult], tag: str) -> float | None:
    """The best value of the results that meet the constraints."""
    values = [_value(result, tag) for result in results if result.passes]
    best = max if METRICS[tag].better is Better.HIGHER else min
    return best((value for value in values if value is not None), default=None)


def _value(result: VariantResult | None, tag: str) -> float | None:
    return None if result is None else result.best.measurement.value(tag)


def _share(value: float | None, top: float | None, tag: str) -> float | None:
    if value is None or top is None:
        return None
    small, large = (value, top) if METRICS[tag].better is Better.HIGHER else (top, value)
    return small / large if large > 0 else 1.0
