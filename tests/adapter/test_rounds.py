# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Measurements in rounds: their length, their values, and what is learned from them."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model_analyzer.domain.measurements import (
    Measurement,
    ModelStatistics,
    NoticeKind,
    ServerStatistics,
)
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.protocols import Route
from model_analyzer.domain.settings import Protocol
from model_analyzer.domain.slots import Overdue
from model_analyzer.domain.traffic import Arrivals, Stage, Traffic
from model_analyzer.domain.trials import Failure, FailureReason, Load, LoadKind, Workload
from model_analyzer.noise import first_look
from model_analyzer.noise.pooling import pool
from model_analyzer.runner.load import time_limits
from model_analyzer.runner.load.generators import shares
from model_analyzer.runner.load.launches import Reading
from model_analyzer.runner.load.schedule import LEAD_S
from tests.adapter.test_perf_analyzer import AliveServer, make, option, sent_at, work

__all__ = ["make"]

GOLDEN = Path(__file__).parents[1] / "golden" / "perf_analyzer"
EMPTY = {
    "status": 3,
    "text": "No valid requests recorded within time interval. Please use a larger time window.",
}


def lengths(pretend: Any) -> list[float]:
    """The seconds that each launch measured."""
    intervals = [option(launch, "--measurement-interval") for launch in pretend.launches]
    return [round(3 * 1.2 * int(interval or 0) / 1000, 2) for interval in intervals]


def exports(pretend: Any) -> list[bool]:
    return ["--profile-export-file" in launch for launch in pretend.launches]


def measured(generator: Any, *workloads: Workload, seconds: float = 0.0) -> Reading:
    reading = generator.generate(list(workloads) or [work()], AliveServer(), seconds)
    assert isinstance(reading, Reading), reading
    return reading


def test_a_round_lasts_as_long_as_it_is_asked_to(pretend, make) -> None:
    reading = measured(make(pretend.perf_analyzer({"service_ms": 5})), seconds=3.6)
    assert lengths(pretend) == [3.6]
    (launch,) = pretend.launches
    assert option(launch, "--measurement-mode") == "time_windows"
    assert option(launch, "--max-trials") == "3"
    assert option(launch, "--stability-percentage") == "999"
    assert reading.models[0].seconds == pytest.approx(3.6, abs=0.02)
    assert reading.during is not None
    begin, end = reading.during
    assert end - begin == pytest.approx(3.6, abs=0.02)


def test_its_values_come_from_the_times_of_all_requests(pretend, make) -> None:
    reading = measured(make(pretend.perf_analyzer({"service_ms": 7})), work(64), seconds=1.44)
    (model,) = reading.models
    assert model.values["perf_latency_p99"] == pytest.approx(448)
    assert model.values["perf_throughput"] == pytest.approx(1000 / 7)
    assert model.values["perf_server_queue"] == 0.003  # only the table has it
    assert model.histograms["perf_latency"].total == model.requests
    assert reading.notices == ()


def test_without_rounds_nothing_changes(pretend, make) -> None:
    reading = make(pretend.perf_analyzer({"service_ms": 5})).generate([work()], AliveServer())
    assert isinstance(reading, Reading)
    assert option(pretend.launches[0], "--max-trials") is None
    assert not reading.models[0].seconds


# ----------------------------------------------------------------------------- the first look


@pytest.mark.parametrize(
    ("service_ms", "load", "expected"),
    [
        (5, 1, [1.08]),
        (5, 64, [1.08]),
        (50, 1, [1.08]),  # 21 requests: enough for a first look
        (50, 16, [1.08, 2.9]),  # three times what is in flight, and ten more
        (300, 1, [1.08, 3.9]),
        (1000, 1, [1.08, 3.24, 10.8]),  # nothing in a window, then few requests
        (5000, 1, [1.08, 3.24, 9.72, 29.16]),
    ],
)
def test_a_first_look_is_longer_for_slow_models(
    pretend, make, service_ms: int, load: int, expected: list[float]
) -> None:
    steps = [{"service_ms": service_ms} for _ in expected]
    measured(make(pretend.perf_analyzer(*steps)), work(load))
    assert lengths(pretend) == pytest.approx(expected, abs=0.02)


