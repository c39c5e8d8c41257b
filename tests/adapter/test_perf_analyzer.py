# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Running perf_analyzer: windows, failures and time limits, with a pretend program."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from model_analyzer.domain.measurements import ModelStatistics, NoticeKind, ServerStatistics
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.protocols import Route
from model_analyzer.domain.settings import LoadGeneratorSettings, ModelType, Protocol
from model_analyzer.domain.slots import Overdue
from model_analyzer.domain.trials import Failure, FailureReason, Load, LoadKind, Workload
from model_analyzer.errors import OutputError
from model_analyzer.runner.host import ControlGroup
from model_analyzer.runner.load import launches, perf_analyzer, time_limits
from model_analyzer.runner.load.launches import Launches, Reading
from model_analyzer.runner.load.perf_analyzer import PerfAnalyzer, Transcript
from model_analyzer.runner.runtime import Program
from tests.phrases import DID_NOT_LOAD


class AliveServer:
    """A server of which only the address matters."""

    @property
    def is_alive(self) -> bool:
        return True

    def serve(self, variants: Any, setup: Any) -> None:
        return None

    def discard(self) -> None:
        return None

    def route(self, variant: ModelVariant, protocol: Protocol) -> Route:
        return Route(flags={"url": "127.0.0.1:1", "protocol": protocol.value})

    def statistics(self, variants: Any) -> ServerStatistics:
        return {}

    def stubs(self) -> list[int]:
        return []

    def log_tail(self) -> tuple[str, ...]:
        return ("the last words of the server",)


class DyingServer(AliveServer):
    """Alive when the load begins, dead at the first look."""

    @property
    def is_alive(self) -> bool:
        return False


@pytest.fixture
def make(tmp_path: Path):
    def build(
        program: Path,
        *,
        genai_perf: Any = None,
        transcript: Any = None,
        most_bytes: int = 2**32,
        tell: Callable[[Overdue], None] = lambda _: None,
        **settings: Any,
    ) -> PerfAnalyzer:
        defaults: dict[str, Any] = {
            "model_type": ModelType.GENERIC, "keep_output": False, "output": None,
            "path": None, "timeout_s": 300, "max_launches": 10, "most_cpu_percent": 1e6,
        }  # fmt: skip
        (tmp_path / "work").mkdir()
        launches = Launches(
            Program(path=program, origin="test", environment=dict(os.environ)),
            LoadGeneratorSettings(**{**defaults, **settings}),
            Protocol.GRPC,
            work_directory=tmp_path / "work",
            user_directory=tmp_path,
            genai_perf=genai_perf,
            most_bytes=most_bytes,
        )
        return PerfAnalyzer(launches, transcript=transcript, tell=tell)

    return build


def work(value: int = 1, **flags: str) -> Workload:
    variant = ModelVariant(model="m", name="m_config_0", config={}, files="f")
    named = {name.replace("_", "-"): text for name, text in flags.items()}
    return Workload(variant=variant, load=Load(value=value), flags=named)


def option(arguments: list[str], name: str) -> str | None:
    return arguments[arguments.index(name) + 1] if name in arguments else None


@pytest.fixture
def generate(pretend, make):
    """What comes of a load whose launches of perf_analyzer do this, one after the other."""

    def outcome(*steps: Any, of: Any = None, server: Any = None, **settings: Any) -> Any:
        workloads = of if isinstance(of, list) else [of or work()]
        generator = make(pretend.perf_analyzer(*steps), **settings)
        return generator.generate(workloads, server or AliveServer())

    return outcome


@pytest.fixture
def read(generate) -> Callable[..., Reading]:
    def reading(*steps: Any, **how: Any) -> Reading:
        outcome = generate(*steps, **how)
        assert isinstance(outcome, Reading), outcome
        return outcome

    return reading


@pytest.fixture
def fail(generate) -> Callable[..., Failure]:
    def failure(*steps: Any, **how: Any) -> Failure:
        outcome = generate(*steps, **how)
        assert isinstance(outcome, Failure), outcome
        return outcome

    return failure


def test_a_good_run_is_read_at_the_first_launch(pretend, read) -> None:
    reading = read({"throughput": 123.4, "p99_us": 5600, "windows": [120, 123, 126]})

    assert reading.models[0].values["perf_throughput"] == 123.4
    assert reading.models[0].values["perf_latency_p99"] == 5.6
    assert reading.models[0].requests == 1000
    assert reading.models[0].windows == (120, 123, 126)
    assert reading.notices == ()
    assert len(pretend.launches) == 1


# what perf_analyzer says of a window without a request
TOO_SMALL = {
    "status": 3,
    "text": "No valid requests recorded within time interval. Please use a larger time window.",
}


class CountingServer(AliveServer):
    """Each reading of its counts is the next of these."""

    def __init__(self, *readings: ServerStatistics) -> None:
        self._readings = iter(readings)

    def statistics(self, variants: Any) -> ServerStatistics:
        return next(self._readings)


def counts(executions: int) -> ServerStatistics:
    return {"m": ModelStatistics(inferences=4 * executions, executions=executions)}


def test_server_statistics_are_part_of_the_reading(read) -> None:
    reading = read({}, server=CountingServer(counts(5), counts(25)))

    assert reading.statistics == counts(20)


