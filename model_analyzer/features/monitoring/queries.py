# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Questions about one model to Prometheus, of the counters that each Triton server exports.

They are about each replica (`instance`): an answer was measured on one server. A server counts for
each version of a model and, of models on GPUs, for each GPU, so the counts are added up.
"""

from __future__ import annotations

from dataclasses import dataclass

SUCCESSES = "nv_inference_request_success"
FAILURES = "nv_inference_request_failure"
_INFERENCES, _EXECUTIONS = "nv_inference_count", "nv_inference_exec_count"
_REQUEST_US, _QUEUE_US = "nv_inference_request_duration_us", "nv_inference_queue_duration_us"


def label_of(model: str) -> str:
    """The label of the series of a model, for a query of Prometheus."""
    escaped = model.replace("\\", "\\\\").replace('"', '\\"')
    return f'model="{escaped}"'


@dataclass(frozen=True, slots=True)
class ModelQueries:
    """The questions about a `model`, over the last `window` (as Prometheus writes it)."""

    model: str
    window: str

    @property
    def requests_per_s(self) -> str:
        """The rate of requests that are answered, by replica."""
        return self._rate(SUCCESSES)

    @property
    def failed_share(self) -> str:
        """The share (0 to 1) of requests that fail, by replica."""
        failed = self._rate(FAILURES)
        return f"{failed} / ({failed} + {self._rate(SUCCESSES)})"

    @property
    def server_ms(self) -> str:
        """The mean time of a request in the server, by replica."""
        return f"{self._rate(_REQUEST_US)} / {self._rate(SUCCESSES)} / 1000"

    @property
    def queue_ms(self) -> str:
        """The mean time of a request in the queue, by replica."""
        return f"{self._rate(_QUEUE_US)} / {self._rate(SUCCESSES)} / 1000"

    @property
    def mean_batch(self) -> str:
        """The mean number of inferences in an execution, by replica."""
        return f"{self._rate(_INFERENCES)} / {self._rate(_EXECUTIONS)}"

    @property
    def is_missing(self) -> str:
        """Whether no replica has the model."""
        return f"absent({SUCCESSES}{{{label_of(self.model)}}})"

    def _rate(self, counter: str) -> str:
        return f"sum by (instance) (rate({counter}{{{label_of(self.model)}}}[{self.window}]))"
