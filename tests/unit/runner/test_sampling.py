# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Throughput, latencies and windows of a round, from the times of its requests; numbers of an
export for the laws of a measurement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from model_analyzer.domain.histograms import MOST_REQUESTS
from model_analyzer.domain.measurements import ModelMeasurement, Values
from model_analyzer.domain.traffic import Arrivals, Stage, Traffic
from model_analyzer.noise.laws import ANSWERED, DUE, IMPOSSIBLE, RESPONSES, SENT, TOKENS
from model_analyzer.runner.load.output import parse_report, parse_table
from model_analyzer.runner.load.profile_export import Export, Request, Requests, read_export
from model_analyzer.runner.load.sampling import Offered, evidence_of, rates_of, sampled, whole_rate
from model_analyzer.runner.load.schedule import due_times, intended
from tests.unit.builders import known

MS, NS = 1_000_000, 1_000_000_000
START = 1_795_563_554_422_909_105  # nanoseconds since 1970


def export(times: Sequence[tuple[float, float]], seconds: float = 1.0) -> Export:
    """Requests by the times (ms) when they were sent and ended."""
    requests = [
        Request(sent := START + round(a * MS), [end := START + round(b * MS)], end, [1])
        for a, b in sorted(times, key=lambda each: each[1])
    ]
    assert sent < end
    bounds = [START + round(seconds * 1e9 * part / 3) for part in range(4)]
    return Export(Requests.of(requests), bounds)


def closed_loop(
    in_flight: int, service_ms: float, seconds: float = 1.0, batch: int = 1
) -> list[tuple[float, float]]:
    """Requests to a server that answers them in batches, one after another; each answer is followed
    by a new request at once.
    """
    waiting = [0.0] * in_flight
    clock, times = 0.0, []
    while clock < seconds * 1000:
        clock += service_ms
        taken, waiting = waiting[:batch], waiting[batch:]
        times += [(sent, clock) for sent in taken]
        waiting += [clock] * len(taken)
    return times


def measured(
    times: Sequence[tuple[float, float]], in_flight: int, seconds: float = 1.0, batch_size: int = 1
) -> ModelMeasurement:
    model = sampled(
        export(times, seconds), in_flight=in_flight, batch_size=batch_size, with_tokens=False
    )
    assert model is not None
    return model


def test_the_first_requests_which_met_an_idle_server_do_not_count() -> None:
    """64 requests at once to a server that needs 7 ms for each: the first waits for 7 ms, the last
    one and all that follow for 448.
    """
    times = closed_loop(64, 7.0, seconds=1.4)
    model = measured(times, 64, seconds=1.4)
    assert model.values["perf_latency_p50"] == pytest.approx(448)
    assert model.values["perf_latency_avg"] == pytest.approx(448)
    assert model.values["perf_throughput"] == pytest.approx(1000 / 7)
    assert model.requests == 200 - 64 - 1  # the last one ends with the window
    assert np.mean([end - sent for sent, end in times]) < 380


def test_the_throughput_has_no_part_of_a_batch_too_much_or_too_little() -> None:
    """A batch of 8 each 90 ms: eleven of them in a second, so a window alone would say 88/s."""
    model = measured(closed_loop(8, 90.0, batch=8), 8)
    assert model.values["perf_throughput"] == pytest.approx(8 / 0.09)
    assert model.windows == pytest.approx([8 / 0.09] * 8, rel=1e-4)
    assert model.seconds == pytest.approx(0.9)


def test_counting_does_not_begin_within_a_batch() -> None:
    """With 12 in flight, the first batch of 8 and half of the second one are left out. The answers
    of a batch are some hundredths of a millisecond apart.
    """
    times = [
        (sent, end + place % 8 * 0.02)
        for place, (sent, end) in enumerate(closed_loop(12, 300.0, seconds=2.0, batch=8))
    ]
    model = measured(times, 12, seconds=2.0)
    assert model.values["perf_throughput"] == pytest.approx(8 / 0.3, rel=0.001)
    assert model.windows == pytest.approx([8 / 0.3] * len(model.windows), rel=0.001)


def test_no_window_is_only_the_rest_of_a_batch() -> None:
    """32 answers each 300 ms, over 40 ms: a window would end among them."""
    times = [
        (sent, end + place % 32 * 1.3)
        for place, (sent, end) in enumerate(closed_loop(64, 300.0, seconds=1.5, batch=32))
    ]
    windows = measured(times, 64, seconds=1.6).windows
    assert len(windows) >= 3
    assert windows == pytest.approx([32 / 0.3] * len(windows), rel=0.001)


