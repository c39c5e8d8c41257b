# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The times of every request and response, as perf_analyzer exports them. Pure.

A response counts as one token, unless the request sets `return_num_output_tokens` (vLLM backend):
then the response contains its number of tokens. (Without it, perf_analyzer exports random memory
there.) A last response without text closes the stream and is not a token.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import orjson

_ASKED = "return_num_output_tokens"
_COUNT = "num_output_tokens"

# The exceptions for an invalid export.
_ODD = (KeyError, IndexError, TypeError, AttributeError, ValueError, RecursionError)


@dataclass(frozen=True, slots=True)
class Request:
    """The times (ns) when a request was sent, its responses came and the last one of them ended it;
    and the tokens in each response.
    """

    sent: int
    came: Sequence[int]
    ended: int
    tokens: Sequence[int]


@dataclass(frozen=True)
class Export:
    """All requests that were answered, in the order of their ends; and the times (ns) between which
    perf_analyzer's windows lie.
    """

    requests: Sequence[Request]
    bounds: Sequence[int]

    @cached_property
    def inside(self) -> Sequence[Request]:
        """The requests that ended within perf_analyzer's windows."""
        begin, end = self.bounds[0], self.bounds[-1]
        return [request for request in self.requests if begin <= request.ended < end]


def read_export(raw: bytes) -> Export | None:
    """The content of an export; None if there is no answered request in it, or no window.

    perf_analyzer writes an empty file if a number cannot be written as JSON.
    """
    try:
        experiment = orjson.loads(raw)["experiments"][0]
        entries = [entry for entry in experiment["requests"] if entry["response_timestamps"]]
        requests = sorted(map(_request, entries), key=lambda request: request.ended)
        bounds = [*map(_whole, experiment["window_boundaries"])]
    except _ODD:
        return None
    return Export(requests, bounds) if requests and len(bounds) > 1 else None


def _request(entry: Mapping[str, Any]) -> Request:
    came = [*map(_whole, entry["response_timestamps"])]
    ended = came[-1]
    outputs = entry.get("response_outputs") or [{}] * len(came)
    if len(came) > 1 and "" in outputs[-1].values():
        came, outputs = came[:-1], outputs[:-1]
    has_counts = entry.get("request_inputs", {}).get(_ASKED) is True
    tokens = [max(_whole(output.get(_COUNT, 1)), 1) if has_counts else 1 for output in outputs]
    if len(tokens) != len(came):
        raise ValueError("different numbers of outputs and times")
    return Request(_whole(entry["timestamp"]), came, ended, tokens)


def _whole(value: Any) -> int:
    """A count, or a time in nanoseconds. Raises TypeError or ValueError for anything else."""
    if type(value) is not int:
        raise TypeError(value)
    if not 0 <= value < 2**63:
        raise ValueError(value)
    return value
