# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What one server carries, and how many replicas follow from it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.profiles import Profile, TrialRecord
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.features.capacity.facts.capacity import Gap, Knee, ModelCapacity, capacity_of
from model_analyzer.features.capacity.facts.points import (
    Carried,
    Keeps,
    is_as_good,
    reaches_at,
    replicas_for,
)
from model_analyzer.features.capacity.facts.sizing import Demand, Sizing, sizing_of
from model_analyzer.noise.noise_model import NoiseModel
from tests.features.capacity.replicas import DEFAULT, FAST, P99, capacity, closed_load, open_load
from tests.unit.builders import (
    at_least,
    at_most,
    goal,
    measurement,
    one_round,
    rank_one,
    record,
    variant,
)

# p99 grows tenfold from 80 to 100 requests/s and meets 50 ms between
P99_BELOW_110 = at_most(perf_latency_p99=110)
STEEP = (open_load(60, 12), open_load(80, 20), open_load(100, 200))


def carried(*records: TrialRecord, **options: object) -> Carried:
    known = capacity(*records, **options).replica.carried  # type: ignore[arg-type]
    assert known is not None
    return known


def sizing(known: ModelCapacity, rate: float, **demand: object) -> Sizing:
    answer = sizing_of(known, Demand(rate=rate, **demand))  # type: ignore[arg-type]
    assert answer is not None
    return answer


# --------------------------------------------------------------------- the rate of one server


def test_the_rate_is_between_the_one_that_keeps_and_the_one_that_breaks() -> None:
    known = carried(*STEEP)

    assert known.rate == pytest.approx(80 + 20 * math.log(50 / 20) / math.log(200 / 20))
    assert (known.kept, known.broken) == (80, 100)
    assert known.first == P99[0]
    assert known.low is not None
    assert known.high is not None
    assert 80 < known.low < known.rate < known.high < 100


def test_fewer_requests_make_it_less_sure() -> None:
    many, few = (
        carried(open_load(80, 20, requests=count), open_load(100, 200, requests=count))
        for count in (20_000, 1_000)
    )

    assert many.rate == few.rate
    assert few.low is not None
    assert few.high is not None
    assert many.low is not None
    assert many.high is not None
    assert few.high - few.low > 1.5 * (many.high - many.low)


def test_repetitions_at_a_rate_are_one_point() -> None:
    known = capacity(open_load(80, 10), open_load(80, 30), open_load(100, 200))

    assert [(point.rate, point.requests) for point in known.replica.points] == [
        (80, 40_000), (100, 20_000)
    ]  # fmt: skip
    assert known.replica.points[0].value("perf_latency_p99") == 20


def test_runs_that_disagree_keep_nothing_for_certain() -> None:
    """All of them count: not the lower half of the evidence."""
    known = capacity(*(open_load(80, p99) for p99 in (53, 60, 148, 162)), constraints=P99_BELOW_110)

    (point,) = known.replica.points
    assert point.value("perf_latency_p99") == pytest.approx(105.75)
    assert known.replica.keeps == {80: Keeps.UNSURE}
    assert known.replica.carried is not None
    assert known.replica.carried.low is None
    answer = sizing(known, 60)
    assert not answer.is_certain
    assert [outlook.holds for outlook in answer.outlooks] == [None, None, None]


def test_what_keeps_and_what_breaks_is_certain_beyond_the_interval() -> None:
    known = capacity(open_load(40, 20), open_load(60, 49), open_load(80, 90))

    assert list(known.replica.keeps.values()) == [Keeps.YES, Keeps.UNSURE, Keeps.NO]


def test_a_number_is_certain_by_the_lower_end_of_what_each_carries() -> None:
    known = capacity(*(open_load(80, p99) for p99 in (36, 40, 43)), open_load(100, 200))
    carried = known.replica.carried
    assert carried is not None
    assert carried.low is not None
    assert carried.low < carried.rate

    none, some = (sizing(known, 5 * carried.rate, headroom=share) for share in (0.0, 1.0))
    assert not none.is_certain
    assert none.enough is not None
    assert none.enough > none.replicas.number
    assert some.is_certain
    assert [outlook.holds for outlook in some.outlooks] == [True, True, True]


def look(rate: int, latencies: Sequence[float], started: float = 0.0) -> TrialRecord:
    """A round under an open load, with these latencies from intended times."""
    outcome = one_round(latencies, len(latencies) / rate, perf_send_lag_p99=0.1)
    return open_load(rate, None)._replace(outcome=replace(outcome, started=started))