def test_every_round_of_a_slow_model_leaves_out_the_first_requests(pretend, make) -> None:
    """64 requests of 0.3 s, one after the other: once all wait, each takes 19.2 s."""
    generator = make(pretend.perf_analyzer({"service_ms": 300}))
    first = measured(generator, work(64))
    further = measured(generator, work(64), seconds=2.0)

    # first of all, three requests are seen; then more than two rounds
    assert lengths(pretend) == pytest.approx([1.08, 42.2, 42.2], abs=0.1)
    for reading in (first, further):
        assert reading.models[0].values["perf_latency_p99"] == pytest.approx(64 * 300)
        assert reading.notices == ()


def test_a_resumed_run_does_not_know_how_slow_a_model_is(pretend, make) -> None:
    generator = make(pretend.perf_analyzer({"service_ms": 300}))
    reading = measured(generator, work(64), seconds=2.0)
    assert lengths(pretend) == pytest.approx([2.0, 42.2], abs=0.1)
    assert reading.models[0].values["perf_latency_p99"] == pytest.approx(64 * 300)


def test_latencies_of_an_idle_server_have_a_notice(pretend, make) -> None:
    """Two waves of 64 requests take 38.4 s; a round, half of the time limit at most."""
    generator = make(pretend.perf_analyzer({"service_ms": 300}), timeout_s=40)
    reading = measured(generator, work(64))
    assert lengths(pretend) == pytest.approx([1.08, 20], abs=0.1)
    (notice,) = reading.notices
    assert notice.kind is NoticeKind.FEW_REQUESTS
    assert "so latencies are too low: raise it, or use a lower load" in notice.text


def test_the_next_load_starts_with_what_was_learned(pretend, make) -> None:
    generator = make(pretend.perf_analyzer({"service_ms": 1}))
    for load in (4, 8, 64):
        measured(generator, work(load))
    # 1000 requests per second are enough in a part of the usual time
    assert lengths(pretend) == pytest.approx([1.08, 0.36, 0.36], abs=0.02)


def sized(size: int) -> Workload:
    return replace(work(), variant=replace(work().variant, config={"max_batch_size": size}))


def test_what_was_learned_of_three_variants_counts_for_the_next(pretend, make) -> None:
    generator = make(pretend.perf_analyzer({"service_ms": 1}))
    for size in (1, 2, 4, 8):
        measured(generator, sized(size))
    assert lengths(pretend) == pytest.approx([1.08, 1.08, 1.08, 0.36], abs=0.02)


def test_a_variant_that_is_slower_than_others_is_looked_at_again(pretend, make) -> None:
    steps = [{"service_ms": service_ms} for service_ms in (1, 1, 1, 10, 10)]
    generator = make(pretend.perf_analyzer(*steps))
    for size in (1, 2, 4, 8):
        measured(generator, sized(size))
    # of 100 requests per second, a tenth of a second has too few
    assert lengths(pretend) == pytest.approx([1.08, 1.08, 1.08, 0.36, 1.08], abs=0.02)


def test_a_request_rate_is_looked_at_for_its_own_number_of_requests(pretend, make) -> None:
    generator = make(pretend.perf_analyzer({"service_ms": 0.5}))
    load = Load(kind=LoadKind.REQUEST_RATE, value=1000)
    measured(generator, replace(work(), load=load))
    # the pretend client waits for answers, so its first look is repeated
    assert lengths(pretend) == pytest.approx([0.36 + LEAD_S] * 2, abs=0.02)


def test_models_measured_together_have_the_same_length(pretend, make) -> None:
    generator = make(pretend.perf_analyzer({"service_ms": 2}))
    slow = replace(work(8), variant=replace(work().variant, name="slow", files="other"))
    measured(generator, slow)
    measured(generator, work(1), slow)
    assert lengths(pretend) == pytest.approx([1.08, 1.08, 1.08], abs=0.02)
    assert len(measured(generator, work(1), slow).models) == 2


def test_an_empty_round_is_followed_by_a_longer_one(pretend, make, caplog) -> None:
    caplog.set_level("INFO")
    measured(make(pretend.perf_analyzer(EMPTY, {"service_ms": 5})), seconds=2.0)
    assert lengths(pretend) == pytest.approx([2.0, 6.0], abs=0.02)
    assert "no request ended in the measurement, measuring for 6 s" in caplog.text


