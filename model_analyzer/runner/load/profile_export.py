# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The times of every request and response, as perf_analyzer exports them. Pure.

A response counts as one token, unless the request sets `return_num_output_tokens` (vLLM backend):
then the response contains its number of tokens. (Without it, perf_analyzer exports random memory
there.)

A model that streams may end a request with a flag alone, after its last response. perf_analyzer
exports that end as another response, whose texts are empty and whose numbers are random memory; but
it does not count it. So its counts tell which models do that. A last response without text is not a
token either: it closes the stream.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import orjson

from model_analyzer.domain.windows import WINDOWS

_ASKED = "return_num_output_tokens"
_COUNT = "num_output_tokens"
_NS_PER_S = 1e9

# The exceptions for an invalid export.
_ODD = (KeyError, IndexError, TypeError, AttributeError, ValueError, RecursionError)


@dataclass(frozen=True, slots=True)
class Request:
    """The times (ns) when a request was sent, when each response with `tokens` came, and when it
    ended: with its last response, or with the flag that none follows. There may be no response.
    """

    sent: int
    came: Sequence[int]
    ended: int
    tokens: Sequence[int]


@dataclass(frozen=True, slots=True)
class Counted:
    """What perf_analyzer counted in the windows that it reports: requests with a response, and
    their responses.
    """

    requests: int
    responses: int


@dataclass(frozen=True)
class Export:
    """All requests that were answered, in the order of their ends; and the times (ns) between which
    perf_analyzer's windows lie. `impossible` requests, which ended before they were sent or were
    answered in another order, are not among them. `responses` is the number of responses of a
    request by perf_analyzer's own count, if each of them is one token.
    """

    requests: Sequence[Request]
    bounds: Sequence[int]
    impossible: int = 0
    responses: float | None = None

    @property
    def reported(self) -> tuple[int, int]:
        """Begin and end (ns) of what perf_analyzer reports: its last windows. A load of so many
        requests has one window, which ends up to a second after the last answer: then, the time
        from the first request to that answer.
        """
        if len(self.bounds) == 2 and len(self.inside) == len(self.requests):
            sent = min(request.sent for request in self.requests)
            return sent, self.requests[-1].ended + 1
        return _reported(self.bounds)

    @property
    def requests_per_s(self) -> float:
        """The rate of the requests that perf_analyzer reports."""
        begin, end = self.reported
        ended = sum(begin <= request.ended < end for request in self.requests)
        return ended / ((end - begin) / _NS_PER_S)

    @cached_property
    def inside(self) -> Sequence[Request]:
        """The requests that ended within perf_analyzer's windows."""
        begin, end = self.bounds[0], self.bounds[-1]
        return [request for request in self.requests if begin <= request.ended < end]


def read_export(raw: bytes, counted: Counted | None = None) -> Export | None:
    """The content of an export; None if there is no answered request in it, or no window.

    `counted` is known for models that stream. perf_analyzer writes an empty file if a number cannot
    be written as JSON.
    """
    try:
        experiment = orjson.loads(raw)["experiments"][0]
        answered = [entry for entry in experiment["requests"] if entry["response_timestamps"]]
        entries = [entry for entry in map(_entry, answered) if entry.is_possible]
        bounds = [*map(_whole, experiment["window_boundaries"])]
    except _ODD:
        return None
    if not entries or len(bounds) < 2:
        return None
    entries.sort(key=lambda entry: entry.request.ended)
    closed = _closed(entries, bounds, counted)
    requests = [_request(entry, closed=number in closed) for number, entry in enumerate(entries)]
    return Export(
        requests,
        bounds,
        impossible=len(answered) - len(entries),
        responses=None if counted is None else _responses(entries, requests, bounds, counted),
    )