def test_inferences_are_counted_not_requests() -> None:
    model = measured(closed_loop(1, 10.0), 1, batch_size=4)
    assert model.values["perf_throughput"] == pytest.approx(400)
    assert model.requests == 98


def test_numbers_are_those_that_a_checkpoint_gives_back() -> None:
    model = measured(closed_loop(4, 7.3), 4)
    numbers = [*model.values.values(), *model.windows, model.seconds]
    numbers += [each.clustering for each in model.histograms.values()]
    assert {type(number) for number in numbers} == {float}
    assert max(len(str(number)) for number in numbers) <= 12


def test_windows_show_how_much_the_throughput_changed() -> None:
    slow = [(n * 20.0, n * 20.0 + 20) for n in range(25)]
    fast = [(500 + n * 10.0, n * 10.0 + 510) for n in range(50)]
    windows = measured([*slow, *fast], 1).windows
    assert len(windows) == 8
    assert windows[0] == pytest.approx(50)
    assert windows[-1] == pytest.approx(100)


def test_hardly_any_requests_are_better_than_none() -> None:
    """With eight in flight and ten answers, nothing would be left behind the first ones."""
    model = measured([(0.0, 100.0 * n) for n in range(1, 10)], 8)
    assert model.requests == 8
    assert len(model.windows) == 2


def test_an_open_load_has_no_first_requests() -> None:
    model = measured([(n * 10.0, n * 10.0 + 5) for n in range(99)], 0)
    assert model.requests == 98
    assert model.values["perf_throughput"] == pytest.approx(100)


def test_requests_that_arrive_together_all_count() -> None:
    """A replayed log that begins with a burst of twenty requests."""
    burst = [(0.0, 10 + n) for n in range(20)]
    later = [(float(sent), sent + 5.0) for sent in range(100, 900, 50)]
    model = measured([*burst, *later], in_flight=0)
    # the end of the first one begins the time that is measured
    assert model.requests == len(burst) + len(later) - 1


def test_requests_outside_the_windows_do_not_count() -> None:
    times = [(0.0, 10.0), (10.0, 20.0), (20.0, 30.0), (990.0, 1000.0), (2000.0, 2010.0)]
    assert measured(times, 1).requests == 2


@pytest.mark.parametrize("times", [[], [(0.0, 10.0)], [(0.0, 10.0), (0.0, 10.0)]])
def test_nothing_is_measured_with_one_end(times: list[tuple[float, float]]) -> None:
    requests = [Request(START, [START + 10], START + 10, [1]) for _ in times]
    content = Export(Requests.of(requests), [START, START + 1000])
    assert sampled(content, in_flight=1, batch_size=1, with_tokens=False) is None


GOLDEN = Path(__file__).parents[2] / "golden" / "perf_analyzer"


def test_a_recorded_export_agrees_with_its_table_but_for_the_first_requests() -> None:
    """Eight requests in flight to an instance that needs 7 ms for each, in 0.54 s."""
    table = parse_table((GOLDEN / "round.csv").read_text())
    report = parse_report((GOLDEN / "round.txt").read_text())
    content = known(read_export([(GOLDEN / "round.json").read_text()]))
    assert table is not None
    model = known(sampled(content, in_flight=8, batch_size=1, with_tokens=False))
    assert report.requests == 77
    assert model.requests == 77 - 8
    assert model.values["perf_throughput"] == pytest.approx(table["perf_throughput"], rel=0.05)
    assert model.values["perf_latency_p99"] == pytest.approx(table["perf_latency_p99"], rel=0.02)
    # a closed loop: what is in flight is throughput times latency, but for the first requests
    assert _in_flight(model.values) == pytest.approx(8, rel=0.03)
    assert _in_flight(table) < 7.7


def _in_flight(values: Values) -> float:
    return values["perf_throughput"] * values["perf_latency_avg"] / 1000


def test_neighbours_that_are_alike_are_worth_less() -> None:
    random = np.random.default_rng(3)
    single = random.lognormal(0, 0.5, 2000)
    grouped = np.repeat(random.lognormal(0, 0.5, 100), 20)

    def clustering(latencies: np.ndarray) -> float:
        ends = [100 + 0.5 * n for n in range(len(latencies))]
        times = [(end - latency, end) for end, latency in zip(ends, latencies, strict=True)]
        return measured(times, 1, seconds=2).histograms["perf_latency"].clustering

    assert 1 <= clustering(single) < 4
    assert 8 < clustering(grouped) < 50
    assert clustering(single[:30]) == 1


