# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""perf_analyzer's command line: order, ownership, and values that stay whole; genai-perf's command
line and table.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.domain.flags import Flag
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.trials import Load, LoadKind, Workload
from model_analyzer.domain.windows import Window
from model_analyzer.runner.load.command import (
    build_command,
    build_genai_command,
    named_files,
    parse_genai_table,
    render,
)

HOME = Path("/home/user")


def variant(**more: Any) -> ModelVariant:
    fields: dict[str, Any] = {"model": "m", "name": "m_config_0", "config": {}, "files": "f"}
    return ModelVariant(**{**fields, **more})


def command(
    flags: Mapping[str, Any] | None = None,
    *,
    load: Load | None = None,
    window: Window | None = None,
    export: str | None = None,
    intervals: str | None = None,
    warm_up: bool = False,
    **more: Any,
) -> list[str]:
    work = Workload(variant=variant(**more), load=load or Load(value=4), flags=flags or {})
    return build_command(
        Path("/bin/pa"),
        work,
        reached_by={"url": "127.0.0.1:9001", "protocol": "grpc"},
        table="results.csv",
        export=export,
        intervals=intervals,
        warm_up=warm_up,
        window=window or Window.of(work.flags),
        user_directory=HOME,
    )


def test_a_plain_trial_is_measured_under_the_models_own_name() -> None:
    assert command() == [
        "/bin/pa", "-m", "m", "-b", "1", "-u", "127.0.0.1:9001", "-i", "grpc", "-f", "results.csv",
        "-v", "--verbose-csv", "--concurrency-range", "4", "--measurement-mode", "count_windows",
    ]  # fmt: skip


def test_responses_are_exported_where_tokens_are_timed() -> None:
    assert command(export="export.json")[-2:] == ["--profile-export-file", "export.json"]
    assert "--profile-export-file" not in command()


def warm_ups(flags: Mapping[str, Any] | None = None, **more: Any) -> int:
    words = command(flags, warm_up=True, **more)
    if "--warmup-request-count" not in words:
        return 0
    assert words.count("--warmup-request-count") == 1
    return int(words[words.index("--warmup-request-count") + 1])


SEQUENCES: Mapping[str, Any] = {"sequence_batching": {"oldest": {}}}
DECOUPLED: Mapping[str, Any] = {"model_transaction_policy": {"decoupled": True}}


@pytest.mark.parametrize("in_flight", [1, 2, 4, 31, 32, 33, 64, 256, 1000])
@pytest.mark.parametrize("config", [{}, SEQUENCES, DECOUPLED])
@pytest.mark.parametrize("flags", [{}, {"max-threads": "1"}, {"max-threads": "64"}, {"sync": "1"}])
def test_each_place_in_flight_is_warmed_up(in_flight: int, config: Any, flags: Any) -> None:
    """With fewer warm-up requests, perf_analyzer never ends."""
    for batch_size in (1, 8):
        load = Load(value=in_flight, batch_size=batch_size)
        assert warm_ups(flags, load=load, config=config) == in_flight


@pytest.mark.parametrize(
    ("rate", "flags", "count"),
    [
        (100, {}, 8),
        (6, {}, 6),
        (3, {}, 4),  # perf_analyzer has four threads, and each of them has to send one
        (1, {}, 4),
        (100, {"max-threads": "16"}, 16),
        (2, {"max-threads": "1"}, 2),
        (1, {"max-threads": "many"}, 4),
    ],
)
@pytest.mark.parametrize("config", [{}, SEQUENCES, DECOUPLED])
def test_each_thread_of_a_rate_is_warmed_up(rate: int, flags: Any, count: int, config: Any) -> None:
    load = Load(kind=LoadKind.REQUEST_RATE, value=rate)
    assert warm_ups(flags, load=load, config=config) == count


def test_what_is_not_warmed_up() -> None:
    intervals = Load(kind=LoadKind.REQUEST_INTERVALS, value=0)
    assert warm_ups({"request-intervals": "times"}, load=intervals) == 0
    for load in (Load(value=4), Load(kind=LoadKind.REQUEST_RATE, value=9), intervals):
        assert warm_ups(load=load, intervals="/tmp/times") == 0
        assert "--warm" not in str(command(load=load))


