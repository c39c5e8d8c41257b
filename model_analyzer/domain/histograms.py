# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Histograms of latencies: from these, several measurements of a trial give one percentile.

A bin is 1 % wide: its ends differ by a factor of e^0.01. So a percentile of the histogram differs
from that of the latencies by at most 1 %.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from operator import itemgetter

# Bins for each factor of e; the first one starts at a nanosecond, the last one ends at 27 hours.
_PER_FACTOR = 100
_SHORTEST_MS = 1e-6
BINS = 3220

# The digits of the text, to the base 32: those of the second half are followed by another digit.
_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_VALUES = {digit: value for value, digit in enumerate(_DIGITS)}
_BASE = len(_DIGITS) // 2
_TEXT = re.compile(r"(?:[g-z0-9+/]{0,5}[A-Za-f])*")
_NUMBER = re.compile(r"[g-z0-9+/]*[A-Za-f]")
_LONGEST_TEXT = 3 * BINS


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
        return cls(_encoded(counts), clustering, is_approximate)

    @cached_property
    def counts(self) -> Mapping[int, int]:
        """The number of latencies by bin, in ascending order, without empty bins. Every text that
        `is_histogram` accepts has some meaning.
        """
        # all at once, which is faster than `numbers_in`
        counts = dict(_counted(map(_number, _NUMBER.findall(self.text))))
        return counts if max(counts, default=0) < BINS else _bounded(counts)

    @property
    def is_empty(self) -> bool:
        """Whether it has no latency; much faster than `total`."""
        return next(_counted(numbers_in(self.text)), None) is None

    @cached_property
    def total(self) -> int:
        """The number of latencies."""
        return sum(self.counts.values())

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
        below = sum(count for bin_, count in self.counts.items() if bin_ < last)
        return below + self.counts.get(last, 0) * (place - last)

    def _at(self, rank: int) -> float:
        """The latency with this rank, from 0: those of a bin are spread evenly over it."""
        bins, ends = self._cumulated
        index = bisect_right(ends, rank)
        count = self.counts[bins[index]]
        place = bins[index] + (rank - ends[index] + count + 0.5) / count
        return _SHORTEST_MS * math.exp(place / _PER_FACTOR)

    @cached_property
    def _cumulated(self) -> tuple[Sequence[int], Sequence[int]]:
        """The bins, and for each the number of latencies up to its end."""
        return list(self.counts), list(accumulate(self.counts.values()))


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


def _counted(numbers: Iterator[int]) -> Iterator[tuple[int, int]]:
    """The bins of a text with their counts; bins may be beyond the last one."""
    place = next(numbers, 0)
    for number in numbers:
        if number:
            yield place, number
            place += 1
        else:
            place += 1 + next(numbers, 0)


def _bounded(counts: Mapping[int, int]) -> Mapping[int, int]:
    """The same counts, with those beyond the last bin in it."""
    bounded: Counter[int] = Counter()
    for bin_, count in counts.items():
        bounded[min(bin_, BINS - 1)] += count
    return bounded


def _encoded(counts: Mapping[int, int]) -> str:
    occupied = sorted(bin_ for bin_, count in counts.items() if count)
    if not occupied:
        return ""
    digits = [_digits(occupied[0]), _digits(counts[occupied[0]])]
    for before, bin_ in pairwise(occupied):
        if bin_ - before > 1:
            digits += ["A", _digits(bin_ - before - 2)]
        digits.append(_digits(counts[bin_]))
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