def test_the_histogram_has_every_latency_that_counts() -> None:
    model = measured(closed_loop(4, 5.0), 4)
    assert model.histograms["perf_latency"].total == model.requests
    assert model.histograms["perf_latency"].quantile(0.5) == pytest.approx(20, rel=0.01)


def test_tokens_are_counted_in_the_same_period() -> None:
    """A request each 100 ms, with a first token after 20 ms and four more each 10 ms."""
    requests = []
    for n in range(10):
        sent = START + n * 100 * MS
        came = [sent + ms * MS for ms in (20, 30, 40, 50, 60)]
        requests.append(Request(sent, came, came[-1], [1] * 5))
    content = Export(Requests.of(requests), [START, START + 1000 * MS])
    model = known(sampled(content, in_flight=1, batch_size=1, with_tokens=True))
    assert model.values["output_token_throughput"] == pytest.approx(50)
    assert model.values["time_to_first_token_p50"] == 20
    assert model.values["inter_token_latency_avg"] == pytest.approx(10)
    assert model.histograms["inter_token_latency"].total == 9 * 4
    assert model.histograms["time_to_first_token"].total == 9


def answered(due: Sequence[float], service_s: float, until_s: float) -> Export:
    """An export of a server that answers one request after the other."""
    free, requests = 0.0, []
    for time in due:
        free = max(time, free) + service_s
        came = START + round(free * NS)
        requests.append(Request(START + round(time * NS), [came], came, [1]))
    sent = [request for request in requests if request.sent < START + until_s * NS]
    return Export(Requests.of(sent), [START, START + round(until_s * NS)])


@pytest.mark.parametrize(
    ("rate", "cv", "service_s", "expected", "most_error"),
    [
        (80, 3, 0.0065, 80, 0.06),  # keeps up with bursts
        (80, 1, 0.0065, 80, 0.015),
        (160, 1, 0.01, 100, 0.015),  # answers what it can
        (160, 3, 0.01, 100, 0.08),
    ],
)
def test_the_throughput_of_random_arrivals_is_that_at_their_mean_rate(
    rate: int, cv: float, service_s: float, expected: float, most_error: float
) -> None:
    """Within a second, the number of arrivals varies by chance: by a quarter at a cv of 3."""
    traffic, errors = Traffic(arrivals=Arrivals.GAMMA, cv=cv), []
    for part in range(50):
        due = due_times(traffic, rate=rate, seconds=7, part=part, stratum_s=1.1)
        moved = intended(answered((due / NS).tolist(), service_s, 1.3), due)
        measured = sampled(
            moved.export,
            in_flight=0,
            batch_size=1,
            with_tokens=False,
            offered=Offered(moved.due, rate),
        )
        assert measured is not None
        errors.append(measured.values["perf_throughput"] / expected - 1)
    assert np.sqrt(np.mean(np.square(errors))) < most_error


@pytest.mark.parametrize(("cv", "service_s"), [(3, 0.0065), (1, 0.002), (3, 0.02)])
def test_no_more_requests_are_answered_than_arrive(cv: float, service_s: float) -> None:
    traffic = Traffic(arrivals=Arrivals.GAMMA, cv=cv)
    for part in range(30):
        due = due_times(traffic, rate=80, seconds=7, part=part, stratum_s=1.1)
        moved = intended(answered((due / NS).tolist(), service_s, 1.3), due)
        offered = Offered(moved.due, 80)
        measured = sampled(
            moved.export, in_flight=0, batch_size=4, with_tokens=False, offered=offered
        )
        assert measured is not None
        assert measured.values["perf_throughput"] <= 4 * 80


