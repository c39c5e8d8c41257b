# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The map of a search, the parameters that span it, and its text."""

from __future__ import annotations

from typing import Any

import pytest

from model_analyzer.domain.models import ModelVariant
from model_analyzer.reports.importance import CellKind, MapView, SearchMap, map_view, search_maps
from model_analyzer.results.effects import varied_parameters
from model_analyzer.results.ranking import Ranking, rank_across
from tests.unit.builders import (
    at_most,
    failure,
    goal,
    known,
    measurement,
    objectives,
    ranking,
    record,
    variant,
)

SMALL = variant("m_config_default", max_batch_size=1)
LARGE = variant("m_config_0", max_batch_size=8)
BROKEN = variant("m_config_1", max_batch_size=64)


def view(ranked: Ranking) -> MapView:
    result = known(map_view(ranked))
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
        (CellKind.MISSES, "1,327", ("○ misses by 400 %", "Concurrency 32", "from 6,637 requests")),
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


DEFAULT = variant("m_config_default", max_batch_size=1)


def cpus(name: str, count: int, batch: int, **more: Any) -> ModelVariant:
    group = {"count": count, "kind": "KIND_CPU"}
    return variant(name, max_batch_size=batch, instance_group=[group], **more)


def best_map(ranked: Ranking) -> SearchMap:
    return search_maps(ranked)[0]


def grid(ranked: Ranking) -> list[list[float | str | None]]:
    """The values of the first map; "failed" and None where there is none."""
    return [
        [
            None if place is None else "failed" if place.result is None else place.value
            for place in row
        ]
        for row in best_map(ranked).places
    ]


def test_each_place_has_the_best_of_its_configurations() -> None:
    ranked = ranking(
        record(DEFAULT, measurement(100, 5)),
        record(cpus("m_config_0", 2, 8), measurement(300, 5)),
        record(cpus("m_config_1", 2, 8, dynamic_batching={}), measurement(400, 5)),
        record(cpus("m_config_1", 2, 8, dynamic_batching={}), measurement(350, 4), concurrency=2),
        record(cpus("m_config_2", 1, 8), measurement(200, 5)),
    )
    first = best_map(ranked)
    assert (first.down, first.across) == ("config.instance_group.count", "config.max_batch_size")
    assert (first.rows, first.columns) == ((1, 2), (1, 8))
    assert grid(ranked) == [[100, 200], [None, 400]]
    place = known(first.places[1][1])
    assert place.share == 1
    assert place.result is ranked.results[0]
    other = known(first.places[0][1])
    assert other.share == 0.5


def test_there_is_a_map_for_each_pair_of_parameters() -> None:
    maps = search_maps(
        ranking(
            record(DEFAULT, measurement(100, 5)),
            record(cpus("m_config_0", 2, 8, dynamic_batching={}), measurement(300, 5)),
        )
    )
    assert [(each.down.split(".")[1], each.across.split(".")[1]) for each in maps] == [
        ("instance_group", "max_batch_size"),
        ("instance_group", "dynamic_batching"),
        ("max_batch_size", "dynamic_batching"),
    ]


def test_results_that_miss_the_constraints_have_a_value_but_no_share() -> None:
    ranked = ranking(
        record(DEFAULT, measurement(100, 5)),
        record(cpus("m_config_0", 1, 8), measurement(900, 50)),
        by=goal(*at_most(perf_latency_p99=10)),
    )
    places = best_map(ranked).places[0]
    assert [place and (place.value, place.share) for place in places] == [(100, 1), (900, None)]


def test_failed_trials_are_on_the_map() -> None:
    ranked = ranking(
        record(DEFAULT, measurement(100, 5)),
        record(DEFAULT, failure(), concurrency=2),
        record(cpus("m_config_0", 1, 64), failure()),
    )
    assert grid(ranked) == [[100, "failed"]]
    measured, failed = best_map(ranked).places[0]
    assert measured is not None
    assert failed is not None
    assert (measured.failed, failed.failed) == (1, 1)