GAP = {"status": 2, "text": "Failed to obtain stable measurement.", "windows": [90, 0, 80]}


def test_an_empty_window_between_others_is_called_so(pretend, make, caplog) -> None:
    """As after a stall: perf_analyzer calls any windows unstable that include an empty one."""
    caplog.set_level("INFO")
    measured(make(pretend.perf_analyzer(GAP, {"service_ms": 5})), seconds=2.0)
    assert lengths(pretend) == pytest.approx([2.0, 6.0], abs=0.02)
    told = "no request ended in one of perf_analyzer's windows, measuring for 6 s"
    assert told in caplog.text


@pytest.mark.parametrize("status", [1, 2, 3])
def test_the_last_words_of_a_wrapper_are_quoted(pretend, make, status: int) -> None:
    """Its status 2 is not perf_analyzer's: nothing is measured again."""
    words = "Checking the licence\n\nLicense expired for this host\nAsk your administrator"
    step = {"status": status, "text": words, "windows": []}
    failure = make(pretend.perf_analyzer(step)).generate([work()], AliveServer(), 0.0)
    assert isinstance(failure, Failure)
    assert len(pretend.launches) == 1
    said = (
        "m_config_0: perf_analyzer failed: exit status %d; its last words: Checking the licence"
        " / License expired for this host / Ask your administrator"
    )
    assert failure.message == said % status
    assert failure.log == tuple(filter(None, words.splitlines()))


def test_a_model_that_never_answers_in_time_fails(pretend, make) -> None:
    generator = make(pretend.perf_analyzer(EMPTY), timeout_s=20)
    failure = generator.generate([work()], AliveServer(), 0.0)
    assert isinstance(failure, Failure)
    assert failure.reason is FailureReason.NO_REQUESTS
    assert lengths(pretend) == pytest.approx([1.08, 3.24, 9.72, 10.0], abs=0.02)


def test_a_failure_is_one_at_once(pretend, make) -> None:
    step = {"status": 99, "text": "Thread [0] had error: out of luck"}
    failure = make(pretend.perf_analyzer(step)).generate([work()], AliveServer(), 0.0)
    assert isinstance(failure, Failure)
    assert failure.reason is FailureReason.REQUEST_FAILED
    assert len(pretend.launches) == 1
    assert failure.commands


def test_a_called_model_without_requests_is_hinted_at(pretend, make) -> None:
    uncounted = {"status": 99, "text": "failed to find the requested model version"}
    failure = make(pretend.perf_analyzer(uncounted)).generate([work()], AliveServer(), 0.0)
    assert isinstance(failure, Failure)
    assert "bls_composing_models" in failure.hint
    assert len(pretend.launches) == 2


# -------------------------------------------------------------------------------- the export


@pytest.mark.parametrize("step", [{"export": ""}, {"export": "[1]"}, {}])
def test_without_an_export_the_table_counts_and_it_is_not_asked_for_again(
    pretend, make, step: dict[str, Any]
) -> None:
    table = {"throughput": 200.0, "p99_us": 9000, "requests": 216, "windows": [190, 200, 210]}
    generator = make(pretend.perf_analyzer({**table, **step}))
    first, second = measured(generator), measured(generator)
    (model,) = first.models
    assert model.values["perf_throughput"] == 200
    assert model.values["perf_latency_p99"] == 9
    assert model.requests == 216
    assert model.windows == (190, 200, 210)
    assert model.seconds == 1.08
    assert model.histograms == {}
    assert first.during is None
    assert second.models[0].values == model.values
    assert exports(pretend) == [True, False]


def images(load: int = 1) -> Workload:
    """A model with 3 x 224 x 224 numbers for each request."""
    tensor = {"name": "IMAGE", "data_type": "TYPE_FP32", "dims": [3, 224, 224]}
    return replace(work(load), variant=replace(work().variant, config={"input": [tensor]}))


def test_large_requests_are_exported_once_their_rate_is_known_to_be_low(pretend, make) -> None:
    generator = make(pretend.perf_analyzer({"service_ms": 1000}))
    measured(generator, images(), seconds=12.0)
    measured(generator, images(), seconds=12.0)
    assert exports(pretend) == [False, True]


