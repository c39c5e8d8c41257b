# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The times of requests to a language model, together: their text, and how many meet limits."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_analyzer.domain.joint_histogram import (
    MOST_REQUESTS,
    JointHistogram,
    RequestTimes,
    is_joint_histogram,
)

WIDTH = math.exp(0.01)

times = st.floats(1e-5, 1e7)
requests = st.builds(RequestTimes, times, times, st.none() | times)
digits = st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", max_size=80)

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
