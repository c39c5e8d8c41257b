# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""When a round is given up, and when the user hears that it takes long; when a load has got all
answers that it will get.

The throughput of a number of requests, from the server's counts.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from model_analyzer.domain.measurements import ModelStatistics, ServerStatistics
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.slots import Overdue
from model_analyzer.domain.trials import FailureReason, LoadKind
from model_analyzer.domain.windows import Window
from model_analyzer.noise.first_look import FIRST_LOOK_S, given_up_s
from model_analyzer.runner.load.ended import Stop
from model_analyzer.runner.load.generators import Generator
from model_analyzer.runner.load.launches import AnswerWatch
from model_analyzer.runner.load.time_limits import (
    Bounds,
    GivenLimit,
    Patience,
    RoundLimit,
    StallWatch,
    end_of_budget,
)
from tests.unit.builders import trial

NS = 1_000_000_000
BATCH = 2

# The requests that a server has answered after so many seconds; None: it has no statistics.
Answered = Callable[[float], int] | None


class CountingServer:
    """A server with a clock that is set; `looks` are the times at which it was asked."""

    def __init__(self, answered: Answered) -> None:
        self.time = 0.0
        self.looks: list[float] = []
        self._answered = answered

    def monotonic(self) -> float:
        return self.time

    def statistics(self, variants: Any) -> ServerStatistics:
        self.looks.append(self.time)
        if self._answered is None:
            return {}
        count = 7 + BATCH * self._answered(self.time)
        return {"m": ModelStatistics(inferences=count, executions=count)}


@dataclass
class Course:
    """What happened to a launch that does not end by itself within `within_s`."""

    ended_s: float | None
    stop: Stop | None
    told: list[Overdue]
    looks: list[float]
    rates: Mapping[str, float]


def course(
    monkeypatch: pytest.MonkeyPatch,
    answered: Answered,
    *,
    in_flight: int = 1,
    seconds: float = FIRST_LOOK_S,
    timeout_s: float = 600,
    left_s: float | None = None,
    due: Sequence[float] | None = None,
    within_s: float = 1000,
) -> Course:
    server: Any = CountingServer(answered)
    monkeypatch.setattr(time, "monotonic", server.monotonic)
    kind = LoadKind.CONCURRENCY if due is None else LoadKind.REQUEST_RATE
    (work,) = trial(concurrency=in_flight, batch_size=BATCH, kind=kind).workloads
    times = None if due is None else (np.array(due) * NS).astype(np.int64)
    generator = Generator(work, Window(), exports=True, due=times, whole=due is not None)
    earlier = server.statistics([work.variant])
    told: list[Overdue] = []
    bounds = Bounds(timeout_s=timeout_s, until=end_of_budget(left_s), tell=told.append)
    limit = RoundLimit([generator], server, earlier, seconds, bounds)
    server.looks.clear()
    while server.time < within_s:
        server.time += 0.5
        if (stop := limit.look()) is not None:
            return Course(server.time, stop, told, [*server.looks], limit.rates())
    return Course(None, None, told, [*server.looks], limit.rates())


def none(_: float) -> int:
    return 0


def many(seconds: float) -> int:
    return int(2000 * seconds)


@pytest.mark.parametrize("answered", [none, many, None])
def test_a_first_look_that_never_ends_is_given_up(monkeypatch, answered: Answered) -> None:
    result = course(monkeypatch, answered, in_flight=33)
    assert result.ended_s == pytest.approx(given_up_s(FIRST_LOOK_S), abs=0.5) == 41
    assert result.stop is not None
    assert result.stop.reason is FailureReason.TIMEOUT
    begin = "m_config_0 at concurrency 33, client batch 2: given up after 41 s (1.1 s expected"
    assert result.stop.message.startswith(begin)
    assert "--perf-analyzer-timeout" in result.stop.hint


def test_the_reason_says_whether_the_server_answered(monkeypatch) -> None:
    texts = []
    for answered in (none, many, None):
        stop = course(monkeypatch, answered).stop
        assert stop is not None
        texts.append(stop.message.partition("(")[2])
    assert texts == [
        "1.1 s expected; the server answered 0 requests)",
        "1.1 s expected; the server answered 82,000 requests)",
        "1.1 s expected)",
    ]


