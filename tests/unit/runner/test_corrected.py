# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Latencies of open loads with the user's measurement flags."""

from __future__ import annotations

import pytest

from model_analyzer.domain.trials import Load, LoadKind, Workload
from model_analyzer.noise.lag import is_late
from model_analyzer.runner.load.perf_analyzer import corrected
from model_analyzer.runner.load.profile_export import Export, Request, Requests
from model_analyzer.runner.load.schedule import own_due_times
from tests.unit.builders import variant

NS = 10**9
START = 10**18
SECONDS, RATE, STALL_S, SERVICE_S, THREADS = 20, 50, 2.0, 0.002, 4
# the tenth longest of 1000 requests, of which 100 meet the stall
ANALYTIC_MS = 1000 * STALL_S * 0.9

AT_RATE = Workload(variant=variant(), load=Load(kind=LoadKind.REQUEST_RATE, value=RATE))
FILE = Workload(variant=variant(), load=Load(kind=LoadKind.REQUEST_INTERVALS, value=0))
INTERVALS = "5000\n35000\n"
POISSON = {"request-distribution": "poisson"}


def stalled(work: Workload, flags: dict[str, str], text: str) -> Export:
    """What a client with a few threads exports of a server that stands still for 2 s of 20."""
    due = own_due_times(work, flags, SECONDS * RATE, text)
    assert due is not None
    free = [0.0] * THREADS
    requests = []
    for time in due / NS:
        thread = min(range(THREADS), key=free.__getitem__)
        sent = max(time, free[thread])
        begin = 8 + STALL_S if 8 <= sent < 8 + STALL_S else sent
        free[thread] = begin + SERVICE_S
        came = START + round(free[thread] * NS)
        requests.append(Request(START + round(sent * NS), [came], came, [1]))
    requests.sort(key=lambda request: request.ended)
    return Export(Requests.of(requests), [START, START + 7 * NS, START + 15 * NS, START + 25 * NS])


@pytest.mark.parametrize(
    ("work", "flags", "text"),
    [(AT_RATE, {}, ""), (AT_RATE, POISSON, ""), (FILE, {}, INTERVALS)],
    ids=["constant", "poisson", "file"],
)
def test_latencies_count_from_the_times_of_perf_analyzers_schedule(
    work: Workload, flags: dict[str, str], text: str
) -> None:
    values = corrected(work, flags, stalled(work, flags, text), text)

    # random arrivals have a few more or fewer in the stall
    close = 0.1 if flags else 0.05
    assert values["perf_latency_p99"] == pytest.approx(ANALYTIC_MS, rel=close)
    assert values["perf_sent_latency_p99"] < ANALYTIC_MS / 10
    assert is_late(values)


def test_only_the_windows_that_perf_analyzer_reports_count() -> None:
    export = stalled(AT_RATE, {}, "")
    after = Export(export.requests, [START, *(START + s * NS for s in (12, 13, 14, 15))])
    values = corrected(AT_RATE, {}, after)
    assert values["perf_latency_p99"] == pytest.approx(1000 * SERVICE_S)
    assert values["perf_send_lag_p99"] == 0
    nothing = Export(export.requests, [START + 30 * NS, START + 31 * NS])
    assert corrected(AT_RATE, {}, nothing) == {}


def test_unknown_times_are_not_guessed() -> None:
    assert corrected(FILE, {}, stalled(FILE, {}, INTERVALS), "one\n") == {}