def test_a_decoupled_model_is_streamed_without_being_asked() -> None:
    decoupled = {"model_transaction_policy": {"decoupled": True}}

    assert {"--async", "--streaming"} <= set(command(config=decoupled))
    assert "--async" not in command({"async": "false"}, config=decoupled)  # the user's word counts
    assert not {"--async", "--streaming"} & set(command())


def test_user_flags_are_in_the_order_of_the_table_and_override() -> None:
    words = command(
        {"stability-percentage": "20", "measurement-mode": "time_windows", "percentile": "95"}
    )
    assert words[13:] == [
        "--concurrency-range", "4", "--stability-percentage", "20", "--percentile", "95",
        "--measurement-mode", "time_windows",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("load", "flag"),
    [
        (Load(kind=LoadKind.CONCURRENCY, value=7), ["--concurrency-range", "7"]),
        (Load(kind=LoadKind.REQUEST_RATE, value=9), ["--request-rate-range", "9"]),
    ],
)
def test_the_load_is_one_number(load: Load, flag: list[str]) -> None:
    words = command(load=load)
    assert words[words.index(flag[0]) : words.index(flag[0]) + 2] == flag


def test_request_intervals_add_no_other_load() -> None:
    words = command(
        {"request-intervals": "times.txt"}, load=Load(kind=LoadKind.REQUEST_INTERVALS, value=0)
    )
    assert words[words.index("--request-intervals") + 1] == "/home/user/times.txt"
    assert not {"--concurrency-range", "--request-rate-range"} & set(words)


@pytest.mark.parametrize(
    ("value", "present"), [("true", True), ("True", True), ("false", False), ("0", False)]
)
def test_a_switch_is_written_bare_or_not_at_all(value: str, present: bool) -> None:
    words = command({"streaming": value})
    assert ("--streaming" in words) is present
    assert value not in words


def test_flags_of_other_versions_come_last() -> None:
    flags: dict[str, Flag] = {
        "newest": "true",
        "off": "false",
        "new": ("a", "b"),
        "percentile": "9",
    }
    assert [*render(flags, Path("/"))] == [
        "--percentile", "9", "--newest", "--new", "a", "--new", "b",
    ]  # fmt: skip


def test_flags_that_the_other_tool_does_not_know_are_written_like_the_others() -> None:
    flags: dict[str, Flag] = {
        "request-parameter": ("a:1:int", "b:c:string"),
        "serial-sequences": "True",
        "data-directory": "data",
    }
    assert [*render(flags, Path("/user"))] == [
        "--request-parameter", "a:1:int", "--request-parameter", "b:c:string",
        "--serial-sequences", "--data-directory", "/user/data",
    ]  # fmt: skip


def test_repeated_flags_repeat() -> None:
    words = command({"shape": ("A:1,2", "B:3")})
    assert [w for before, w in pairwise(words) if before == "--shape"] == ["A:1,2", "B:3"]


def test_each_header_has_its_own_flag_without_blanks_around_its_value() -> None:
    """Over gRPC, the blank after the colon would be a part of the value."""
    words = command({"http-header": ("Authorization: a", "X-Tenant: b")})
    assert [w for before, w in pairwise(words) if before == "-H"] == [
        "Authorization:a",
        "X-Tenant:b",
    ]


@pytest.mark.parametrize("value", ["Authorization:Bearer a=b c", "x=y=z", "with blank"])
def test_values_with_blanks_and_equal_signs_stay_one_argument(value: str) -> None:
    assert value in command({"http-header": value})


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("zero", "zero"),
        ("random", "random"),
        ("d.json", "/home/user/d.json"),
        ("/d.json", "/d.json"),
    ],
)
def test_relative_files_start_at_the_users_directory(given: str, used: str) -> None:
    words = command({"input-data": given})
    assert words[words.index("--input-data") + 1] == used


def test_bls_models_tell_which_models_they_call_and_ensembles_do_not() -> None:
    parts = (variant(model="a", name="a_config_default"), variant(model="b", name="b_config_0"))
    words = command(composing=parts)
    assert words[words.index("--bls-composing-models") + 1] == "a,b"
    ensemble = command(composing=parts, config={"ensemble_scheduling": {"step": ()}})
    assert "--bls-composing-models" not in ensemble


