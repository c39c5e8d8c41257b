# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the client of an open load sent its requests in time."""

from __future__ import annotations

from dataclasses import replace

from model_analyzer.domain.arrivals import waits_in_client
from model_analyzer.domain.measurements import Measurement, Values
from model_analyzer.domain.trials import Workload

# The metrics of the client: how late it sent, and the latency from the moment of sending.
SEND_LAG, SENT_LATENCY = "perf_send_lag_p99", "perf_sent_latency_p99"

_P99 = "perf_latency_p99"

# A p99 of the lag above both counts as late: in ms, and as a part of the p99 of the latencies.
_LAG_MS, _SHARE = 1.0, 0.05


def advice_on_lag(work: Workload, *, in_rounds: bool) -> str:
    """What to do if the requests of an open load were sent late."""
    if waits_in_client(work, in_rounds=in_rounds):
        return "add async: true to perf_analyzer_flags, since its threads wait for answers"
    return "use a lower rate, several generators, or a client machine with idle cores"


def is_late(values: Values) -> bool:
    """Whether the client was so late that its lag is a part of the latencies of a model."""
    lag, p99 = values.get(SEND_LAG), values.get(_P99)
    return lag is not None and p99 is not None and lag > max(_LAG_MS, _SHARE * p99)


def sent_late(measurement: Measurement) -> bool:
    """Whether that holds for a model of a measurement."""
    return any(is_late(model.values) for model in measurement.models)


def from_sending(measurement: Measurement) -> Measurement:
    """The measurement with the p99 latency from the moment of sending, where it is known: the
    latency that a client in time would have seen at least.
    """
    models = (
        replace(model, values={**model.values, _P99: model.values[SENT_LATENCY]})
        if SENT_LATENCY in model.values
        else model
        for model in measurement.models
    )
    return replace(measurement, models=tuple(models))
