# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The command line of perf_analyzer. Pure: values in, argument list out, no shell anywhere."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from model_analyzer.domain.flags import (
    PERF_ANALYZER_LONG_FLAGS,
    PERF_ANALYZER_NO_FILES,
    PERF_ANALYZER_PATHS,
    PERF_ANALYZER_SHORT_FLAGS,
    PERF_ANALYZER_SWITCHES,
    PERF_ANALYZER_VERBOSITY,
    is_on,
)
from model_analyzer.domain.models import is_decoupled
from model_analyzer.domain.trials import LoadKind, Workload

Flag = str | tuple[str, ...]

_LOAD_FLAG = {
    LoadKind.CONCURRENCY: "concurrency-range",
    LoadKind.REQUEST_RATE: "request-rate-range",
}
_VERBOSITY = {"verbose": ["-v"], "extra-verbose": ["-v", "-v"], "verbose-csv": ["--verbose-csv"]}

# A rate is kept while warming up, too: more requests would take more than a second.
_MOST_WARM_UPS = {
    LoadKind.CONCURRENCY: 32,
    LoadKind.REQUEST_RATE: 8,
    LoadKind.REQUEST_INTERVALS: 0,
}

# perf_analyzer's own defaults
_REQUEST_COUNT = 50
_INTERVAL_MS = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """How long perf_analyzer looks before it reports a number.

    In mode `count_windows` a window ends after `request_count` requests (looked at once a
    second), in `time_windows` after `interval_ms`. None is perf_analyzer's default. An
    `accepting` window takes whatever it sees, stable or not.
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
        """A window that sees at least twice as much, given the rate seen so far (0: unknown)."""
        if self.mode == "time_windows":
            return replace(self, interval_ms=2 * self.length_ms)
        count = self.request_count or _REQUEST_COUNT
        if requests_per_s > 0:
            # the load is looked at once a second: fewer requests than that change nothing
            seconds = -(-count // requests_per_s)
            count = max(count, round(seconds * requests_per_s))
        return replace(self, request_count=2 * count)

    @property
    def length_ms(self) -> int:
        """Its length, where time is what counts."""
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


def build_command(
    program: Path,
    workload: Workload,
    *,
    reached_by: Mapping[str, str],
    table: str,
    export: str | None,
    warm_up: bool,
    window: Window,
    user_directory: Path,
) -> list[str]:
    """The arguments that measure `workload`, reached by these flags, and write the CSV file
    `table` and, where `export` is given, a JSON file with the times of all responses.

    With `warm_up` the first requests, which a fresh model answers late, are left out.

    `table` must be a bare name: perf_analyzer drops the tables of composing models otherwise.
    Files that the user names are meant from `user_directory`.
    """
    variant, load = workload.variant, workload.load
    flags: dict[str, Flag] = {
        "model-name": variant.model,
        "batch-size": str(load.batch_size),
        **reached_by,
        "latency-report-file": table,
        "verbose": "true",
        "verbose-csv": "true",
    }
    if is_decoupled(variant.config):
        flags |= {"streaming": "true", "async": "true"}  # it refuses to measure one otherwise
    if load.kind in _LOAD_FLAG:
        flags[_LOAD_FLAG[load.kind]] = str(load.value)
    if variant.composing and "ensemble_scheduling" not in variant.config:
        flags["bls-composing-models"] = ",".join(part.model for part in variant.composing)
    flags |= workload.flags
    flags |= window.flags
    exported = ["--profile-export-file", export] if export else []
    warm_ups = min(load.value, _MOST_WARM_UPS[load.kind]) if warm_up else 0
    warming = ["--warmup-request-count", str(warm_ups)] if warm_ups else []
    return [str(program), *render(flags, user_directory), *exported, *warming]


def named_files(flags: Mapping[str, Flag]) -> Iterator[tuple[str, str]]:
    """(flag, path) of every file that the flags name and whose content counts."""
    for name in ("input-data", "request-intervals"):
        value = flags.get(name, ())
        for path in (value,) if isinstance(value, str) else value:
            if path not in PERF_ANALYZER_NO_FILES:
                yield name, path


def render(flags: Mapping[str, Flag], user_directory: Path) -> Iterator[str]:
    """The flags as arguments, in the order that perf_analyzer's users know."""
    for name, short in PERF_ANALYZER_SHORT_FLAGS.items():
        value = flags.get(name, ())
        for item in (value,) if isinstance(value, str) else value:
            yield short
            yield item
    for name in PERF_ANALYZER_VERBOSITY:
        if is_on(flags.get(name)):
            yield from _VERBOSITY[name]
    for name in PERF_ANALYZER_LONG_FLAGS:
        if name not in flags:
            continue
        value = flags[name]
        if name in PERF_ANALYZER_SWITCHES:
            if is_on(value):
                yield f"--{name}"
            continue
        for item in (value,) if isinstance(value, str) else value:
            is_path = name in PERF_ANALYZER_PATHS and item not in PERF_ANALYZER_NO_FILES
            yield f"--{name}"
            yield os.path.join(user_directory, item) if is_path else item


def _number(value: Flag | None) -> int | None:
    return int(value) if isinstance(value, str) and value.isdecimal() else None