def test_the_server_is_not_asked_before_there_is_something_to_decide(monkeypatch) -> None:
    assert course(monkeypatch, many).looks == [10.5, 41.0]
    assert course(monkeypatch, many, within_s=10).looks == []


def test_what_takes_long_is_named_once(monkeypatch) -> None:
    (told,) = course(monkeypatch, none).told
    assert told == Overdue(for_s=10.5, expected_s=FIRST_LOOK_S, limit_s=given_up_s(FIRST_LOOK_S))


def test_a_long_round_is_named_later(monkeypatch) -> None:
    result = course(monkeypatch, none, seconds=15)
    assert [told.for_s for told in result.told] == [30.5]
    assert result.ended_s == pytest.approx(180, abs=0.5)


@pytest.mark.parametrize("request_s", [8.0, 20.0, 40.0])
@pytest.mark.parametrize("in_flight", [1, 8])
def test_a_slow_model_is_measured(monkeypatch, request_s: float, in_flight: int) -> None:
    """One request after another: the warm-up and the window take two waves."""
    end_s = request_s * (2 * in_flight + 1)
    result = course(
        monkeypatch,
        lambda seconds: int(seconds / request_s),
        in_flight=in_flight,
        within_s=min(end_s, 599),
    )
    assert result.stop is None
    if end_s > 41:
        assert [told.for_s for told in result.told][:2] == [10.5, 41.0]
        assert result.told[1].limit_s is not None
        assert result.told[1].limit_s > end_s or result.told[1].limit_s == 600


def test_a_slow_model_may_not_take_longer_than_the_user_allows(monkeypatch) -> None:
    result = course(monkeypatch, lambda seconds: int(seconds / 40), in_flight=8)
    assert result.ended_s == pytest.approx(600, abs=0.5)
    assert result.stop is not None
    assert result.stop.message == "perf_analyzer did not finish within 600 s"


def test_slow_first_requests_are_no_reason_to_give_up(monkeypatch) -> None:
    """The first takes 35 s, as when a model is compiled; the others are soon answered."""
    result = course(
        monkeypatch,
        lambda seconds: 0 if seconds < 35 else int(3 * (seconds - 35)),
        in_flight=64,
        within_s=35 + 128 / 3,
    )
    assert result.stop is None


@pytest.mark.parametrize("count", [1, 3, 32, 1000])
def test_a_server_that_falls_silent_is_no_slow_one(monkeypatch, count: int) -> None:
    result = course(monkeypatch, lambda seconds: min(count, many(seconds)), in_flight=33)
    assert result.ended_s == pytest.approx(41, abs=0.5)


def test_a_slow_server_that_falls_silent_is_given_up_later(monkeypatch) -> None:
    result = course(monkeypatch, lambda seconds: min(int(seconds / 12), 4), in_flight=33)
    assert result.ended_s == pytest.approx(144, abs=1)


def test_a_load_of_its_own_length_is_expected_to_last_so_long(monkeypatch) -> None:
    result = course(monkeypatch, none, due=[1, 5, 12])
    assert result.ended_s == pytest.approx(150, abs=0.5)
    slow = course(monkeypatch, lambda seconds: int(seconds / 60), due=[1, 5, 12], within_s=180)
    assert slow.stop is None


@pytest.mark.parametrize("answered", [none, many, lambda seconds: int(seconds / 5)])
def test_the_budget_ends_it_whatever_the_server_does(monkeypatch, answered: Answered) -> None:
    result = course(monkeypatch, answered, left_s=25)
    assert result.ended_s == pytest.approx(25, abs=0.5)
    assert result.stop is not None
    assert result.stop.reason is FailureReason.BUDGET
    assert ": the time budget ended after 26 s (1.1 s expected; the" in result.stop.message
    assert [told.limit_s for told in result.told] == [25]


