# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The command line of perf_analyzer. Pure: values in, a list of arguments out, no shell.

The command line and the table of genai-perf, which creates prompts and counts tokens. Pure.

It runs perf_analyzer, so its exit status, output and table are judged like those of perf_analyzer.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from model_analyzer.domain.flags import (
    GENAI_PERF_OWNED,
    PERF_ANALYZER_FLAGS,
    PERF_ANALYZER_FURTHER_FLAGS,
    PERF_ANALYZER_LONG_FLAGS,
    PERF_ANALYZER_NO_FILES,
    PERF_ANALYZER_PATHS,
    PERF_ANALYZER_SHORT_FLAGS,
    PERF_ANALYZER_SWITCHES,
    PERF_ANALYZER_VERBOSITY,
    Flag,
    header_parts,
    is_on,
)
from model_analyzer.domain.measurements import Values
from model_analyzer.domain.metrics import METRICS
from model_analyzer.domain.models import is_decoupled
from model_analyzer.domain.trials import Load, LoadKind, Workload
from model_analyzer.domain.windows import Window
from model_analyzer.runner.load.output import finite_number
from model_analyzer.runner.load.schedule import threads

_LOAD_FLAG = {
    LoadKind.CONCURRENCY: "concurrency-range",
    LoadKind.REQUEST_RATE: "request-rate-range",
}
# Flags that say otherwise when requests are sent.
_OTHER_TIMES = ("request-distribution", "sync")
_VERBOSITY = {"verbose": ["-v"], "extra-verbose": ["-v", "-v"], "verbose-csv": ["--verbose-csv"]}

# At a request rate, warm-up requests are sent at this rate: more of them take long.
_USUAL_WARM_UPS = 8


def build_command(
    program: Path,
    workload: Workload,
    *,
    reached_by: Mapping[str, str],
    table: str,
    export: str | None,
    intervals: str | None,
    inputs: str | None = None,
    warm_up: bool,
    window: Window,
    user_directory: Path,
) -> list[str]:
    """The arguments that measure `workload` and write the CSV file `table` and, if `export` is set,
    a JSON file with the times of all responses. `intervals` is a file with the times between
    requests, which replaces the load; `inputs`, if set, one with their inputs in this order, which
    replaces the user's.

    `reached_by` are the flags for the connection. With `warm_up`, the first requests, which a new
    model answers late, are not measured. `table` must be a name without a directory: otherwise
    perf_analyzer writes no tables of composing models. The user's paths are relative to
    `user_directory`.
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
        flags |= {"streaming": "true", "async": "true"}  # required for decoupled models
    if intervals is None and load.kind in _LOAD_FLAG:
        flags[_LOAD_FLAG[load.kind]] = str(load.value)
    if variant.composing and "ensemble_scheduling" not in variant.config:
        flags["bls-composing-models"] = ",".join(part.model for part in variant.composing)
    flags |= workload.flags
    flags |= window.flags
    if intervals is not None:
        # its own threads would send late if the server is slow
        flags |= {"request-intervals": intervals, "async": "true"}
        flags = {name: value for name, value in flags.items() if name not in _OTHER_TIMES}
        if 0 < (window.total or 0) < threads(flags):
            # it never ends if one of its threads has no request
            flags["max-threads"] = str(window.total)
    if inputs is not None:
        flags["input-data"] = inputs
    exported = ["--profile-export-file", export] if export else []
    # with intervals, warm-ups would be sent at these times
    warm_ups = _warm_ups(load, flags) if warm_up and intervals is None else 0
    warming = ["--warmup-request-count", str(warm_ups)] if warm_ups else []
    return [str(program), *render(flags, user_directory), *exported, *warming]


def _warm_ups(load: Load, flags: Mapping[str, Flag]) -> int:
    """The number of warm-up requests. Each place in flight, or each thread at a request rate, has
    to send one of them: otherwise perf_analyzer never ends.
    """
    match load.kind:
        case LoadKind.CONCURRENCY:
            return load.value
        case LoadKind.REQUEST_RATE:
            return max(min(load.value, _USUAL_WARM_UPS), threads(flags))
        case LoadKind.REQUEST_INTERVALS:
            return 0


def named_files(flags: Mapping[str, Flag]) -> Iterator[tuple[str, str]]:
    """(flag, path) of every input file in the flags."""
    for name in ("input-data", "request-intervals"):
        value = flags.get(name, ())
        for path in (value,) if isinstance(value, str) else value:
            if path not in PERF_ANALYZER_NO_FILES:
                yield name, path


def render(flags: Mapping[str, Flag], user_directory: Path) -> Iterator[str]:
    """The flags as arguments, in perf_analyzer's usual order, with unknown flags at the end."""
    for name, short in PERF_ANALYZER_SHORT_FLAGS.items():
        value = flags.get(name, ())
        for item in (value,) if isinstance(value, str) else value:
            yield short
            yield "".join(header_parts(item)) if name == "http-header" else item
    for name in PERF_ANALYZER_VERBOSITY:
        if is_on(flags.get(name)):
            yield from _VERBOSITY[name]
    for name in (*PERF_ANALYZER_LONG_FLAGS, *PERF_ANALYZER_FURTHER_FLAGS):
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
    for name in flags:
        if name not in PERF_ANALYZER_FLAGS:
            yield from _unknown(name, flags[name])


