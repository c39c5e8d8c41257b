# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The times of many requests and responses, in columns: objects would take ten times the memory.
Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Any

import numpy as np
import numpy.typing as npt

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