def test_rounds_at_a_rate_are_pooled() -> None:
    """The short ones have not seen the queue."""
    short, long = [10.0] * 320, [10.0] * 3000 + [98.0] * 200
    known = capacity(*(look(80, latencies) for latencies in (short, short, short, long)))

    (point,) = known.replica.points
    assert point.requests == 4160
    assert point.value("perf_latency_p99") == pytest.approx(98, rel=0.02)
    assert known.replica.carried is None


def test_the_highest_throughput_is_that_of_all_rounds_of_a_trial() -> None:
    """A short look counts by chance more requests."""
    looks = [
        open_load(80, None)._replace(outcome=one_round([10.0] * requests, seconds))
        for requests, seconds in ((271, 3.0), (16_000, 200.0))
    ]

    assert capacity(*looks).replica.most == pytest.approx(16_271 / 203)


def test_the_knee_is_that_of_pooled_rounds() -> None:
    looks = [
        closed_load(load, 0)._replace(outcome=one_round([10.0] * requests, seconds))
        for load, requests, seconds in ((1, 500, 10.0), (1, 80, 1.0), (2, 550, 10.0))
    ]

    knee = capacity(*looks).replica.knee
    assert knee is not None
    assert knee.concurrency == 1
    assert knee.rate == pytest.approx(580 / 11)


def test_own_windows_replace_earlier_rounds() -> None:
    slow = look(80, [90.0] * 600, started=100)
    careful = open_load(80, 20)
    assert isinstance(careful.outcome, Measurement)
    outcomes = [replace(careful.outcome, started=started) for started in (200.0, 50.0)]
    later, earlier = (careful._replace(outcome=outcome) for outcome in outcomes)

    (point,) = capacity(slow, later).replica.points
    assert (point.requests, point.value("perf_latency_p99")) == (20_000, 20)
    (point,) = capacity(slow, earlier).replica.points
    assert point.requests == 20_600


def test_the_interval_of_rounds_reaches_further_upwards() -> None:
    """A short measurement has not seen the longest queue."""
    latencies = [10 - 10 * math.log(1 - share / 400) for share in range(400)]
    (point,) = capacity(look(80, latencies)).replica.points
    noise = NoiseModel([point.runs])

    interval = noise.interval(point.runs, "perf_latency_p99")
    value = point.value("perf_latency_p99")
    assert interval is not None
    assert value is not None
    below, above = reaches_at(point, "perf_latency_p99", noise)
    assert above > below
    assert (below, above) == pytest.approx(
        (math.log(value / interval.low), math.log(interval.high / value))
    )


def test_equal_variants_share_their_measurements() -> None:
    """Two names of the same content: each measurement counts once, for both."""
    twin = variant("m_config_7", max_batch_size=8, dynamic_batching={})
    first, second = open_load(80, 10), open_load(80, 12, of=twin)
    again = second._replace(trial=replace(second.trial, repetition=1))
    profile = Profile(records=(first, first._replace(trial=second.trial), again))
    ranking = rank_one(profile, "m", goal(*P99))

    for name in (FAST.name, twin.name):
        known = capacity_of(profile, ranking, batch_size=1, needed=100, variant=name)
        assert known.replica.variant.name == name
        assert [point.requests for point in known.replica.points] == [40_000]


def test_a_disturbed_measurement_does_not_count_against_a_higher_rate_that_keeps() -> None:
    """And it is measured again."""
    disturbed = capacity(open_load(40, 180), open_load(55, 11), *STEEP)

    assert disturbed.replica.carried == carried(open_load(55, 11), *STEEP)
    assert [rate for rate, keeps in disturbed.replica.keeps.items() if keeps is Keeps.YES] == [
        55, 60, 80
    ]  # fmt: skip
    (missing,) = disturbed.missing
    assert (missing.reason, missing.rates) == (Gap.CONTRADICTORY, (40, 80))


def test_the_tightest_constraint_breaks_first() -> None:
    limits = (*P99, *at_most(perf_latency_avg=10))
    known = carried(
        open_load(80, 20, perf_latency_avg=9.0),
        open_load(100, 60, perf_latency_avg=90.0),
        constraints=limits,
    )

    assert known.first == limits[1]
    assert known.rate == pytest.approx(80 + 20 * math.log(10 / 9) / math.log(10))


def test_a_server_that_does_not_keep_up_carries_no_more_than_it_answers() -> None:
    known = carried(open_load(80, 20), open_load(120, 45, answered=90))

    assert known.first is None
    assert known.broken == 120
    assert 80 < known.rate < 90


def test_an_estimate_between_two_rates_is_not_above_what_the_server_ever_answered() -> None:
    known = capacity(open_load(1389, 20, answered=1348), open_load(1736, 30, answered=1393))

    carried = known.replica.carried
    assert carried is not None
    assert (carried.kept, carried.rate, carried.broken) == (1389, 1393, 1736)
    assert carried.high == 1393


