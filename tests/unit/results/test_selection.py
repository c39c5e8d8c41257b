# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What of a ranking is shown, and how much the best gains over the default."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.noise.noise import Interval, Noise, combined, ratio_noise
from model_analyzer.reports.front import pareto_front
from model_analyzer.results.answer import (
    AnswerVerdict,
    Gain,
    answer_of,
    gain_over_default,
    top,
    top_with_default,
)
from model_analyzer.results.ranking import Ranking, VariantResult
from tests.unit.builders import (
    at_most,
    goal,
    measurement,
    objectives,
    one_round,
    ranking,
    record,
    variant,
)


def ranked(
    *throughputs: float, default: float | None = None, p99: float = 1, by: Goal | None = None
) -> Ranking:
    """Variants 0, 1, … with these throughputs, and the default."""
    records = [
        record(variant(f"m_config_{index}", max_batch_size=index + 2), measurement(value, p99))
        for index, value in enumerate(throughputs)
    ]
    if default is not None:
        records.append(record(variant("m_config_default"), measurement(default, 1)))
    return ranking(*records, by=by)


def names(results: Sequence[VariantResult]) -> list[str]:
    return [result.name.removeprefix("m_config_") for result in results]


# ------------------------------------------------------------------------------------------ top


def test_the_top_are_the_best_in_order() -> None:
    order = ranked(10, 40, 20, 30, default=5)
    assert names(top(order, 2)) == ["1", "3"]
    assert names(top(order, 9)) == ["1", "3", "2", "0", "default"]


def test_only_those_that_pass_are_at_the_top() -> None:
    strict = goal(*at_most(perf_latency_p99=5))
    order = ranking(
        record(variant("m_config_0", max_batch_size=2), measurement(99, 9)),
        record(variant("m_config_1", max_batch_size=4), measurement(10, 2)),
        by=strict,
    )
    assert names(top(order, 3)) == ["1"]


def test_if_none_passes_the_nearest_are_shown() -> None:
    order = ranked(10, 40, p99=9, by=goal(*at_most(perf_latency_p99=5)))
    assert names(top(order, 1)) == ["1"]
    assert names(top(order, 3)) == ["1", "0"]


def test_the_default_is_shown_behind_the_top_if_it_is_not_among_them() -> None:
    assert names(top_with_default(ranked(10, 40, default=5), 1)) == ["1", "default"]
    assert names(top_with_default(ranked(10, 40, default=50), 2)) == ["default", "1"]
    assert names(top_with_default(ranked(10, 40), 1)) == ["1"]


def test_a_default_that_fails_is_shown_behind_those_that_pass() -> None:
    order = ranking(
        record(variant("m_config_default"), measurement(99, 9)),
        record(variant("m_config_1", max_batch_size=4), measurement(10, 2)),
        by=goal(*at_most(perf_latency_p99=5)),
    )
    assert names(top_with_default(order, 3)) == ["1", "default"]


def test_an_empty_ranking_shows_no_variants() -> None:
    assert list(top(ranking(), 3)) == list(top_with_default(ranking(), 3)) == []


# ----------------------------------------------------------------------------------------- gain


def test_the_gain_is_that_of_the_best_over_the_default() -> None:
    gain = gain_over_default(ranked(150, 200, default=100))
    assert gain is not None
    assert gain.percent == pytest.approx(100)
    assert gain.noise is None
    assert gain.is_clear


@pytest.mark.parametrize(
    ("best", "default", "is_reported"),
    [
        ({"concurrency": 8}, [{"concurrency": 8}], True),
        ({"concurrency": 8}, [{"concurrency": 1}], False),
        ({"concurrency": 8}, [{"concurrency": 8, "batch_size": 4}], False),
        # loads were tried, and none is better for the default
        ({"concurrency": 8}, [{"concurrency": 1}, {"concurrency": 2}], True),
    ],
)
def test_a_gain_is_reported_unless_it_may_come_from_the_load(
    best: dict[str, Any], default: Sequence[dict[str, Any]], is_reported: bool
) -> None:
    tried = [record(variant("m_config_default"), measurement(100), **load) for load in default]
    other = variant("m_config_0", max_batch_size=2)

    order = ranking(record(other, measurement(200), **best), *tried)

    assert (gain_over_default(order) is not None) is is_reported


