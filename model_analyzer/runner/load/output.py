# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Parses perf_analyzer's table and text, and converts its units to catalogue units. Pure."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from model_analyzer.domain.measurements import Values
from model_analyzer.domain.windows import ENOUGH_REQUESTS, WINDOWS
from model_analyzer.runner.load.profile_export import Counted

_INFERENCES = "Inferences/Second"

# column -> (tag, the size of one catalogue unit in the unit of the column)
_COLUMNS: Mapping[str, tuple[str, float]] = {
    _INFERENCES: ("perf_throughput", 1),
    "Avg latency": ("perf_latency_avg", 1000),
    "p50 latency": ("perf_latency_p50", 1000),
    "p90 latency": ("perf_latency_p90", 1000),
    "p95 latency": ("perf_latency_p95", 1000),
    "p99 latency": ("perf_latency_p99", 1000),
    "request/response": ("perf_client_send_recv", 1000),
    "send/recv": ("perf_client_send_recv", 1000),
    "response wait": ("perf_client_response_wait", 1000),
    "Server Queue": ("perf_server_queue", 1000),
    "Server Compute Input": ("perf_server_compute_input", 1000),
    "Server Compute Infer": ("perf_server_compute_infer", 1000),
    "Server Compute Output": ("perf_server_compute_output", 1000),
}

_SERVER_SIDE = ("perf_throughput", "perf_server_")

_NUMBER = r"(\d{1,15}(?:\.\d*)?(?:e[+-]?\d{1,2})?)"  # finite, also added up
_PASS = re.compile(
    rf"Pass \[\d+\] throughput: {_NUMBER} infer/sec(?:\. \S+ latency: {_NUMBER} usec)?"
)
_IMPORTANT = re.compile(
    r"error|fail|unrecognized|invalid|unable|not found|No valid|is restricted", re.IGNORECASE
)
_HARMLESS = re.compile(r"^Pass \[|initialize NVML")
_UNCOUNTED = "failed to find the requested model version"
_UNSTABLE = "Failed to obtain stable measurement"
_TOO_SHORT = "Please use a larger time window"
_IS_LOADED = "*** Measurement Settings ***"
_NOT_LOADED = re.compile(r"failed to load '[^']+' version \d+: (?:Internal: )?(.+?)(?:\\n|\"?\n)")
_THREAD = re.compile(r"Thread \[\d+\]")
_REQUEST_FAILED = re.compile(r"Thread \[\d+\] had error: ")
OVERTAKEN = "must specify the START flag on the first request of the sequence"
_DATA_REFUSED = re.compile(r"Failed to init manager inputs|Unable to init infer data manager")
_STREAM_FAILED = "Failed to retrieve results from inference request."
_NOISE = re.compile(r"Thread \[\d+\] had error: |\[request id: [^\]]*\] ")
_REQUESTS = re.compile(r"^\s*Request count: (\d+)\s*$", re.MULTILINE)
_BATCH_SIZE = re.compile(r"^\s*Batch size: (\d+)\s*$", re.MULTILINE)


class OutputVerdict(Enum):
    """The result of a run of perf_analyzer.

    `UNCOUNTED`: the server's statistics have no request in one of the windows: the model is never
    called, or it answered just before the end of the window, since the server counts a request
    after its response.
    """

    DONE = "done"
    UNSTABLE = "unstable"
    TOO_SHORT = "too short"
    UNCOUNTED = "uncounted"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Report:
    """Values from the text output that are not in the table.

    `requests` is the number of requests in the reported windows; `windows` are the throughputs of
    these windows, in inferences per second, and `latencies` their mean latencies.
    """

    requests: int | None
    windows: tuple[float, ...]
    latencies: tuple[float, ...]

    @property
    def spread(self) -> float:
        """How far the windows differ in throughput or latency."""
        return max(_spread(self.windows), _spread(self.latencies))

    def is_steady(self, percent: float) -> bool:
        """Whether the windows are at most that far above or below their mean."""
        return self.spread <= 2 * percent / 100

    @property
    def has_few_requests(self) -> bool:
        """Whether its windows hold so few requests that one more or less changes the throughput."""
        if self.requests is None:
            return False
        return self.requests < ENOUGH_REQUESTS * max(len(self.windows), 1)

    def requests_per_s(self, batch_size: int) -> float:
        """The rate of the requests; 0 if unknown."""
        return _mean(self.windows) / batch_size


def parse_table(text: str) -> Values | None:
    """The metrics of the last row of the CSV table, or None if it has no row with a throughput."""
    rows = list(csv.DictReader(text.splitlines()))
    if not rows:
        return None
    values: dict[str, float] = {}
    for column, cell in rows[-1].items():
        if column in _COLUMNS and cell is not None:
            tag, divisor = _COLUMNS[column]
            number = finite_number(cell)
            if number is not None:
                values[tag] = number / divisor
    return values if "perf_throughput" in values else None


def parse_counted(table: str, text: str) -> Counted | None:
    """What perf_analyzer counted of a model that streams; None for other models.

    Its two rates are those of the same time. That of requests counts each one as often as its batch
    has inferences.
    """
    requests, sizes = parse_report(text).requests, _BATCH_SIZE.findall(text)
    row = next(iter([*csv.DictReader(table.splitlines())][-1:]), {})
    rates = [finite_number(row.get(key) or "") for key in (_INFERENCES, "Response Throughput")]
    if not requests or not sizes or rates[0] is None or rates[1] is None or rates[0] <= 0:
        return None
    responses = requests * int(sizes[0]) * rates[1] / rates[0]
    return Counted(requests, round(responses)) if math.isfinite(responses) else None