def _unknown(name: str, value: Flag) -> Iterator[str]:
    """A flag of another version: `true` is a switch that is on, `false` one that is off."""
    for item in (value,) if isinstance(value, str) else value:
        if item == "true":
            yield f"--{name}"
        elif item != "false":
            yield from (f"--{name}", item)


_GENAI_LOAD_FLAG = {LoadKind.CONCURRENCY: "--concurrency", LoadKind.REQUEST_RATE: "--request-rate"}

# perf_analyzer flags that genai-perf sets itself.
_OWNED = frozenset(
    {
        "input-data", "measurement-mode", "measurement-interval", "measurement-request-count",
        "stability-percentage", "streaming", "async", "request-intervals", "shape",
        "string-length", "string-data",
    }
)  # fmt: skip

_ROWS = {
    "Time To First Token": "time_to_first_token",
    "Inter Token Latency": "inter_token_latency",
}
_RATE = "Output Token Throughput"
_UNITS_PER_MS = {"ns": 1e6, "us": 1e3, "ms": 1.0, "s": 1e-3}
_HEADING = re.compile(r"(.+) \((.+)\)")


def build_genai_command(
    program: Path,
    workload: Workload,
    *,
    reached_by: Mapping[str, str],
    table: str,
    window: Window,
    user_directory: Path,
) -> list[str]:
    """The arguments that measure `workload` with genai-perf; results go to the current directory.

    The windows are time windows: with a number of requests, perf_analyzer rounds their duration.
    """
    variant, load, user_flags = workload.variant, workload.load, workload.genai_perf
    words = [str(program), "profile", "-m", variant.model, "-u", reached_by["url"]]
    for name, value in user_flags.items():
        if name not in ("url", "streaming", *GENAI_PERF_OWNED):
            for item in (value,) if isinstance(value, str) else value:
                # its flags for yes or no have no value
                words += {"true": [f"--{name}"], "false": []}.get(item, [f"--{name}", item])
    if is_decoupled(variant.config) or str(user_flags.get("streaming")).lower() == "true":
        words.append("--streaming")
    if load.kind in _GENAI_LOAD_FLAG:
        words += [_GENAI_LOAD_FLAG[load.kind], str(load.value)]
    words += ["--measurement-interval", str(window.length_ms), "--artifact-dir", "."]
    passed = {name: value for name, value in workload.flags.items() if name not in _OWNED}
    passed |= {"latency-report-file": table, "verbose": "true", "verbose-csv": "true"}
    return [*words, "--", *render(passed, user_directory)]


def parse_genai_table(text: str) -> Values | None:
    """The token metrics of genai-perf's table, or None if there are none.

    Units come from its headings, since they differ between versions.
    """
    values: dict[str, float] = {}
    columns: list[str] = []
    for row in csv.reader(text.splitlines()):
        if not row or row[0] == "Metric":
            columns = row[1:]
            continue
        match = _HEADING.fullmatch(row[0])
        if match is None:
            continue
        name, unit = match.groups()
        cells = {
            column: finite_number(cell.replace(",", ""))
            for column, cell in zip(columns, row[1:], strict=False)
        }
        if name in _ROWS and unit in _UNITS_PER_MS:
            for column, number in cells.items():
                tag = f"{_ROWS[name]}_{column}"
                if number is not None and tag in METRICS:
                    values[tag] = number / _UNITS_PER_MS[unit]
        elif name == _RATE:
            number = next(iter(cells.values()), None)
            if number is not None:
                values["output_token_throughput"] = number
    return values or None