def test_statistics_of_unused_windows_are_left_out(read) -> None:
    reading = read(TOO_SMALL, {}, server=CountingServer(counts(0), counts(7), counts(17)))

    assert reading.statistics == counts(10)


def streaming() -> Workload:
    plain = work()
    config = {"model_transaction_policy": {"decoupled": True}}
    return replace(plain, variant=replace(plain.variant, config=config))


def test_a_stream_without_any_response_is_told_at_the_first_launch(pretend, fail) -> None:
    """The server ended requests, of which perf_analyzer counted none."""
    failure = fail(TOO_SMALL, of=streaming(), server=CountingServer(counts(0), counts(5)))

    assert failure.reason is FailureReason.NO_REQUESTS
    assert "ended 20 requests without a single response" in failure.message
    assert len(pretend.launches) == 1


def test_a_slow_stream_is_measured_for_longer(pretend, read) -> None:
    server = CountingServer(counts(0), counts(1), counts(1), counts(3))

    read(TOO_SMALL, {}, of=streaming(), server=server)

    assert len(pretend.launches) == 2


@pytest.mark.parametrize("after", [counts(4), {}], ids=["fell", "silent"])
def test_decreasing_or_missing_counts_only_lose_the_statistics(read, after) -> None:
    reading = read({"throughput": 123.4}, server=CountingServer(counts(5), after))

    assert reading.models[0].values["perf_throughput"] == 123.4
    assert reading.statistics == {}


def test_several_workloads_are_measured_at_the_same_time(pretend, read, tmp_path: Path) -> None:
    go = tmp_path / "go"

    class GoesOnWithTwo(AliveServer):
        @property
        def is_alive(self) -> bool:
            if len(pretend.launches) == 2:
                go.touch()
            return True

    reading = read({"until": str(go)}, of=[work(1), work(2)], server=GoesOnWithTwo())

    assert [m.values["perf_throughput"] for m in reading.models] == [100, 200]


def test_a_window_that_is_too_small_is_doubled_until_it_is_not(pretend, read, caplog) -> None:
    caplog.set_level("INFO")

    read(
        TOO_SMALL,
        TOO_SMALL,
        {},
        of=work(measurement_mode="time_windows", measurement_interval="10"),
    )

    intervals = [option(launch, "--measurement-interval") for launch in pretend.launches]
    assert intervals == ["10", "20", "40"]
    assert "measurement window is too small, increased to 20 ms" in caplog.text


def test_an_unstable_result_is_accepted_with_a_notice_after_three_larger_windows(
    pretend, read
) -> None:
    unstable = {
        "status": 2,
        "text": "Failed to obtain stable measurement.",
        "windows": [50, 90, 60],
    }

    reading = read(unstable, unstable, unstable, {"windows": [80, 100, 120]})

    counts = [option(launch, "--measurement-request-count") for launch in pretend.launches]
    stability = [option(launch, "--stability-percentage") for launch in pretend.launches]
    assert counts == [None, "134", "400", "800"]
    assert stability == [None, None, None, "999"]
    assert [notice.kind for notice in reading.notices] == [NoticeKind.UNSTABLE]
    assert "windows differ by 40 %" in reading.notices[0].text


UNSTABLE = {"status": 2, "text": "Failed to obtain stable measurement."}
SIZED = {"measurement_mode": "time_windows", "measurement_interval": "100"}


def test_what_stays_unstable_for_long_is_accepted_sooner_unless_the_user_sized_the_window(
    pretend, make, monkeypatch
) -> None:
    monkeypatch.setattr(perf_analyzer, "_STRICT_S", 0.0)
    noisy = {"windows": [80, 100, 120]}
    generator = make(pretend.perf_analyzer(UNSTABLE, noisy, UNSTABLE, noisy))

    reading = generator.generate([work()], AliveServer())
    stability = [option(launch, "--stability-percentage") for launch in pretend.launches]
    generator.generate([work(1, measurement_request_count="50")], AliveServer())

    assert isinstance(reading, Reading)
    assert [notice.kind for notice in reading.notices] == [NoticeKind.UNSTABLE]
    assert stability == [None, "999"]
    sized = [option(launch, "--stability-percentage") for launch in pretend.launches[2:]]
    assert sized == [None, None]


@pytest.mark.parametrize(
    ("following", "expected"),
    [
        pytest.param(work(2, **SIZED), ["100", "200", "200"], id="the next load"),
        pytest.param(work(1, **SIZED, shape="INPUT:3"), ["100", "200", "100"], id="other inputs"),
    ],
)
def test_only_the_next_load_starts_with_the_stable_window(
    pretend, make, following: Workload, expected: list[str]
) -> None:
    generator = make(pretend.perf_analyzer(UNSTABLE, {}))

    generator.generate([work(1, **SIZED)], AliveServer())
    generator.generate([following], AliveServer())

    intervals = [option(launch, "--measurement-interval") for launch in pretend.launches]
    assert intervals == expected


SPARSE = {"requests": 3, "throughput": 0.5, "windows": [0.5, 0.5, 0.5]}


