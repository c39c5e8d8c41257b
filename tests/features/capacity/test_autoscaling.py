# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What an autoscaler does with a load that doubles, falls or trembles."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest

from model_analyzer.features.capacity.facts.autoscaling import (
    TOLERANCE,
    Autoscaler,
    Moment,
    autoscaler_of,
    simulated,
)
from model_analyzer.features.capacity.facts.points import Carried, replicas_for
from model_analyzer.features.capacity.facts.sizing import Demand

HOUR_S = 3600.0

# one replica carries 50 requests/s
CARRIED = Carried(rate=50, low=48, high=52, first=None, kept=48, broken=52)


def scaler(rate: float, *, headroom: float = 0.2, loading_s: float = 0) -> Autoscaler:
    """An autoscaler for twice the rate."""
    demand = Demand(rate=2 * rate, headroom=headroom)
    return autoscaler_of(CARRIED, demand, loading_s=loading_s)


def steps(*levels: tuple[float, float]) -> Callable[[float], float]:
    """A load with these levels, each from a time on."""
    return lambda at_s: [level for start, level in levels if start <= max(at_s, 0)][-1]


def run(
    by: Autoscaler, load: Callable[[float], float], replicas: int, until_s: float = HOUR_S
) -> Sequence[Moment]:
    return list(simulated(by, load, until_s=until_s, replicas=replicas))


def turns(moments: Sequence[Moment]) -> int:
    """How often the number of replicas changes its direction."""
    numbers = [moment.wanted for moment in moments]
    changes = [b - a for a, b in pairwise(numbers) if a != b]
    return sum((a > 0) != (b > 0) for a, b in pairwise(changes))


@pytest.mark.parametrize("loading_s", [0, 1, 20, 90, 600])
@pytest.mark.parametrize("headroom", [0, 0.1, 0.2, 0.5])
@pytest.mark.parametrize("rate", [80, 133, 200, 377, 400])
def test_a_doubled_load_settles_at_the_predicted_replicas_without_oscillation(
    rate: float, headroom: float, loading_s: float
) -> None:
    by = scaler(rate, headroom=headroom, loading_s=loading_s)
    margin = 1 + max(headroom, TOLERANCE)
    before, predicted = (replicas_for(share * rate * margin, 50) for share in (1, 2))

    moments = run(by, steps((0, rate), (600, 2 * rate)), max(before, by.fewest), 3 * HOUR_S)

    settled = moments[-1]
    assert abs(settled.wanted - predicted) <= 1
    assert settled.ready == settled.wanted
    assert max(moment.wanted for moment in moments) <= predicted + 1
    assert turns(moments) == 0
    assert settled.load / settled.ready <= 50, "each replica carries its share"


def test_many_replicas_settle_within_the_tolerance_of_the_controller() -> None:
    by = scaler(2000)

    settled = run(by, steps((0, 2000), (600, 4000)), 48)[-1]

    assert 96 / (1 + TOLERANCE) <= settled.wanted <= 96
    assert settled.load / settled.ready <= 50


def test_a_load_that_trembles_within_the_tolerance_changes_nothing() -> None:
    by = scaler(400)

    moments = run(by, lambda at_s: 400 + 30 * math.sin(at_s / 40), 10)

    assert {moment.wanted for moment in moments} == {10}


def test_a_pause_shorter_than_the_window_removes_nothing() -> None:
    by = scaler(400)

    moments = run(by, steps((0, 400), (600, 100), (780, 400)), 10, 1800)

    assert {moment.wanted for moment in moments} == {10}


def test_replicas_are_removed_when_they_were_not_needed_for_the_window() -> None:
    by = scaler(400)

    moments = run(by, steps((0, 400), (600, 100)), 10)

    assert moments[-1].wanted == 3
    first = next(moment.at_s for moment in moments if moment.wanted < 10)
    last_high_s = 585  # the look before the load fell
    assert last_high_s + by.down_window_s <= first <= 660 + by.down_window_s
    assert turns(moments) == 0


def test_replicas_that_start_are_not_started_twice() -> None:
    by = scaler(500, loading_s=300)

    moments = run(by, steps((0, 500), (600, 1000)), 12)

    assert max(moment.wanted for moment in moments) == 24


def test_a_hundred_million_replicas_are_simulated_like_ten() -> None:
    by = Autoscaler(target=40, fewest=2, most=10**9, startup_s=120)

    moments = run(by, steps((0, 4e9), (600, 8e9), (1800, 4e9)), 10**8)

    assert max(moment.wanted for moment in moments) == 2 * 10**8
    assert moments[-1].ready == pytest.approx(10**8, rel=1e-6)


def test_the_pods_that_started_last_are_removed_first() -> None:
    by = Autoscaler(target=40, fewest=2, most=50, startup_s=5000)

    moments = run(by, steps((0, 400), (600, 800), (780, 300)), 10, 7200)

    assert max(moment.wanted for moment in moments) > 15
    assert (moments[-1].wanted, moments[-1].ready) == (8, 8)
    assert max(moment.ready for moment in moments) == 10


def test_limits_are_kept() -> None:
    by = Autoscaler(target=40, fewest=3, most=5, startup_s=0)

    assert run(by, steps((0, 1.0)), 5)[-1].wanted == 3
    assert run(by, steps((0, 900.0)), 3)[-1].wanted == 5


def test_settings_follow_from_the_demand_and_the_loading_time() -> None:
    by = autoscaler_of(CARRIED, Demand(rate=1000, headroom=0.25), loading_s=400)

    assert by == Autoscaler(target=40, fewest=2, most=31, startup_s=400)
    assert (by.up_period_s, by.down_window_s) == (405, 810)


def test_without_headroom_the_tolerance_of_the_controller_is_one() -> None:
    by = autoscaler_of(CARRIED, Demand(rate=1000, headroom=0), loading_s=None)

    assert by.target * (1 + TOLERANCE) == pytest.approx(50)
    assert (by.startup_s, by.up_period_s, by.down_window_s) == (0, 15, 300)


def test_a_known_lowest_rate_gives_the_fewest_replicas() -> None:
    by = autoscaler_of(CARRIED, Demand(rate=1000), loading_s=None, lowest=400)

    assert by.fewest == 10
