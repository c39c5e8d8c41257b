# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Promises beside what a check found."""

from __future__ import annotations

import pytest

from model_analyzer.features.proof.facts.promise import P99, THROUGHPUT, Kept, Promise
from model_analyzer.noise.noise import Interval


def promise(tag: str, found: float, low: float = 90, high: float = 110) -> Promise:
    return Promise(tag=tag, promised=100, found=found, expected=Interval(low=low, high=high))


@pytest.mark.parametrize(
    ("tag", "found", "kept"),
    [
        (THROUGHPUT, 90, Kept.WITHIN),
        (THROUGHPUT, 89, Kept.WORSE),
        (THROUGHPUT, 111, Kept.BETTER),
        (P99, 89, Kept.BETTER),
        (P99, 111, Kept.WORSE),
    ],
)
def test_a_value_beyond_the_interval_is_judged_by_its_direction(
    tag: str, found: float, kept: Kept
) -> None:
    assert promise(tag, found).kept is kept


def test_an_interval_that_twice_the_value_would_keep_is_vague() -> None:
    assert not promise(THROUGHPUT, 100).is_vague
    assert promise(THROUGHPUT, 100, low=45, high=230).is_vague


def test_a_promise_is_told_with_both_numbers_and_where_the_second_has_to_lie() -> None:
    told = str(promise(THROUGHPUT, 95))
    assert told == "Throughput 95.0 infer/sec, promised 100 (90.0 to 110)"