def test_a_window_with_few_requests_is_enlarged_once_to_hold_ten(pretend, make, caplog) -> None:
    program = pretend.perf_analyzer(SPARSE, {**SPARSE, "requests": 24, "throughput": 0.7})
    generator = make(program)
    caplog.set_level("INFO")

    readings = [
        generator.generate([work(value, measurement_mode="time_windows")], AliveServer())
        for value in (1, 2)
    ]

    assert [reading.models[0].values["perf_throughput"] for reading in readings] == [0.7, 0.7]
    intervals = [option(launch, "--measurement-interval") for launch in pretend.launches]
    stability = [option(launch, "--stability-percentage") for launch in pretend.launches]
    assert intervals == [None, "20000", "20000"]
    assert stability == [None, "999", None]
    assert "window holds fewer than 10 requests, increased to 20000 ms" in caplog.text
    assert [notice.kind for notice in readings[0].notices] == [NoticeKind.FEW_REQUESTS]


def test_a_longer_window_that_is_not_steady_is_noticed(read) -> None:
    reading = read(
        SPARSE,
        {"requests": 400, "windows": [80, 100, 120]},
        of=work(measurement_mode="time_windows"),
    )

    assert [notice.kind for notice in reading.notices] == [NoticeKind.UNSTABLE]


def test_a_longer_window_is_as_steady_as_the_user_wants(pretend, make) -> None:
    program = pretend.perf_analyzer(SPARSE, {"requests": 400, "windows": [80, 100, 120]})
    flags = {"measurement_mode": "time_windows", "stability_percentage": "25"}

    assert make(program).generate([work(1, **flags)], AliveServer()).notices == ()


def test_a_window_that_the_user_gave_is_kept_with_a_remark(pretend, read) -> None:
    flags = {"measurement_mode": "time_windows", "measurement_interval": "2000"}

    reading = read(SPARSE, of=work(1, **flags))

    assert len(pretend.launches) == 1
    (notice,) = reading.notices
    assert notice.kind is NoticeKind.FEW_REQUESTS
    assert "One request more changes the throughput by 33 %" in notice.text
    assert "set measurement-interval in perf_analyzer_flags to more than 2000" in notice.text


def test_a_window_of_the_user_that_is_too_small_is_enlarged_to_hold_ten(pretend, make) -> None:
    program = pretend.perf_analyzer(TOO_SMALL, SPARSE, {})
    flags = {"measurement_mode": "time_windows", "measurement_interval": "1000"}

    make(program).generate([work(1, **flags)], AliveServer())

    intervals = [option(launch, "--measurement-interval") for launch in pretend.launches]
    assert intervals == ["1000", "2000", "20000"]


def test_few_requests_are_taken_from_the_last_launch(pretend, read) -> None:
    sparse = work(measurement_mode="time_windows")

    read(SPARSE, of=sparse, max_launches=1)

    assert len(pretend.launches) == 1


def test_launches_are_limited(pretend, fail) -> None:
    failure = fail({"status": 3, "text": "Please use a larger time window."}, max_launches=4)

    assert failure.reason is FailureReason.NO_REQUESTS
    assert len(pretend.launches) == 4


def test_few_requests_are_noticed(read) -> None:
    reading = read({"requests": 40})

    assert [notice.kind for notice in reading.notices] == [NoticeKind.FEW_REQUESTS]
    assert "40 requests" in reading.notices[0].text


def test_a_stream_that_failed_is_not_waited_for(fail) -> None:
    """perf_analyzer says that a request failed, and waits for the others forever."""
    step = {"server_says": ["Failed to retrieve results from inference request."], "hang": True}

    failure = fail(step)

    assert failure.reason is FailureReason.REQUEST_FAILED
    assert "answered a request with an error in its stream" in failure.message
    assert failure.hint


@pytest.mark.parametrize(
    ("error", "message", "hint"),
    [
        (
            "[request id: 281474976710657] Exceeds maximum queue size",
            "m_config_0: the server refused a request, since its queue was full: Exceeds maximum"
            " queue size",
            "raise max_queue_size",
        ),
        (
            "Request timeout expired",
            "m_config_0: a request waited longer in the queue than it may: Request timeout expired",
            "raise default_timeout_microseconds",
        ),
        (
            "inference request for sequence 16 to model 'm' must specify the START flag on the"
            " first request of the sequence",
            "m_config_0: the server dropped a sequence, which may have waited too long for a slot:"
            " inference request for sequence 16 to model 'm' must specify the START flag on the"
            " first request of the sequence",
            "raise max_sequence_idle_microseconds",
        ),
        (
            "This API is restricted, expecting header 'key'",
            "m_config_0: the server refused a call of perf_analyzer, which needs a header: This API"
            " is restricted, expecting header 'key'",
            "http-header: 'NAME: VALUE'",
        ),
        (
            "out of luck",
            "m_config_0: a request failed: out of luck",
            "the model answered a request with this error",
        ),
    ],
)
def test_a_request_that_fails_is_told_by_its_kind(
    fail, error: str, message: str, hint: str
) -> None:
    text = f"Failed to maintain requested inference load.\nThread [3] had error: {error}"
    step = {"status": 99, "text": text}

    failure = fail(step)

    assert failure.message == message
    assert hint in failure.hint


