# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The measurement window of perf_analyzer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from model_analyzer.domain.flags import Flag

_COUNTED, _TIMED = "count_windows", "time_windows"
_COUNT, _INTERVAL = "measurement-request-count", "measurement-interval"

# perf_analyzer's own defaults
_REQUEST_COUNT = 50
DEFAULT_INTERVAL_MS = 5000

# perf_analyzer reports so many windows, and makes each longer than the interval, by this factor.
WINDOWS = 3
_LENGTHENED = 1.2

# With fewer requests in a window, one more or less changes its throughput by more than 10 %.
ENOUGH_REQUESTS = 10

# The longest interval that is made for enough requests: perf_analyzer adds a fifth to intervals, so
# each of its three windows takes 30 s.
_LONGEST_S = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """How long perf_analyzer measures before it reports a number.

    In mode `count_windows` a window ends after `request_count` requests (perf_analyzer checks once
    a second), in `time_windows` after `interval_ms`. None is perf_analyzer's default. An
    `accepting` window takes every result, stable or not. `most` is the limit of windows. `total`
    requests are all: there is a single window, which ends with the last of them.
    """

    mode: str = _COUNTED
    request_count: int | None = None
    interval_ms: int | None = None
    accepting: bool = False
    most: int | None = None
    total: int | None = None

    @classmethod
    def of(cls, flags: Mapping[str, Flag]) -> Window:
        """The window that the user's flags ask for. An interval alone asks for windows of this
        length, as from perf_analyzer itself.
        """
        is_timed = _INTERVAL in flags and _COUNT not in flags
        return cls(
            mode=str(flags.get("measurement-mode", _TIMED if is_timed else _COUNTED)),
            request_count=_number(flags.get(_COUNT)),
            interval_ms=_number(flags.get(_INTERVAL)),
            total=_number(flags.get("request-count")) or None,
        )

    @classmethod
    def lasting(cls, seconds: float) -> Window:
        """The window with which all of perf_analyzer's windows together last so many seconds."""
        interval_ms = max(round(seconds * 1000 / (WINDOWS * _LENGTHENED)), 1)
        return cls(mode=_TIMED, interval_ms=interval_ms, accepting=True, most=WINDOWS)

    @classmethod
    def of_requests(cls, count: int) -> Window:
        """The window that ends when so many requests are answered."""
        return cls(accepting=True, total=count)

    def enlarged(self, requests_per_s: float) -> Window:
        """A window with at least twice as many requests, given the rate so far (0: unknown)."""
        size = self.size
        if not self.is_timed and requests_per_s > 0:
            # perf_analyzer checks once a second: fewer requests than that change nothing
            seconds = -(-size // requests_per_s)
            size = max(size, round(seconds * requests_per_s))
        return self._resized(2 * size)

    def filled(self, requests_per_s: float, *, timeout_s: float) -> Window:
        """A window that holds enough requests, or as many as 30 s have, and takes whatever it sees;
        this window if that is not larger. Three such windows end before the timeout.
        """
        if requests_per_s <= 0:
            return self
        longest_s = min(_LONGEST_S, int(timeout_s / 5))
        if self.is_timed:
            size = 1000 * min(math.ceil(ENOUGH_REQUESTS / requests_per_s), longest_s)
        else:
            size = min(ENOUGH_REQUESTS, int(requests_per_s * longest_s))
        return replace(self._resized(size), accepting=True) if size > self.size else self

    def seconds(self, requests_per_s: float) -> float:
        """How long perf_analyzer takes for its windows if the first ones are stable. It looks once
        a second whether there are enough requests.
        """
        if self.total is not None:
            return self.total / requests_per_s
        if self.is_timed:
            return WINDOWS * _LENGTHENED * self.length_ms / 1000
        return WINDOWS * max(math.ceil(self.size / requests_per_s), 1)

    def _resized(self, size: int) -> Window:
        if self.is_timed:
            return replace(self, interval_ms=size)
        return replace(self, request_count=size)

    def is_set_by(self, flags: Mapping[str, Flag]) -> bool:
        """Whether the user's flags say how large it is."""
        return self.size_flag in flags and self == Window.of(flags)

    @property
    def is_timed(self) -> bool:
        return self.mode == _TIMED

    @property
    def size(self) -> int:
        """Its milliseconds or requests, depending on what counts."""
        if self.total is not None:
            return self.total
        return self.length_ms if self.is_timed else self.request_count or _REQUEST_COUNT

    @property
    def length_ms(self) -> int:
        """Its length in mode `time_windows`."""
        return self.interval_ms or DEFAULT_INTERVAL_MS

    @property
    def size_flag(self) -> str:
        """The flag for its size."""
        if self.total is not None:
            return "request-count"
        return _INTERVAL if self.is_timed else _COUNT

    @property
    def unused_flags(self) -> Sequence[str]:
        """The flags of sizes that do not count."""
        return [flag for flag in (_COUNT, _INTERVAL) if flag != self.size_flag]

    @property
    def flags(self) -> Mapping[str, Flag]:
        """The flags that ask for this window."""
        if self.total is not None:
            return {"request-count": str(self.total)}
        flags = {"measurement-mode": self.mode}
        if self.request_count is not None:
            flags[_COUNT] = str(self.request_count)
        if self.interval_ms is not None:
            flags[_INTERVAL] = str(self.interval_ms)
        if self.accepting:
            flags["stability-percentage"] = "999"
        if self.most is not None:
            flags["max-trials"] = str(self.most)
        return flags

    def __str__(self) -> str:
        return f"{self.size} {'ms' if self.is_timed else 'requests'}"


def _number(value: Flag | None) -> int | None:
    return int(value) if isinstance(value, str) and value.isdecimal() else None
