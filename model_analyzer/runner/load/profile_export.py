# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""When each token came, from the times that perf_analyzer exports of every response. Pure.

A response counts as one token. Where the request asks for it by `return_num_output_tokens`, as
the vLLM backend lets it, the response says how many it holds. (Unasked, perf_analyzer exports
whatever lies in memory there.) A last response without text closes the stream and is no token.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from model_analyzer.domain.measurements import Values

_ASKED = "return_num_output_tokens"
_TOLD = "num_output_tokens"

_PERCENTILES = (25, 50, 75, 90, 95, 99)
_NS_PER_MS = 1e6
_NS_PER_S = 1e9

# What an export that is none runs into where it is taken apart.
_ODD = (KeyError, IndexError, TypeError, AttributeError, ValueError, RecursionError)

# perf_analyzer judges stability by its last three windows, and reports those.
_WINDOWS_REPORTED = 3


@dataclass(frozen=True, slots=True)
class _Request:
    """When a request was sent, and when its responses came (ns), with the tokens in each."""

    sent: int
    came: Sequence[int]
    tokens: Sequence[int]


def token_metrics(text: str) -> Values | None:
    """Times to the first token, times between tokens and the rate of tokens, in the windows that
    perf_analyzer reports; None if the export holds no response there.

    A model that answers with one response has no times between tokens.
    """
    try:
        # perf_analyzer writes an empty file when it meets a number that JSON has no words for
        experiment = json.loads(text)["experiments"][0]
        requests = [_request(one) for one in experiment["requests"] if one["response_timestamps"]]
        bounds = [*map(_whole, experiment["window_boundaries"][-_WINDOWS_REPORTED - 1 :])]
    except _ODD:
        return None
    if len(bounds) < 2:
        return None
    begin, end = bounds[0], bounds[-1]
    first = [
        (one.came[0] - one.sent) / _NS_PER_MS for one in requests if begin <= one.came[0] < end
    ]
    between = [
        (later - earlier) / tokens / _NS_PER_MS
        for one in requests
        for earlier, later, tokens in zip(one.came, one.came[1:], one.tokens[1:], strict=False)
        if begin <= later < end
    ]
    tokens = sum(
        count
        for one in requests
        for came, count in zip(one.came, one.tokens, strict=True)
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
    is_told = entry.get("request_inputs", {}).get(_ASKED) is True
    tokens = [max(_whole(output.get(_TOLD, 1)), 1) if is_told else 1 for output in outputs]
    if len(tokens) != len(came):
        raise ValueError("as many outputs as times")
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