def test_only_files_whose_content_counts_are_named() -> None:
    flags: dict[str, Flag] = {
        "input-data": ("a.json", "zero"),
        "request-intervals": "t.txt",
        "ssl-grpc-private-key-file": "key.pem",
    }
    assert list(named_files(flags)) == [("input-data", "a.json"), ("request-intervals", "t.txt")]


# -- windows ---------------------------------------------------------------------------------------


def test_an_untouched_window_leaves_the_defaults_to_perf_analyzer() -> None:
    assert Window.of({}).flags == {"measurement-mode": "count_windows"}


@pytest.mark.parametrize(
    ("window", "rate", "larger"),
    [
        (Window(mode="time_windows"), 0.0, "10000 ms"),
        (Window(mode="time_windows", interval_ms=300), 1000.0, "600 ms"),
        (Window(), 0.0, "100 requests"),
        (Window(), 10.0, "100 requests"),
        # at 4000 requests a second a window holds that many anyway: twice 50 would change nothing
        (Window(), 4000.0, "8000 requests"),
        (Window(request_count=6000), 4000.0, "16000 requests"),
    ],
)
def test_a_larger_window_sees_at_least_twice_as_much(
    window: Window, rate: float, larger: str
) -> None:
    assert str(window.enlarged(rate)) == larger


@pytest.mark.parametrize(
    ("window", "rate", "larger"),
    [
        (Window(mode="time_windows", interval_ms=1200), 2 / 3, "15000 ms"),
        (Window(mode="time_windows"), 2 / 3, "15000 ms"),
        (Window(mode="time_windows"), 0.1, "25000 ms"),
        (Window(mode="time_windows", interval_ms=60_000), 0.1, "60000 ms"),
        (Window(mode="time_windows", interval_ms=300), 1000.0, "1000 ms"),
        (Window(mode="time_windows"), 0.0, "5000 ms"),
        (Window(request_count=3), 2 / 3, "10 requests"),
        (Window(request_count=3), 0.2, "5 requests"),
        (Window(request_count=3), 0.01, "3 requests"),
        (Window(), 2 / 3, "50 requests"),
    ],
)
def test_a_filled_window_holds_ten_requests_or_thirty_seconds(
    window: Window, rate: float, larger: str
) -> None:
    filled = window.filled(rate, timeout_s=600)
    assert str(filled) == larger
    assert filled.accepting == (str(window) != larger)


def test_three_filled_windows_end_before_the_timeout() -> None:
    window = Window(mode="time_windows", interval_ms=2000)
    assert str(window.filled(0.5, timeout_s=60)) == "12000 ms"
    assert str(window.filled(0.5, timeout_s=1)) == "2000 ms"


@pytest.mark.parametrize(
    ("flags", "is_set"),
    [
        ({}, False),
        ({"measurement-mode": "time_windows"}, False),
        ({"measurement-mode": "time_windows", "measurement-interval": "300"}, True),
        ({"measurement-interval": "300"}, True),
        ({"measurement-mode": "count_windows", "measurement-interval": "300"}, False),
        ({"measurement-request-count": "3"}, True),
    ],
)
def test_the_user_sets_a_window_with_the_flag_of_its_size(flags, is_set: bool) -> None:
    window = Window.of(flags)
    assert window.is_set_by(flags) == is_set
    assert not window.enlarged(0).is_set_by(flags)


def test_an_accepting_window_takes_what_it_sees() -> None:
    flags = Window(request_count=100, accepting=True).flags
    assert flags == {
        "measurement-mode": "count_windows",
        "measurement-request-count": "100",
        "stability-percentage": "999",
    }


@pytest.mark.parametrize(
    ("requests", "own", "threads"),
    [
        (1, None, "1"), (3, None, "3"), (4, None, None), (90, None, None),
        (8, "16", "8"), (16, "16", "16"), (3, "2", "2"),
    ],
)  # fmt: skip
def test_no_thread_is_without_a_request(
    requests: int, own: str | None, threads: str | None
) -> None:
    """perf_analyzer would never end."""
    flags = {} if own is None else {"max-threads": own}
    words = command(flags, intervals="gaps.txt", window=Window.of_requests(requests))
    assert ("--max-threads" in words) == (threads is not None)
    assert threads is None or words[words.index("--max-threads") + 1] == threads