def test_no_export_grows_beyond_all_bounds(pretend, make) -> None:
    generator = make(pretend.perf_analyzer({"service_ms": 1}, {"requests": 10}), timeout_s=9000)
    measured(generator, work(1), seconds=1.0)
    measured(generator, work(1), seconds=3000.0)
    assert exports(pretend) == [True, False]


# ------------------------------------------------------------------------------- open loads


def bursts(of: Workload, generators: int = 1) -> Workload:
    """The workload with an open load of 90 requests per second."""
    traffic = Traffic(arrivals=Arrivals.GAMMA, cv=2.0, generators=generators)
    load = Load(kind=LoadKind.REQUEST_RATE, value=90)
    return replace(of, load=load, traffic=traffic)


def test_requests_that_are_too_large_to_export_arrive_as_asked_for(pretend, make) -> None:
    generator = make(pretend.perf_analyzer({"service_ms": 5}))
    reading = measured(generator, bursts(images()), seconds=12.0)
    assert exports(pretend) == [False]
    assert option(pretend.launches[0], "--request-intervals")
    (notice,) = reading.notices
    assert notice.kind is NoticeKind.LAG_UNKNOWN
    assert "perf_send_lag_p99" not in reading.models[0].values


def test_several_generators_share_an_open_load(pretend, make) -> None:
    generator = make(pretend.perf_analyzer({"service_ms": 5}, {"service_ms": 5}))
    reading = measured(generator, bursts(work(), generators=2), seconds=2.0)
    assert len(pretend.launches) == len(reading.commands) == 2
    (model,) = reading.models
    assert reading.during is not None
    # both together answer more than are due at the rate
    assert model.values["perf_throughput"] == 90
    assert model.requests == model.histograms["perf_latency"].total > 1.5 * 2 * 200


def test_fewer_generators_send_few_requests_and_that_is_told(pretend, make, caplog) -> None:
    generator = make(pretend.perf_analyzer({"service_ms": 5}))
    with caplog.at_level(logging.INFO):
        measured(generator, bursts(work(), generators=64), seconds=0.2)
    count = len(pretend.launches)
    assert 1 < count < 64
    assert f"requests are too few for 64 generators, using {count}" in caplog.text


EVENLY = range(10, 1500, 10)
IN_TIME = {"export": sent_at(*EVENLY)}
LATE = {"export": sent_at(*(time + 30 * (time > 1200) for time in EVENLY))}


def evenly() -> Workload:
    return replace(work(), load=Load(kind=LoadKind.REQUEST_RATE, value=100))


@pytest.mark.parametrize(
    ("steps", "seconds", "launches", "is_late"),
    [
        ([LATE, IN_TIME], 0.0, 2, False),
        ([LATE, LATE, IN_TIME], 0.0, 2, True),
        ([IN_TIME, LATE], 0.0, 1, False),
        ([LATE, IN_TIME], 2.0, 1, True),
    ],
)
def test_a_first_look_that_was_sent_late_is_repeated_once(
    pretend, make, steps: list[dict[str, Any]], seconds: float, launches: int, is_late: bool
) -> None:
    reading = measured(make(pretend.perf_analyzer(*steps)), evenly(), seconds=seconds)
    assert len(pretend.launches) == launches
    assert [notice.kind for notice in reading.notices] == [NoticeKind.CLIENT_LAGGED] * is_late


def test_an_open_load_that_nobody_answered_for_a_while_has_a_notice(pretend, make) -> None:
    reading = measured(make(pretend.perf_analyzer(EMPTY, IN_TIME)), evenly())
    (notice,) = reading.notices
    assert notice.kind is NoticeKind.STOOD_STILL
    assert "no request was answered for 1.08 s" in notice.text


@pytest.mark.parametrize(("service_ms", "is_told"), [(5, True), (400, False)])
def test_a_closed_load_that_nobody_answered_for_a_while_has_a_notice(
    pretend, make, service_ms: int, is_told: bool
) -> None:
    reading = measured(make(pretend.perf_analyzer(EMPTY, {"service_ms": service_ms})), work())
    kinds = [notice.kind for notice in reading.notices]
    assert (NoticeKind.STOOD_STILL in kinds) == is_told