def test_where_low_is_better_the_lowest_is_the_best() -> None:
    ranked = ranking(
        record(DEFAULT, measurement(100, 8)),
        record(cpus("m_config_0", 1, 8), measurement(100, 4)),
        by=goal(wished=objectives(perf_latency_p99=1)),
    )
    assert [place and place.share for place in best_map(ranked).places[0]] == [0.5, 1]


def test_one_parameter_gives_one_row_and_none_no_map() -> None:
    ranked = ranking(
        record(DEFAULT, measurement(100, 5)), record(cpus("m_config_0", 1, 8), measurement(200, 5))
    )
    assert (best_map(ranked).down, best_map(ranked).across) == ("", "config.max_batch_size")
    assert grid(ranked) == [[100, 200]]
    assert not search_maps(ranking(record(DEFAULT, measurement(100, 5))))
    assert not search_maps(ranking())
    (across,) = rank_across([ranked], goal(), "best of all")
    assert not search_maps(across)


def test_very_many_values_of_one_parameter_have_no_map() -> None:
    def of(count: int) -> Ranking:
        variants = [cpus(f"m_config_{number}", 1, number) for number in range(1, count + 1)]
        return ranking(*(record(each, measurement(100, 5)) for each in variants))

    assert search_maps(of(40))
    assert not search_maps(of(41))


def test_many_values_have_fewer_maps_but_always_the_first() -> None:
    many = [
        cpus(f"m_config_{number}", number, 2 * number, priority=number) for number in range(1, 60)
    ]
    maps = search_maps(ranking(*(record(each, measurement(100, 5)) for each in many)))
    assert len(maps) == 1


# ---------------------------------------------------------------------- parameters that differ


@pytest.mark.parametrize(("gpus", "count"), [(0, 2), (1, 1), (4, 4)])
def test_what_is_not_set_counts_as_the_server_has_it(gpus: int, count: int) -> None:
    default = variant("m_config_default", max_batch_size=1, backend="onnxruntime")
    rows = varied_parameters([((default,), gpus), ((cpus("m_config_0", 3, 1),), gpus)])
    assert rows[0]["config.instance_group.count"] == count
    assert rows[1]["config.instance_group.count"] == 3
    assert "config.max_batch_size" not in rows[0]


def test_other_fields_are_named_as_in_the_configuration() -> None:
    delayed = variant("m_config_0", dynamic_batching={"max_queue_delay_microseconds": 100})
    rows = varied_parameters([((variant(),), 0), ((delayed,), 0)])
    assert rows == [
        {"config.dynamic_batching": "off"},
        {
            "config.dynamic_batching": "on",
            "config.dynamic_batching.max_queue_delay_microseconds": 100,
        },
    ]


def test_parameters_of_several_models_have_their_names() -> None:
    other = variant("n_config_0", model="n", max_batch_size=1)
    rows = varied_parameters([((DEFAULT, other), 0), ((cpus("m_config_0", 1, 8), other), 0)])
    assert rows == [{"config.m.max_batch_size": 1}, {"config.m.max_batch_size": 8}]


def test_parts_of_an_ensemble_count_instead_of_the_ensemble() -> None:
    ensembles = [
        variant(
            f"e_config_{number}",
            model="e",
            ensemble_scheduling={"step": [{"model_name": "m"}]},
            composing=[part],
        )
        for number, part in enumerate((DEFAULT, cpus("m_config_0", 1, 8)))
    ]
    rows = varied_parameters([((each,), 0) for each in ensembles])
    assert rows == [{"config.max_batch_size": 1}, {"config.max_batch_size": 8}]


def test_configurations_of_different_models_are_not_compared() -> None:
    other = variant("n_config_0", model="n", max_batch_size=1)
    assert varied_parameters([((DEFAULT,), 0), ((other,), 0)]) == [{}, {}]
