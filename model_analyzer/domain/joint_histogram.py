# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A joint histogram of the times of a language model's requests.

Separate histograms do not say whether the requests with a late first token are those with slow
tokens afterwards. So the times of a request are kept together, in the bins of `histograms`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from math import prod
from typing import NamedTuple

from model_analyzer.domain.histograms import (
    BINS,
    are_numbers,
    bin_of,
    digits_of,
    numbers_in,
    part_below,
    place_of,
)

LATENCY, FIRST_TOKEN, BETWEEN_TOKENS = "perf_latency", "time_to_first_token", "inter_token_latency"

# A measurement with more requests keeps so many, chosen at random.
MOST_REQUESTS = 2048
# Four numbers for each request, and three before them, each with at most three digits.
_LONGEST_TEXT = 3 * (4 * MOST_REQUESTS + 3)


class RequestTimes(NamedTuple):
    """The latency of a request, the time to its first token, and the mean of the times between its
    tokens (ms); None for a request with a single response.
    """

    latency: float
    first_token: float
    between_tokens: float | None


# The bins of the three times.
_Cell = tuple[int, int, int | None]


@dataclass(frozen=True)
class JointHistogram:
    """The number of requests in each combination of bins, as a text (see `docs/checkpoints.md`)."""

    text: str

    @classmethod
    def of(cls, requests: Iterable[RequestTimes]) -> JointHistogram:
        return cls("".join(_encoded(Counter(map(_cell, requests)))))

    @cached_property
    def counts(self) -> Mapping[_Cell, int]:
        """The number of requests by their bins. Every text that `is_joint_histogram` accepts has
        some meaning.
        """
        counts = Counter[_Cell]()
        for cell, count in self._decoded():
            counts[cell] += count
        return counts

    def _decoded(self) -> Iterator[tuple[_Cell, int]]:
        numbers = numbers_in(self.text)
        latency, first_low, between_low = (next(numbers, 0) for _ in range(3))
        for further, first, between, count in zip(*repeat(numbers, 4), strict=False):
            latency += further
            between_bin = _bounded(between_low + between - 1) if between else None
            yield (_bounded(latency), _bounded(first_low + first), between_bin), count

    @property
    def is_empty(self) -> bool:
        """Whether it has no request; much faster than `total`."""
        return not any(count for _, count in self._decoded())

    @cached_property
    def total(self) -> int:
        """The number of requests."""
        return sum(self.counts.values())

    def within(self, limits: Mapping[str, float]) -> float:
        """The number of requests with all their times up to these limits (ms), by the name of the
        metric without its percentile. The bin of a limit counts in part. A request with a single
        response has no time between tokens, so it is within each limit on these.
        """
        places = [
            None if family not in limits else place_of(limits[family])
            for family in (LATENCY, FIRST_TOKEN, BETWEEN_TOKENS)
        ]
        return sum(
            count
            * prod(
                part_below(bin_, place)
                for bin_, place in zip(cell, places, strict=True)
                if bin_ is not None and place is not None
            )
            for cell, count in self.counts.items()
        )


def is_joint_histogram(text: str) -> bool:
    """Whether a joint histogram may have this text."""
    return len(text) <= _LONGEST_TEXT and are_numbers(text)


def _cell(request: RequestTimes) -> _Cell:
    between = request.between_tokens
    return (
        bin_of(request.latency),
        bin_of(request.first_token),
        None if between is None else bin_of(between),
    )


def _bounded(bin_: int) -> int:
    return min(bin_, BINS - 1)


def _encoded(counts: Mapping[_Cell, int]) -> Iterator[str]:
    if not counts:
        return
    # without a bin first, so that None is not compared
    cells = sorted(counts, key=lambda cell: (*cell[:2], -1 if cell[2] is None else cell[2]))
    latency = cells[0][0]
    first_low = min(first for _, first, _ in cells)
    between_low = min((between for *_, between in cells if between is not None), default=0)
    for low in (latency, first_low, between_low):
        yield from digits_of(low)
    for cell in cells:
        this, first, between = cell
        yield from digits_of(this - latency)
        yield from digits_of(first - first_low)
        yield from digits_of(0 if between is None else between - between_low + 1)
        yield from digits_of(counts[cell])
        latency = this
