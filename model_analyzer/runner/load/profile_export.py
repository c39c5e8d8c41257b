# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The times of every request and response, as perf_analyzer exports them, in columns: objects would
take ten times the memory. Pure.

A response counts as one token, unless the request sets `return_num_output_tokens` (vLLM backend):
then the response contains its number of tokens. (Without it, perf_analyzer exports random memory
there.)

A model that streams may end a request with a flag alone, after its last response. perf_analyzer
exports that end as another response, whose texts are empty and whose numbers are random memory; but
it does not count it. So its counts tell which models do that. A last response without text is not a
token either: it closes the stream.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain
from typing import Any

import numpy as np
import numpy.typing as npt

from model_analyzer.domain.windows import WINDOWS
from model_analyzer.reading.json_stream import JsonStream
from model_analyzer.runner.load.token_stream import read_answer

# Nanoseconds, or numbers of things.
Integers = npt.NDArray[np.int64]

# So many are objects at a time.
_AT_A_TIME = 4096


@dataclass(frozen=True, slots=True)
class Request:
    """The times (ns) when a request was sent, when each response with `tokens` came, and when it
    ended: with its last response, or with the flag that none follows. There may be no response.
    """

    sent: int
    came: Sequence[int]
    ended: int
    tokens: Sequence[int]