def test_statistics_that_need_a_header_are_told(fail) -> None:
    error = "This protocol is restricted, expecting header 'key'"
    text = f"Request concurrency: 1\n  Pass [3] cb::Error: {error}\n\n{error}\n"

    failure = fail({"status": 99, "text": text})

    assert failure.message == (
        "m_config_0: the server refused a call of perf_analyzer, which needs a header: This"
        " protocol is restricted, expecting header 'key'"
    )
    assert "http-header: 'NAME: VALUE'" in failure.hint


@pytest.mark.parametrize(
    ("step", "reason", "words"),
    [
        (
            {"status": 99, "text": "Failed to maintain requested inference load.\n"
             "Thread [0] had error: out of luck"},
            FailureReason.REQUEST_FAILED, "out of luck",
        ),
        (
            # the other threads go on, and there is a table
            {"status": 0, "text": "Concurrency: 4, throughput: 400 infer/sec, latency 9 usec\n"
             "Thread [2] had error: out of luck"},
            FailureReason.REQUEST_FAILED, "m_config_0: a request failed: out of luck",
        ),
        ({"status": 0, "table": False}, FailureReason.NO_RESULT, "without a result"),
        ({"status": 0, "table": "what is this"}, FailureReason.NO_RESULT, "without a result"),
        ({"signal": 9}, FailureReason.LOAD_GENERATOR_DIED, "killed by SIGKILL"),
        ({"signal": 11}, FailureReason.LOAD_GENERATOR_DIED, "killed by SIGSEGV"),
    ],
)  # fmt: skip
def test_a_failed_run_says_why(pretend, fail, step, reason, words) -> None:
    failure = fail(step)

    assert failure.reason is reason
    assert words in failure.message
    assert failure.hint
    assert len(pretend.launches) == 1
    assert failure.commands[0].startswith("perf_analyzer -m ")


OVERTAKEN = (
    "Request count: 900\nConcurrency: 3, throughput: 300 infer/sec, latency 9 usec\n"
    "Thread [2] had error: inference request for sequence 9 to model 'm' must specify the START"
    " flag on the first request of the sequence"
)


def sequences(idle_us: int = 0) -> Workload:
    config = {"sequence_batching": {"max_sequence_idle_microseconds": idle_us}}
    return replace(work(), variant=replace(work().variant, config=config))


@pytest.mark.parametrize(("p99_us", "idle_us"), [(9_000, 0), (499_000, 0), (9_000, 20_000)])
def test_a_sequence_that_its_last_request_ends_too_early_is_no_failure(
    read, p99_us: int, idle_us: int
) -> None:
    reading = read({"text": OVERTAKEN, "p99_us": p99_us}, of=sequences(idle_us))

    assert reading.models[0].values["perf_latency_p99"] == p99_us / 1000


@pytest.mark.parametrize(("latency_us", "launches"), [(9_000, 2), (600_000, 1)])
def test_unstable_windows_before_such_an_end_are_enlarged(
    pretend, make, latency_us: int, launches: int
) -> None:
    passes = [f"Pass [{n}] throughput: 3 infer/sec. Avg latency: {latency_us} usec" for n in "12"]
    text = "\n".join([*passes, "Failed to obtain stable measurement.", OVERTAKEN])
    unstable = {"status": 2, "windows": [], "text": text}

    reading = make(pretend.perf_analyzer(unstable, {})).generate([sequences()], AliveServer())

    assert len(pretend.launches) == launches
    assert isinstance(reading, Reading) == (launches == 2)


@pytest.mark.parametrize(
    ("step", "idle_us"),
    [
        ({"p99_us": 600_000}, 0),
        ({"p99_us": 12_000}, 20_000),
        ({"p99_us": 9_000, "status": 99}, 0),
        ({"p99_us": 9_000, "text": f"{OVERTAKEN}\nThread [0] had error: out of luck"}, 0),
    ],
)
def test_a_sequence_that_may_have_waited_too_long_is_one(
    fail, step: dict[str, Any], idle_us: int
) -> None:
    fail({"text": OVERTAKEN, **step}, of=sequences(idle_us))


def test_a_model_that_answers_with_an_error_has_to_be_corrected(fail) -> None:
    step = {"status": 99, "text": "Thread [0] had error: the 50th request fails"}
    failure = fail(step)

    assert "give input-data that it accepts" in failure.hint


UNCOUNTED = {"status": 99, "text": "failed to find the requested model version"}


def test_a_request_that_was_counted_after_its_window_is_measured_again(
    pretend, read, caplog
) -> None:
    caplog.set_level("INFO")
    windows = work(measurement_mode="time_windows", measurement_interval="100")

    read(UNCOUNTED, {}, of=windows)

    intervals = [option(launch, "--measurement-interval") for launch in pretend.launches]
    assert intervals == ["100", "200"]
    assert "measurement window is too small, increased to 200 ms" in caplog.text


def test_refused_input_data_is_hinted_at(fail) -> None:
    text = "error: Failed to init manager inputs: unable to find float data in json"

    failure = fail({"status": 99, "text": text})

    assert "unable to find float data" in failure.message
    assert "`model-analyzer config validate` names input and element" in failure.hint


