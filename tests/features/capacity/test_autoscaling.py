# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What an autoscaler does with a load that doubles, falls or trembles.

Replicas over a trace of the load: every usual way to write one, and the line of each mistake.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import pairwise

import pytest

from model_analyzer.domain.costs import NodeType, Prices, Resources, fleet_for
from model_analyzer.errors import ConfigError
from model_analyzer.features.capacity.facts.autoscaling import (
    TOLERANCE,
    Autoscaler,
    DayCost,
    DayPlan,
    LoadTrace,
    Moment,
    autoscaler_of,
    day_cost,
    day_plan,
    simulated,
)
from model_analyzer.features.capacity.facts.points import Carried, replicas_for
from model_analyzer.features.capacity.facts.sizing import Demand
from model_analyzer.features.capacity.question import parse_trace

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
    settled = run(scaler(2000), steps((0, 2000), (600, 4000)), 48)[-1]

    assert 96 / (1 + TOLERANCE) <= settled.wanted <= 96
    assert settled.load / settled.ready <= 50


def test_a_load_that_trembles_within_the_tolerance_changes_nothing() -> None:
    moments = run(scaler(400), lambda at_s: 400 + 30 * math.sin(at_s / 40), 10)

    assert {moment.wanted for moment in moments} == {10}


def test_a_pause_shorter_than_the_window_removes_nothing() -> None:
    moments = run(scaler(400), steps((0, 400), (600, 100), (780, 400)), 10, 1800)

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
    moments = run(scaler(500, loading_s=300), steps((0, 500), (600, 1000)), 12)

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


WHOLE_HOUR_S = 3600

# one replica carries 50 requests/s


def plan(*rates: float, every_s: float = WHOLE_HOUR_S, loading_s: float = 0) -> DayPlan:
    times = tuple(every_s * index for index in range(len(rates)))
    trace = LoadTrace(times_s=times, rates=rates, labels=tuple(map(str, times)))
    demand = Demand(rate=trace.peak, headroom=0.25)
    scaler = autoscaler_of(CARRIED, demand, loading_s=loading_s, lowest=trace.lowest)
    return day_plan(trace, CARRIED, demand, scaler)


def test_a_constant_load_takes_as_much_with_an_autoscaler() -> None:
    day = plan(400, 400, 400)

    assert (day.hours, day.fixed, day.fixed_hours) == (3, 10, 30)
    assert day.autoscaled_hours == pytest.approx(30)
    assert day.short_s == 0


def test_an_autoscaler_takes_less_where_the_load_falls() -> None:
    day = plan(400, 80, 80, 400)

    assert day.fixed_hours == 40
    # 10 replicas for two hours, 2 for two hours, and 10 until the window for removal has passed
    assert 24 < day.autoscaled_hours < 26
    assert [period.needed for period in day.periods] == [10, 2, 2, 10]
    assert [period.autoscaled for period in day.periods] == [10, 10, 2, 10]


def test_replicas_are_too_few_while_others_start() -> None:
    quick, slow = plan(100, 400), plan(100, 400, loading_s=300)

    assert 0 < quick.short_s <= 90
    assert slow.short_s >= 300


def test_a_long_trace_is_shown_in_parts() -> None:
    day = plan(*range(1, 97), every_s=900)

    assert len(day.periods) == 24
    assert [period.rate for period in day.periods] == list(range(4, 97, 4))
    assert day.periods[1].label == "3600"


def test_a_trace_shorter_than_a_look_of_the_controller_is_planned() -> None:
    day = plan(100, 50, every_s=1)

    assert day.autoscaled_hours == pytest.approx(day.fixed_hours)