def test_the_notice_of_an_empty_window_says_how_long_that_was(pretend, make) -> None:
    reading = measured(make(pretend.perf_analyzer(GAP, IN_TIME)), evenly())
    (notice,) = reading.notices
    assert "no request was answered for 0.36 s" in notice.text


def test_a_server_that_is_too_slow_gets_no_longer_queue(pretend, make, caplog) -> None:
    """With a longer load, the next measurement would wait for the answers to all of it."""
    caplog.set_level("INFO")
    export = json.loads(sent_at(*range(0, 1080, 10), took_ms=15_000))
    for number, request in enumerate(export["experiments"][0]["requests"]):
        request["response_timestamps"] = [10**18 + (2000 + 100 * number) * 10**6]
    slow = {"export": json.dumps(export)}
    reading = measured(make(pretend.perf_analyzer(EMPTY, slow)), evenly())
    first, second = pretend.launches
    assert option(first, "--measurement-mode") == "time_windows"
    assert option(second, "--request-count") == str(108)
    assert "measuring until all are answered" in caplog.text
    (model,) = reading.models
    assert model.requests == 107  # the first one begins the time
    assert model.values["perf_throughput"] == pytest.approx(10)


def test_a_slow_server_that_may_keep_up_is_measured_for_longer(pretend, make) -> None:
    """Its first answers come after the first look: to a single batch, perhaps."""
    slow = {"export": sent_at(*range(0, 1080, 10), took_ms=1500)}
    reading = measured(make(pretend.perf_analyzer(EMPTY, slow, slow)), evenly())
    counts = [option(launch, "--request-count") for launch in pretend.launches]
    assert counts == [None, "108", "324"]
    assert NoticeKind.STOOD_STILL not in [notice.kind for notice in reading.notices]


def test_a_gap_between_bursts_is_no_server_that_stood_still(pretend, make) -> None:
    """Of 22 requests expected in the first look, hardly any is due in its first half."""
    gap = replace(evenly(), load=Load(kind=LoadKind.REQUEST_RATE, value=20))
    gap = replace(gap, traffic=Traffic(arrivals=Arrivals.GAMMA, cv=4))
    reading = measured(make(pretend.perf_analyzer(EMPTY, IN_TIME)), gap)
    assert NoticeKind.STOOD_STILL not in [notice.kind for notice in reading.notices]


def test_a_slow_model_did_not_stand_still(pretend, make) -> None:
    slow = {"export": sent_at(*range(10, 9000, 10), took_ms=2000)}
    reading = measured(make(pretend.perf_analyzer(EMPTY, slow)), evenly())
    assert NoticeKind.STOOD_STILL not in [notice.kind for notice in reading.notices]


def test_rounds_pool_how_late_requests_were_sent(pretend, make) -> None:
    """A hundredth of all requests, not the mean of two percentiles."""
    generator = make(pretend.perf_analyzer(IN_TIME, LATE))
    first = measured(generator, evenly())
    second = measured(generator, evenly(), seconds=2.0)
    runs = [Measurement(models=each.models) for each in (first, second)]
    lag = pool(runs).models[0].values["perf_send_lag_p99"]
    assert lag == pytest.approx(30, rel=0.02)


def test_the_last_launch_counts_although_it_was_late(pretend, make) -> None:
    reading = measured(make(pretend.perf_analyzer(LATE), max_launches=1), evenly())
    assert [notice.kind for notice in reading.notices] == [NoticeKind.CLIENT_LAGGED]


class AnsweringServer(AliveServer):
    """Answers all requests of a perf_analyzer as soon as it starts."""

    def __init__(self) -> None:
        self._answered = 0

    def route(self, variant: ModelVariant, protocol: Protocol) -> Route:
        self._answered += 1000
        return super().route(variant, protocol)

    def statistics(self, variants: Any) -> ServerStatistics:
        name = work().variant.model
        return {name: ModelStatistics(inferences=self._answered, executions=self._answered)}


@pytest.fixture
def impatient(monkeypatch) -> None:
    monkeypatch.setattr(time_limits, "_EVERY_S", 0.0)
    monkeypatch.setattr(time_limits, "_STALLED_S", 0.6)
    monkeypatch.setattr(time_limits, "_STALLED_LONGER", 0.0)


