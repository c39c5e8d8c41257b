# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a measurement takes, in seconds, and what a round of that length shows."""

from __future__ import annotations

import math

import numpy as np

from model_analyzer.domain.histograms import Histogram
from model_analyzer.domain.measurements import ModelMeasurement

# With its own windows, perf_analyzer measures three times 5 s, and takes a second to start and end.
CAREFUL_S = 16.0
# The start and the end of a round, of a variant that is loaded, and of a server.
LAUNCH_S, LOADING_S, SERVER_S = 0.15, 0.3, 2.0

# A round has so many windows. The deviation of the time between two answers, as a part of its
# mean: of 150 requests, the throughput has a sampling error of 4 %.
_WINDOWS, _VARIATION = 8, 0.5
# More latencies than this show the same histogram.
_MOST_LATENCIES = 5000
_AT_99 = 2.3263


def one_round(
    true: tuple[float, float, float],
    batch_size: int,
    seconds: float,
    random: np.random.Generator,
) -> ModelMeasurement:
    """What a round shows of the `true` throughput, average and p99 at its time: requests with
    log-normal latencies.
    """
    throughput, average, p99 = true
    requests = max(round(throughput / batch_size * seconds), 2)
    spread = _VARIATION / math.sqrt(requests / _WINDOWS)
    rates = throughput * np.exp(spread * np.clip(random.standard_normal(_WINDOWS), -3, 3))
    measured = float(rates.mean())
    deviation = _deviation(p99 / average)
    drawn = random.standard_normal(min(requests, _MOST_LATENCIES))
    latencies = np.exp(deviation * drawn - deviation**2 / 2) * average * throughput / measured
    histogram = Histogram.of(latencies.tolist())
    return ModelMeasurement(
        values={
            "perf_throughput": measured,
            "perf_latency_avg": float(latencies.mean()),
            **{f"perf_latency_p{p}": histogram.quantile(p / 100) for p in (50, 90, 95, 99)},
        },
        requests=requests,
        windows=tuple(rates.tolist()),
        seconds=seconds,
        histograms={"perf_latency": histogram},
    )


def _deviation(ratio: float) -> float:
    """The deviation of the logarithm, of log-normal values whose p99 is `ratio` times the mean."""
    return _AT_99 - math.sqrt(max(_AT_99**2 - 2 * math.log(max(ratio, 1.001)), 0.0))
