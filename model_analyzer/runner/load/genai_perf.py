# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The command line and the table of genai-perf, which creates prompts and counts tokens. Pure.

It runs perf_analyzer, so its exit status, output and table are judged like those of perf_analyzer.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from pathlib import Path

from model_analyzer.domain.flags import GENAI_PERF_OWNED
from model_analyzer.domain.measurements import Values
from model_analyzer.domain.metrics import METRICS
from model_analyzer.domain.models import is_decoupled
from model_analyzer.domain.trials import LoadKind, Workload
from model_analyzer.domain.windows import Window
from model_analyzer.runner.load.command import render
from model_analyzer.runner.load.output import finite_number

_LOAD_FLAG = {LoadKind.CONCURRENCY: "--concurrency", LoadKind.REQUEST_RATE: "--request-rate"}

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
    if load.kind in _LOAD_FLAG:
        words += [_LOAD_FLAG[load.kind], str(load.value)]
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
