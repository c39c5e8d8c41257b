# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a law judges: one model of a measurement."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from model_analyzer.domain.loads import workload_words
from model_analyzer.domain.measurements import Doubt, Measurement, ModelMeasurement
from model_analyzer.domain.statistics import ModelStatistics
from model_analyzer.domain.trials import LoadKind, Trial, Workload

# Names of a model's `evidence`: the share of its exported requests that ended before they were sent
# (0 to 1); and in the windows that perf_analyzer reports, the tokens for each request, and the
# responses with content by its own count.
IMPOSSIBLE = "impossible_share"
TOKENS, RESPONSES = "tokens_per_request", "responses_per_request"
# Requests per second of an open load that were due, were sent and were answered, by their times.
DUE, SENT, ANSWERED = "due_per_s", "sent_per_s", "answered_per_s"


# one for each measurement, and a tuple is made in a third of the time
class Case(NamedTuple):
    """A model of a measurement that is made of so many `runs`, with its workload."""

    trial: Trial
    measurement: Measurement
    work: Workload
    model: ModelMeasurement
    runs: int = 1

    @property
    def name(self) -> str:
        """The variant and its load in words, for the beginning of a sentence."""
        return workload_words(self.work)

    @property
    def counts(self) -> ModelStatistics | None:
        """What the server counted for this model; None if unknown."""
        return self.measurement.statistics.get(self.work.variant.model)

    @property
    def again(self) -> str:
        """What to do if the client's values are wrong."""
        if self.measurement.is_round:
            return "compare with --measurement perf_analyzer, which takes perf_analyzer's own table"
        return "measure it again (--measurement auto takes the times of single requests)"

    @property
    def edge(self) -> float:
        """How far two counts of this measurement may differ because requests were in flight when it
        began and ended: a share of its requests. With an unknown number of requests, 0.1.

        A client with n requests in flight answers up to n more or fewer in a period than the mean
        latency of those that ended in it tells. If latencies are uneven, each of the n may have
        waited as long as the slowest.
        """
        work, requests = self.work, self.model.requests
        if not requests:
            return 0.1
        is_closed = work.load.kind is LoadKind.CONCURRENCY
        in_flight = self.runs * (work.load.value if is_closed else 2) / requests
        if not is_closed or not self.model.seconds:
            return in_flight
        p99_ms = self.model.values.get("perf_latency_p99", 0.0)
        return max(in_flight, self.runs * p99_ms / (1000.0 * self.model.seconds))


# A law gives a doubt if a case breaks it. There may be a million measurements: return early.
Law = Callable[[Case], Doubt | None]