def test_a_called_model_without_requests_is_hinted_at(pretend, fail) -> None:
    failure = fail(UNCOUNTED)

    assert failure.reason is FailureReason.REQUEST_FAILED
    assert "bls_composing_models" in failure.hint
    assert len(pretend.launches) == 2


def test_a_hung_run_is_killed_in_time(fail) -> None:
    began = time.monotonic()

    failure = fail({"hang": True, "deaf": True}, timeout_s=1)

    assert failure.reason is FailureReason.TIMEOUT
    assert time.monotonic() - began < 60


class HangingServer(AliveServer):
    """A server that counts, and whose model answers nothing."""

    def statistics(self, variants: Any) -> ServerStatistics:
        return {"m": ModelStatistics(inferences=7, executions=7)}


class SlowServer(AliveServer):
    """A server whose model answers a request between any two looks."""

    def __init__(self) -> None:
        self._count = 0

    def statistics(self, variants: Any) -> ServerStatistics:
        self._count += 1
        return {"m": ModelStatistics(inferences=self._count, executions=self._count)}


def test_windows_that_nobody_sized_end_when_the_model_hangs(fail, monkeypatch) -> None:
    monkeypatch.setattr(time_limits, "_UNANSWERED_S", 1.0)
    began = time.monotonic()

    failure = fail({"hang": True}, server=HangingServer())

    assert failure.reason is FailureReason.TIMEOUT
    assert "the server answered no request for 1 s" in failure.message
    assert "measurement-interval" in failure.hint
    assert time.monotonic() - began < 30


@pytest.mark.parametrize(
    ("server", "flags"),
    [
        (SlowServer, {}),
        (AliveServer, {}),  # it counts nothing
        (HangingServer, {"measurement-interval": "5000"}),
    ],
)
def test_a_silent_model_may_be_slow(read, monkeypatch, server, flags) -> None:
    monkeypatch.setattr(time_limits, "_UNANSWERED_S", 0.4)

    read({"sleep_s": 2}, of=replace(work(), flags=flags), server=server())


def test_a_dead_server_ends_the_run_at_once(fail) -> None:
    began = time.monotonic()

    failure = fail({"hang": True}, server=DyingServer())

    assert failure.reason is FailureReason.SERVER_DIED
    assert failure.log == ("the last words of the server",)
    assert "dmesg" in failure.hint
    assert time.monotonic() - began < 60


@pytest.fixture
def stub() -> Iterator[subprocess.Popen[bytes]]:
    """A process that stands for one of a Python model; nobody asks how it ended."""
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()


class ServerWithStub(AliveServer):
    """Its model's process is killed as soon as a perf_analyzer runs, which `is_measuring` says."""

    def __init__(self, stub: subprocess.Popen[bytes], is_measuring: Callable[[], object]) -> None:
        self._stub = stub
        self._is_measuring = is_measuring

    @property
    def is_alive(self) -> bool:
        if self._is_measuring():
            os.kill(self._stub.pid, signal.SIGKILL)  # unlike kill(), it collects nothing
        return True

    def stubs(self) -> list[int]:
        return [self._stub.pid]


DIED = re.compile(
    r"Python backend process .*died (during|before) the measurement \(killed by SIGKILL\)"
)


def test_a_run_whose_models_process_died_does_not_wait_for_its_time_to_be_up(
    pretend, fail, stub
) -> None:
    server = ServerWithStub(stub, lambda: pretend.launches)
    began = time.monotonic()

    failure = fail({"hang": True, "deaf": True}, of=[work(1), work(2)], server=server)

    assert failure.reason is FailureReason.MODEL_DIED
    assert DIED.search(failure.message)
    assert failure.log == ("the last words of the server",)
    assert failure.commands
    assert time.monotonic() - began < 60  # five seconds on a machine at rest; else five minutes


@pytest.mark.parametrize("step", [{"status": 99, "text": "Thread [0] had error: not healthy"}, {}])
def test_a_run_that_ended_after_its_models_process_died_is_not_a_measurement(
    pretend, make, step
) -> None:
    stub = subprocess.Popen(["/bin/sh", "-c", "kill -9 $$"])

    class WithoutIt(AliveServer):
        def stubs(self) -> list[int]:
            return [stub.pid]

    failure = make(pretend.perf_analyzer(step)).generate([work()], WithoutIt())
    stub.wait()

    assert isinstance(failure, Failure)
    assert failure.reason is FailureReason.MODEL_DIED
    assert DIED.search(failure.message)


def test_a_run_that_takes_too_much_cpu_is_stopped(fail) -> None:
    failure = fail({"burn": 60}, most_cpu_percent=1)

    assert failure.reason is FailureReason.LOAD_GENERATOR_BUSY


def test_a_run_that_takes_too_much_memory_is_stopped(fail, monkeypatch) -> None:
    monkeypatch.setattr(launches, "most_memory_of_each", lambda count: 200 * 2**20 / count)

    failure = fail({"fills": 400 * 2**20, "hang": True})

    assert failure.reason is FailureReason.LOAD_GENERATOR_LARGE
    assert "it used more than 0.195 GiB of memory while it measured m_config_0" in failure.message
    assert "half of what was free before" in failure.message
    assert "it keeps all requests in memory" in failure.hint