def stages() -> Workload:
    traffic = Traffic(arrivals=Arrivals.STAGES, stages=(Stage(rate=100, seconds=0.1),))
    load = Load(kind=LoadKind.REQUEST_INTERVALS, value=0)
    return replace(work(1), load=load, traffic=traffic)


def test_a_load_whose_last_answers_do_not_come_is_measured_again(
    pretend, make, impatient, caplog
) -> None:
    caplog.set_level("INFO")
    generator = make(pretend.perf_analyzer({"hang": True}, {"service_ms": 5}))
    reading = generator.generate([stages()], AnsweringServer(), 0.0)
    assert isinstance(reading, Reading)
    assert len(pretend.launches) == 2
    assert "waited in vain for answers, measuring again" in caplog.text


def test_it_may_wait_until_its_time_limit_after_two_stalls(pretend, make, impatient) -> None:
    generator = make(pretend.perf_analyzer({"hang": True}), timeout_s=3)
    failure = generator.generate([stages()], AnsweringServer(), 0.0)
    assert isinstance(failure, Failure)
    assert failure.reason is FailureReason.TIMEOUT
    assert len(pretend.launches) == 3


def test_without_statistics_nothing_counts_as_a_stall(pretend, make, impatient) -> None:
    generator = make(pretend.perf_analyzer({"sleep_s": 2, "service_ms": 5}))
    assert isinstance(generator.generate([stages()], AliveServer(), 0.0), Reading)
    assert len(pretend.launches) == 1


def test_each_generator_gets_the_inputs_of_its_requests(pretend, make, tmp_path: Path) -> None:
    numbers = [0, 1, 1, 0, 2, 1, 0, 2, 2, 1]
    rows = "".join(f"{time},{number}\n" for time, number in enumerate(numbers))
    (tmp_path / "log.csv").write_text(f"time,input\n{rows}")
    (tmp_path / "in.json").write_text(json.dumps({"data": [{"INPUT": [n]} for n in range(3)]}))
    traffic = Traffic(arrivals=Arrivals.REPLAY, log="log.csv", input="input", speed=9, generators=2)
    load = Load(kind=LoadKind.REQUEST_INTERVALS, value=0)
    replayed = replace(work(1, input_data="in.json"), load=load, traffic=traffic)
    outputs: list[str] = []
    program = pretend.perf_analyzer({"service_ms": 5, "shows": "--input-data"})

    measured(make(program, transcript=outputs.append), replayed)

    lines = [line for output in outputs for line in output.splitlines()]
    sent = [json.loads(line)["data"] for line in lines if line.startswith('{"data"')]
    owners = shares(np.arange(len(numbers)), traffic)
    chosen = [[{"INPUT": [numbers[place]]} for place in share] for share in owners]
    assert sent == chosen


# -------------------------------------------------------------------------- language models


def test_tokens_of_a_language_model_are_in_the_round(pretend, make) -> None:
    export = (GOLDEN / "stream.json").read_text()
    generator = make(pretend.perf_analyzer({"export": export, "requests": 9}))
    (model,) = measured(generator, replace(work(2), times_tokens=True), seconds=1.0).models
    assert model.values["time_to_first_token_p50"] == pytest.approx(21, abs=2)
    assert set(model.histograms) == {
        "perf_latency", "time_to_first_token", "inter_token_latency",
    }  # fmt: skip


def test_an_export_that_random_memory_spoils_is_made_again(pretend, make) -> None:
    stream = {"export": (GOLDEN / "stream.json").read_text(), "requests": 9}
    generator = make(pretend.perf_analyzer({**stream, "export": ""}, stream))
    (model,) = measured(generator, replace(work(2), times_tokens=True), seconds=1.0).models
    assert model.values["output_token_throughput"] > 0
    assert len(pretend.launches) == 2


def test_a_language_model_without_an_export_fails(pretend, make) -> None:
    generator = make(pretend.perf_analyzer({"export": ""}))
    timed = replace(work(), times_tokens=True)
    failure = generator.generate([timed], AliveServer(), 0.0)
    assert isinstance(failure, Failure)
    assert failure.reason is FailureReason.NO_RESULT
    assert "input-data" in failure.hint
    assert len(pretend.launches) == 3


