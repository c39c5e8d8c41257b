# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What is said of slots that share a host, and when it is a warning."""

from __future__ import annotations

import math

import pytest

from model_analyzer.app.run.measuring import shift_of
from model_analyzer.domain.slots import SharedHost, Shift


def shared(throughput: Shift, latency: Shift | None) -> SharedHost:
    return SharedHost(
        host="gpu1", slots=4, model="m", trial="key", throughput=throughput, latency_p99=latency
    )


def test_a_shift_is_the_mean_of_changes_with_its_interval() -> None:
    shift = shift_of([math.log(1 - percent / 100) for percent in (4, 5, 6, 5, 5)])

    assert shift.percent == pytest.approx(-5, abs=0.01)
    # Student's t of four degrees of freedom, times the standard error
    assert shift.error == pytest.approx(2.776 * 0.7071 / math.sqrt(5), rel=0.01)
    assert not shift.is_noise
    assert shift_of([0.01, -0.02, 0.01]).is_noise
    assert shift_of([0.01, 0.01]).error == 0
    doubled = shift_of([math.log(factor) for factor in (1.9, 2.0, 2.1)])
    assert doubled.percent == pytest.approx(100, abs=1)
    assert doubled.error == pytest.approx(4.303 * 10 / math.sqrt(3), rel=0.02)


@pytest.mark.parametrize(
    ("throughput", "latency", "words", "is_slower", "is_too_slow"),
    [
        (
            Shift(-3.14, 1.2), Shift(11.4, 4.4),
            "3.1 ± 1.2 % less throughput, p99 latency 11 ± 4 % higher", True, True,
        ),
        (
            Shift(-3.14, 1.2), Shift(9.4, 4.4),
            "3.1 ± 1.2 % less throughput, p99 latency 9 ± 4 % higher", True, False,
        ),
        (
            Shift(-5.1, 1.2), None,
            "5.1 ± 1.2 % less throughput", True, True,
        ),
        (
            Shift(-20.0, 25.0), Shift(30.0, 31.0),
            "no change of throughput (± 25.0 %), no change of p99 latency (± 31.0 %)", False, False,
        ),
        (
            Shift(12.0, 1.0), Shift(-20.0, 2.0),
            "12.0 ± 1.0 % more throughput, p99 latency 20 ± 2 % lower", False, False,
        ),
    ],
)  # fmt: skip
def test_the_result_is_one_sentence(
    throughput: Shift, latency: Shift | None, words: str, is_slower: bool, is_too_slow: bool
) -> None:
    result = shared(throughput, latency)

    assert result.sentence == f"4 slots on gpu1, compared with one alone: {words}"
    assert (result.is_slower, result.is_too_slow) == (is_slower, is_too_slow)


@pytest.mark.parametrize(
    ("host", "slots", "trial", "covers"),
    [
        ("gpu1", 4, "key", True),
        ("gpu2", 4, "key", False),
        ("gpu1", 3, "key", False),
        ("gpu1", 4, "other", False),
    ],
)
def test_a_test_counts_for_the_same_host_slots_and_trial(
    host: str, slots: int, trial: str, covers: bool
) -> None:
    assert shared(Shift(0.0, 1.0), None).covers(host, slots, trial) == covers
