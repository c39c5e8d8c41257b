# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of times: what follows from the order of events and of numbers."""

from __future__ import annotations

from model_analyzer.domain.doubts import Doubt
from model_analyzer.domain.laws.case import Case
from model_analyzer.domain.numbers import number_text

# perf_analyzer's table has whole microseconds, and a histogram's quantiles have 3 digits.
_ROUNDING = 1.01

_RISING = ("perf_latency_p50", "perf_latency_p90", "perf_latency_p95", "perf_latency_p99")


def percentiles_rise(case: Case) -> Doubt | None:
    """0 < p50 <= p90 <= p95 <= p99, within 1 % for rounding. By definition of a percentile.

    Gross if one is 0 or negative: an answer does not end before its request began.
    """
    value = case.model.values.get
    below = 0.0
    for tag in _RISING:
        latency = value(tag)
        if latency is None:
            continue
        if latency <= 0:
            return Doubt(
                law="percentiles rise",
                text=f"{case.name}: {tag.removeprefix('perf_latency_')} latency is {latency:g} ms,"
                " which is not above 0",
                hint="--measurement perf_analyzer takes the latencies of perf_analyzer's own table",
                gross=True,
            )
        if below > latency * _ROUNDING:
            return Doubt(
                law="percentiles rise",
                text=f"{case.name}: {tag.removeprefix('perf_latency_')} latency"
                f" {number_text(latency)} ms is below a lower percentile, {number_text(below)} ms",
                hint="measure it again",
            )
        below = latency
    return None
