# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Servers of plain formulas: what their numbers mean, and what is drawn from them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest

from benchmarks.search.families import SurfaceSet, is_constrained
from benchmarks.search.machine import Client, Response, Setting, Tail
from benchmarks.search.plain import PlainServer, plain_surfaces
from benchmarks.search.surface import Surface
from benchmarks.search.truth import Truth
from model_analyzer.domain.trials import LoadKind
from tests.sizes import small_and_full

SHARP = 80.0  # one limit gives way to the other within a percent


def server(**changes: Any) -> PlainServer:
    given = {"base_ms": 4.0, "item_ms": 1.0, "overhead_ms": 0.0, "sharpness": SHARP, **changes}
    return PlainServer(tail=Tail(base=2.0, loaded=1.0, power=1.0), **given)


def response(
    simulated: PlainServer, flight: float, *, instances: int = 1, limit: int = 8, forms: bool = True
) -> Response:
    setting = Setting(instances=instances, batch_limit=limit, forms_batches=forms)
    client = Client(kind=LoadKind.CONCURRENCY, values=np.array([flight]))
    answer = simulated.respond({"m": setting}, [client])
    assert answer is not None
    return answer


@pytest.mark.parametrize(
    ("flight", "instances", "changes", "expected"),
    [
        pytest.param(1, 1, {}, 200, id="one in 5 ms"),
        pytest.param(4, 1, {}, 500, id="four in a batch of 8 ms"),
        pytest.param(64, 1, {}, 667, id="no more than 8, in 12 ms"),
        pytest.param(64, 2, {}, 1333, id="on two instances"),
        pytest.param(64, 2, {"slowing": 1.0}, 667, id="that slow each other"),
        pytest.param(1, 2, {"slowing": 1.0}, 100, id="even if one of them is idle"),
        pytest.param(64, 2, {"cores": 1.0}, 667, id="that share a core"),
        pytest.param(2, 1, {"tile": 8}, 166.7, id="two padded to eight"),
        pytest.param(64, 1, {"knee": 4.0, "over_ms": 2.0}, 400, id="8 ms for 4 above the knee"),
        pytest.param(64, 1, {"ceiling": 300.0}, 300, id="no more than the ceiling"),
        pytest.param(64, 1, {"crowd": 32.0, "decline": 1.0}, 333, id="a crowd halves it"),
    ],
)
def test_throughput_by_load_and_setting(
    flight: float, instances: int, changes: dict[str, float], expected: float
) -> None:
    answer = response(server(**changes), flight, instances=instances)

    assert answer.throughput[0][0] == pytest.approx(expected, rel=0.01)
    assert answer.latency_avg[0][0] == pytest.approx(1000 * flight / answer.throughput[0][0])


def test_p99_grows_with_how_busy_it_is() -> None:
    busy, idle = response(server(), 64), response(server(overhead_ms=95.0), 1)

    assert busy.latency_p99[0][0] == pytest.approx(3 * busy.latency_avg[0][0], rel=0.01)
    assert idle.latency_p99[0][0] == pytest.approx(2.05 * idle.latency_avg[0][0], rel=0.01)


def test_without_a_batcher_requests_are_answered_one_by_one() -> None:
    assert response(server(), 64, forms=False).throughput[0][0] == pytest.approx(200, rel=0.01)


def test_a_setting_that_does_not_fit_is_not_loaded() -> None:
    small = server(weights_mb=100.0, item_mb=10.0, memory_mb=400.0)
    client = Client(kind=LoadKind.CONCURRENCY, values=np.ones(1))

    assert response(small, 1, instances=2).memory == 2 * (100 + 8 * 10)
    three = Setting(instances=3, batch_limit=8, forms_batches=True)
    assert small.respond({"m": three}, [client]) is None


@small_and_full("count", 12, None)
def test_sets_are_the_same_every_time_and_have_nothing_in_common(count: int | None) -> None:
    def some(which: SurfaceSet) -> Iterator[Surface]:
        return islice(plain_surfaces(which), count)

    tuning, reporting = (
        {surface.name: Truth(surface).best.merit for surface in some(which)} for which in SurfaceSet
    )

    assert [surface.name for surface in some(SurfaceSet.TUNING)] == list(tuning)
    assert not set(tuning.values()) & set(reporting.values())


def test_each_draw_is_free_and_within_two_constraints_that_few_points_meet() -> None:
    drawn = list(plain_surfaces(SurfaceSet.REPORTING))
    constrained = [surface for surface in drawn if is_constrained(surface)]
    shares = [Truth(surface).feasible for surface in constrained]
    assert (len(drawn), len(constrained)) == (99, 66)
    assert 0.04 < min(shares) <= max(shares) < 0.11
