# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The noise of rounds, on simulated ones with fixed seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from model_analyzer.domain.histograms import Histogram
from model_analyzer.domain.measurements import Measurement, ModelMeasurement
from model_analyzer.noise import round_noise
from model_analyzer.noise.noise import Interval, Noise
from model_analyzer.noise.noise_model import NoiseModel
from model_analyzer.noise.pooling import pool
from model_analyzer.noise.ties import chance_to_meet, surely_met
from tests.sizes import small_and_full
from tests.unit.builders import at_most, goal, known, measurement, objectives

THROUGHPUT, P50, P99 = "perf_throughput", "perf_latency_p50", "perf_latency_p99"
RAM = "cpu_used_ram"


RATE = 200.0


def one_round(
    random: Random,
    requests: int = 200,
    *,
    drift: float = 0.0,
    spread: float = 0.3,
    clustering: float = 1.0,
    windows: float = 0.03,
) -> Measurement:
    """Independent log-normal latencies (median 10 ms), all slower by one draw of the `drift`; a
    throughput of 200 per second, whose eight windows differ by `windows` if they have 25 requests.
    """
    speed = math.exp(random.gauss(0, drift))
    latencies = [10 / speed * math.exp(random.gauss(0, spread)) for _ in range(requests)]
    noise = windows * math.sqrt(200 / requests)
    rates = [RATE * speed * math.exp(random.gauss(0, noise)) for _ in range(8)]
    return of_latencies(latencies, rates, clustering)


def of_latencies(
    latencies: Sequence[float], rates: Sequence[float] = (RATE,) * 8, clustering: float = 1.0
) -> Measurement:
    ordered = sorted(latencies)
    model = ModelMeasurement(
        values={
            THROUGHPUT: sum(rates) / len(rates),
            **{
                f"perf_latency_p{p}": ordered[round(p / 100 * (len(ordered) - 1))]
                for p in (50, 90, 95, 99)
            },
        },
        requests=len(ordered),
        windows=tuple(rates),
        seconds=len(ordered) / RATE,
        histograms={"perf_latency": Histogram.of(ordered, clustering)},
    )
    return Measurement(models=(model,))


def width(runs: Sequence[Measurement], tag: str, *others: Sequence[Measurement]) -> float:
    """The half width of an interval, as a fraction of the value."""
    interval = NoiseModel([runs, *others]).interval(runs, tag)
    value = pool(runs).value(tag)
    assert interval is not None
    assert value is not None
    assert interval.low < value < interval.high
    return (interval.high - interval.low) / 2 / value


@pytest.mark.parametrize("drift", [0.0, 0.02])
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("tag", [THROUGHPUT, P50, P99])
@small_and_full("draws", (40, 0.8), (250, 0.9))
def test_the_interval_holds_the_long_term_value(
    tag: str, count: int, drift: float, draws: tuple[int, float]
) -> None:
    true = {THROUGHPUT: 200.0, P50: 10.0, P99: 10 * math.exp(0.3 * 2.326)}[tag]
    random, held, (times, least) = Random(3), 0, draws
    for _ in range(times):
        trials = [[one_round(random, drift=drift) for _ in range(count)] for _ in range(4)]
        interval = known(NoiseModel(trials).interval(trials[0], tag))
        held += interval.low <= true <= interval.high
    assert held / times >= least


def test_more_requests_make_the_interval_narrower() -> None:
    for tag in (THROUGHPUT, P50, P99):
        widths = [width([one_round(Random(5), n)], tag) for n in (20, 100, 1000)]
        assert widths == sorted(widths, reverse=True), tag


def test_only_further_rounds_show_and_average_the_drift() -> None:
    random = Random(7)
    trials = [[one_round(random, 1000, drift=0.08) for _ in range(4)] for _ in range(10)]
    single = [[one_round(random, 4000, drift=0.08)] for _ in range(10)]
    model = NoiseModel([*trials, *single])
    one, several = model.of(single[0], THROUGHPUT), model.of(trials[0], THROUGHPUT)
    assert one is not None
    assert several is not None
    assert one.error == pytest.approx(0.08, rel=0.25)
    assert several.error == pytest.approx(0.04, rel=0.25)