def test_both_are_priced_by_whole_nodes_of_the_same_type() -> None:
    """Of four replicas on a node, ten need three, and two need one: not a half."""
    day = plan(400, 80, 80, 400)
    four = NodeType(name="four", price=Decimal(8), gpus={"GPU": 4})
    single = NodeType(name="single", price=Decimal(3), gpus={"GPU": 1})
    fleet = fleet_for(
        Prices(currency="USD", date="", nodes=(four, single)), Resources(gpus=("GPU",)), day.fixed
    )

    cost = day_cost(day, fleet)

    assert fleet.unit == "four"
    assert cost is not None
    assert cost.fixed == 3 * 8 * 4
    by_whole_nodes = [-(-replicas // 4) * 8 for replicas in day.autoscaled]
    assert float(cost.autoscaled) == pytest.approx(4 * sum(by_whole_nodes) / len(by_whole_nodes))
    assert float(cost.autoscaled) > 2 * day.autoscaled_hours


def test_a_constant_load_costs_as_much_with_an_autoscaler() -> None:
    day = plan(400, 400)
    fleet = fleet_for(
        Prices(currency="USD", date="", gpus={"GPU": Decimal("0.3")}),
        Resources(gpus=("GPU",)),
        day.fixed,
    )

    assert day_cost(day, fleet) == DayCost(fixed=Decimal(6), autoscaled=Decimal(6))


def test_the_requests_of_a_trace_are_counted_over_its_time() -> None:
    assert plan(400, 80, 80, 400).requests == 960 * WHOLE_HOUR_S


@pytest.mark.parametrize(
    "text",
    [
        "time,rate\n8:00,10\n08:30,20\n9:30:00,5\n",
        "0,10\n1800,20\n5400,5",
        "\n seconds , requests/s \n0, 10\n\n1800, 20\n5400, 5\n",
        "time,rate\n2026-11-23T08:00:00,10\n2026-11-23T08:30:00,20\n2026-11-23 09:30,5\n",
        "# note\ntime,rate\n0,10\n# lunch, at half past\n1800,20\n5400,5",
        "# time,rate\n0,10\n1800,20\n5400,5",
        "time,min_rate\n0,10\n1800,20\n5400,5",
        "time,admin requests\n0,10\n1800,20\n5400,5",
        "daytime,daytime load\n0,10\n1800,20\n5400,5",
        "2026-11-23T08:00+01:00,1e1\n2026-11-23T07:30:00Z,20\n2026-11-23T09:30+01:00,5\n",
    ],
)
def test_times_and_rates_are_read(text: str) -> None:
    trace = parse_trace(text, "day.csv")

    assert trace.times_s == (0, 1800, 5400)
    assert trace.rates == (10, 20, 5)
    assert trace.end_s == 9000
    assert (trace.peak, trace.lowest) == (20, 5)


@pytest.mark.parametrize(
    ("at_s", "rate"), [(-1, 10), (0, 10), (1799, 10), (1800, 20), (5400, 5), (1e9, 5)]
)
def test_a_rate_holds_until_the_next(at_s: float, rate: float) -> None:
    assert parse_trace("0,10\n1800,20\n5400,5", "day.csv").rate(at_s) == rate


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "day.csv:1:1: a trace needs at least two rows of time and rate"),
        ("time,rate\n0,1\n", "day.csv:1:1: a trace needs at least two rows"),
        ("time,id\n0,1\n9,2\n", "day.csv:1:1: 'id' is not known to be requests per second"),
        ("time,rpm\n0,1\n9,2\n", "day.csv:1:1: 'rpm' is not known to be requests per second"),
        ("t,rate (1/min)\n0,1\n9,2\n", "'rate (1/min)' is not known to be requests per sec"),
        ("t,requests_min\n0,1\n9,2\n", "'requests_min' is not known to be requests per sec"),
        ("t,requests per minute\n0,1\n9,2\n", "'requests per minute' is not known"),
        ("# time,rph\n0,1\n9,2\n", "day.csv:1:1: 'rph' is not known to be requests per second"),
        ("0,1\n10,x\n", "day.csv:2:1: 'x' is not a rate"),
        ("0,1\n10,-1\n", "day.csv:2:1: '-1' is not a rate"),
        ("0,1\n10,1e10\n", "day.csv:2:1: '1e10' is not a rate"),
        ("0,1\n10,nan\n", "day.csv:2:1: 'nan' is not a rate"),
        ("0,1\nnoon,1\n", "day.csv:2:1: 'noon' is not a time (write 14:30, or seconds)"),
        ("0,1\n\n0,2\n", "day.csv:3:1: the time 0 is not after the last one"),
        ("0,1\n1\n", "day.csv:2:1: expected a time and a rate, found 1 cell"),
        ("0,1\n1,2,3\n", "day.csv:2:1: expected a time and a rate, found 3 cells"),
        ("0,1\n" + "x" * 200_000 + ",1", "day.csv:2:1: is not valid CSV: field larger"),
        ("0,0\n1,0\n", "day.csv:1:1: the trace has no requests"),
        ("0,1\n1e9,1\n", "day.csv:2:1: a trace of more than 100 days"),
        ("0,1\n" + "".join(f"{n},1\n" for n in range(1, 100_002)), "more than 100000 rows"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_line(text: str, problem: str) -> None:
    with pytest.raises(ConfigError) as raised:
        parse_trace(text, "day.csv")

    assert problem in str(raised.value)
