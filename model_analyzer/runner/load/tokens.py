# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Token metrics from the times of every response that perf_analyzer exports. Pure.

A response counts as one token, unless the request sets `return_num_output_tokens` (vLLM backend):
then the response contains its number of tokens. (Without it, perf_analyzer exports random memory
there.) A last response without text closes the stream and is not a token.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from model_analyzer.domain.measurements import Values

_ASKED = "return_num_output_tokens"
_COUNT = "num_output_tokens"

_PERCENTILES = (25, 50, 75, 90, 95, 99)
_NS_PER_MS = 1e6
_NS_PER_S = 1e9

# The exceptions for an invalid export.
_ODD = (KeyError, IndexError, TypeError, AttributeError, ValueError, RecursionError)

# perf_analyzer reports its last three windows, and judges stability by them.
_WINDOWS_REPORTED = 3


@dataclass(frozen=True, slots=True)
class _Request:
    """The times (ns) when a request was sent and its responses came, and the tokens in each."""

    sent: int
    came: Sequence[int]
    tokens: Sequence[int]


def token_metrics(text: str) -> Values | None:
    """The times to the first token and between tokens (ms), and the tokens per second, in the
    windows that perf_analyzer reports; None if there is no response in them.

    A model with a single response for each request has no times between tokens.
    """
    try:
        # perf_analyzer writes an empty file if a number cannot be written as JSON
        experiment = json.loads(text)["experiments"][0]
        entries = [entry for entry in experiment["requests"] if entry["response_timestamps"]]
        requests = [*map(_request, entries)]
        bounds = [*map(_whole, experiment["window_boundaries"][-_WINDOWS_REPORTED - 1 :])]
    except _ODD:
        return None
    if len(bounds) < 2:
        return None
    begin, end = bounds[0], bounds[-1]
    first = [
        (request.came[0] - request.sent) / _NS_PER_MS
        for request in requests
        if begin <= request.came[0] < end
    ]
    between = [
        (later - earlier) / tokens / _NS_PER_MS
        for came, counts in ((request.came, request.tokens) for request in requests)
        for earlier, later, tokens in zip(came, came[1:], counts[1:], strict=False)
        if begin <= later < end
    ]
    tokens = sum(
        count
        for request in requests
        for came, count in zip(request.came, request.tokens, strict=True)
        if begin <= came < end
    )
    if not tokens:
        return None
    return {
        **_statistics("time_to_first_token", first),
        **_statistics("inter_token_latency", between),
        "output_token_throughput": tokens / ((end - begin) / _NS_PER_S),
    }


def _request(entry: Mapping[str, Any]) -> _Request:
    came = [*map(_whole, entry["response_timestamps"])]
    outputs = entry.get("response_outputs") or [{}] * len(came)
    if len(came) > 1 and "" in outputs[-1].values():
        came, outputs = came[:-1], outputs[:-1]
    has_counts = entry.get("request_inputs", {}).get(_ASKED) is True
    tokens = [max(_whole(output.get(_COUNT, 1)), 1) if has_counts else 1 for output in outputs]
    if len(tokens) != len(came):
        raise ValueError("different numbers of outputs and times")
    return _Request(_whole(entry["timestamp"]), came, tokens)


def _whole(value: Any) -> int:
    """A count, or a time in nanoseconds. Raises TypeError or ValueError for anything else."""
    if type(value) is not int:
        raise TypeError(value)
    if not 0 <= value < 2**63:
        raise ValueError(value)
    return value


def _statistics(tag: str, samples: Sequence[float]) -> Values:
    if not samples:
        return {}
    percentiles = np.percentile(samples, _PERCENTILES)
    return {
        f"{tag}_avg": float(np.mean(samples)),
        f"{tag}_min": min(samples),
        f"{tag}_max": max(samples),
        **{f"{tag}_p{p}": float(v) for p, v in zip(_PERCENTILES, percentiles, strict=True)},
    }