@pytest.mark.parametrize("concurrencies", [[4], [4, 8]])
def test_where_the_default_refuses_the_clients_both_are_compared_under_one_of_its_loads(
    concurrencies: Sequence[int],
) -> None:
    default, best = variant("m_config_default", max_batch_size=1), variant("m_config_0")
    tried = [record(default, measurement(100 + each), concurrency=each) for each in concurrencies]
    large = record(best, measurement(900), concurrency=16, batch_size=8)

    without = gain_over_default(ranking(large, *tried))
    shared = record(best, measurement(208), concurrency=4)
    gain = gain_over_default(ranking(large, shared, *tried))

    assert without is None
    assert gain is not None
    assert gain.percent == pytest.approx(100)
    assert gain.at == shared.trial


def test_a_default_that_refuses_the_clients_is_not_called_as_good() -> None:
    default, best = variant("m_config_default", max_batch_size=1), variant("m_config_0")

    answer = answer_of(
        ranking(
            record(best, measurement(900), concurrency=16, batch_size=8),
            record(best, measurement(101), concurrency=4),
            record(default, measurement(100), concurrency=4),
        )
    )

    assert answer.verdict is AnswerVerdict.RECOMMENDED


@pytest.mark.parametrize(
    ("concurrency", "waiting_ms", "config", "is_reported"),
    [
        pytest.param(8, 4.0, {}, True, id="an instance with full batches that is always busy"),
        pytest.param(8, 1.0, {}, False, id="an instance that waits for requests"),
        pytest.param(4, 4.0, {}, False, id="batches that are not full"),
        pytest.param(
            8, 4.0, {"dynamic_batching": {"max_queue_delay_microseconds": 4000}}, False,
            id="requests that wait for others",
        ),
    ],
)  # fmt: skip
def test_a_gain_over_a_default_that_is_as_busy_as_it_can_be_is_reported(
    concurrency: int, waiting_ms: float, config: dict[str, Any], is_reported: bool
) -> None:
    times: dict[str, Any] = {
        "perf_server_queue": waiting_ms, "perf_server_compute_infer": 5.0,
    }  # fmt: skip
    default = variant("m_config_default", max_batch_size=4, **config)
    tried = record(default, measurement(100, 9, **times), concurrency=concurrency)
    best = record(variant("m_config_0", max_batch_size=2), measurement(200, 3), concurrency=16)

    assert (gain_over_default(ranking(best, tried)) is not None) is is_reported
    # where latency counts too, less of a load may be better
    soon = goal(wished=objectives(perf_latency_p99=1))
    assert gain_over_default(ranking(best, tried, by=soon)) is None


def test_a_tiny_gain_is_reported_for_any_load() -> None:
    default = record(variant("m_config_default"), measurement(100, windows=(95, 105)))
    best = record(variant("m_config_0"), measurement(103, windows=(98, 108)), concurrency=8)

    gain = gain_over_default(ranking(default, best))

    assert gain is not None
    assert not gain.is_clear


@pytest.mark.parametrize("order", [ranked(10), ranked(10, default=20), ranking()])
def test_without_a_default_to_beat_there_is_no_gain(order: Ranking) -> None:
    assert gain_over_default(order) is None


def best_and_default(best: Measurement, default: Measurement, by: Goal | None = None) -> Gain:
    gain = gain_over_default(
        ranking(
            record(variant("m_config_0", max_batch_size=2), best),
            record(variant("m_config_default"), default),
            by=by,
        )
    )
    assert gain is not None
    return gain