def test_perf_analyzers_share_half_of_the_free_memory(monkeypatch) -> None:
    whole = launches.most_memory_of_each(1)
    assert 0 < whole < psutil.virtual_memory().total / 2
    assert launches.most_memory_of_each(4) == pytest.approx(whole / 4, rel=0.2)
    tight = ControlGroup(memory=10 * 2**30, memory_used=9 * 2**30)
    monkeypatch.setattr(launches, "read_group", lambda: tight)
    assert launches.most_memory_of_each(2) == 2**30 / 4


def test_output_that_is_not_text_is_read(pretend, make, tmp_path: Path) -> None:
    program = tmp_path / "binary.sh"
    program.write_text("#!/bin/sh\nprintf 'error: bad \\377\\376 bytes\\n' >&2\nexit 99\n")
    program.chmod(0o755)

    failure = make(program).generate([work()], AliveServer())

    assert isinstance(failure, Failure)
    assert "error: bad" in failure.message


def test_nothing_is_left_in_the_work_directory(pretend, make, tmp_path: Path) -> None:
    make(pretend.perf_analyzer({})).generate([work()], AliveServer())

    assert list((tmp_path / "work").iterdir()) == []


def test_secrets_do_not_get_into_outcomes(pretend, fail) -> None:
    failure = fail(
        {"status": 99, "text": "error: no"}, of=work(http_header="Authorization: s3cret")
    )

    assert "Authorization:s3cret" in pretend.launches[0]
    assert "s3cret" not in json.dumps(failure.commands)


# -- language models -------------------------------------------------------------------------------

GOLDEN = Path(__file__).parents[1] / "golden" / "perf_analyzer"


def test_tokens_are_timed_where_the_workload_asks_for_it(pretend, make) -> None:
    export = (GOLDEN / "stream.json").read_text()
    generator = make(pretend.perf_analyzer({"export": export}))

    plain = generator.generate([work()], AliveServer())
    timed = generator.generate([replace(work(), times_tokens=True)], AliveServer())

    assert isinstance(plain, Reading)
    assert isinstance(timed, Reading)
    assert "time_to_first_token_p99" not in plain.models[0].values
    assert timed.models[0].values["time_to_first_token_p50"] == pytest.approx(21.4, abs=0.1)
    assert timed.models[0].values["perf_throughput"] == 100


@pytest.mark.parametrize("step", [{"export": ""}, {}])
def test_an_empty_export_is_a_failure_that_says_what_to_do(fail, step) -> None:
    failure = fail(step, of=replace(work(), times_tokens=True))

    assert failure.reason is FailureReason.NO_RESULT
    assert "exported no responses" in failure.message
    assert "input-data" in failure.hint
    assert failure.commands


def test_an_empty_export_may_be_an_accident(pretend, make) -> None:
    """Of a stream of numbers, perf_analyzer exports random memory, which may be no number."""
    export = (GOLDEN / "stream.json").read_text()
    generator = make(pretend.perf_analyzer({"export": ""}, {"export": ""}, {"export": export}))

    timed = generator.generate([replace(work(), times_tokens=True)], AliveServer())

    assert isinstance(timed, Reading)
    assert timed.models[0].values["time_to_first_token_p50"] == pytest.approx(21.4, abs=0.1)


def test_genai_perf_measures_workloads_with_its_flags(pretend, make, tmp_path: Path) -> None:
    """A pretend genai-perf that leaves both tables where the real one does."""
    table = (GOLDEN / "stream.csv").read_text()
    program = tmp_path / "genai-perf"
    program.write_text(
        "#!/bin/sh\nmkdir m-concurrency1\n"
        f"cp '{GOLDEN / 'genai_perf.csv'}' m-concurrency1/profile_export_genai_perf.csv\n"
        f"cat > results.csv <<'END'\n{table}END\n"
    )
    program.chmod(0o755)
    generator = make(
        pretend.perf_analyzer({}),
        genai_perf=Program(path=program, origin="test", environment=dict(os.environ)),
    )
    workload = replace(work(), times_tokens=True, genai_perf={"tokenizer": "/tok"})

    reading = generator.generate([workload], AliveServer())

    assert isinstance(reading, Reading), reading
    assert reading.models[0].values["time_to_first_token_avg"] == 41.26
    assert reading.models[0].values["perf_throughput"] == 33.1809
    assert "--tokenizer /tok" in reading.commands[0]
    assert pretend.launches == []


# -- a server inside -------------------------------------------------------------------------------


class Inside(AliveServer):
    """A server inside perf_analyzer, which is given so long to load a model."""

    def __init__(self, load_timeout_s: float = 300) -> None:
        self.load_timeout_s = load_timeout_s

    def route(self, variant: ModelVariant, protocol: Protocol) -> Route:
        return Route(
            flags={"service-kind": "triton_c_api"},
            environment={"FROM_THE_SERVER": "1"},
            load_timeout_s=self.load_timeout_s,
        )


NOT_LOADED = (
    "E1121 03:47:52.2 1 model_lifecycle.cc:642] \"failed to load 'm' version 1: Internal:"
    ' ValueError: no such weights\\n\\nAt:\\n  model.py(1): <module>\\n"'
)