def test_the_throughput_of_stages_is_that_at_their_mean_rate() -> None:
    """However the requests are distributed by chance; a slow server answers what it can."""
    traffic = Traffic(arrivals=Arrivals.STAGES, stages=(Stage(40, 2), Stage(300, 1), Stage(20, 1)))
    assert traffic.mean_rate == 100
    throughput: dict[float, set[float]] = {0.002: set(), 0.02: set()}
    for part in range(4):
        due = due_times(traffic, rate=0, seconds=0, part=part)
        for service_s, values in throughput.items():
            moved = intended(answered((due / NS).tolist(), service_s, 99), due)
            offered = Offered(moved.due, traffic.mean_rate, whole=True)
            measured = sampled(
                moved.export, in_flight=0, batch_size=1, with_tokens=False, offered=offered
            )
            assert measured is not None
            values.add(measured.values["perf_throughput"])
    assert 99.5 < min(throughput[0.002]) <= max(throughput[0.002]) <= 100
    assert 45 < min(throughput[0.02]) < max(throughput[0.02]) < 51


def test_the_times_of_a_request_to_a_language_model_stay_together() -> None:
    """Three answers of three tokens: the first token is late, or the others are slow, or neither.
    A response may have several tokens, and one that ended with the first does not count.
    """

    def answer(sent: float, *came: float, tokens: Sequence[int] = (1, 1, 1)) -> Request:
        times = [START + round(time * MS) for time in came]
        return Request(START + round(sent * MS), times, times[-1], list(tokens))

    requests = [
        answer(0, 5, 10, 15),
        answer(20, 30, 35, 40),
        answer(40, 90, 95, 100),
        answer(100, 110, 150, 190),
        answer(200, 210, 250, 290, tokens=(1, 8, 8)),
    ]
    content = Export(Requests.of(requests), [START, START + 1000 * MS])

    model = known(sampled(content, in_flight=1, batch_size=1, with_tokens=True))

    assert model.joint is not None
    assert model.requests == model.joint.total == 4
    assert model.joint.within({"time_to_first_token": 20}) == 3
    assert model.joint.within({"inter_token_latency": 20}) == 3
    assert model.joint.within({"time_to_first_token": 20, "inter_token_latency": 20}) == 2
    assert model.joint.within({"perf_latency": 70, "inter_token_latency": 20}) == 2
    separate = known(sampled(content, in_flight=1, batch_size=1, with_tokens=False))
    assert separate.joint is None


def test_of_many_requests_to_a_language_model_a_part_is_kept() -> None:
    times = [(n * 0.1, n * 0.1 + (50 if n % 2 else 10)) for n in range(9000)]
    model = known(sampled(export(times), in_flight=0, batch_size=1, with_tokens=True))
    assert model.joint is not None
    assert model.joint.total == MOST_REQUESTS
    share = model.joint.within({"perf_latency": 20}) / model.joint.total
    assert share == pytest.approx(0.5, abs=0.04)


MS_IN_NS = 10**6


def exported(*sent_ms: float, takes_ms: int = 10, end_ms: int = 1000) -> Export:
    times = [round(ms * MS_IN_NS) for ms in sent_ms]
    requests = [
        Request(sent, [sent + takes_ms * MS_IN_NS], sent + takes_ms * MS_IN_NS, [1])
        for sent in times
    ]
    return Export(Requests.of(requests), [0, end_ms * MS_IN_NS])


def test_an_ordinary_export_has_nothing_to_tell() -> None:
    assert evidence_of(exported(0, 10)) == {}


def test_impossible_requests_are_a_share() -> None:
    assert evidence_of(replace(exported(0, 10, 20), impossible=1)) == {IMPOSSIBLE: 0.25}


def test_tokens_and_the_responses_that_perf_analyzer_counted() -> None:
    streamed = replace(exported(0, 10), responses=3.0)
    assert evidence_of(streamed) == {TOKENS: 1.0, RESPONSES: 3.0}


def test_an_open_load_has_three_rates() -> None:
    due = np.arange(0, 1000 * MS_IN_NS, 10 * MS_IN_NS)  # 100 in a second
    late = exported(*np.arange(0, 1000, 20))  # of which a slow client sends every other one
    rates = rates_of(late, intended(late, due), is_whole=False)
    assert rates == {DUE: 100.0, SENT: 50.0, ANSWERED: 50.0}


def test_a_whole_load_counts_from_its_first_request_to_the_last() -> None:
    due = np.array([0, 10, 50, 100]) * MS_IN_NS
    on_time = exported(0, 10, 50, 100, end_ms=10_000)
    rates = rates_of(on_time, intended(on_time, due), is_whole=True)
    assert rates == pytest.approx({DUE: 30.0, SENT: 30.0, ANSWERED: 30.0})


def test_a_single_request_has_no_rate() -> None:
    assert whole_rate([np.array([5])]) == 0.0