def test_a_rate_that_was_measured_as_kept_counts_although_a_little_less_was_answered() -> None:
    known = capacity(open_load(1389, 20, answered=1348), open_load(1736, 30, answered=1350))

    carried = known.replica.carried
    assert carried is not None
    assert (carried.kept, carried.rate) == (1389, 1389)


def test_chance_in_the_number_of_arrivals_is_no_backlog() -> None:
    """Of 400 Poisson arrivals, 5 % more or fewer are usual."""
    known = carried(open_load(80, 20, answered=74, requests=400), open_load(100, 30))

    assert known.broken is None


def test_without_a_constraint_a_server_carries_what_it_answers() -> None:
    known = carried(open_load(80, 20), open_load(120, 900, answered=90), constraints=())

    assert 80 < known.rate < 90


def test_nothing_is_said_beyond_the_measured_rates() -> None:
    known = carried(open_load(60, 12), open_load(80, 20))

    assert (known.rate, known.high, known.broken) == (80, None, None)


def test_no_rate_above_the_highest_throughput_is_carried() -> None:
    known = carried(closed_load(8, 95), open_load(60, 12), open_load(80, 20))

    assert (known.rate, known.high) == (80, 95)


def test_a_limit_on_throughput_does_not_count_for_one_server() -> None:
    limits = at_least(perf_throughput=1000)
    known = capacity(*STEEP, constraints=(*P99, *limits))

    assert (known.constraints, known.ignored) == (P99, limits)
    assert known.replica.carried is not None


def test_requests_of_several_inferences_are_counted_as_requests() -> None:
    known = capacity(
        open_load(80, 20, batch_size=4), open_load(100, 200, batch_size=4), batch_size=4
    )

    assert [point.answered for point in known.replica.points] == [80, 100]
    assert known.replica.most == 100


@pytest.mark.parametrize(
    ("throughputs", "knee"),
    [
        ({1: 100, 2: 190, 4: 200}, Knee(concurrency=2, rate=190)),
        ({1: 100, 2: 200, 4: 400}, None),
        ({1: 100}, None),
        ({2: 100, 4: 101}, Knee(concurrency=2, rate=100)),
    ],
)
def test_the_knee_is_where_more_requests_add_less_than_half(
    throughputs: dict[int, float], knee: Knee | None
) -> None:
    known = capacity(*(closed_load(load, value) for load, value in throughputs.items()))

    assert known.replica.knee == knee


# -------------------------------------------------------------------------------- the variant


def test_the_variant_that_carries_most_is_deployed() -> None:
    slower = [open_load(40, 20, of=DEFAULT), open_load(50, 200, of=DEFAULT)]
    known = capacity(*slower, *STEEP)

    assert known.replica.variant == FAST
    assert [other.variant for other in known.others] == [DEFAULT]
    assert capacity(*slower, *STEEP, variant=DEFAULT.name).replica.variant == DEFAULT


def test_of_equal_variants_the_recommended_one_is_deployed() -> None:
    """A little more throughput of the other one is chance."""
    known = capacity(open_load(80, 20, of=DEFAULT, answered=80.0), open_load(80, 20, answered=80.3))

    assert known.replica.variant == DEFAULT
    assert [other.variant for other in known.others] == [FAST]


def test_of_equal_variants_the_one_with_the_fewest_resources_is_deployed() -> None:
    """If it is unknown what the recommended one carries."""
    three, two = (
        variant(f"m_config_{count}", instance_group=[{"count": count, "kind": "KIND_CPU"}])
        for count in (3, 2)
    )
    known = capacity(
        *(closed_load(load, 30 + load, of=DEFAULT) for load in range(1, 9)),
        *(open_load(rate, p99, of=three) for rate, p99 in ((80, 20), (100, 200))),
        *(open_load(rate, p99, of=two) for rate, p99 in ((80, 20.1), (100, 201))),
    )

    assert known.replica.variant == two
    assert [other.variant for other in known.others] == [three, DEFAULT]


@pytest.mark.parametrize(
    ("first", "other", "needed", "is_equal"),
    [
        ((800, 780, 820), (795, 775, 815), 700, True),
        ((800, 780, 820), (795, 775, 815), 797, False),  # needs a second replica
        ((800, 795, 805), (700, 695, 705), 500, False),  # more than noise
        ((800, 780, None), (795, None, 815), 700, False),  # less sure
        ((800, None, None), (795, None, None), 700, True),
        ((800, None, None), (795, 775, None), 700, True),
    ],
)
def test_equal_are_as_many_replicas_that_differ_by_noise(
    first: Sequence[float | None], other: Sequence[float | None], needed: float, is_equal: bool
) -> None:
    most, less = (
        Carried(rate=rate or 0, low=low, high=high, first=None, kept=rate or 0, broken=None)
        for rate, low, high in (first, other)
    )

    assert is_as_good(less, most, needed) == is_equal


