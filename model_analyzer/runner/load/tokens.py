# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Token metrics of a language model from the times of its responses. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from model_analyzer.domain.joint_histogram import MOST_REQUESTS, JointHistogram, RequestTimes
from model_analyzer.domain.measurements import Values
from model_analyzer.runner.load.profile_export import Export
from model_analyzer.runner.load.requests import Request

FIRST, BETWEEN = "time_to_first_token", "inter_token_latency"

_PERCENTILES = (25, 50, 75, 90, 95, 99)
_NS_PER_MS = 1e6
_NS_PER_S = 1e9


def token_times(export: Export, begin: int, end: int) -> Mapping[str, Sequence[float]]:
    """The times to the first token and between tokens (ms) that ended within a period (ns).

    A model with a single response for each request has no times between tokens.
    """
    return {
        FIRST: [
            (request.came[0] - request.sent) / _NS_PER_MS
            for request in export.requests
            if request.came and begin <= request.came[0] < end
        ],
        BETWEEN: [
            (later - earlier) / tokens / _NS_PER_MS
            for request in export.requests
            for earlier, later, tokens in zip(
                request.came, request.came[1:], request.tokens[1:], strict=False
            )
            if begin <= later < end
        ],
    }


def joint_times(export: Export, begin: int, end: int) -> JointHistogram:
    """The times of the requests that ended within a period (ns), together. Of many, it keeps a
    random part: neighbours are alike, and every tenth request may be the last one of a batch.
    """
    ended = export.requests.ended_within(begin, end)
    if len(ended) > MOST_REQUESTS:
        kept = np.random.default_rng(0).choice(len(ended), MOST_REQUESTS, replace=False)
        ended = ended[kept]
    return JointHistogram.of(map(_times, export.requests.take(ended)))


def _times(request: Request) -> RequestTimes:
    """Without a token, a user waits for the first one until the request ends."""
    further = sum(request.tokens[1:])
    between = (request.came[-1] - request.came[0]) / further / _NS_PER_MS if further else None
    return RequestTimes(
        latency=(request.ended - request.sent) / _NS_PER_MS,
        first_token=((*request.came, request.ended)[0] - request.sent) / _NS_PER_MS,
        between_tokens=between,
    )


def token_metrics(export: Export, begin: int, end: int) -> Values | None:
    """The token metrics of a period (ns), with the tokens per second; None if it has no token."""
    tokens = sum(
        count
        for request in export.requests
        for came, count in zip(request.came, request.tokens, strict=True)
        if begin <= came < end
    )
    if not tokens:
        return None
    values = {"output_token_throughput": tokens / ((end - begin) / _NS_PER_S)}
    for tag, samples in token_times(export, begin, end).items():
        values |= _statistics(tag, samples)
    return values


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
