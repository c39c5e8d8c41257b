# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Histograms of latencies: from these, several measurements of a trial give one percentile; and a
joint histogram of the times of a language model's requests.

A bin is 1 % wide: its ends differ by a factor of e^0.01. So a percentile of the histogram differs
from that of the latencies by at most 1 %.

Separate histograms do not say whether the requests with a late first token are those with slow
tokens afterwards. So the times of a request are kept together, in the bins of `histograms`.
"""

from __future__ import annotations

import math
import re
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, chain, islice, repeat
from math import prod
from operator import itemgetter, sub
from typing import NamedTuple

# Bins for each factor of e; the first one starts at a nanosecond, the last one ends at 27 hours.
_PER_FACTOR = 100
_SHORTEST_MS = 1e-6
BINS = 3220

# The digits of the text, to the base 32: those of the second half are followed by another digit.
_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_VALUES = {digit: value for value, digit in enumerate(_DIGITS)}
_VALUE_OF_BYTE = bytes(_VALUES.get(chr(byte), 0) for byte in range(256))
_BASE, _BITS = 32, 5
# digits that end a number are most: together, they are checked much faster than one by one
_TEXT = re.compile(r"[A-Za-f]*(?:[g-z0-9+/]{1,5}[A-Za-f]+)*")
_NUMBER = re.compile(r"[g-z0-9+/]*[A-Za-f]")
_LONGEST_TEXT = 3 * BINS
_MOST_PACKED = 2**64 - 1


@dataclass(frozen=True)
class Histogram:
    """The number of latencies in each bin, as a text (see `docs/checkpoints.md`).

    Latencies of neighbouring requests are alike: they were in the same batch, or met the same
    disturbance. `clustering` latencies tell as much about the 90th percentile as an independent
    one. If it `is_approximate`, it was made from a few percentiles.
    """

    text: str
    clustering: float = 1.0
    is_approximate: bool = False

    @classmethod
    def of(cls, latencies: Iterable[float], clustering: float = 1.0) -> Histogram:
        """The histogram of latencies in ms."""
        return cls.counting(Counter(map(bin_of, latencies)), clustering)

    @classmethod
    def counting(
        cls, counts: Mapping[int, int], clustering: float = 1.0, *, is_approximate: bool = False
    ) -> Histogram:
        """The histogram with these counts by bin."""
        occupied = {bin_: counts[bin_] for bin_ in sorted(counts) if counts[bin_]}
        histogram = cls(_encoded(occupied), clustering, is_approximate)
        # to read them from the text again would take several times as long as to write it
        histogram.__dict__["_cumulated"] = _packed([*occupied], [*accumulate(occupied.values())])
        return histogram

    @property
    def counts(self) -> Mapping[int, int]:
        """The number of latencies by bin, in ascending order, without empty bins. Every text that
        `is_histogram` accepts has some meaning.
        """
        bins, ends = self._cumulated
        return dict(zip(bins, map(sub, ends, chain((0,), ends)), strict=True))

    @property
    def is_empty(self) -> bool:
        """Whether it has no latency; much faster than `total`."""
        _, count = islice(chain(numbers_in(self.text), (0, 0)), 2)
        return not count and not self.total  # a text of another program may begin with a gap

    @property
    def total(self) -> int:
        """The number of latencies."""
        _, ends = self._cumulated
        return ends[-1] if ends else 0

    def quantile(self, share: float) -> float:
        """The latency (ms) that this share (0 to 1) of all does not exceed. Between two latencies,
        it is interpolated. The histogram must not be empty.
        """
        rank = min(max(share, 0.0), 1.0) * (self.total - 1)
        below = math.floor(rank)
        low = self._at(below)
        return low if rank == below else low + (rank - below) * (self._at(below + 1) - low)

    def within(self, limit: float) -> float:
        """The number of latencies up to this limit (ms). The bin of the limit counts in part."""
        place = place_of(limit)
        last = math.floor(place)
        bins, ends = self._cumulated
        index = bisect_left(bins, last)
        below = ends[index - 1] if index else 0
        if index == len(bins) or bins[index] != last:
            return below
        return below + (ends[index] - below) * (place - last)

    def _at(self, rank: int) -> float:
        """The latency with this rank, from 0: those of a bin are spread evenly over it."""
        bins, ends = self._cumulated
        index = bisect_right(ends, rank)
        count = ends[index] - (ends[index - 1] if index else 0)
        place = bins[index] + (rank - ends[index] + count + 0.5) / count
        return _SHORTEST_MS * math.exp(place / _PER_FACTOR)

    @cached_property
    def _cumulated(self) -> tuple[Sequence[int], Sequence[int]]:
        """The bins, and for each the number of latencies up to its end."""
        return _decoded(self.text)


def place_of(latency: float) -> float:
    """The distance of a latency (ms) from the first bin, in bins."""
    return _PER_FACTOR * math.log(max(latency, _SHORTEST_MS) / _SHORTEST_MS)


def bin_of(latency: float) -> int:
    """The bin of a latency (ms)."""
    return min(int(place_of(latency)), BINS - 1)


def part_below(bin_: int, place: float) -> float:
    """The part (0 to 1) of the latencies of a bin that are below a place: they are spread evenly
    over the bin.
    """
    return min(max(place - bin_, 0.0), 1.0)


def is_histogram(text: str) -> bool:
    """Whether a histogram may have this text."""
    return len(text) <= _LONGEST_TEXT and are_numbers(text)


def are_numbers(text: str) -> bool:
    """Whether a text consists of numbers, as `numbers_in` reads them."""
    return _TEXT.fullmatch(text) is not None


def _decoded(text: str) -> tuple[Sequence[int], Sequence[int]]:
    """The bins of a text, and for each the number of latencies up to its end."""
    bins, ends = [], []
    place = total = number = shift = 0
    is_gap = True  # whether the next number is that of empty bins
    # a report reads millions of digits: one loop without calls takes half the time of `numbers_in`
    for value in text.encode().translate(_VALUE_OF_BYTE):
        number += (value % _BASE) << shift
        if value >= _BASE:
            shift += _BITS
            continue
        if number and not is_gap:
            total += number
            bins.append(min(place, BINS - 1))
            ends.append(total)
        place += number if is_gap else 1
        is_gap = not (is_gap or number)
        number = shift = 0
    last = bisect_left(bins, BINS - 1) + 1  # all beyond the last bin are in it
    return _packed(bins[:last], [*ends[: last - 1], *ends[-1:]] if last < len(ends) else ends)


def _packed(bins: Sequence[int], ends: Sequence[int]) -> tuple[Sequence[int], Sequence[int]]:
    """The same as arrays, in a tenth of the memory of a dictionary: a report has many."""
    return array("H", bins), array("Q", ends) if ends and ends[-1] <= _MOST_PACKED else ends


def _encoded(counts: Mapping[int, int]) -> str:
    """The text of these counts, which ascend, without empty bins."""
    if not counts:
        return ""
    after = next(iter(counts))
    digits = [_digits(after)]
    for bin_, count in counts.items():
        if bin_ > after:
            digits += ["A", _digits(bin_ - after - 1)]
        digits.append(_digits(count))
        after = bin_ + 1
    return "".join(digits)


def digits_of(value: int) -> Iterator[str]:
    """The digits of a number in a text, the lowest first."""
    while value >= _BASE:
        yield _DIGITS[_BASE + value % _BASE]
        value //= _BASE
    yield _DIGITS[value]


@lru_cache(maxsize=4096)  # as for `_number`
def _digits(value: int) -> str:
    return "".join(digits_of(value))


def numbers_in(text: str) -> Iterator[int]:
    """The numbers of a text, decoded as they are read."""
    return map(_number, map(itemgetter(0), _NUMBER.finditer(text)))


@lru_cache(maxsize=4096)  # nearly all are small: a report reads millions of them
def _number(digits: str) -> int:
    return sum(_VALUES[digit] % _BASE * _BASE**exponent for exponent, digit in enumerate(digits))


LATENCY, FIRST_TOKEN, BETWEEN_TOKENS = "perf_latency", "time_to_first_token", "inter_token_latency"

# A measurement with more requests keeps so many, chosen at random.
MOST_REQUESTS = 2048
# Four numbers for each request, and three before them, each with at most three digits.
_LONGEST_JOINT_TEXT = 3 * (4 * MOST_REQUESTS + 3)


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
        return cls("".join(_encoded_cells(Counter(map(_cell, requests)))))

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
    return len(text) <= _LONGEST_JOINT_TEXT and are_numbers(text)


def _cell(request: RequestTimes) -> _Cell:
    between = request.between_tokens
    return (
        bin_of(request.latency),
        bin_of(request.first_token),
        None if between is None else bin_of(between),
    )


def _bounded(bin_: int) -> int:
    return min(bin_, BINS - 1)


def _encoded_cells(counts: Mapping[_Cell, int]) -> Iterator[str]:
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