def test_intervals_replace_the_load_and_what_says_otherwise_when_requests_are_sent() -> None:
    arguments = command(
        {"request-distribution": "poisson", "sync": "true"},
        load=Load(kind=LoadKind.REQUEST_RATE, value=80),
        intervals="/tmp/times",
        warm_up=True,
    )
    assert arguments[arguments.index("--request-intervals") + 1] == "/tmp/times"
    assert "--async" in arguments
    others = {"--request-rate-range", "--request-distribution", "--sync", "--warmup-request-count"}
    assert others.isdisjoint(arguments)


def test_a_window_of_all_requests() -> None:
    arguments = command(window=Window.of_requests(300))
    assert arguments[arguments.index("--request-count") + 1] == "300"
    assert "--measurement-mode" not in arguments


GOLDEN = Path(__file__).parents[2] / "golden" / "perf_analyzer" / "genai_perf.csv"


def genai_command(load: Load, flags: dict[str, Any] | None = None) -> list[str]:
    variant = ModelVariant(
        model="m",
        name="m_config_0",
        config={"model_transaction_policy": {"decoupled": True}},
        files="f",
    )
    work = Workload(
        variant=variant,
        load=load,
        flags=flags or {},
        times_tokens=True,
        genai_perf={
            "backend": "vllm",
            "tokenizer": "/tok",
            "streaming": "true",
            "url": "elsewhere",
            "model": "other",
            "output-tokens-mean": "128",
            "output-tokens-mean-deterministic": "true",
            "verbose": "false",
            "extra-inputs": ("a:1", "b:2"),
        },
    )
    return build_genai_command(
        Path("/bin/genai-perf"),
        work,
        reached_by={"url": "127.0.0.1:9001", "protocol": "grpc"},
        table="results.csv",
        window=Window.of(work.flags),
        user_directory=Path("/home/user"),
    )


def test_the_load_is_reported_to_genai_perf_and_the_table_to_perf_analyzer() -> None:
    assert genai_command(Load(value=4)) == [
        "/bin/genai-perf", "profile", "-m", "m", "-u", "127.0.0.1:9001", "--backend", "vllm",
        "--tokenizer", "/tok", "--output-tokens-mean", "128",
        "--output-tokens-mean-deterministic", "--extra-inputs", "a:1", "--extra-inputs", "b:2",
        "--streaming", "--concurrency", "4",
        "--measurement-interval", "5000", "--artifact-dir", ".",
        "--", "-f", "results.csv", "-v", "--verbose-csv",
    ]  # fmt: skip


def test_flags_that_genai_perf_decides_do_not_reach_perf_analyzer() -> None:
    words = genai_command(
        Load(kind=LoadKind.REQUEST_RATE, value=3),
        {"input-data": "mine.json", "measurement-interval": "700", "max-threads": "2"},
    )

    assert words[words.index("--request-rate") + 1] == "3"
    assert words[words.index("--measurement-interval") + 1] == "700"
    passed = words[words.index("--") + 1 :]
    assert passed == ["-f", "results.csv", "-v", "--verbose-csv", "--max-threads", "2"]


def test_a_recorded_table_is_read_in_milliseconds() -> None:
    values = parse_genai_table(GOLDEN.read_text())

    assert values is not None
    assert values["time_to_first_token_avg"] == 41.26
    assert values["inter_token_latency_p25"] == 6.70
    assert values["output_token_throughput"] == 219.07
    assert len(values) == 19  # no p10, p5, p1: nobody asks for them


@pytest.mark.parametrize(
    ("unit", "shown"), [("ns", '"41,260,000.0"'), ("us", "41260"), ("ms", "41.26")]
)
def test_the_unit_is_that_of_the_heading(unit: str, shown: str) -> None:
    text = (
        f"Metric,avg,min\nTime To First Token ({unit}),{shown},N/A\n\n"
        "Metric,Value\nOutput Token Throughput (per sec),12\n"
    )

    values = parse_genai_table(text)

    assert values == {"time_to_first_token_avg": 41.26, "output_token_throughput": 12}


def test_a_table_without_token_metrics_has_none() -> None:
    assert parse_genai_table("Metric,avg\nRequest Latency (ms),1\n") is None
    assert parse_genai_table("") is None
