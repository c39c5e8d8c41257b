# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The times of open loads, and latencies from the times at which requests were due.
`qa/test_traffic.py` compares the times at which perf_analyzer itself sends with it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from model_analyzer.domain.measurements import NoticeKind
from model_analyzer.domain.traffic import Arrivals, Stage, Traffic
from model_analyzer.domain.trials import Load, LoadKind, Workload
from model_analyzer.runner.load.profile_export import Export, Request, Requests
from model_analyzer.runner.load.sampling import sampled
from model_analyzer.runner.load.schedule import (
    LEAD_S,
    due_times,
    intended,
    intervals_text,
    own_due_times,
    own_rate,
    remarks_on_sending,
    values_of_sending,
)
from tests.unit.builders import variant

POISSON = Traffic(arrivals=Arrivals.POISSON)


def distance(gaps: np.ndarray, cv: float) -> float:
    """The Kolmogorov-Smirnov distance of gaps from a gamma distribution with mean 1."""
    shape = 1 / cv**2
    ordered = np.sort(gaps)
    expected = np.array([lower_gamma(shape, shape * gap) for gap in ordered])
    count = len(ordered)
    above = np.arange(1, count + 1) / count - expected
    below = expected - np.arange(count) / count
    return float(max(above.max(), below.max()))


def lower_gamma(shape: float, x: float) -> float:
    """The regularized lower incomplete gamma function, as a series."""
    if x <= 0:
        return 0.0
    term = total = 1 / shape
    for step in range(1, 1000):
        term *= x / (shape + step)
        total += term
        if term < total * 1e-12:
            break
    return total * math.exp(-x + shape * math.log(x) - math.lgamma(shape))


@pytest.mark.parametrize(
    "traffic",
    [
        POISSON,
        Traffic(arrivals=Arrivals.GAMMA, cv=2),
        Traffic(arrivals=Arrivals.GAMMA, cv=0.5, seed=3),
    ],
    ids=str,
)
def test_the_gaps_have_their_distribution(traffic: Traffic) -> None:
    times = due_times(traffic, rate=200, seconds=20)
    gaps = np.diff(times) / 1e9 * 200
    cv = traffic.cv if traffic.arrivals is Arrivals.GAMMA else 1.0
    # the critical value at 5 %
    assert distance(gaps, cv) < 1.358 / math.sqrt(len(gaps))
    # and the test can fail
    assert distance(gaps, 3 * cv) > 1.358 / math.sqrt(len(gaps))


def test_equal_seeds_give_equal_times() -> None:
    again, other = Traffic(arrivals=Arrivals.POISSON), Traffic(arrivals=Arrivals.POISSON, seed=1)
    times = due_times(POISSON, rate=50, seconds=2)
    assert (due_times(again, rate=50, seconds=2) == times).all()
    assert (due_times(other, rate=50, seconds=2) != times).any()
    assert (due_times(POISSON, rate=50, seconds=2, part=1) != times).any()


def test_constant_arrivals() -> None:
    times = due_times(Traffic(arrivals=Arrivals.CONSTANT), rate=4, seconds=1)
    assert times.tolist() == [250_000_000, 500_000_000, 750_000_000, 1_000_000_000]


def test_stages_have_their_rates() -> None:
    stages = (Stage(100, 10), Stage(1000, 2))
    times = due_times(Traffic(arrivals=Arrivals.STAGES, stages=stages), rate=0, seconds=0)
    assert ((times < 10e9).sum(), len(times)) == (1000, 3000)  # exactly, however random they are
    assert (np.diff(times) >= 0).all()
    assert times[-1] < 12e9


def test_a_log_keeps_its_counts_at_another_speed() -> None:
    log = [0, 0, 1_000_000_000, 4_000_000_000]
    times = due_times(Traffic(arrivals=Arrivals.REPLAY, speed=2), rate=0, seconds=0, log=log)
    assert times.tolist() == [0, 0, 500_000_000, 2_000_000_000]