def test_a_long_round_among_short_ones_has_its_drift_alone() -> None:
    random = Random(11)
    even, uneven = (
        [one_round(random, n) for n in counts] for counts in ((900,) * 3, (50, 50, 5000))
    )
    trials = [[one_round(random, drift=0.08) for _ in range(4)] for _ in range(10)]
    model = NoiseModel([*trials, even, uneven])
    errors = [(model.of(runs, THROUGHPUT) or Noise(0, 0)).error for runs in (even, uneven)]
    assert errors[1] == pytest.approx(math.sqrt(3) * errors[0], rel=0.1)


def test_an_unsteady_round_has_a_wider_interval_than_its_neighbours() -> None:
    random = Random(13)
    others = [[one_round(random)] for _ in range(10)]
    unsteady = [one_round(random, windows=0.3)]
    steady = [one_round(random)]
    assert width(unsteady, THROUGHPUT, *others) > 2 * width(steady, THROUGHPUT, unsteady, *others)


def test_latencies_that_are_alike_tell_less() -> None:
    alone, alike = (one_round(Random(17), 2000, clustering=each) for each in (1, 30))
    assert width([alike], P99) > 1.5 * width([alone], P99)


def test_the_interval_of_a_percentile_reaches_as_far_as_its_latencies() -> None:
    tail = [12 * 1.1**n for n in range(30)]
    runs = [of_latencies([*([10.0] * 2910), *([12.0] * 60), *tail])]
    interval = NoiseModel([runs]).interval(runs, P99)
    value = runs[0].value(P99)
    assert interval is not None
    assert value is not None
    assert interval.high / value > 1.2 * value / interval.low


def test_no_percentile_is_far_below_the_fastest_request() -> None:
    runs = [of_latencies([5.0] * 40 + [600.0] * 3, [1.0, 200.0] * 4)]
    interval = known(NoiseModel([runs]).interval(runs, P99))
    assert interval.low > 3.8


def test_ten_requests_do_not_tell_the_p99() -> None:
    runs = [one_round(Random(23), 10)]
    interval = known(NoiseModel([runs]).interval(runs, P99))
    assert interval.high > 10 * math.exp(0.3 * 2.326) > interval.low


def test_equal_latencies_have_the_noise_of_the_drift_alone() -> None:
    runs = [one_round(Random(29), spread=0.0, windows=0.0)]
    assert width(runs, P50) == pytest.approx(width(runs, "perf_latency_p90") / 1.3, rel=0.05)


def test_equal_latencies_may_have_a_tail_that_few_requests_do_not_show() -> None:
    few, many = (one_round(Random(29), n, spread=0.0, windows=0.0) for n in (50, 20_000))
    assert width([few], P99) > 1.5 * width([many], P99)


def test_without_a_histogram_the_percentiles_of_the_table_count() -> None:
    exact = one_round(Random(31), 1000)
    rough = replace(exact, models=(replace(exact.models[0], histograms={}),))
    assert width([rough], P99) == pytest.approx(width([exact], P99), rel=0.6)


def test_memory_has_the_noise_that_repetitions_show() -> None:
    def measured(ram: float) -> Measurement:
        return replace(one_round(Random(37)), host={RAM: ram})

    assert NoiseModel([[measured(500)]]).of([measured(500)], RAM) is None
    runs = [measured(490.0), measured(510.0)]
    noise = known(NoiseModel([runs]).of(runs, RAM))
    assert 0.01 < noise.error < 0.03
    assert NoiseModel([[measured(5)]]).expected_error([measured(5)], RAM) == 0


def with_ram(seed: int, ram: float) -> Measurement:
    """A round whose throughput changes much from window to window."""
    return replace(one_round(Random(seed), windows=0.3), host={RAM: ram})


