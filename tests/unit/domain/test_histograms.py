# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Histograms of latencies: their text, their percentiles, and what several are together; the times
of requests to a language model, together: their text, and how many meet limits.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_analyzer.domain.histograms import (
    MOST_REQUESTS,
    Histogram,
    JointHistogram,
    RequestTimes,
    is_histogram,
    is_joint_histogram,
)
from model_analyzer.noise.pooling import approximate, merged

WIDTH = math.exp(0.01)

latencies = st.floats(1e-5, 1e7)
samples = st.lists(latencies, min_size=1, max_size=60)
histograms = samples.map(Histogram.of)
digits = st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", max_size=80)


@given(samples)
def test_a_histogram_counts_every_latency_in_its_bin(values: list[float]) -> None:
    histogram = Histogram.of(values)
    assert histogram.total == len(values)
    assert is_histogram(histogram.text)
    assert Histogram(histogram.text).counts == histogram.counts
    assert list(histogram.counts) == sorted(histogram.counts)


@given(samples, st.floats(0, 1))
def test_a_quantile_is_less_than_a_bin_from_that_of_the_latencies(
    values: list[float], share: float
) -> None:
    ordered = sorted(values)
    rank = share * (len(ordered) - 1)
    low, high = ordered[math.floor(rank)], ordered[math.ceil(rank)]
    exact = low + (rank - math.floor(rank)) * (high - low)
    assert exact / WIDTH <= Histogram.of(values).quantile(share) * (1 + 1e-9)
    assert Histogram.of(values).quantile(share) <= exact * WIDTH * (1 + 1e-9)


@given(histograms, st.floats(0, 1), st.floats(0, 1))
def test_quantiles_grow_with_their_share(histogram: Histogram, a: float, b: float) -> None:
    assert histogram.quantile(min(a, b)) <= histogram.quantile(max(a, b)) * (1 + 1e-9)


@given(histograms, histograms, histograms)
def test_merging_is_associative_and_commutative(a: Histogram, b: Histogram, c: Histogram) -> None:
    first, last = merged([merged([a, b]), c]), merged([a, merged([b, c])])
    assert first.text == last.text == merged([c, b, a]).text
    assert first.clustering == pytest.approx(last.clustering)


@given(samples, samples)
def test_a_merged_histogram_is_that_of_all_latencies(a: list[float], b: list[float]) -> None:
    assert merged([Histogram.of(a), Histogram.of(b)]) == Histogram.of([*a, *b])


def test_the_clustering_of_several_counts_by_their_latencies() -> None:
    few, many = Histogram.of([1.0], clustering=9), Histogram.of([2.0] * 3, clustering=5)
    assert merged([few, many]).clustering == 6
    assert merged([]).total == 0


@given(digits)
def test_every_text_of_digits_has_a_meaning(text: str) -> None:
    histogram = Histogram(text)
    if is_histogram(text) and histogram.total:
        assert 0 < histogram.quantile(0.99) < math.inf


@pytest.mark.parametrize(
    "text", ["g", "A\n", " ", "é", "gggggggA", "A" * 10_000, "A,B", "A" * 9000 + "!"]
)
def test_other_texts_are_refused(text: str) -> None:
    assert not is_histogram(text)


def test_impossible_latencies_are_in_the_outer_bins() -> None:
    assert [*Histogram.of([0.0, 1e300]).counts] == [0, 3219]


def test_equal_latencies_need_few_characters() -> None:
    assert len(Histogram.of([7.0] * 10_000).text) <= 6
    assert len(Histogram.of([1.01**n for n in range(300)]).text) <= 310


# ------------------------------------------------------------------------- a few percentiles

PERCENTILES = (0.5, 0.9, 0.95, 0.99)
rises = st.lists(st.floats(0, 2), min_size=4, max_size=4)


@given(st.floats(0.01, 1e4), rises, st.integers(1, 5000))
def test_an_approximate_histogram_has_the_given_percentiles(
    first: float, factors: list[float], count: int
) -> None:
    known, value = {}, first
    for share, factor in zip(PERCENTILES, factors, strict=True):
        value *= 1 + factor
        known[share] = value
    histogram = approximate(known, count)
    assert histogram is not None
    assert histogram.is_approximate
    assert histogram.total == count
    for share, value in known.items():
        at_most = sum(n for bin_, n in histogram.counts.items() if _start(bin_) <= value)
        below = sum(n for bin_, n in histogram.counts.items() if _start(bin_ + 1) < value)
        assert below - 1 <= share * count <= at_most + 1


