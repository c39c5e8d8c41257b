# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Rates and sizes of requests, as they are expected before a measurement."""

from __future__ import annotations

import math
from typing import Any

import pytest

from model_analyzer.domain.trials import LoadKind, Workload
from model_analyzer.runner.load.rates import ExportSizes, RequestRates
from tests.unit.builders import trial, variant


def work(value: int = 1, *, model: str = "m", batch_size: int = 1, **load: Any) -> Workload:
    tensors = [{"name": "IN", "data_type": "TYPE_FP32", "dims": ["3", "32", "-1"]}]
    of = variant(model=model, input=tensors, output=[{"name": "OUT", "dims": [4]}])
    (workload,) = trial(of, concurrency=value, batch_size=batch_size, **load).workloads
    return workload


def sized(value: int, size: int) -> Workload:
    of = variant(model="m", max_batch_size=size)
    (workload,) = trial(of, concurrency=value).workloads
    return workload


def test_nothing_is_expected_of_an_unknown_workload() -> None:
    assert RequestRates().expected(work()) is None


def test_another_load_is_expected_from_those_that_are_known() -> None:
    rates = RequestRates()
    rates.learn(work(4), 100.0)
    assert rates.expected(work(4)) == 100
    assert rates.expected(work(16)) == 100
    assert rates.expected(work(2)) == 50
    rates.learn(work(8), 160.0)
    assert rates.expected(work(16)) == 160
    assert rates.expected(work(6)) == 120


def test_of_a_new_variant_that_is_likely_which_half_of_the_others_reach() -> None:
    rates = RequestRates()
    for size, rate in ((1, 50.0), (2, 300.0), (4, 400.0)):
        assert rates.likely(work(8)) is None
        rates.learn(sized(8, size), rate)
    assert rates.likely(work(8)) == 300
    assert rates.likely(work(4)) == 150
    rates.learn(sized(16, 8), 200.0)
    assert rates.likely(work(8)) == 200
    assert rates.likely(work(8, model="other")) is None


@pytest.mark.parametrize("other", [work(4, batch_size=2), work(4, kind=LoadKind.REQUEST_RATE)])
def test_rates_are_those_of_a_kind_of_load(other: Workload) -> None:
    rates = RequestRates()
    rates.learn(work(4), 3.0)
    assert rates.expected(other) != 3


def test_a_request_rate_is_expected_until_it_is_not_reached() -> None:
    rates = RequestRates()
    assert rates.expected(work(200, kind=LoadKind.REQUEST_RATE)) == 200
    rates.learn(work(200, kind=LoadKind.REQUEST_RATE), 80.0)
    assert rates.expected(work(400, kind=LoadKind.REQUEST_RATE)) == 80


def test_nothing_is_learned_from_a_rate_of_zero() -> None:
    rates = RequestRates()
    rates.learn(work(), 0.0)
    assert rates.expected(work()) is None


def test_the_size_of_a_request_is_estimated_until_it_is_known() -> None:
    sizes = ExportSizes()
    assert sizes.expected(work()) == 200 + 20 * (3 * 32 + 4)
    assert sizes.expected(work(batch_size=8)) == 200 + 8 * 20 * (3 * 32 + 4)
    sizes.learn(work(), 1234.5)
    assert sizes.expected(work(7)) == 1234.5
    assert sizes.expected(work(model="other")) != 1234.5
    sizes.learn(work(), math.inf)
    assert math.isinf(sizes.expected(work()))