# one for each request, and a tuple is made in a third of the time
class _Entry(NamedTuple):
    """A request as it is exported: its last response, with this output, may be a flag."""

    request: Request
    last: Mapping[str, Any]

    @property
    def is_possible(self) -> bool:
        """Whether it was sent before the first response came, and these came one after another."""
        sent, came = self.request.sent, self.request.came
        return sent <= came[0] and (len(came) == 1 or sorted(came) == came)

    @property
    def has_text_at_end(self) -> bool:
        """Whether the last response has a text, if it may have any."""
        texts = [value for value in self.last.values() if isinstance(value, str)]
        return any(texts) or not texts

    @property
    def last_gap(self) -> int:
        """The time (ns) before the last response."""
        return self.request.ended - (self.request.sent, *self.request.came)[-2]


def _entry(entry: Mapping[str, Any]) -> _Entry:
    came = [*map(_whole, entry["response_timestamps"])]
    outputs = entry.get("response_outputs") or [{}] * len(came)
    if entry.get("request_inputs", {}).get(_ASKED) is True:
        tokens = [max(_whole(output.get(_COUNT, 1)), 1) for output in outputs]
    else:
        tokens = [1] * len(outputs)
    if len(tokens) != len(came):
        raise ValueError("different numbers of outputs and times")
    if not isinstance(outputs[-1], dict):
        raise TypeError(outputs[-1])
    return _Entry(Request(_whole(entry["timestamp"]), came, came[-1], tokens), outputs[-1])


def _request(entry: _Entry, *, closed: bool) -> Request:
    request, responses = entry.request, len(entry.request.came)
    if closed or (responses > 1 and not entry.has_text_at_end):
        responses -= 1
        return replace(request, came=request.came[:responses], tokens=request.tokens[:responses])
    return request


def _responses(
    entries: Sequence[_Entry], requests: Sequence[Request], bounds: Sequence[int], counted: Counted
) -> float | None:
    """The responses of a request that are tokens, by perf_analyzer's count; None if a response may
    be several tokens. Those that it counts, but that have no text and close the stream, are none.
    """
    begin, end = _reported(bounds)
    reported = [
        (entry, request)
        for entry, request in zip(entries, requests, strict=True)
        if begin <= request.ended <= end
    ]
    if not reported or any(count != 1 for entry, _ in reported for count in entry.request.tokens):
        return None
    closing = sum(
        not entry.has_text_at_end and len(request.came) == len(entry.request.came) - 1
        for entry, request in reported
    )
    left = sum(len(entry.request.came) for entry, _ in reported) - counted.responses
    return (counted.responses - max(closing - left, 0)) / len(reported)


def _reported(bounds: Sequence[int]) -> tuple[int, int]:
    bounds = bounds[-WINDOWS - 1 :]
    return bounds[0], bounds[-1]


def _closed(
    entries: Sequence[_Entry], bounds: Sequence[int], counted: Counted | None
) -> Container[int]:
    """The places of the requests that ended with a flag, after their last response: the choice that
    agrees best with what perf_analyzer counted.

    Nearly all models end all requests in the same way. One that does either gets the number of
    flags that is missing in the count: those without text, after the shortest times.
    """
    if counted is None:
        return ()
    begin, end = _reported(bounds)
    reported = [
        number for number, entry in enumerate(entries) if begin <= entry.request.ended <= end
    ]
    surplus = sum(len(entries[number].request.came) for number in reported) - counted.responses
    share = min(max(surplus / max(len(reported), 1), 0.0), 1.0)
    likely = sorted(
        range(len(entries)),
        key=lambda number: (entries[number].has_text_at_end, entries[number].last_gap),
    )
    some = frozenset(likely[: round(share * len(entries))])

    def deviation(closed: Container[int]) -> int:
        requests = responses = 0
        for number, entry in enumerate(entries):
            came = entry.request.came[: len(entry.request.came) - (number in closed)]
            if came and begin <= came[-1] <= end:
                requests += 1
                responses += len(came)
        return abs(requests - counted.requests) + abs(responses - counted.responses)

    return min((frozenset(), range(len(entries)), some), key=deviation)


def _whole(value: Any) -> int:
    """A count, or a time in nanoseconds. Raises TypeError or ValueError for anything else."""
    if type(value) is not int:
        raise TypeError(value)
    if not 0 <= value < 2**63:
        raise ValueError(value)
    return value
