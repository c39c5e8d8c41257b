# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Intervals under random arrivals, for a queue whose latencies are known exactly."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.open_intervals import Server
from model_analyzer.noise.noise_model import NoiseModel
from tests.sizes import small_and_full

RATE, BUSY = 200, 0.6
SERVER = Server(rate=RATE, cv=1, instances=1, service_s=BUSY / RATE, variation=1)

# Poisson arrivals at one server with exponential times: so are the latencies, with this mean
MEAN_MS = 1000 * SERVER.service_s / (1 - BUSY)
TRUE = {
    "perf_throughput": RATE,
    "perf_latency_avg": MEAN_MS,
    "perf_latency_p90": MEAN_MS * math.log(10),
    "perf_latency_p99": MEAN_MS * math.log(100),
}


@pytest.mark.parametrize("rounds", [(1.08,), (1.08, 2.16), (1.08, 2.16, 6.48)])
@small_and_full("draws", 40, 200)
def test_the_interval_holds_what_a_queue_gives_in_the_long_term(
    rounds: tuple[float, ...], draws: int
) -> None:
    random, held = np.random.default_rng(5), dict.fromkeys(TRUE, 0)
    for draw in range(draws):
        parts = [10 * draw + number for number in range(len(rounds))]
        runs = [
            SERVER.measured(seconds, part, random)
            for seconds, part in zip(rounds, parts, strict=True)
        ]
        noise = NoiseModel([runs])
        for tag, true in TRUE.items():
            interval = noise.interval(runs, tag)
            assert interval is not None
            held[tag] += interval.low <= true <= interval.high
    # a trial alone: those beside it show more of the drift
    assert {tag: count for tag, count in held.items() if count < 0.85 * draws} == {}
