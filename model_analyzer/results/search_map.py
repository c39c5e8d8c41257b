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
