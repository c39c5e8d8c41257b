# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Several measurements of a trial as one: pooled rounds, and means of all others."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_analyzer.domain.histograms import Histogram
from model_analyzer.domain.measurements import Measurement, ModelMeasurement, Notice, NoticeKind
from model_analyzer.noise.pooling import histogram_of, pool
from tests.unit.builders import measurement, one_round, together

THROUGHPUT, P99 = "perf_throughput", "perf_latency_p99"

TWO_GPUS = {
    "GPU-a": {"gpu_used_memory": 100.0, "gpu_utilization": 20.0},
    "GPU-b": {"gpu_used_memory": 300.0, "gpu_utilization": 60.0},
}


# ------------------------------------------------------------------------------------- pooled

samples = st.lists(st.floats(0.1, 1000), min_size=1, max_size=50)


@given(st.lists(st.tuples(samples, st.floats(0.1, 10)), min_size=2, max_size=4))
def test_rounds_are_pooled_as_if_they_were_one(parts: list[tuple[list[float], float]]) -> None:
    every = [latency for latencies, _ in parts for latency in latencies]
    whole = one_round(every, sum(seconds for _, seconds in parts))
    pooled = pool([one_round(*part) for part in parts])
    assert pooled.value(THROUGHPUT) == pytest.approx(whole.value(THROUGHPUT))
    assert pooled.value("perf_latency_avg") == pytest.approx(whole.value("perf_latency_avg"))
    assert pooled.models[0].requests == len(every)
    assert pooled.models[0].seconds == pytest.approx(whole.models[0].seconds)
    assert pooled.models[0].histograms == whole.models[0].histograms
    assert pooled.value(P99) == pytest.approx(Histogram.of(every).quantile(0.99))


def test_a_percentile_is_no_mean_of_percentiles() -> None:
    steady, slow = [10.0] * 990, [100.0] * 10
    pooled = pool([one_round([*steady, *slow]), one_round([10.0] * 1000)])
    assert pooled.value(P99) == pytest.approx(10, rel=0.01)


def test_throughput_and_memory_follow_time_and_server_times_requests() -> None:
    short = replace(
        one_round([5.0] * 100, 1.0, perf_server_queue=8.0),
        gpus=TWO_GPUS,
        host={"cpu_used_ram": 70.0, "cpu_available_ram": 40.0},
    )
    more = {
        "GPU-a": {"gpu_used_memory": 150.0, "gpu_utilization": 80.0},
        "GPU-b": {"gpu_used_memory": 200.0, "gpu_utilization": 60.0},
    }
    long = replace(
        one_round([5.0] * 300, 2.0, perf_server_queue=4.0),
        gpus=more,
        host={"cpu_used_ram": 60.0, "cpu_available_ram": 30.0},
    )
    pooled = pool([short, long])
    assert pooled.value(THROUGHPUT) == pytest.approx(400 / 3)
    assert pooled.value("perf_server_queue") == pytest.approx(5)
    assert pooled.gpus["GPU-a"] == {
        "gpu_used_memory": 150.0,
        "gpu_utilization": pytest.approx((20 + 2 * 80) / 3),
    }
    assert pooled.gpus["GPU-b"]["gpu_used_memory"] == 300
    assert pooled.host == {"cpu_used_ram": 70.0, "cpu_available_ram": 30.0}


def test_a_round_without_a_histogram_gets_an_approximate_one() -> None:
    exact = one_round([10.0] * 100)
    rough = replace(exact, models=(replace(exact.models[0], histograms={}),))
    pooled = pool([exact, rough])
    assert pooled.value(P99) == pytest.approx(10, rel=0.01)
    assert pooled.models[0].histograms["perf_latency"].is_approximate
    assert pooled.models[0].histograms["perf_latency"].total == 200


def test_a_measurement_of_perf_analyzer_is_pooled_with_a_round() -> None:
    before = measurement(
        200, 9.0, requests=600, perf_latency_p50=4.0, perf_latency_p90=6.0, perf_latency_p95=7.0
    )
    pooled = pool([before, one_round([4.0] * 100, 1.0)])
    assert pooled.value(THROUGHPUT) == pytest.approx(700 / 4)
    assert pooled.models[0].requests == 700
    assert 6 < (pooled.value(P99) or 0) < 9


def test_without_counts_values_are_means_even_beside_a_round() -> None:
    unknown = measurement(200, 9.0)
    mean = pool([unknown, one_round([5.0] * 100)])
    assert mean.value(THROUGHPUT) == 150
    assert mean.value(P99) == 7