def test_each_stratum_has_the_rate_that_was_asked_for() -> None:
    gamma = Traffic(arrivals=Arrivals.GAMMA, cv=3)
    due = due_times(gamma, rate=100, seconds=7, stratum_s=2)
    assert due[199] == pytest.approx(2e9)
    assert due[599] == pytest.approx(6e9)
    # bursts stay
    gaps = np.diff(due) / 1e9
    assert gaps.std() / gaps.mean() > 2


NS = 10**9


def at_rate(rate: int, **config: Any) -> Workload:
    changed = replace(variant(), config={**variant().config, **config})
    return Workload(variant=changed, load=Load(kind=LoadKind.REQUEST_RATE, value=rate))


FILE = Workload(variant=variant(), load=Load(kind=LoadKind.REQUEST_INTERVALS, value=0))


def times(work: Workload, flags: dict[str, str], count: int, text: str = "") -> list[int]:
    due = own_due_times(work, flags, count, text)
    assert due is not None
    assert len(due) == count
    return list(due.tolist())


def test_a_rate_is_even_unless_the_flags_say_otherwise() -> None:
    assert times(at_rate(50), {}, 3) == [NS // 50, 2 * NS // 50, 3 * NS // 50]
    assert times(at_rate(50), {"request-distribution": "constant"}, 1) == [NS // 50]
    assert own_rate(at_rate(50)) == 50


def test_poisson_arrivals_are_those_of_the_seed_that_cpp_uses() -> None:
    # the first numbers of std::mt19937, as the C++ standard defines it
    lower, upper = 3499211612, 581869302
    first = -math.log(1 - (lower + upper * 2**32) / 2**64)
    poisson = {"request-distribution": "poisson"}
    assert times(at_rate(1), poisson, 1) == [pytest.approx(first * NS, abs=2)]
    gaps = np.diff(times(at_rate(200), poisson, 5000))
    assert np.mean(gaps) == pytest.approx(NS / 200, rel=0.05)
    assert np.std(gaps) == pytest.approx(NS / 200, rel=0.05)


@pytest.mark.parametrize(
    ("work", "flags", "senders"),
    [
        (at_rate(100), {}, 4),
        (at_rate(100), {"max-threads": "7"}, 7),
        (at_rate(100, sequence_batching={}), {"max-threads": "7"}, 4),
        (at_rate(100, sequence_batching={}), {"num-of-sequences": "3"}, 3),
    ],
)
def test_poisson_arrivals_begin_again_after_all_windows(
    work: Workload, flags: dict[str, str], senders: int
) -> None:
    shown = {**flags, "request-distribution": "poisson"}
    flags = {**shown, "max-trials": "5", "measurement-interval": "200"}
    due = times(work, flags, 400)
    without_end = times(work, shown, 400)
    # a second, and then until each sender has as many times
    cycle = next(n for n, time in enumerate(without_end) if time >= NS) + 1
    cycle = math.ceil(cycle / senders) * senders
    assert 70 < cycle < 130
    assert due[:cycle] == without_end[:cycle]
    assert due[cycle : 2 * cycle] == [due[cycle - 1] + time for time in due[:cycle]]


def test_a_file_begins_again_at_its_end() -> None:
    us = 1000
    assert times(FILE, {}, 5, "10\n20\n30\n") == [10 * us, 30 * us, 60 * us, 70 * us, 90 * us]
    assert times(FILE, {}, 1, " 10 # comment\n") == [10 * us]
    assert own_rate(FILE, "10000\n30000\n") == 50


@pytest.mark.parametrize("text", ["", "\n", "10\n\n20\n", "ten\n", "-10\n"])
def test_a_file_that_perf_analyzer_reads_in_another_way_is_not_guessed(text: str) -> None:
    assert own_due_times(FILE, {}, 3, text) is None
    assert own_rate(FILE, text) is None


def test_other_distributions_are_not_guessed() -> None:
    assert own_due_times(at_rate(9), {"request-distribution": "gamma"}, 3) is None
    assert own_rate(FILE, "0\n0\n") is None


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
    values = values_of_sending(intended(export, due))
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
