# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The measurement window of perf_analyzer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from model_analyzer.domain.flags import Flag

# perf_analyzer's own defaults
_REQUEST_COUNT = 50
_INTERVAL_MS = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """How long perf_analyzer measures before it reports a number.

    In mode `count_windows` a window ends after `request_count` requests (perf_analyzer checks once
    a second), in `time_windows` after `interval_ms`. None is perf_analyzer's default. An
    `accepting` window takes every result, stable or not.
    """

    mode: str = "count_windows"
    request_count: int | None = None
    interval_ms: int | None = None
    accepting: bool = False

    @classmethod
    def of(cls, flags: Mapping[str, Flag]) -> Window:
        """The window that the user's flags ask for."""
        return cls(
            mode=str(flags.get("measurement-mode", "count_windows")),
            request_count=_number(flags.get("measurement-request-count")),
            interval_ms=_number(flags.get("measurement-interval")),
        )

    def enlarged(self, requests_per_s: float) -> Window:
        """A window with at least twice as many requests, given the rate so far (0: unknown)."""
        if self.mode == "time_windows":
            return replace(self, interval_ms=2 * self.length_ms)
        count = self.request_count or _REQUEST_COUNT
        if requests_per_s > 0:
            # perf_analyzer checks once a second: fewer requests than that change nothing
            seconds = -(-count // requests_per_s)
            count = max(count, round(seconds * requests_per_s))
        return replace(self, request_count=2 * count)

    @property
    def length_ms(self) -> int:
        """Its length in mode `time_windows`."""
        return self.interval_ms or _INTERVAL_MS

    @property
    def flags(self) -> Mapping[str, Flag]:
        """The flags that ask for this window."""
        flags = {"measurement-mode": self.mode}
        if self.request_count is not None:
            flags["measurement-request-count"] = str(self.request_count)
        if self.interval_ms is not None:
            flags["measurement-interval"] = str(self.interval_ms)
        if self.accepting:
            flags["stability-percentage"] = "999"
        return flags

    def __str__(self) -> str:
        if self.mode == "time_windows":
            return f"{self.length_ms} ms"
        return f"{self.request_count or _REQUEST_COUNT} requests"


def _number(value: Flag | None) -> int | None:
    return int(value) if isinstance(value, str) and value.isdecimal() else None
