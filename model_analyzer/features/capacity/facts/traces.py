# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A load that changes over time, for example over a day."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, kw_only=True)
class LoadTrace:
    """Requests per second over time: each of `rates` holds from its time on (seconds from the first
    one, ascending) to the next; the last one as long as the one before. `labels` are the times as
    the user wrote them. There are at least two.
    """

    times_s: tuple[float, ...]
    rates: tuple[float, ...]
    labels: tuple[str, ...]

    @cached_property
    def end_s(self) -> float:
        return 2 * self.times_s[-1] - self.times_s[-2]

    @property
    def peak(self) -> float:
        return max(self.rates)

    @property
    def lowest(self) -> float:
        return min(self.rates)

    @property
    def requests(self) -> float:
        """The requests of the whole time."""
        ends = (*self.times_s[1:], self.end_s)
        parts = zip(self.rates, self.times_s, ends, strict=True)
        return math.fsum(rate * (end - start) for rate, start, end in parts)

    def index(self, at_s: float) -> int:
        """The index of the rate at a time; times before the first have the first."""
        return max(0, bisect_right(self.times_s, at_s) - 1)

    def rate(self, at_s: float) -> float:
        return self.rates[self.index(at_s)]
