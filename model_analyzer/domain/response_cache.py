# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What the server's response cache did to a measurement.

A hit counts as an answered request, but executes nothing; and the server's times of an execution
are means over the requests that executed, not over all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce

from model_analyzer.domain.measurements import ModelMeasurement, Values
from model_analyzer.domain.statistics import RequestCounts, ServerStatistics
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
    if work.variant.is_ensemble:  # perf_analyzer's times of an ensemble are sums over its steps
        values = {**values, **_less(values, model.composing, composing)}
    return replace(model, values={**values, HIT_RATE: total.hit_rate}, composing=composing)


def _over_all(values: Values, counts: RequestCounts | None) -> Values:
    executed = 1 - ((counts and counts.hit_rate) or 0.0) / 100
    return {tag: value * executed if tag in _EXECUTION else value for tag, value in values.items()}


def _less(values: Values, then: Mapping[str, Values], now: Mapping[str, Values]) -> Values:
    """The times of an ensemble, less by what those of its steps are less."""
    result = {}
    for tag in _EXECUTION:
        if tag in values:
            saved = sum(part[tag] - now[name][tag] for name, part in then.items() if tag in part)
            result[tag] = max(values[tag] - saved, 0.0)
    return result
