# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The map of a search as text."""

from __future__ import annotations

from model_analyzer.reports.map_grid import CellKind, MapView, map_view
from model_analyzer.results.ranking import Ranking
from tests.unit.builders import at_most, failure, goal, measurement, ranking, record, variant

SMALL = variant("m_config_default", max_batch_size=1)
LARGE = variant("m_config_0", max_batch_size=8)
BROKEN = variant("m_config_1", max_batch_size=64)


def view(ranked: Ranking) -> MapView:
    result = map_view(ranked)
    assert result is not None
    return result


def test_cells_have_value_load_and_requests() -> None:
    shown = view(
        ranking(
            record(SMALL, measurement(98.7, 5, requests=1)),
            record(LARGE, measurement(1327.4, 50, requests=6637), concurrency=32),
            record(BROKEN, failure(), concurrency=2),
            record(BROKEN, failure()),
            by=goal(*at_most(perf_latency_p99=10)),
        )
    )
    (grid,) = shown.grids
    assert (grid.name, grid.columns) == ("Max batch size", ("1", "8", "64"))
    ((label, cells),) = grid.rows
    assert label == "Best"
    assert [(cell.kind, cell.value, cell.lines) for cell in cells] == [
        (CellKind.MEETS, "99", ("Concurrency 1", "from 1 request")),
        (
            CellKind.MISSES,
            "1,327",
            ("○ misses by 400 %", "Concurrency 32", "from 6,637 requests"),
        ),
        (CellKind.FAILED, "✗ failed", ("2 trials",)),
    ]
    assert [cell.is_recommended for cell in cells] == [True, False, False]
    assert [cell.configuration for cell in cells] == ["m_config_default", "m_config_0", ""]
    assert shown.kinds == {CellKind.MEETS, CellKind.MISSES, CellKind.FAILED}
    assert "with these values: throughput (infer/sec), its load" in shown.method


def test_a_measured_place_mentions_failed_trials() -> None:
    shown = view(
        ranking(
            record(SMALL, measurement(99, 5)),
            record(SMALL, failure(), concurrency=2),
            record(LARGE, measurement(99, 5)),
        )
    )
    (_, (first, second)) = shown.grids[0].rows[0]
    assert first.lines == ("Concurrency 1", "✗ 1 trial failed")
    assert second.lines == ("Concurrency 1",)


def test_if_nothing_meets_the_constraints_the_ring_is_around_the_nearest() -> None:
    records = [record(SMALL, measurement(99, 50)), record(LARGE, measurement(99, 60))]
    limit = goal(*at_most(perf_latency_p99=10))
    assert view(ranking(*records)).answer == "recommended"
    assert view(ranking(*records, by=limit)).answer == "nearest to the constraints"


def test_there_is_no_map_of_one_configuration() -> None:
    assert map_view(ranking(record(SMALL, measurement(99, 5)))) is None