def test_memory_that_was_always_the_same_has_no_interval_however_the_throughput_varies() -> None:
    runs = [with_ram(seed, 2811.3) for seed in range(3)]
    model = NoiseModel([runs])
    assert width(runs, THROUGHPUT) > 0.1
    assert model.interval(runs, RAM) == Interval(low=2811.3, high=2811.3)


def test_the_interval_of_memory_is_that_of_its_own_readings() -> None:
    steady = [with_ram(1, 500.0), with_ram(2, 500.0)]
    growing = [with_ram(3, 490.0), with_ram(4, 510.0)]
    model = NoiseModel([steady, growing])
    assert model.interval(steady, RAM) == Interval(low=500.0, high=500.0)
    interval = known(model.interval(growing, RAM))
    assert interval.low < 500
    # a single reading may be off by as much as those of other trials differ
    single = [with_ram(5, 500.0)]
    assert model.interval(single, RAM) not in (None, Interval(low=500.0, high=500.0))


def test_a_metric_that_was_not_measured_has_no_noise() -> None:
    runs = [one_round(Random(41))]
    assert NoiseModel([runs]).of(runs, "perf_server_queue") is None
    assert NoiseModel([runs]).interval(runs, "perf_server_queue") is None


def test_models_measured_together_have_the_noise_of_their_sum() -> None:
    random = Random(43)
    parts = [one_round(random).models[0] for _ in range(2)]
    both = [Measurement(models=tuple(parts))]
    model = NoiseModel([both])
    each = [model.of(both, THROUGHPUT, index) for index in range(2)]
    whole = known(model.of(both, THROUGHPUT))
    assert whole.error < max(noise.error for noise in each if noise is not None)
    assert model.interval(both, P99) is not None
    assert model.expected_error(both, THROUGHPUT) == max(noise.error for noise in each if noise)


def test_the_error_of_a_score_follows_its_objectives() -> None:
    runs = [one_round(Random(47))]
    model = NoiseModel([runs])
    fast, slow = model.of(runs, THROUGHPUT), model.of(runs, P99)
    assert fast is not None
    assert slow is not None
    assert model.score_error(goal(), runs) == pytest.approx(fast.error)
    wished = objectives(perf_throughput=1, perf_latency_p99=3)
    error = model.score_error(goal(wished=wished), runs)
    assert error == pytest.approx(math.hypot(fast.error / 4, slow.error * 3 / 4))
    unknown = goal(wished=objectives(gpu_utilization=1))
    assert model.score_error(unknown, runs) is None


def test_trials_that_were_not_measured_in_rounds_keep_their_noise() -> None:
    careful = [[measurement(100, windows=(99, 100, 101))] for _ in range(3)]
    alone = NoiseModel(careful).of(careful[0], THROUGHPUT)
    beside = NoiseModel([*careful, [one_round(Random(53), windows=0.5)]])
    assert beside.of(careful[0], THROUGHPUT) == alone
    assert beside.interval(careful[0], P99) is None


def test_the_chance_to_meet_a_bound_is_that_of_the_pooled_value() -> None:
    random = Random(59)
    by = goal(*at_most(perf_latency_p99=25.0))
    trials = {"near": [one_round(random, 150)], "long": [one_round(random, 20_000)]}
    chance = chance_to_meet(by, trials)
    assert 0.5 < chance("near") < chance("long")
    assert surely_met(by, trials, chance)("long")
    assert not surely_met(by, trials, lambda _: 0.6)("long")


def test_of_many_trials_some_of_all_times_tell_the_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(round_noise, "_MOST_TRIALS", 50)
    random = Random(5)
    steady = [[one_round(random) for _ in range(2)] for _ in range(150)]
    shaky = [[one_round(random, drift=0.2) for _ in range(2)] for _ in range(150)]
    noises = [
        round_noise.RoundNoise(groups).of(steady[0], P50)
        for groups in (steady, [*steady, *shaky], shaky)
    ]
    low, mixed, high = (each for each in noises if each is not None)
    assert low.error < mixed.error < high.error
    assert mixed.freedom < 100