def test_the_windows_of_both_sides_give_the_noise_of_the_gain() -> None:
    """Half the 95 % interval of a ratio of 2; each side has a share in the noise of the other."""
    gain = best_and_default(
        measurement(200, windows=(190, 200, 210)), measurement(100, windows=(95, 105))
    )
    assert gain.percent == pytest.approx(100)
    best = Noise(error=math.sqrt((2 * 0.0025 + 0.01 / 3) / 3), freedom=3)
    base = Noise(error=math.sqrt((0.005 + 2 * 0.01 / 3) / 3), freedom=3)
    noise = ratio_noise(best, base)
    assert noise is not None
    assert gain.noise == pytest.approx(200 * noise.reach)
    assert gain.is_clear


def test_each_metric_brings_its_noise_into_a_gain_as_much_as_it_moves_it() -> None:
    by = goal(wished=objectives(perf_throughput=3, perf_latency_p99=1))
    new, old = variant("m_config_0", max_batch_size=2), variant("m_config_default")
    runs = ((new, [(300, 4.0), (330, 5.0)]), (old, [(100, 3.0), (108, 3.4)]))
    order = ranking(
        *(
            record(each, measurement(*values), repetition=number)
            for each, given in runs
            for number, values in enumerate(given)
        ),
        by=by,
    )
    gain, (best, base) = gain_over_default(order), (order.results[0].best, order.results[1].best)
    values = {tag: best.measurement.model_value(0, tag) or 0.0 for tag in by.tags}

    def moved(tag: str, by_share: float) -> float:
        throughput, p99 = (value * (1 + by_share * (of == tag)) for of, value in values.items())
        return by.gain_percent(measurement(throughput, p99), base.measurement)

    parts = [
        (
            abs(moved(tag, 1e-6) - moved(tag, -1e-6)) / 2e-6,
            ratio_noise(*(order.noise_model.of(item.runs, tag, 0) for item in (best, base))),
        )
        for tag in by.tags
    ]
    noise = combined(parts)
    assert gain is not None
    assert noise is not None
    assert gain.noise == pytest.approx(noise.reach)


def test_no_gain_is_told_over_a_default_without_a_value_of_an_objective() -> None:
    by = goal(wished=objectives(perf_throughput=1, time_to_first_token_p99=1))
    best = record(variant("m_config_0"), measurement(200, time_to_first_token_p99=3.0))
    for default in (measurement(100), measurement(100, time_to_first_token_p99=6.0)):
        ranked = ranking(best, record(variant("m_config_default"), default), by=by)
        has_all = len(default.models[0].values) == 2
        assert (gain_over_default(ranked) is not None) is has_all


def test_measurements_of_others_make_the_interval_of_a_gain_narrower() -> None:
    best, base = measurement(200, windows=(194, 200, 206)), measurement(100, windows=(97, 103))
    alone = best_and_default(best, base)
    others = [
        record(
            variant(f"m_config_{size}", max_batch_size=size), measurement(90, windows=(87, 90, 93))
        )
        for size in range(4, 14)
    ]
    among = gain_over_default(
        ranking(
            record(variant("m_config_0", max_batch_size=2), best),
            record(variant("m_config_default"), base),
            *others,
        )
    )
    assert among is not None
    assert among.noise is not None
    assert alone.noise is not None
    assert among.noise < 0.9 * alone.noise


def test_repetitions_give_the_noise_of_a_gain_in_any_metric() -> None:
    def repeated(of: ModelVariant, *latencies: float) -> list[TrialRecord]:
        return [
            record(of, measurement(9, p99), repetition=number)
            for number, p99 in enumerate(latencies)
        ]

    order = ranking(
        *repeated(variant("m_config_0", max_batch_size=2), 4.9, 5.1),
        *repeated(variant("m_config_default"), 9.9, 10.1),
        by=goal(wished=objectives(perf_latency_p99=1)),
    )
    gain = gain_over_default(order)
    assert gain is not None
    assert gain.percent == pytest.approx(100)
    assert gain.noise is not None
    assert 10 < gain.noise < 30


def test_a_gain_below_its_noise_is_not_clear() -> None:
    gain = best_and_default(
        measurement(103, windows=(98, 108)), measurement(100, windows=(95, 105))
    )
    assert gain.noise is not None
    assert 0 < gain.percent < gain.noise
    assert not gain.is_clear


