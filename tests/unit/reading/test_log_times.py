# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""In which unit the times of a log are, and what says so.

Whatever is in a log: it is read, or refused with a problem that says why.

`make fuzz` tries the same for much longer.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given

from model_analyzer.reading.log_rows import LogProblem
from model_analyzer.runner.load.logged_requests import RequestLog, parse_log
from tests.unit.reading.logs import (
    AIPERF_EXPORT,
    AIPERF_PAYLOADS,
    AIPERF_TEXTS,
    AIPERF_TRACE,
    AZURE,
    BAILIAN,
    BURST_GPT,
    ENVOY,
    GUIDELLM,
    GUIDELLM_HASHED,
    GUIDELLM_OLD_REPORT,
    GUIDELLM_REPORT,
    INFERENCE_PERF,
    LOGS,
    MOONCAKE,
    NGINX,
    NGINX_JSON,
    NGINX_MSEC,
    PERF_ANALYZER,
    TRAEFIK,
    TRITON,
    is_read_or_refused,
)

SECOND = 10**9


def log_of(name: str, *times: object, column: str = "") -> RequestLog:
    """A CSV log with these times in the only column."""
    return parse_log([name, *map(str, times)], column=column)


@pytest.mark.parametrize(
    ("text", "last", "reading"),
    [
        (BAILIAN, 1.386, "seconds, as in Bailian's traces"),
        (MOONCAKE, 3.053, "milliseconds, as in Mooncake's traces and AIPerf's inputs"),
        (AIPERF_TRACE, 1.5, "milliseconds, as in Mooncake's traces and AIPerf's inputs"),
        (AIPERF_TEXTS, 1.5, "milliseconds, as in AIPerf's inputs"),
        (AIPERF_PAYLOADS, 1.5, "milliseconds, as in AIPerf's inputs"),
        (AIPERF_EXPORT, 1.5,
         "nanoseconds, as the name of the column says; 1 warm-up request left out"),
        (GUIDELLM, 1.5, "seconds, since they have fractions"),
        (GUIDELLM_HASHED, 1.5, "seconds, since they have fractions"),
        (GUIDELLM_REPORT, 1.5, "seconds since 1970"),
        (GUIDELLM_OLD_REPORT, 1.5, "seconds since 1970"),
        (BURST_GPT, 113, "seconds, as in BurstGPT's traces"),
        (AZURE, 1.5, "dates"),
        (INFERENCE_PERF, 1.5, "seconds, as in inference-perf's reports"),
        (PERF_ANALYZER, 1.5, "nanoseconds since 1970"),
        (TRITON, 1.5, "nanoseconds, as in Triton's traces"),
        (NGINX, 2, "dates"),
        (NGINX_JSON, 2, "dates"),
        (ENVOY, 1.5, "dates"),
        (TRAEFIK, 1.5, "dates"),
        (NGINX_MSEC, 1.25, "seconds since 1970"),
    ],
)  # fmt: skip
def test_known_logs_are_read_in_their_unit(text: str, last: float, reading: str) -> None:
    log = parse_log(text.splitlines(keepends=True))

    assert log.times[-1] == round(last * SECOND)
    assert log.reading == reading


@pytest.mark.parametrize(
    ("names", "times", "last", "reading"),
    [
        ("time", (1700000000, 1700000010), 10, "seconds since 1970"),
        ("time", (1700000000000, 1700000010000), 10, "milliseconds since 1970"),
        ("sent_ms", (0, 500, 1500), 1.5, "milliseconds, as the name of the column says"),
        ("startTimeUs", (0, 1_500_000), 1.5, "microseconds, as the name of the column says"),
        ("time (s)", (0, 60), 60, "seconds, as the name of the column says"),
        ("time", (0, 0.5, 2), 2, "seconds, since they have fractions"),
        ("time", (0.0, 1.0, 2.0), 2, "seconds, since they have fractions"),
        ("time", (0, 1, 2), 2, "seconds: as milliseconds, there would be 1,000 requests/s"),
        ("time", (0, 1, 1, 2), 2,
         "seconds: as milliseconds, there would be 1,500 requests/s;"
         " they are whole seconds, so the requests of a second are sent at once"),
        # a name ends with an s like many words
        ("ts", (0, 0.5, 2), 2, "seconds, since they have fractions"),
        ("arrivals", (0, 0.5, 2), 2, "seconds, since they have fractions"),
    ],
)  # fmt: skip
def test_other_logs_are_read_by_name_size_fractions_and_rate(
    names: str, times: Sequence[float], last: float, reading: str
) -> None:
    log = log_of(names, *times, column=names)

    assert log.times[-1] == last * SECOND
    assert log.reading == reading