def test_a_recommended_variant_that_may_carry_more_is_named() -> None:
    """It was measured in a closed loop only."""
    known = capacity(
        closed_load(8, 300), open_load(40, 20, of=DEFAULT), open_load(50, 200, of=DEFAULT)
    )

    assert known.replica.variant == DEFAULT
    (missing,) = known.missing
    assert (missing.variant, missing.rates) == (FAST, (150, 210, 255))


def test_a_lucky_look_does_not_make_a_variant_the_one_that_may_carry_more() -> None:
    lucky = variant("m_config_2", max_batch_size=16)
    looks = [
        closed_load(8, 0, of=lucky)._replace(outcome=one_round([10.0] * requests, seconds))
        for requests, seconds in ((271, 3.0), (16_000, 200.0))
    ]
    known = capacity(
        *looks, closed_load(8, 85), open_load(40, 20, of=DEFAULT), open_load(50, 200, of=DEFAULT)
    )

    assert [missing.variant for missing in known.missing] == [FAST]


def test_measurements_of_another_server_do_not_count() -> None:
    other = ServerSetup(version="2.0.0")
    known = capacity(*STEEP, record(FAST, measurement(900, 1), setup=other))

    assert known.replica.most == 100
    assert [part.measurements for part in known.left_out] == [1]


def test_what_is_left_out_has_the_number_that_selects_it() -> None:
    """Measurements with other flags of the load are comparable here, but not for a ranking."""
    other = ServerSetup(version="2.0.0")
    known = capacity(closed_load(8, 100), *STEEP, record(FAST, measurement(900, 1), setup=other))

    assert known.replica.most == 100
    assert [part.conditions for part in known.left_out] == [3]


def test_a_variant_without_measurements_is_refused() -> None:
    with pytest.raises(ValueError, match="has no measurement of m_config_7"):
        capacity(*STEEP, variant="m_config_7")


def test_a_model_without_measurements_is_refused() -> None:
    with pytest.raises(ValueError, match="was not measured"):
        capacity(record(variant("n_config_0", model="n"), measurement(1, 1)))


# ----------------------------------------------------------------------------------- replicas


def test_replicas_serve_the_rate_with_headroom() -> None:
    known = capacity(*STEEP)  # 88 requests/s
    answer = sizing(known, 500, headroom=0.2)

    assert answer.replicas.number == math.ceil(600 / 87.96)
    assert answer.replicas.fewest is not None
    assert answer.replicas.most is not None
    assert answer.replicas.fewest <= answer.replicas.number <= answer.replicas.most


def test_nodes_follow_from_the_replicas_of_each() -> None:
    answer = sizing(capacity(*STEEP), 500, headroom=0.2, per_node=4)

    assert (answer.replicas.number, answer.nodes) == (7, 2)


def test_the_interval_is_open_where_nothing_was_measured() -> None:
    answer = sizing(capacity(open_load(60, 12), open_load(80, 20)), 500, headroom=0)

    assert (answer.replicas.number, answer.replicas.fewest) == (7, None)


def test_other_rates_say_what_they_need_and_what_they_do() -> None:
    less, same, more = sizing(capacity(*STEEP), 500, headroom=0.1).outlooks

    assert [outlook.rate for outlook in (less, same, more)] == [400, 500, 600]
    assert [outlook.replicas for outlook in (less, same, more)] == [6, 7, 8]
    assert [outlook.holds for outlook in (less, same, more)] == [True, True, True]
    assert more.each == pytest.approx(600 / 7)
    ((_, p99),) = more.values
    assert p99 is not None
    assert 20 < p99 < 50


def test_what_was_not_measured_may_hold_or_not() -> None:
    *_, more = sizing(capacity(open_load(80, 20)), 500, headroom=0).outlooks

    assert more.each > 80
    assert more.holds is None


@pytest.mark.parametrize(("rate", "each", "number"), [(0.3, 0.1, 3), (0.31, 0.1, 4), (1, 100, 1)])
def test_replicas_are_rounded_up_but_not_by_rounding_errors(
    rate: float, each: float, number: int
) -> None:
    assert replicas_for(rate, each) == number


def test_without_a_known_rate_there_is_no_answer() -> None:
    assert sizing_of(capacity(closed_load(8, 100)), Demand(rate=10)) is None


def test_more_load_never_needs_fewer_replicas() -> None:
    known = capacity(*STEEP)
    numbers: Sequence[int] = [sizing(known, rate).replicas.number for rate in range(1, 2000, 50)]

    assert list(numbers) == sorted(numbers)