@dataclass(frozen=True, slots=True, eq=False)
class Requests:
    """Requests with the times when they were `sent` and `ended`. `came` and `tokens` are those of
    all responses, request by request; the responses of request n begin at `begins[n]` and end
    before `begins[n + 1]`.
    """

    sent: Integers
    ended: Integers
    begins: Integers
    came: Integers
    tokens: Integers

    @classmethod
    def of(cls, requests: Sequence[Request]) -> Requests:
        """These requests."""
        return cls(
            _integers(request.sent for request in requests),
            _integers(request.ended for request in requests),
            _integers(accumulate((len(request.came) for request in requests), initial=0)),
            _integers(chain.from_iterable(request.came for request in requests)),
            _integers(chain.from_iterable(request.tokens for request in requests)),
        )

    @classmethod
    def joined(cls, parts: Sequence[Requests]) -> Requests:
        """All requests of the parts, one part after the other."""
        return cls(
            np.concatenate([part.sent for part in parts]),
            np.concatenate([part.ended for part in parts]),
            _begins(np.concatenate([part.responses for part in parts])),
            np.concatenate([part.came for part in parts]),
            np.concatenate([part.tokens for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.sent)

    def __iter__(self) -> Iterator[Request]:
        for first in range(0, len(self), _AT_A_TIME):
            part = slice(first, first + _AT_A_TIME)
            begins = self.begins[first : first + _AT_A_TIME + 1].tolist()
            responses = slice(begins[0], begins[-1])
            came, tokens = self.came[responses].tolist(), self.tokens[responses].tolist()
            for sent, ended, begin, end in zip(
                self.sent[part].tolist(),
                self.ended[part].tolist(),
                begins,
                begins[1:],
                strict=False,
            ):
                own = slice(begin - begins[0], end - begins[0])
                yield Request(sent, came[own], ended, tokens[own])

    @property
    def responses(self) -> Integers:
        """How many responses each request has."""
        return np.diff(self.begins)

    @property
    def token_counts(self) -> Integers:
        """How many tokens each request has."""
        return np.diff(_begins(self.tokens)[self.begins])

    def ended_within(self, begin: int, end: int) -> npt.NDArray[np.intp]:
        """The places of the requests that ended in a period (ns)."""
        return np.flatnonzero((begin <= self.ended) & (self.ended < end))

    def take(self, places: npt.NDArray[np.intp]) -> Requests:
        """The requests at these places, in this order."""
        responses = self.responses[places]
        begins = _begins(responses)
        moved = np.repeat(self.begins[:-1][places] - begins[:-1], responses)
        own = moved + np.arange(len(moved))
        return Requests(
            self.sent[places], self.ended[places], begins, self.came[own], self.tokens[own]
        )

    def without_last(self, is_cut: npt.NDArray[np.bool_]) -> Requests:
        """The requests, some of them without their last response."""
        kept = np.ones(len(self.came), dtype=bool)
        kept[self.begins[1:][is_cut] - 1] = False
        return Requests(
            self.sent, self.ended, _begins(self.responses - is_cut), self.came[kept],
            self.tokens[kept],
        )  # fmt: skip


def _integers(values: Iterable[int]) -> Integers:
    return np.fromiter(values, dtype=np.int64)


def _begins(counts: Any) -> Integers:
    """Where each of some parts with these lengths begins, and the end of the last one."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts, dtype=np.int64)])


_ASKED = "return_num_output_tokens"
_COUNT = "num_output_tokens"
_NS_PER_S = 1e9

# The exceptions for an invalid export.
_ODD = (KeyError, IndexError, TypeError, AttributeError, ValueError)

_Flags = npt.NDArray[np.bool_]


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
    request by perf_analyzer's own count, if each of them is one token. `errors` are those of the
    answers of OpenAI's API that failed.
    """

    requests: Requests
    bounds: Sequence[int]
    impossible: int = 0
    responses: float | None = None
    errors: Sequence[str] = ()

    @property
    def reported(self) -> tuple[int, int]:
        """Begin and end (ns) of what perf_analyzer reports: its last windows. A load of so many
        requests has one window, which ends up to a second after the last answer: then, the time
        from the first request to that answer.
        """
        if len(self.bounds) == 2 and len(self.inside) == len(self.requests):
            return int(self.requests.sent.min()), int(self.requests.ended[-1]) + 1
        return _reported(self.bounds)

    @property
    def requests_per_s(self) -> float:
        """The rate of the requests that perf_analyzer reports."""
        begin, end = self.reported
        return len(self.requests.ended_within(begin, end)) / ((end - begin) / _NS_PER_S)

    @cached_property
    def inside(self) -> Requests:
        """The requests that ended within perf_analyzer's windows."""
        return self.requests.take(self.requests.ended_within(self.bounds[0], self.bounds[-1]))


def read_export(
    blocks: Iterable[str], counted: Counted | None = None, *, is_openai: bool = False
) -> Export | None:
    """The content of an export, whose text comes in blocks; None if there is no answered request in
    it, or no window.

    `counted` is known for models that stream. perf_analyzer writes an empty file if a number cannot
    be written as JSON.
    """
    read = _Read(is_openai=is_openai)
    try:
        read.experiment_in(JsonStream(blocks))
    except _ODD:
        return None
    if not read.sent or len(read.bounds) < 2:
        return None
    exported, has_text = read.in_order()
    closed = _closed(exported, has_text, read.bounds, counted)
    requests = exported.without_last(closed | ((exported.responses > 1) & ~has_text))
    return Export(
        requests,
        read.bounds,
        impossible=read.impossible,
        errors=read.errors,
        responses=None
        if counted is None
        else _responses(exported, has_text, requests, read.bounds, counted),
    )


class _Read:
    """What was read of an export: the responses as they are exported, of which the last one may be
    a flag, and whether the last one `has_text`, if it may have any.
    """

    def __init__(self, *, is_openai: bool) -> None:
        self.sent, self.responses, self.ended = array("q"), array("q"), array("q")
        self.came, self.tokens = array("q"), array("q")
        self.errors: list[str] = []
        self._is_openai = is_openai
        self.has_text = bytearray()
        self.bounds: list[int] = []
        self.impossible = 0

    def experiment_in(self, stream: JsonStream) -> None:
        """Reads an export, of which the first experiment counts."""
        experiments = 0
        for key in stream.keys():  # noqa: SIM118  it is no mapping
            if key != "experiments":
                stream.value()
                continue
            for _ in stream.items():
                experiments += 1
                for name in stream.keys():  # noqa: SIM118
                    if experiments == 1 and name == "requests":
                        for _ in stream.items():
                            self._add(stream.value())
                    elif experiments == 1 and name == "window_boundaries":
                        self.bounds = [*map(_whole, stream.value())]
                    else:
                        stream.value()

    def _add(self, entry: Mapping[str, Any]) -> None:
        came = [*map(_whole, entry["response_timestamps"] or ())]
        if not came:
            return
        sent = _whole(entry["timestamp"])
        outputs = entry.get("response_outputs") or [{}] * len(came)
        if entry.get("request_inputs", {}).get(_ASKED) is True:
            tokens = [max(_whole(output.get(_COUNT, 1)), 1) for output in outputs]
        else:
            tokens = [1] * len(outputs)
        if len(tokens) != len(came):
            raise ValueError("different numbers of outputs and times")
        if not isinstance(outputs[-1], dict):
            raise TypeError(outputs[-1])
        if sent > came[0] or sorted(came) != came:
            self.impossible += 1
            return
        texts = [value for value in outputs[-1].values() if isinstance(value, str)]
        self.ended.append(came[-1])
        if self._is_openai:
            pieces = [str(output["response"]) for output in outputs]
            answer = read_answer([*zip(came, pieces, strict=True)])
            came, tokens, texts = [*answer.came], [*answer.tokens], []
            self.errors += [answer.error] if answer.error else []
        self.sent.append(sent)
        self.responses.append(len(came))
        self.came.extend(came)
        self.tokens.extend(tokens)
        self.has_text.append(any(texts) or not texts)

    def in_order(self) -> tuple[Requests, _Flags]:
        """The requests in the order of their ends, and which of them have a text at the end."""
        columns = (self.sent, self.ended, self.responses, self.came, self.tokens)
        sent, ended, responses, came, tokens = (np.frombuffer(each, np.int64) for each in columns)
        begins = np.concatenate([[0], np.cumsum(responses)])
        order = np.argsort(ended, kind="stable")
        has_text = np.frombuffer(self.has_text, np.bool_)
        return Requests(sent, ended, begins, came, tokens).take(order), has_text[order]


def _responses(
    exported: Requests, has_text: _Flags, requests: Requests, bounds: Sequence[int],
    counted: Counted,
) -> float | None:  # fmt: skip
    """The responses of a request that are tokens, by perf_analyzer's count; None if a response may
    be several tokens. Those that it counts, but that have no text and close the stream, are none.
    """
    reported = _ended_in(bounds, requests.ended)
    count = int(reported.sum())
    if not count or (exported.tokens[np.repeat(reported, exported.responses)] != 1).any():
        return None
    is_closing = ~has_text & (requests.responses == exported.responses - 1)
    left = int(exported.responses[reported].sum()) - counted.responses
    return (counted.responses - max(int(is_closing[reported].sum()) - left, 0)) / count


def _reported(bounds: Sequence[int]) -> tuple[int, int]:
    bounds = bounds[-WINDOWS - 1 :]
    return bounds[0], bounds[-1]


def _ended_in(bounds: Sequence[int], ended: npt.NDArray[np.int64]) -> _Flags:
    """Which of these times are in the windows that perf_analyzer reports."""
    begin, end = _reported(bounds)
    return (begin <= ended) & (ended <= end)


def _closed(
    exported: Requests, has_text: _Flags, bounds: Sequence[int], counted: Counted | None
) -> _Flags:
    """Which requests ended with a flag, after their last response: the choice that agrees best with
    what perf_analyzer counted.

    Nearly all models end all requests in the same way. One that does either gets the number of
    flags that is missing in the count: those without text, after the shortest times.
    """
    none = np.zeros(len(exported), dtype=np.bool_)
    if counted is None:
        return none
    responses, lasts = exported.responses, exported.begins[1:] - 1
    reported = _ended_in(bounds, exported.ended)
    surplus = int(responses[reported].sum()) - counted.responses
    share = min(max(surplus / max(int(reported.sum()), 1), 0.0), 1.0)
    last_gaps = exported.ended - np.where(responses > 1, exported.came[lasts - 1], exported.sent)
    likely = np.lexsort((last_gaps, has_text))
    some = none.copy()
    some[likely[: round(share * len(exported))]] = True

    def deviation(closed: _Flags) -> int:
        left = responses - closed
        counts = (left > 0) & _ended_in(bounds, exported.came[lasts - closed])
        return abs(int(counts.sum()) - counted.requests) + abs(
            int(left[counts].sum()) - counted.responses
        )

    return min((none, ~none, some), key=deviation)


def _whole(value: Any) -> int:
    """A count, or a time in nanoseconds. Raises TypeError or ValueError for anything else."""
    if type(value) is not int:
        raise TypeError(value)
    if not 0 <= value < 2**63:
        raise ValueError(value)
    return value