def test_over_a_default_that_breaks_the_constraints_a_gain_is_reported_only_if_it_is_clear() -> (
    None
):
    strict = goal(*at_most(perf_latency_p99=5))
    order = ranking(
        record(variant("m_config_0", max_batch_size=2), measurement(50, 1)),
        record(variant("m_config_default"), measurement(100, 9)),
        by=strict,
    )
    assert gain_over_default(order) is None
    gain = best_and_default(measurement(150, 1), measurement(100, 9), strict)
    assert gain.percent == pytest.approx(50)


def test_a_recommendation_that_breaks_the_constraints_has_no_gain() -> None:
    order = ranking(
        record(variant("m_config_0", max_batch_size=2), measurement(200, 6)),
        record(variant("m_config_default"), measurement(100, 9)),
        by=goal(*at_most(perf_latency_p99=5)),
    )
    assert gain_over_default(order) is None


@pytest.mark.parametrize(
    ("gain", "clear"),
    [
        # without any evidence of noise, it is that of most measurements
        (Gain(percent=8, noise=None), False),
        (Gain(percent=9, noise=None), True),
        (Gain(percent=1, noise=0), True),
        (Gain(percent=0, noise=None), False),
        (Gain(percent=-50, noise=5), False),
        (Gain(percent=5, noise=5), False),
        (Gain(percent=6, noise=5), True),
        # 4.9 to 50 times the default, although half of the interval is more than the gain
        (Gain(percent=1470, noise=1820), True),
        (Gain(percent=1470, noise=4400), False),
    ],
)
def test_a_gain_is_clear_if_it_is_more_than_its_noise(gain: Gain, clear: bool) -> None:
    assert gain.is_clear is clear


def test_a_gain_with_a_large_noise_has_the_interval_of_a_ratio() -> None:
    twice_or_half = Gain(percent=1900, noise=2000 * math.log(2)).interval
    assert twice_or_half is not None  # 10 to 40 times
    assert [twice_or_half.low, twice_or_half.high] == pytest.approx([900, 3900])
    assert Gain(percent=20, noise=12).interval == Interval(low=8, high=32)
    assert Gain(percent=20, noise=None).interval is None
    assert Gain(percent=-100, noise=300).interval == Interval(low=-400, high=200)


def test_windows_on_one_side_give_no_noise() -> None:
    gain = best_and_default(measurement(200, windows=(190, 210)), measurement(100))
    assert gain.noise is None


def test_the_spread_of_throughput_is_no_noise_of_another_metric() -> None:
    latency = goal(wished=objectives(perf_latency_p99=1))
    gain = best_and_default(
        measurement(9, 1, windows=(8, 10)), measurement(9, 2, windows=(8, 10)), latency
    )
    assert gain.percent == pytest.approx(100)
    assert gain.noise is None


def test_no_percentage_is_told_over_a_default_that_has_nothing_of_the_objective() -> None:
    by = goal(*at_most(perf_latency_p99=30), wished=objectives(perf_goodput=1))
    slow = record(variant("m_config_default"), one_round([40.0] * 50, 1.0), concurrency=8)
    fast = record(variant("m_config_0"), one_round([20.0] * 50, 1.0), concurrency=8)

    ranked = ranking(fast, slow, by=by)

    assert ranked.results[1].best.measurement.value("perf_goodput") == 0
    assert gain_over_default(ranked) is None


def test_the_front_goes_from_the_cheapest_to_the_best() -> None:
    points = [(3.0, 30.0), (1.0, 10.0), (2.0, 5.0), (2.0, 20.0), (4.0, 30.0)]
    assert pareto_front(points) == [1, 3, 0]


def test_the_first_of_equal_points_is_on_the_front() -> None:
    assert pareto_front([(1.0, 1.0), (1.0, 1.0)]) == [0]


def test_no_points_have_no_front() -> None:
    assert pareto_front([]) == []
