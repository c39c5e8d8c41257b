# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Several generators for one load: what each sends, and their measurements together; rates and
sizes of requests, as they are expected before a measurement.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from model_analyzer.domain.traffic import Arrivals, Traffic
from model_analyzer.domain.trials import LoadKind, Workload
from model_analyzer.domain.windows import Window
from model_analyzer.runner.load.ended import Ended
from model_analyzer.runner.load.generators import (
    Generator,
    joined_exports,
    joined_tables,
    joined_times,
    shares,
    with_own_ids,
)
from model_analyzer.runner.load.profile_export import Export, Request, Requests
from model_analyzer.runner.load.sampling import sampled
from model_analyzer.runner.load.schedule import due_times, intended
from model_analyzer.runner.load.time_limits import ExportSizes, RequestRates
from tests.unit.builders import trial, variant

NS = 10**9
START = 10**18


def traffic(arrivals: Arrivals, generators: int) -> Traffic:
    return Traffic(arrivals=arrivals, generators=generators)


@pytest.mark.parametrize("arrivals", [Arrivals.CONSTANT, Arrivals.POISSON])
def test_together_they_send_every_request_once(arrivals: Arrivals) -> None:
    due = due_times(traffic(arrivals, 3), rate=500, seconds=4)
    parts = shares(due, traffic(arrivals, 3))
    assert len(parts) == 3
    assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(len(due)))
    assert all((np.diff(part) > 0).all() for part in parts)
    assert all(len(due) / 4 < len(part) < len(due) / 2 for part in parts)


@pytest.mark.parametrize(("requests", "generators"), [(1, 1), (19, 1), (60, 6), (1000, 64)])
def test_there_are_no_more_generators_than_the_requests_need(
    requests: int, generators: int
) -> None:
    parts = shares(np.arange(requests), traffic(Arrivals.CONSTANT, 64))
    assert len(parts) == generators
    assert min(map(len, parts)) > 0


def test_a_single_generator_sends_all() -> None:
    due = due_times(traffic(Arrivals.POISSON, 1), rate=50, seconds=1)
    (part,) = shares(due, traffic(Arrivals.POISSON, 1))
    assert np.array_equal(due[part], due)


def test_shares_of_constant_arrivals_are_constant() -> None:
    due = due_times(traffic(Arrivals.CONSTANT, 2), rate=100, seconds=2)
    for part in shares(due, traffic(Arrivals.CONSTANT, 2)):
        assert set(np.diff(due[part])) == {20_000_000}


def test_shares_of_poisson_arrivals_are_poisson_whenever_each_of_them_starts() -> None:
    due = due_times(traffic(Arrivals.POISSON, 2), rate=1000, seconds=20)
    first, second = (due[part] for part in shares(due, traffic(Arrivals.POISSON, 2)))
    for times in (first, second, np.sort(np.concatenate([first, second + 40_000_000]))):
        gaps = np.diff(times) / NS
        # the standard deviation of exponential gaps is their mean
        assert gaps.std() / gaps.mean() == pytest.approx(1, abs=0.04)


def exported(due: np.ndarray, start: int, late: Mapping[int, int] | None = None) -> Export:
    """Requests that are answered after 5 ms; some of them are sent late, by nanoseconds."""
    requests = []
    for number, time in enumerate(due.tolist()):
        sent = start + time + (late or {}).get(number, 0)
        requests.append(Request(sent, [sent + 5_000_000], sent + 5_000_000, [1]))
    requests.sort(key=lambda request: request.ended)
    return Export(Requests.of(requests), [start, start + int(due[-1]) + 6_000_000])


def test_only_the_time_in_which_all_of_them_sent_counts() -> None:
    due = due_times(traffic(Arrivals.CONSTANT, 2), rate=200, seconds=4)
    parts = [due[part] for part in shares(due, traffic(Arrivals.CONSTANT, 2))]
    # the second one starts a second later
    exports = [exported(part, START + n * NS) for n, part in enumerate(parts)]

    joined = joined_exports(exports, is_whole=False)
    whole = joined_exports(exports, is_whole=True)

    measured = sampled(joined, in_flight=0, batch_size=1, with_tokens=False)
    assert measured is not None
    assert measured.values["perf_throughput"] == pytest.approx(200, rel=0.01)
    assert measured.seconds == pytest.approx(3, abs=0.05)
    everything = sampled(whole, in_flight=0, batch_size=1, with_tokens=False)
    assert everything is not None
    assert everything.requests == len(due) - 1


def test_each_generator_is_compared_with_its_own_start() -> None:
    due = due_times(traffic(Arrivals.CONSTANT, 2), rate=200, seconds=1)
    parts = [due[part] for part in shares(due, traffic(Arrivals.CONSTANT, 2))]
    starts = [START, START + 30_000_000]
    late = [{}, {7: 8_000_000}]
    moved = [
        intended(exported(part, start, each), part)
        for part, start, each in zip(parts, starts, late, strict=True)
    ]

    joined = joined_times(moved, is_whole=True)

    assert sorted(joined.lags)[-2:] == [0, 8]
    (slow,) = [r for r in joined.export.requests if r.ended - r.sent > 5_000_000]
    assert slow.ended - slow.sent == 13_000_000
    assert joined.lags[[*joined.export.requests].index(slow)] == 8
    ends = [request.ended for request in joined.export.requests]
    assert ends == sorted(ends)