def test_latencies_between_tokens_have_extremes_and_percentiles_of_their_own() -> None:
    def tokens(between: list[float], per_s: float) -> Measurement:
        part = one_round([50.0] * 10, 1.0)
        values = {
            **part.models[0].values,
            "inter_token_latency_p99": max(between),
            "inter_token_latency_min": min(between),
            "inter_token_latency_max": max(between),
            "output_token_throughput": per_s,
        }
        histograms = {**part.models[0].histograms, "inter_token_latency": Histogram.of(between)}
        return Measurement(models=(replace(part.models[0], values=values, histograms=histograms),))

    pooled = pool([tokens([2.0] * 99, 80.0), tokens([3.0], 40.0)])
    assert pooled.value("inter_token_latency_min") == 2
    assert pooled.value("inter_token_latency_max") == 3
    assert pooled.value("inter_token_latency_p99") == pytest.approx(2, rel=0.02)
    assert pooled.value("output_token_throughput") == 60


def test_a_family_that_only_some_have_is_pooled_over_these() -> None:
    plain = one_round([5.0] * 100)
    values = {**plain.models[0].values, "time_to_first_token_p50": 7.0}
    histograms = {"time_to_first_token": Histogram.of([7.0])}
    timed = replace(plain.models[0], values=values, histograms=histograms)
    pooled = pool([plain, Measurement(models=(timed,))])
    assert pooled.value("time_to_first_token_p50") == pytest.approx(7, rel=0.01)


def test_each_model_is_pooled_by_its_own_counts() -> None:
    def both(first: int, second: int) -> Measurement:
        models = (one_round([5.0] * first).models[0], one_round([9.0] * second).models[0])
        return Measurement(models=models)

    pooled = pool([both(100, 30), both(200, 10)])
    assert pooled.model_value(0, THROUGHPUT) == 150
    assert pooled.model_value(1, THROUGHPUT) == 20


def test_values_of_called_models_follow_time() -> None:
    def calling(throughput: float, seconds: float) -> Measurement:
        part = one_round([5.0] * 100, seconds)
        composing = {"called": {THROUGHPUT: throughput}, "seldom": {"perf_server_queue": seconds}}
        return replace(part, models=(replace(part.models[0], composing=composing),))

    (model,) = pool([calling(90, 1.0), calling(60, 2.0)]).models
    assert model.composing == {
        "called": {THROUGHPUT: pytest.approx(70)},
        "seldom": {"perf_server_queue": pytest.approx(5 / 3)},
    }


@pytest.mark.parametrize(("requests", "kept"), [(100, 1), (150, 0)])
def test_enough_requests_together_need_no_notice(requests: int, kept: int) -> None:
    notice = Notice(kind=NoticeKind.FEW_REQUESTS, text="p99 is based on few requests")
    part = replace(one_round([5.0] * requests), notices=(notice,))
    assert len(pool([part, part]).notices) == kept


@pytest.mark.parametrize("family", ["perf_latency", "time_to_first_token"])
def test_nothing_is_known_of_latencies_without_percentiles(family: str) -> None:
    assert histogram_of(ModelMeasurement(values={THROUGHPUT: 1.0}, requests=5), family) is None


# -------------------------------------------------------------------------------------- means


def test_repetitions_are_averaged_metric_by_metric() -> None:
    first = together({"perf_throughput": 100.0, "perf_latency_p99": 8.0}, {"perf_throughput": 1.0})
    second = together({"perf_throughput": 110.0}, {"perf_throughput": 3.0})
    mean = pool([first, second])
    assert mean.model_value(0, "perf_throughput") == 105.0
    assert mean.model_value(0, "perf_latency_p99") == 8.0
    assert mean.model_value(1, "perf_throughput") == 2.0
    assert pool([first]) is first


def test_values_that_are_equal_in_all_repetitions_stay_exact() -> None:
    """A bound may be just that: the mean of 0.1, 0.1 and 0.1 is more, in floating point."""
    assert pool([measurement(0.1)] * 3).value("perf_throughput") == 0.1


def test_memory_of_repetitions_is_averaged_for_each_gpu() -> None:
    more = {"GPU-a": {"gpu_used_memory": 300.0}, "GPU-b": {"gpu_used_memory": 300.0}}
    mean = pool([measurement(gpus=TWO_GPUS), measurement(gpus=more)])
    assert mean.gpus["GPU-a"]["gpu_used_memory"] == 200.0
    assert mean.value("gpu_used_memory") == 500.0


def test_gpus_of_another_machine_count_as_those_of_the_first() -> None:
    here = {"GPU-a": {"gpu_used_memory": 100.0}, "GPU-b": {"gpu_used_memory": 200.0}}
    there = {"GPU-c": {"gpu_used_memory": 300.0}, "GPU-d": {"gpu_used_memory": 400.0}}

    mean = pool([measurement(), measurement(gpus=here), measurement(gpus=there)])

    assert mean.gpus == {"GPU-a": {"gpu_used_memory": 200.0}, "GPU-b": {"gpu_used_memory": 300.0}}
    assert mean.value("gpu_used_memory") == 500.0