def test_the_end_of_a_budget_leaves_time_for_a_launch(monkeypatch) -> None:
    assert course(monkeypatch, none, left_s=0.2).ended_s == pytest.approx(10, abs=0.5)
    assert end_of_budget(None) == math.inf


def test_the_limit_of_the_user_counts_for_rounds_too(monkeypatch) -> None:
    result = course(monkeypatch, many, timeout_s=5)
    assert result.ended_s == pytest.approx(5, abs=0.5)
    assert result.stop is not None
    assert result.stop.message == "perf_analyzer did not finish within 5 s"
    assert not result.told


def test_a_slow_launch_tells_the_rate_of_the_server(monkeypatch) -> None:
    """There may be no request in its windows, and the next ones are to be long enough."""
    slow = course(monkeypatch, lambda seconds: int(seconds / 5), within_s=20)
    assert slow.rates == {"m": pytest.approx(4 / 20)}
    assert course(monkeypatch, lambda seconds: int(seconds / 5), within_s=9).rates == {}
    assert course(monkeypatch, none, within_s=20).rates == {}
    assert course(monkeypatch, None, within_s=20).rates == {}
    assert (
        course(monkeypatch, lambda seconds: int(seconds / 5), due=[1, 2], within_s=20).rates == {}
    )


def test_windows_that_the_user_sized_have_the_limit_of_the_user(monkeypatch) -> None:
    server = CountingServer(none)
    monkeypatch.setattr(time, "monotonic", server.monotonic)
    limit = GivenLimit(600)
    server.time = 600
    assert limit.look() is None
    server.time = 600.1
    assert limit.look() == Stop(
        FailureReason.TIMEOUT,
        "perf_analyzer did not finish within 600 s",
        "the model may hang; otherwise raise --perf-analyzer-timeout",
    )


def test_a_measurement_in_windows_is_named_while_it_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    now, told = 0.0, list[Overdue]()
    monkeypatch.setattr(time, "monotonic", lambda: now)
    for began_launch_s in (0, 50):  # the second launch has larger windows
        now = float(began_launch_s)
        limit = Patience(GivenLimit(200), 0.0, told.append)
        for second in range(began_launch_s, began_launch_s + 300):
            now = float(second)
            if limit.look() is not None:
                break
    times = [each.for_s for each in told]
    assert times == [31, 61, 121, 181, 61, 121, 181, 241]
    assert {(each.expected_s, each.limit_s) for each in told} == {(None, None)}


class SilentServer:
    """A server with a clock that is set. It has answered as many requests, of two inferences each,
    as there are times before.
    """

    def __init__(self, answered_at: Sequence[float], has_statistics: bool) -> None:
        self.time = 0.0
        self._answered_at = answered_at
        self._has_statistics = has_statistics

    def monotonic(self) -> float:
        return self.time

    def statistics(self, variants: Any) -> ServerStatistics:
        if not self._has_statistics:
            return {}
        count = 7 + 2 * sum(at <= self.time for at in self._answered_at)
        return {"m": ModelStatistics(inferences=count, executions=1)}


def stalled_at(
    monkeypatch,
    answered_at: Sequence[float],
    *,
    window: Callable[[int], Window] = Window.of_requests,
    has_statistics: bool = True,
    generators: int = 1,
) -> float | None:
    """When (s) a load of twelve requests, due from 0 to 11 s, of each generator counts as stalled;
    None if not within ten minutes.
    """
    server = SilentServer(answered_at, has_statistics)
    monkeypatch.setattr(time, "monotonic", server.monotonic)
    (work,) = trial(batch_size=2).workloads
    work = replace(work, load=replace(work.load, kind=LoadKind.REQUEST_INTERVALS, value=0))
    loads = [Generator(work, window(12), exports=True, due=np.arange(12) * NS)] * generators
    stand_in: Any = server
    watch = StallWatch(loads, stand_in)
    for half_seconds in range(1, 1200):
        server.time = half_seconds / 2
        if watch.look():
            assert watch.has_stalled
            return server.time
    assert not watch.has_stalled
    return None


