# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Latencies from the times at which requests were due."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from model_analyzer.domain.measurements import NoticeKind
from model_analyzer.domain.traffic import Arrivals, Traffic
from model_analyzer.domain.trials import Load, LoadKind, Workload
from model_analyzer.runner.load.intended import (
    LEAD_S,
    intended,
    intervals_text,
    remarks_on_sending,
    values_of_sending,
)
from model_analyzer.runner.load.profile_export import Export, Request, Requests
from model_analyzer.runner.load.sampling import sampled
from model_analyzer.runner.load.schedule import due_times
from tests.unit.builders import variant

NS = 10**9
RATE, SECONDS, STALL_S, SERVICE_S = 50, 20, 2.0, 0.002


def stalled(threads: int | None) -> tuple[Export, np.ndarray]:
    """An export of a server that stands still from second 8 to 10. A client with a few `threads`
    cannot send while all of them wait; with None, it sends on time.
    """
    due = due_times(Traffic(arrivals=Arrivals.CONSTANT), rate=RATE, seconds=SECONDS)
    free = [0.0] * (threads or len(due))
    requests = []
    for time in due / NS:
        worker = min(range(len(free)), key=free.__getitem__)
        sent = max(time, free[worker])
        begin = max(sent, 8 + STALL_S) if 8 <= sent < 8 + STALL_S else sent
        free[worker] = begin + SERVICE_S
        came = round((begin + SERVICE_S) * NS)
        requests.append(Request(10**18 + round(sent * NS), [10**18 + came], 10**18 + came, [1]))
    requests.sort(key=lambda request: request.ended)
    return Export(Requests.of(requests), [10**18, 10**18 + (SECONDS + 1) * NS]), due


def p99(export: Export) -> float:
    measured = sampled(export, in_flight=0, batch_size=1, with_tokens=False)
    assert measured is not None
    return measured.values["perf_latency_p99"]


def test_a_stall_counts_for_all_who_wait_although_the_client_did_not_send() -> None:
    export, due = stalled(threads=4)
    # of 1000 requests, 100 fall into the stall, so a tenth of them is 1.8 s late or more
    analytic = 1000 * STALL_S * (1 - 0.01 * SECONDS / STALL_S)
    assert p99(export) < analytic / 4  # what the client itself says
    assert abs(p99(intended(export, due).export) / analytic - 1) < 0.05


def test_a_client_that_sends_on_time_needs_no_correction() -> None:
    export, due = stalled(threads=None)
    assert abs(p99(intended(export, due).export) - p99(export)) < 0.01


def test_the_lag_is_measured_and_told() -> None:
    export, due = stalled(threads=4)
    moved = intended(export, due)
    values = values_of_sending(moved)
    assert values["perf_send_lag_p99"] > 1000
    assert values["perf_sent_latency_p99"] == round(
        float(np.percentile([r.ended - r.sent for r in export.requests], 99)) / 1e6, 6
    )
    work = Workload(variant=variant(), load=Load(kind=LoadKind.REQUEST_RATE, value=RATE))
    (notice,) = remarks_on_sending(work, {**values, "perf_latency_p99": 1800.0})
    assert notice.kind is NoticeKind.CLIENT_LAGGED
    assert "contains that: use a lower rate, several generators" in notice.text


def test_a_small_lag_is_no_remark() -> None:
    work = Workload(variant=variant(), load=Load(kind=LoadKind.REQUEST_RATE, value=RATE))
    assert not [*remarks_on_sending(work, {"perf_send_lag_p99": 0.9, "perf_latency_p99": 5.0})]
    assert not [*remarks_on_sending(work, {"perf_send_lag_p99": 4.0, "perf_latency_p99": 100.0})]
    assert [*remarks_on_sending(work, {"perf_send_lag_p99": 4.0, "perf_latency_p99": 50.0})]


def test_an_open_load_says_why_its_lag_is_not_known() -> None:
    work = Workload(variant=variant(), load=Load(kind=LoadKind.REQUEST_RATE, value=RATE))
    values = {"perf_latency_p99": 50.0}
    (notice,) = remarks_on_sending(work, values, unknown="the file has changed")
    assert notice.kind is NoticeKind.LAG_UNKNOWN
    assert ": the file has changed; so latencies count" in notice.text
    assert not [*remarks_on_sending(replace(work, load=Load(value=4)), values)]


def test_requests_may_end_in_another_order() -> None:
    requests = [Request(0, [900], 900, [1]), Request(110, [500], 500, [1])]
    export = Export(Requests.of([requests[1], requests[0]]), [0, 1000])
    moved = intended(export, np.array([50, 150]))
    assert [(request.sent, request.ended) for request in moved.export.requests] == [
        (100, 500),
        (0, 900),
    ]
    assert moved.lags.tolist() == [10 / 1e6, 0.0]


def test_the_file_of_intervals_does_not_drift_and_does_not_begin_again() -> None:
    due = due_times(Traffic(arrivals=Arrivals.CONSTANT), rate=3000, seconds=1)
    gaps = [int(line) for line in intervals_text(due).split()]
    assert sum(gaps[:-1]) == 1_000_000 + LEAD_S * 1e6
    assert gaps[-1] > 3_600_000_000


def test_no_request_is_due_before_perf_analyzer_collects_answers() -> None:
    """A log may begin with a request at 0."""
    gaps = [int(line) for line in intervals_text(np.array([0, 1_000_000])).split()]
    assert gaps[:2] == [LEAD_S * 1e6, 1000]