def test_a_model_that_does_not_load_inside_is_not_waited_for(fail) -> None:
    """Left alone, perf_analyzer tries again for ever."""
    began = time.monotonic()

    failure = fail({"server_says": [NOT_LOADED], "loads": False, "hang": True}, server=Inside())

    assert failure.reason is FailureReason.MODEL_NOT_LOADED
    assert failure.message == f"m_config_0 {DID_NOT_LOAD}: ValueError: no such weights"
    assert "model_lifecycle" not in " ".join(failure.log)
    assert time.monotonic() - began < 60


def test_a_load_inside_has_its_own_time_limit(fail) -> None:
    failure = fail({"loads": False, "hang": True}, server=Inside(load_timeout_s=1))

    assert failure.reason is FailureReason.LOAD_TIMEOUT
    assert "--model-load-timeout" in failure.hint


def test_a_configuration_that_the_library_refuses_is_reported_with_its_message(fail) -> None:
    said = "E1121 04:01:43.4 1 manager.cc:1460] \"Poll failed for model directory 'm': reason\""

    failure = fail({"server_says": [said], "loads": False, "status": 99}, server=Inside())

    assert failure.reason is FailureReason.MODEL_NOT_LOADED
    assert "Poll failed for model directory 'm': reason" in failure.message


def test_a_server_inside_is_not_warmed_up(pretend, make) -> None:
    """perf_analyzer 2.51 would start another server and lose the model."""
    generator = make(pretend.perf_analyzer({}))

    generator.generate([work()], Inside())
    generator.generate([work()], AliveServer())

    assert ["--warmup-request-count" in launch for launch in pretend.launches] == [False, True]


def test_the_cpu_of_a_server_inside_is_not_the_clients(read) -> None:
    read({"burn": 2}, server=Inside(), most_cpu_percent=None)


# -- the transcript --------------------------------------------------------------------------------


def test_the_last_launch_of_a_trial_is_transcribed(pretend, make) -> None:
    texts: list[str] = []
    generator = make(pretend.perf_analyzer(TOO_SMALL, {}), transcript=texts.append)

    generator.generate([work(http_header="Authorization: s3cret")], AliveServer())

    (text,) = texts
    headline, command, empty, *output = text.splitlines()
    assert headline.strip("=") == " Perf Analyzer Launched "
    assert command.startswith("Command: ")
    assert "Authorization: ******" in command
    assert "s3cret" not in text
    assert empty == ""
    assert output[0] == "*** Measurement Settings ***"


def test_a_failure_is_transcribed_too(pretend, make) -> None:
    texts: list[str] = []
    program = pretend.perf_analyzer({"status": 99, "text": "error: no"})

    make(program, transcript=texts.append).generate([work()], AliveServer())

    assert "error: no" in texts[0]


def test_a_transcript_is_added_to_its_file(tmp_path: Path) -> None:
    path = tmp_path / "pa.txt"
    path.write_text("before\n")

    Transcript(path).add("one")
    Transcript(path).add("two")

    assert path.read_text() == "before\none\ntwo\n"
    with pytest.raises(OutputError, match="check --perf-output-path"):
        Transcript(tmp_path / "missing" / "pa.txt")


def test_the_death_of_a_models_process_inside_is_noticed_too(fail) -> None:
    """It is a child of perf_analyzer's, and there only after the model was loaded."""
    began = time.monotonic()

    failure = fail({"stub": "sleep 2; kill -9 $$", "hang": True}, server=Inside())

    assert failure.reason is FailureReason.MODEL_DIED
    assert failure.message == (
        "the Python backend process of model m died during the measurement (killed by SIGKILL)"
    )
    assert time.monotonic() - began < 60


def test_removed_temporary_files_end_the_run_with_one_line(make, tmp_path: Path) -> None:
    program = tmp_path / "perf_analyzer"
    program.write_text(f"#!/bin/sh\nrm -rf {tmp_path / 'work'}\n")
    program.chmod(0o755)

    with pytest.raises(OutputError, match=r"/work, the directory for temporary files, was removed"):
        make(program).generate([work()], AliveServer())


# -- more than anybody reads ----------------------------------------------------------------------


@pytest.fixture
def memory():
    """The most memory that was taken at once, in MiB, since the test began."""
    tracemalloc.start()
    yield lambda: tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()


def test_two_gigabytes_of_output_are_read_at_their_ends_alone(read, memory) -> None:
    texts: list[str] = []

    reading = read({"hole": 2 * 2**30, "throughput": 123.4}, transcript=texts.append)

    assert reading.models[0].values["perf_throughput"] == 123.4
    assert "\n[… 2040 MiB left out …]\n" in texts[0]
    assert memory() < 100


@pytest.mark.parametrize("words", ["loaded", "refused"])
def test_much_output_of_a_server_inside_are_looked_at_in_pieces(
    pretend, make, memory, words: str
) -> None:
    says = ["E0101 failed to load 'm' version 1: Internal: no memory"] if words == "refused" else []
    program = pretend.perf_analyzer(
        {"hole": 2**27, "server_says": says, "loads": not says, "sleep_s": 0.7, "hang": bool(says)}
    )

    outcome = make(program).generate([work()], Inside())

    if says:
        assert isinstance(outcome, Failure)
        assert outcome.reason is FailureReason.MODEL_NOT_LOADED
    else:
        assert isinstance(outcome, Reading)
    assert memory() < 80