def _start(bin_: int) -> float:
    return 1e-6 * math.exp(bin_ / 100) * (1 - 1e-9)


def test_between_percentiles_of_a_log_normal_distribution_the_approximation_is_exact() -> None:
    normal = NormalDist(2, 0.5)
    known = {share: math.exp(normal.inv_cdf(share)) for share in PERCENTILES}
    histogram = approximate(known, 100_000)
    assert histogram is not None
    for share in (0.02, 0.3, 0.7, 0.93, 0.97, 0.999):
        assert histogram.quantile(share) == pytest.approx(math.exp(normal.inv_cdf(share)), rel=0.01)


def test_one_percentile_is_no_histogram() -> None:
    assert approximate({0.99: 5.0}, 100) is None
    assert approximate({0.5: 4.0, 0.99: 5.0}, 0) is None
    assert approximate({0.5: 0.0, 0.99: 5.0}, 100) is None


def test_a_merged_histogram_is_as_approximate_as_its_parts() -> None:
    rough = approximate({0.5: 4.0, 0.99: 5.0}, 100)
    assert rough is not None
    assert merged([Histogram.of([4.0]), rough]).is_approximate


times = st.floats(1e-5, 1e7)
requests = st.builds(RequestTimes, times, times, st.none() | times)

# Each meets two of three limits, and one meets all.
LATENCY, FIRST, BETWEEN = "perf_latency", "time_to_first_token", "inter_token_latency"
LIMITS = {LATENCY: 100.0, FIRST: 20.0, BETWEEN: 10.0}
MIXED = JointHistogram.of(
    [
        RequestTimes(90, 10, 5),
        RequestTimes(120, 10, 5),
        RequestTimes(90, 40, 5),
        RequestTimes(90, 10, 15),
    ]
)


@given(st.lists(requests, max_size=40))
def test_the_text_has_every_request(values: list[RequestTimes]) -> None:
    histogram = JointHistogram.of(values)
    assert histogram.total == len(values)
    assert is_joint_histogram(histogram.text)
    assert histogram.within({}) == len(values)


@given(requests)
def test_times_are_kept_to_one_percent(request_times: RequestTimes) -> None:
    histogram = JointHistogram.of([request_times])
    for name, time in zip((LATENCY, FIRST, BETWEEN), request_times, strict=True):
        if time is not None:
            assert histogram.within({name: time * WIDTH * 1.0001}) == 1
            assert histogram.within({name: time / WIDTH / 1.0001}) == 0


def test_a_request_has_to_meet_all_limits() -> None:
    assert MIXED.within(LIMITS) == 1
    assert MIXED.within({FIRST: 20.0, BETWEEN: 10.0}) == 2
    assert MIXED.within({FIRST: 20.0}) == 3
    assert MIXED.within({FIRST: 5.0}) == 0


def test_a_single_response_has_no_time_between_tokens_to_be_too_long() -> None:
    histogram = JointHistogram.of([RequestTimes(10, 10, None), RequestTimes(12, 10, 2)])
    assert histogram.within({BETWEEN: 1.0}) == 1
    assert histogram.within({BETWEEN: 3.0}) == 2


def test_equal_requests_are_one_cell() -> None:
    few, many = (JointHistogram.of([RequestTimes(90, 10, 5)] * n) for n in (1, 30))
    assert len(many.text) == len(few.text)
    assert many.total == 30


def test_the_longest_text_is_accepted() -> None:
    values = [
        RequestTimes(10 ** (n % 14 - 6), 10 ** ((n * 3) % 14 - 6), 10 ** ((n * 5) % 14 - 6) + n)
        for n in range(MOST_REQUESTS)
    ]
    assert is_joint_histogram(JointHistogram.of(values).text)


@given(digits)
def test_any_text_of_numbers_has_some_meaning(text: str) -> None:
    if is_joint_histogram(text):
        histogram = JointHistogram(text)
        assert 0 <= histogram.within(LIMITS) <= histogram.total


@pytest.mark.parametrize("text", ["g", "A=", "A\n", "ä"])
def test_other_texts_are_no_histograms(text: str) -> None:
    assert not is_joint_histogram(text)