def test_all_are_answered_and_it_does_not_end(monkeypatch) -> None:
    assert stalled_at(monkeypatch, range(1, 13)) == pytest.approx(22, abs=1.5)


def test_the_requests_of_one_of_four_threads_are_missing(monkeypatch) -> None:
    assert stalled_at(monkeypatch, range(1, 10)) == pytest.approx(19, abs=1.5)


@pytest.mark.parametrize("answers", [0, 3, 8, 10, 11])
def test_a_model_that_stands_still_is_measured(monkeypatch, answers: int) -> None:
    assert stalled_at(monkeypatch, range(1, answers + 1)) is None


def test_a_slow_model_has_more_time(monkeypatch) -> None:
    # an answer in 20 s, then five times as long
    assert stalled_at(monkeypatch, range(20, 200, 20)) == pytest.approx(280, abs=2)


def test_of_several_generators_one_may_stall(monkeypatch) -> None:
    assert stalled_at(monkeypatch, [n / 2 for n in range(1, 22)], generators=2) is not None
    assert stalled_at(monkeypatch, [n / 2 for n in range(1, 21)], generators=2) is None


def test_nothing_is_known_without_statistics(monkeypatch) -> None:
    assert stalled_at(monkeypatch, range(1, 13), has_statistics=False) is None


def test_windows_end_by_themselves(monkeypatch) -> None:
    assert stalled_at(monkeypatch, range(1, 13), window=Window.lasting) is None


TABLE = {"perf_throughput": 23.5, "perf_latency_p99": 21.0}


class Counting:
    """A server that has counted so many inferences, one number for each question."""

    def __init__(self, *counts: int) -> None:
        self._counts = iter(counts)

    def statistics(self, variants: Sequence[ModelVariant]) -> ServerStatistics:
        count = next(self._counts)
        return {"m": ModelStatistics(inferences=count, executions=1)} if count >= 0 else {}


def generator(requests: int | None = 47, *, exports: bool = False) -> Generator:
    (work,) = trial().workloads
    window = Window.lasting(1) if requests is None else Window.of_requests(requests)
    return Generator(work, window, exports)


def watched(generators: Sequence[Generator], *counts: int) -> AnswerWatch:
    """A watch that has looked every second, after a first look."""
    server: Any = Counting(*counts)
    watch = AnswerWatch(generators, server)
    for second in range(1, len(counts)):
        watch.look(float(second))
    return watch


def test_the_time_is_that_from_the_first_answer_to_the_last() -> None:
    """100 before; nothing for two seconds, 4 and then 40 more, and nothing until it ends."""
    one = generator()
    watch = watched([one], 100, 100, 100, 104, 124, 144, 144, 144)

    assert watch.is_needed
    assert watch.corrected(one, TABLE) == {**TABLE, "perf_throughput": 20.0}


def test_several_generators_share_the_answers_of_a_model() -> None:
    few, many = generator(25), generator(75)
    watch = watched([few, many], 0, 10, 60, 110)

    assert watch.corrected(few, TABLE) == {**TABLE, "perf_throughput": 12.5}
    assert watch.corrected(many, TABLE) == {**TABLE, "perf_throughput": 37.5}


@pytest.mark.parametrize("other", [generator(None), generator(exports=True)])
def test_other_loads_need_no_watch(other: Generator) -> None:
    """Time windows are as long as they say; and exported times are exact."""
    watch = watched([other])

    assert not watch.is_needed
    assert watch.corrected(other, TABLE) == TABLE


@pytest.mark.parametrize(
    "counts",
    [(0, 0, 0), (0, 47, 47), (100, 120, 20, 20), (-1, -1, -1)],
    ids=["nothing", "at once", "restarted", "no statistics"],
)
def test_what_was_not_seen_is_not_corrected(counts: tuple[int, ...]) -> None:
    one = generator()

    assert watched([one], *counts).corrected(one, TABLE) == TABLE


def test_a_failed_run_has_no_table() -> None:
    one = generator()
    assert watched([one], 0, 10, 20).corrected(one, None) is None