def test_a_program_that_prints_for_ever_is_stopped_with_a_reason(fail) -> None:
    failure = fail({"babbles": True}, most_bytes=2**24)

    assert failure.reason is FailureReason.NO_RESULT
    assert failure.message == (
        "perf_analyzer was stopped: it wrote more than 0.0156 GiB for m_config_0"
    )


def test_an_endless_table_is_ignored(fail, memory) -> None:
    failure = fail({"table": "Concurrency," * 2**18})

    assert failure.reason is FailureReason.NO_RESULT


@pytest.mark.parametrize(
    "export",
    ["[]", '{"experiments": 5}', "[" * 10**6, '{"experiments": [1]}'],
    ids=["list", "number", "deep", "numbers"],
)
def test_an_export_that_is_none_is_a_failure(fail, export: str) -> None:
    failure = fail({"export": export}, of=replace(work(), times_tokens=True))

    assert failure.reason is FailureReason.NO_RESULT


# ------------------------------------------------------------- open loads at perf_analyzer's times


def at_a_rate(**flags: str) -> Workload:
    """100 requests per second, or the intervals of a file."""
    has_file = "request_intervals" in flags
    kind = LoadKind.REQUEST_INTERVALS if has_file else LoadKind.REQUEST_RATE
    load = Load(kind=kind, value=0 if has_file else 100)
    return replace(work(1, measurement_mode="time_windows", **flags), load=load)


def sent_at(*times_ms: int, took_ms: int = 2) -> str:
    """The export of requests that were sent at these times, and answered so much later."""
    requests = [
        {
            "timestamp": 10**18 + time * 10**6,
            "response_timestamps": [10**18 + (time + took_ms) * 10**6],
        }
        for time in times_ms
    ]
    bounds = [10**18, 10**18 + (2000 + took_ms - 2) * 10**6]
    experiment = {"requests": requests, "window_boundaries": bounds}
    return json.dumps({"experiments": [experiment]})


LATE = {"export": sent_at(10, 20, 30, 70, 71), "p99_us": 2000, "requests": 400}


def test_a_rate_with_flags_of_the_user_counts_from_the_times_that_were_due(pretend, read) -> None:
    flags = {"stability_percentage": "50", "max_threads": "2"}
    reading = read(LATE, of=at_a_rate(**flags))

    (launch,) = pretend.launches
    assert option(launch, "--request-rate-range") == "100"
    assert option(launch, "--stability-percentage") == "50"
    assert option(launch, "--max-threads") == "2"
    assert not {"--async", "--request-intervals"} & set(launch)
    values = reading.models[0].values
    # due after 40 and 50 ms
    assert values["perf_latency_p99"] == pytest.approx(32, abs=0.5)
    assert values["perf_latency_p50"] == 2
    assert values["perf_sent_latency_p99"] == 2
    assert values["perf_send_lag_p99"] == pytest.approx(30, abs=0.5)
    assert not [tag for tag in values if "token" in tag]
    (notice,) = reading.notices
    assert notice.kind is NoticeKind.CLIENT_LAGGED
    assert "async: true" in notice.text


def test_a_file_of_intervals_is_sent_as_it_is_and_counts_from_its_times(
    pretend, read, tmp_path: Path
) -> None:
    (tmp_path / "log.txt").write_text("10000\n")
    steady = {**LATE, "export": sent_at(10, 20, 30, 40, 51)}
    reading = read(steady, of=at_a_rate(request_intervals="log.txt"))
    assert option(pretend.launches[0], "--request-intervals") == str(tmp_path / "log.txt")
    assert reading.models[0].values["perf_latency_p99"] == pytest.approx(3, abs=0.1)
    assert reading.notices == ()


def test_where_the_times_are_not_known_the_table_counts_with_a_remark(
    pretend, make, tmp_path: Path
) -> None:
    (tmp_path / "log.txt").write_text("10000\n")
    large = {"name": "IMAGE", "data_type": "TYPE_FP32", "dims": [3, 224, 224]}
    images = replace(work().variant, config={"input": [large]})
    generator = make(pretend.perf_analyzer(LATE, {**LATE, "export": ""}, LATE, LATE))
    readings = [
        generator.generate([each], AliveServer())
        for each in (
            replace(at_a_rate(), variant=images),
            at_a_rate(),
            at_a_rate(request_intervals="gone.txt"),
            replace(at_a_rate(), genai_perf={"streaming": "true"}),
        )
    ]
    for reading in readings:
        assert reading.models[0].values["perf_latency_p99"] == 2
        assert [notice.kind for notice in reading.notices] == [NoticeKind.LAG_UNKNOWN]
    reasons = ["large tensors", "large tensors", "had to send", "genai-perf does not tell"]
    for reading, reason in zip(readings, reasons, strict=True):
        assert reason in reading.notices[0].text
    exported = ["--profile-export-file" in launch for launch in pretend.launches]
    assert exported == [False, True, False, False]


def test_a_closed_load_with_flags_of_the_user_exports_nothing(pretend, read) -> None:
    reading = read(LATE, of=work(1, measurement_mode="time_windows"))
    assert "--profile-export-file" not in pretend.launches[0]
    assert reading.notices == ()