# ------------------------------------------------------------------------- what takes too long


@pytest.fixture
def short_patience(monkeypatch) -> None:
    """A first look of 1.08 s is named after 0.5 s, and given up after 1.5 s."""
    for name, value in {"_LONG": 0, "_LONG_S": 0.5, "_PATIENCE": 0.01, "_PATIENCE_S": 1.5}.items():
        monkeypatch.setattr(first_look, name, value)


def test_a_first_look_that_never_ends_is_named_and_given_up(pretend, make, short_patience) -> None:
    told: list[Overdue] = []
    generator = make(pretend.perf_analyzer({"hang": True}), tell=told.append)
    failure = generator.generate([work(33)], AliveServer(), 0.0)
    assert isinstance(failure, Failure)
    assert failure.reason is FailureReason.TIMEOUT
    assert "at concurrency 33: given up after 2 s (1.1 s expected)" in failure.message
    assert len(pretend.launches) == 1
    assert failure.commands
    ((expected_s, limit_s),) = {(each.expected_s, each.limit_s) for each in told}
    assert expected_s == 1.08
    assert limit_s == pytest.approx(1.51, abs=0.01)


def test_a_slow_model_that_goes_on_answering_is_not_given_up(pretend, make, short_patience) -> None:
    """Its requests in flight would take an hour at the rate at which it answers."""

    class SlowServer(AliveServer):
        def __init__(self) -> None:
            self.count = 0

        def statistics(self, variants: Any) -> ServerStatistics:
            self.count += 1
            return {"m": ModelStatistics(inferences=self.count, executions=self.count)}

    step = {"service_ms": 5, "sleep_s": 4}
    reading = make(pretend.perf_analyzer(step)).generate([work(1000)], SlowServer(), 20.0)
    assert isinstance(reading, Reading), reading


def test_a_slow_model_is_measured_as_long_as_its_answers_tell(pretend, make, monkeypatch) -> None:
    """No request ended in the first windows, but the server answered two in about a second."""
    monkeypatch.setattr(first_look, "_LONG", 0)
    monkeypatch.setattr(first_look, "_LONG_S", 0.5)

    class SlowServer(AliveServer):
        readings = iter([0, 0, 2])

        def statistics(self, variants: Any) -> ServerStatistics:
            count = next(self.readings, 2)
            return {"m": ModelStatistics(inferences=count, executions=count)}

    steps = [{**EMPTY, "sleep_s": 1}, {"service_ms": 5}]
    make(pretend.perf_analyzer(*steps)).generate([work(64)], SlowServer(), 0.0)
    first, second = lengths(pretend)
    assert first == pytest.approx(1.08, abs=0.02)
    assert second > 128  # four times what is in flight, at two requests in less than two seconds


def test_it_is_given_up_when_the_budget_ends(pretend, make, monkeypatch) -> None:
    monkeypatch.setattr(time_limits, "_LEAST_LEFT_S", 0.0)
    generator = make(pretend.perf_analyzer({"hang": True}))
    failure = generator.generate([work()], AliveServer(), 0.0, 0, 1.0)
    assert isinstance(failure, Failure)
    assert failure.reason is FailureReason.BUDGET
    assert "the time budget ended after" in failure.message
    assert "--budget" in failure.hint


def test_windows_that_the_user_sized_are_not_bounded_by_the_budget(
    pretend, make, short_patience, monkeypatch
) -> None:
    monkeypatch.setattr(time_limits, "_LEAST_LEFT_S", 0.0)
    generator = make(pretend.perf_analyzer({"service_ms": 5, "sleep_s": 2}))
    reading = generator.generate([work()], AliveServer(), None, 0, 1.0)
    assert isinstance(reading, Reading)


def test_generators_of_sequences_have_different_ids(pretend, make) -> None:
    pair = replace(work(1), traffic=Traffic(arrivals=Arrivals.CONSTANT, generators=2))
    pair = replace(pair, load=Load(kind=LoadKind.REQUEST_RATE, value=100))
    make(pretend.perf_analyzer({"service_ms": 5})).generate([pair], AliveServer(), 1.0)
    ranges = {option(launch, "--sequence-id-range") for launch in pretend.launches}
    assert ranges == {"1:1073741824", "1073741824:2147483647"}