@pytest.mark.parametrize(
    ("name", "unit", "second"),
    [
        ("timestamp_us", "microseconds", 1_000_000),
        ("timestampMs", "milliseconds", 1000),
        ("time (s)", "seconds", 1),
        ("arrival_time_ns", "nanoseconds", 10**9),
    ],
)
def test_a_column_is_recognized_with_its_unit(name: str, unit: str, second: int) -> None:
    log = log_of(name, 0, second)

    assert log.times[-1] == SECOND
    assert log.reading == f"{unit}, as the name of the column says"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["time,rate", "0,40", "1,80"], "has rates of requests ('rate')"),
        (["Timestamp,User Count,Requests/s", "1700000000,1,9", "1700000001,1,8"], "rates of"),
        (["metric_name,timestamp,metric_value", "http_reqs,1700000000,1"], "each metric of a"),
    ],
)
def test_rows_that_are_no_requests_are_refused(lines: Sequence[str], message: str) -> None:
    with pytest.raises(LogProblem) as raised:
        parse_log(lines)
    assert message in raised.value.message


def test_msec_is_a_time_only_if_it_counts_from_1970() -> None:
    assert parse_log(["time,msec", "0.5,12", "1.5,900", "3.5,9"]).times[-1] == 3 * SECOND


@pytest.mark.parametrize(
    "lines",
    [
        ["timestamp,Timestamp", "0,1", "2,3"],
        ["Time,id,TIME", "0,1,2", "2,3,4"],
        ["sent,time_ms,time_s", "a,0,0", "b,1000,1"],
        ['{"ts": 0.5, "TS": "2026-01-01T00:00:00Z"}', '{"ts": 1.5, "TS": "2026-01-01T00:00:09Z"}'],
    ],
)
def test_columns_with_equal_claims_are_refused(lines: Sequence[str]) -> None:
    with pytest.raises(LogProblem, match="may have its times in '.*' or '.*'") as raised:
        parse_log(lines)

    assert raised.value.hint.startswith("give column: '")
    assert parse_log(lines, column=raised.value.hint.split("'")[1], unit="").times[-1] > 0


HASHED = '{{"timestamp": {}, "input_length": 6, "output_length": 5, "hash_ids": [46]{}}}'


@pytest.mark.parametrize(
    "lines",
    [
        ["time", "0", "5", "10"],  # a request in 5 s, or 200/s
        ["time", "0", "700", "1500"],
        ["time", "0.5", "700.5", "1500.5"],
        ["time", "2259961222771924", "2259961223771924"],  # a clock of a machine
        [HASHED.format(time, "") for time in (0, 1, 2)],  # seconds, or 1000/s
        [HASHED.format(time, "") for time in (0.5, 1000.5, 2000.5)],
        # milliseconds of 100 requests/s, or seconds of one in 10 s
        ["time", "0.25", "10.5", "20.75"],
        [HASHED.format(time, "") for time in (0.25, 10.5, 20.75)],
        [HASHED.format(time, "") for time in (0, 100_000, 200_000)],  # microseconds of 10/s
        [HASHED.format(time, ', "turn": 1') for time in (0, 1000, 2000)],
        [HASHED.format(time, ', "turn": 1') for time in (0, 100, 200)],  # of 10/s, or of 0.01/s
        [HASHED.format(time, ', "turn": 1') for time in (0.5, 100.25, 200.5)],
        ['{"timestamp": 0.5, "text_input": "a"}', '{"timestamp": 1, "text_input": "b"}'],
        # 500/s, or 0.5/s
        [f'{{"timestamp": {time}, "text_input": "a"}}' for time in (0, 2, 4)],
        [f'{{"timestamp": {time}, "text_input": "a"}}' for time in (0.0, 20.0, 40.0)],
        # a slow trace in seconds, or milliseconds that a tool made floats
        [HASHED.format(time, "") for time in (0.0, 20.0, 40.0)],
        [HASHED.format(time, "") for time in (2.3, 4.6, 6.9)],
    ],
)
def test_a_log_that_does_not_say_its_unit_is_refused(lines: Sequence[str]) -> None:
    with pytest.raises(LogProblem) as raised:
        parse_log(lines)

    assert raised.value.line == 0
    assert "does not say the unit of its times: there would be " in raised.value.message
    for unit in raised.value.hint.removeprefix("say unit: ").split(" or unit: "):
        assert parse_log(lines, unit=unit).reading.endswith(f", as unit: {unit} says")


def test_a_trace_with_whole_seconds_as_floats_is_in_seconds() -> None:
    log = parse_log([HASHED.format(float(time), "") for time in range(2, 24, 2)])

    assert log.times[-1] == 20 * SECOND
    assert log.reading == "seconds, since they have fractions"