def run(table: Mapping[str, float], requests: int) -> Ended:
    return Ended(
        command="perf_analyzer",
        status=0,
        output=f"  Client: \n    Request count: {requests}\n",
        table=table,
        export=None,
        export_bytes=0,
        genai=None,
        composing={},
        embedded=False,
        stopped=None,
        death="",
    )


def test_tables_without_an_export() -> None:
    first = run({"perf_throughput": 100, "perf_latency_p99": 9, "perf_latency_avg": 2}, 300)
    second = run({"perf_throughput": 50, "perf_latency_p99": 12, "perf_latency_avg": 8}, 100)
    assert first.report.requests == 300
    assert joined_tables([first]) == first.table
    assert joined_tables([first, second]) == {
        "perf_throughput": 150,
        "perf_latency_p99": 12,
        "perf_latency_avg": 3.5,
    }


def id_ranges(count: int, given: str | None = None) -> list[str | None]:
    (work,) = trial().workloads
    work = replace(work, flags={} if given is None else {"sequence-id-range": given})
    generators = [Generator(work, Window(), exports=False)] * count
    return [each.work.flags.get("sequence-id-range") for each in with_own_ids(generators)]


def test_a_single_generator_has_the_ids_that_the_user_gave() -> None:
    assert id_ranges(1) == [None]
    assert id_ranges(1, "7") == ["7"]


@pytest.mark.parametrize("count", [2, 3, 8, 64])
@pytest.mark.parametrize(
    ("given", "begin", "end"),
    [(None, 1, 2**31 - 1), ("500", 500, 2**31 - 1), ("100:1000", 100, 1000)],
)
def test_several_generators_have_different_ids(
    count: int, given: str | None, begin: int, end: int
) -> None:
    """They are those of the user's range, and perf_analyzer can read them."""
    bounds = [tuple(map(int, str(ids).split(":"))) for ids in id_ranges(count, given)]
    assert bounds[0][0] == begin
    assert bounds[-1][1] == end
    assert all(first[1] == second[0] for first, second in pairwise(bounds))
    sizes = [last - first for first, last in bounds]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("given", ["a:b", "1:2:3", "-1:5", "", "99999999999"])
def test_a_range_that_is_none_stays(given: str) -> None:
    assert id_ranges(2, given) == [given, given]


def work(value: int = 1, *, model: str = "m", batch_size: int = 1, **load: Any) -> Workload:
    tensors = [{"name": "IN", "data_type": "TYPE_FP32", "dims": ["3", "32", "-1"]}]
    of = variant(model=model, input=tensors, output=[{"name": "OUT", "dims": [4]}])
    (workload,) = trial(of, concurrency=value, batch_size=batch_size, **load).workloads
    return workload


def sized(value: int, size: int) -> Workload:
    of = variant(model="m", max_batch_size=size)
    (workload,) = trial(of, concurrency=value).workloads
    return workload


def test_nothing_is_expected_of_an_unknown_workload() -> None:
    assert RequestRates().expected(work()) is None


def test_another_load_is_expected_from_those_that_are_known() -> None:
    rates = RequestRates()
    rates.learn(work(4), 100.0)
    assert rates.expected(work(4)) == 100
    assert rates.expected(work(16)) == 100
    assert rates.expected(work(2)) == 50
    rates.learn(work(8), 160.0)
    assert rates.expected(work(16)) == 160
    assert rates.expected(work(6)) == 120


def test_of_a_new_variant_that_is_likely_which_half_of_the_others_reach() -> None:
    rates = RequestRates()
    for size, rate in ((1, 50.0), (2, 300.0), (4, 400.0)):
        assert rates.likely(work(8)) is None
        rates.learn(sized(8, size), rate)
    assert rates.likely(work(8)) == 300
    assert rates.likely(work(4)) == 150
    rates.learn(sized(16, 8), 200.0)
    assert rates.likely(work(8)) == 200
    assert rates.likely(work(8, model="other")) is None


@pytest.mark.parametrize("other", [work(4, batch_size=2), work(4, kind=LoadKind.REQUEST_RATE)])
def test_rates_are_those_of_a_kind_of_load(other: Workload) -> None:
    rates = RequestRates()
    rates.learn(work(4), 3.0)
    assert rates.expected(other) != 3


def test_a_request_rate_is_expected_until_it_is_not_reached() -> None:
    rates = RequestRates()
    assert rates.expected(work(200, kind=LoadKind.REQUEST_RATE)) == 200
    rates.learn(work(200, kind=LoadKind.REQUEST_RATE), 80.0)
    assert rates.expected(work(400, kind=LoadKind.REQUEST_RATE)) == 80


def test_nothing_is_learned_from_a_rate_of_zero() -> None:
    rates = RequestRates()
    rates.learn(work(), 0.0)
    assert rates.expected(work()) is None


def test_the_size_of_a_request_is_estimated_until_it_is_known() -> None:
    sizes = ExportSizes()
    assert sizes.expected(work()) == 200 + 20 * (3 * 32 + 4)
    assert sizes.expected(work(batch_size=8)) == 200 + 8 * 20 * (3 * 32 + 4)
    sizes.learn(work(), 1234.5)
    assert sizes.expected(work(7)) == 1234.5
    assert sizes.expected(work(model="other")) != 1234.5
    sizes.learn(work(), math.inf)
    assert math.isinf(sizes.expected(work()))