def parse_composing_table(text: str) -> Values | None:
    """As `parse_table`, for a composing model, whose table has only server-side values."""
    values = parse_table(text)
    if values is None:
        return None
    return {tag: value for tag, value in values.items() if tag.startswith(_SERVER_SIDE)}


def composing_model(file: str, table: str) -> str | None:
    """The composing model of a table with the name `MODEL_vVERSION.TABLE`; None for other files."""
    match = re.fullmatch(rf"(.+)_v\d+\.{re.escape(table)}", file)
    return match[1] if match else None


def of_all_versions(versions: Sequence[Values]) -> Values:
    """The values of a composing model from those of each version that was called: the sum of the
    throughputs, and the mean times of all calls.
    """
    throughput = sum(values["perf_throughput"] for values in versions)
    if len(versions) == 1 or not throughput:
        return versions[0]
    tags = set.intersection(*(set(values) for values in versions))
    means = {
        tag: sum(values[tag] * values["perf_throughput"] for values in versions) / throughput
        for tag in tags
    }
    return {**means, "perf_throughput": throughput}


def parse_report(text: str) -> Report:
    """The number of requests and the windows in perf_analyzer's text."""
    requests = _REQUESTS.findall(text)
    passes = _PASS.findall(text)[-WINDOWS:]
    if len(passes) == 1:
        passes = []  # the time of a number of requests is rounded up to whole seconds
    return Report(
        requests=int(requests[-1]) if requests else None,
        windows=tuple(float(rate) for rate, _ in passes),
        latencies=tuple(float(latency) for _, latency in passes if latency),
    )


def _spread(values: Sequence[float]) -> float:
    """The range of the values as a fraction of their mean; 0 without any."""
    mean = _mean(values)
    return (max(values) - min(values)) / mean if mean else 0.0


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def judge(status: int, text: str, *, has_table: bool, is_quick: bool = False) -> OutputVerdict:
    """The result of a run. Exit status 0 without a table is a failure, and usually 99.

    Errors of threads are a failure, too, even with a table: perf_analyzer checks for them only
    before each window. After an error in the last window, the remaining threads had the server for
    themselves, which changes the table. Statuses 2 and 3 alone mean nothing: a wrapper may end with
    them for reasons of its own.

    One error comes after the windows, also unstable ones: at its end, perf_analyzer sends the last
    request of each sequence, which may overtake the one before it. The server drops a sequence with
    the same words if it waited too long, so that error is no failure only if the model `is_quick`
    to answer.
    """
    is_over = has_table or _UNSTABLE in text
    if requests_failed(text) and not (is_over and is_quick and _only_overtaken(text)):
        return OutputVerdict.FAILED
    if status == 0 and has_table:
        return OutputVerdict.DONE
    if status == 99 and _UNCOUNTED in text:
        return OutputVerdict.UNCOUNTED
    if status not in (99, *range(128, 160)):
        if _UNSTABLE in text:
            return OutputVerdict.UNSTABLE
        if _TOO_SHORT in text:
            return OutputVerdict.TOO_SHORT
    return OutputVerdict.FAILED


def requests_failed(text: str) -> bool:
    """Whether at least one thread of perf_analyzer stopped after a failed request."""
    return _REQUEST_FAILED.search(text) is not None


def _only_overtaken(text: str) -> bool:
    """Whether all failed requests belong to a sequence whose last one had come already."""
    lines = [line for line in text.splitlines() if _REQUEST_FAILED.search(line)]
    return all(OVERTAKEN in line for line in lines)


def refuses_data(text: str) -> bool:
    """Whether perf_analyzer refused the input data before it sent a request."""
    return _DATA_REFUSED.search(text) is not None


def stream_failed(text: str) -> bool:
    """Whether a thread noticed an error. In a stream, perf_analyzer then waits for its other
    requests, which may never be answered, and does not say what the error was.
    """
    return _STREAM_FAILED in text


def request_error(line: str) -> str:
    """The error of a request in a line of the output, without the thread and the request."""
    return _NOISE.sub("", line)


def is_loaded(output: str) -> bool:
    """Whether the embedded server of perf_analyzer has loaded the model."""
    return _IS_LOADED in output


def why_not_loaded(output: str) -> str:
    """Why the embedded server of perf_analyzer could not load the model; "" if not known yet."""
    match = _NOT_LOADED.search(output)
    return match[1] if match else ""


def deciding_lines(text: str) -> tuple[str, ...]:
    """The lines of the output that say why it failed, the most important first.

    Errors of requests come first; the same error of several threads appears once.
    """
    different: dict[str, str] = {}
    for line in sorted(_error_lines(text), key=lambda line: not requests_failed(line)):
        different.setdefault(_THREAD.sub("", line), line)
    return tuple(line[:500] for line in [*different.values()][:8])


def last_lines(text: str) -> tuple[str, ...]:
    """The last lines of the output. They explain a failure where no line has a word that we know: a
    wrapper or a container has words of its own.
    """
    lines = filter(None, map(str.strip, text.partition("Usage: ")[0].splitlines()))
    return tuple(line[:500] for line in [*lines][-3:])


def _error_lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("Usage: "):
            return  # the help text does not explain the failure
        if _IMPORTANT.search(line) and not _HARMLESS.search(line):
            yield line


def finite_number(cell: str) -> float | None:
    """The number in a cell of a table; None if it is not a finite number."""
    try:
        number = float(cell)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