@pytest.mark.parametrize(
    ("second", "message", "hint"),
    [
        ("1000000000", "1.00 requests/s in nanoseconds", "unit: ns"),
        ("100000", "0.0100 requests/s in milliseconds or 10.0 requests/s in microseconds"
         " or 10,000 requests/s in nanoseconds", "unit: ms or unit: us or unit: ns"),
        ("93.5", "0.0107 requests/s in seconds or 10.7 requests/s in milliseconds"
         " or 10,695 requests/s in microseconds", "unit: s or unit: ms or unit: us"),
    ],
)  # fmt: skip
def test_the_units_that_are_offered_give_rates_that_people_replay(
    second: str, message: str, hint: str
) -> None:
    with pytest.raises(LogProblem) as raised:
        log_of("time", "0", second)

    assert raised.value.message.endswith(f"there would be {message}")
    assert raised.value.hint == f"say {hint}"


@pytest.mark.parametrize(
    ("name", "unit", "times", "size", "hint"),
    [
        ("time_ms", "", (1700000000000000, 1700000001000000), "microseconds", "unit: us"),
        ("time_ms", "", (1700000000, 1700000001), "seconds", "unit: s or unit: ms"),
        ("time", "s", (1700000000000, 1700000001000), "milliseconds", "unit: ms"),
    ],
)
def test_a_unit_that_contradicts_the_size_is_refused(
    name: str, unit: str, times: Sequence[int], size: str, hint: str
) -> None:
    with pytest.raises(LogProblem) as raised:
        parse_log([name, *map(str, times)], unit=unit)

    assert raised.value.message == f"has times in {name!r} whose size is that of {size} since 1970"
    assert raised.value.hint == f"say {hint}"


def test_the_clock_of_a_machine_may_have_the_size_of_a_date() -> None:
    log = parse_log(["time", "1700000000", "1700001000"], unit="ms")

    assert log.reading == "milliseconds, as unit: ms says"


def test_a_name_that_means_an_impossible_rate_is_refused() -> None:
    """The times of the case are seconds, whatever the column is called."""
    with pytest.raises(LogProblem) as raised:
        log_of("timestamp_ms", *(0.039 * number for number in range(60)))

    assert raised.value.message == (
        "has times in 'timestamp_ms' that are hardly milliseconds: there would be"
        " 25.6 requests/s in seconds or 25,641 requests/s in milliseconds"
    )
    assert raised.value.hint == "say unit: s or unit: ms"


def test_another_column_of_a_known_log_is_read_by_itself() -> None:
    lines = [line.replace("session_num", "sent") for line in AIPERF_EXPORT.splitlines()]

    log = parse_log(lines, column="metadata.sent", unit="s")

    assert log.times.tolist() == [0, SECOND]
    assert log.reading == "seconds, as unit: s says; 1 warm-up request left out"


def test_a_log_of_warm_up_requests_only_is_told() -> None:
    lines = [AIPERF_EXPORT.splitlines()[0]] * 3

    with pytest.raises(LogProblem, match=r"at least, besides 3 warm-up requests"):
        parse_log(lines)


def test_the_columns_of_objects_are_offered_by_their_full_names() -> None:
    with pytest.raises(LogProblem) as raised:
        parse_log(['{"request": {"sent": {"at": 1}, "id": 3}, "size": 4}'])
    assert raised.value.hint == "give column: request.sent.at or request.id or size"

    with pytest.raises(LogProblem, match=r"has no column 'request\.time'"):
        parse_log(['{"request": {"sent": 1}}'], column="request.time")


def test_a_log_says_what_is_sent() -> None:
    log = log_of("time", *(number / 10 for number in range(121)))

    assert log.described(1) == (
        "121 requests in 12.0 s (10.0/s, at most 10 in a second), times in 'time' read as seconds,"
        " since they have fractions"
    )
    assert log.described(2).startswith("121 requests in 6.00 s (20.0/s, at most 20 in a second)")
    assert (
        log_of("time", 0, 0.5, 2, 2.25, 2.75, 2.9)
        .described(1)
        .startswith("6 requests in 2.90 s (1.72/s, at most 4 in a second)")
    )


def test_times_that_may_be_durations_are_remarked() -> None:
    log = log_of("time", 0.004, 0.0031, 0.0052)

    assert (
        "times in 'time' read as seconds, since they have fractions; they are not in order: "
        in (log.described(1))
    )


def test_what_is_sent_identifies_a_log_not_how_it_is_written() -> None:
    seconds, milliseconds = (
        log_of("time", 0, 0.5, 2),
        log_of("time_ms", 0, 500, 2000, column="time_ms"),
    )

    assert seconds.identity == milliseconds.identity
    assert seconds.identity != log_of("time", 0, 0.5, 2.5).identity


@given(LOGS)
def test_any_log_is_read_or_refused(example: dict[str, str]) -> None:
    is_read_or_refused(example)
