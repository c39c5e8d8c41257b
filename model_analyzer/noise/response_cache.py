# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What the server's response cache did to a measurement.

A hit counts as an answered request, but executes nothing; and the server's times of an execution
are means over the requests that executed, not over all. Those of an ensemble with a cached step are
means over all of its own requests already.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from model_analyzer.domain.measurements import (
    ModelMeasurement,
    RequestCounts,
    ServerStatistics,
    Values,
)
from model_analyzer.domain.trials import Workload

HIT_RATE = "cache_hit_rate"
_EXECUTION = (
    "perf_server_compute_input",
    "perf_server_compute_infer",
    "perf_server_compute_output",
)


def with_hits(
    model: ModelMeasurement, work: Workload, statistics: ServerStatistics
) -> ModelMeasurement:
    """The measurement with its hit rate, and with times of executions that are means over all
    requests; unchanged if no cache was asked.
    """
    counts = {
        part.model: requests
        for part in work.variant.with_parts()
        if (own := statistics.get(part.model)) and (requests := own.requests)
    }
    total = reduce(lambda one, other: one.combined(other, 1), counts.values(), RequestCounts())
    if total.hit_rate is None:
        return model
    composing = {
        name: _over_all(values, counts.get(name)) for name, values in model.composing.items()
    }
    values = _over_all(model.values, counts.get(work.variant.model))
    return replace(model, values={**values, HIT_RATE: total.hit_rate}, composing=composing)


def _over_all(values: Values, counts: RequestCounts | None) -> Values:
    executed = 1 - ((counts and counts.hit_rate) or 0.0) / 100
    return {tag: value * executed if tag in _EXECUTION else value for tag, value in values.items()}
