# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Token metrics from perf_analyzer's export of every response: recorded ones, and made-up ones."""

from __future__ import annotations

import csv
import json
import logging
import os
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.domain.measurements import Values
from model_analyzer.runner.load import sampling
from model_analyzer.runner.load.ended import EXPORT, OUTPUT, collect
from model_analyzer.runner.load.output import parse_counted
from model_analyzer.runner.load.profile_export import Counted, Export, read_export
from tests.unit.builders import known

GOLDEN = Path(__file__).parents[2] / "golden" / "perf_analyzer"
MS = 1_000_000


def token_metrics(text: str) -> Values | None:
    """The token metrics of an export in perf_analyzer's windows."""
    content = read_export([text])
    return None if content is None else sampling.token_metrics(content, *content.reported)


def export(*requests: dict[str, Any], windows: list[int] | None = None) -> str:
    """An export of requests, with times in milliseconds."""
    bounds = windows or [0, 1000, 2000, 3000]
    return json.dumps(
        {
            "experiments": [
                {
                    "experiment": {"mode": "concurrency", "value": 1},
                    "requests": list(requests),
                    "window_boundaries": [ms * MS for ms in bounds],
                }
            ]
        }
    )


def request(sent: int, *came: int, texts: list[str] | None = None, **more: Any) -> dict[str, Any]:
    outputs = [{"TEXT": text} for text in texts or ["word"] * len(came)]
    return {
        "timestamp": sent * MS,
        "request_inputs": {"PROMPT": "x"},
        "response_timestamps": [ms * MS for ms in came],
        "response_outputs": outputs,
        **more,
    }


def test_the_metrics_of_a_recorded_stream_match_the_models_sleeps() -> None:
    """20 ms before the first of four words, 10 ms before each other one, two at a time."""
    values = known(token_metrics((GOLDEN / "stream.json").read_text()))

    assert values["time_to_first_token_p50"] == pytest.approx(20, abs=3)
    assert values["inter_token_latency_p50"] == pytest.approx(10, abs=2)
    assert values["time_to_first_token_min"] >= 20
    table = next(csv.DictReader((GOLDEN / "stream.csv").read_text().splitlines()))
    assert values["output_token_throughput"] == pytest.approx(
        float(table["Response Throughput"]), rel=0.001
    )


def test_a_response_may_say_how_many_tokens_it_holds_and_the_closing_one_holds_none() -> None:
    """Recorded: three tokens a word, as the request asked to be told, and an empty last response,
    whose number of tokens is whatever lay in memory.
    """
    values = known(token_metrics((GOLDEN / "stream_counted.json").read_text()))

    assert values["inter_token_latency_p50"] == pytest.approx(10 / 3, abs=0.5)
    assert 300 < values["output_token_throughput"] < 600


def test_every_statistic_has_its_tag() -> None:
    values = known(token_metrics(export(request(0, 20, 30, 50), request(100, 140, 150, 170))))

    assert values["time_to_first_token_avg"] == 30
    assert values["time_to_first_token_min"] == 20
    assert values["time_to_first_token_max"] == 40
    assert values["time_to_first_token_p25"] == 25
    assert values["inter_token_latency_avg"] == 15
    assert values["inter_token_latency_p99"] == 20
    assert values["output_token_throughput"] == 2  # six tokens in three seconds
    assert len(values) == 19


def test_only_the_last_three_windows_count() -> None:
    text = export(
        request(0, 90, 190),  # while it warmed up
        request(1500, 1520, 1530),
        request(4980, 4990, 5001),  # its second word came when all was over
        windows=[0, 500, 1000, 2000, 3000, 5000],
    )

    values = known(token_metrics(text))

    assert values["time_to_first_token_max"] == 20
    assert values["inter_token_latency_max"] == 10
    assert values["output_token_throughput"] == pytest.approx(3 / 4)


def test_a_number_of_tokens_without_the_request_input_is_ignored() -> None:
    """perf_analyzer exports memory that nobody wrote for an output that did not come."""
    response = request(0, 10, 20)
    for output in response["response_outputs"]:
        output["num_output_tokens"] = 2475088561

    values = known(token_metrics(export(response)))

    assert values["inter_token_latency_avg"] == 10


def test_an_empty_word_in_the_middle_is_a_token() -> None:
    values = known(token_metrics(export(request(0, 10, 20, 30, 31, texts=["a", "", "b", ""]))))

    assert values["inter_token_latency_avg"] == 10
    assert values["output_token_throughput"] == 1


def test_one_response_has_no_times_between_tokens() -> None:
    values = known(token_metrics(export(request(0, 10))))

    assert "inter_token_latency_avg" not in values
    assert values["time_to_first_token_avg"] == 10


@pytest.mark.parametrize(
    "text",
    [
        "",  # what perf_analyzer writes when it cannot export a number
        '{"experiments": []}',
        export(request(0)),
        export(request(0, 10), windows=[0]),
        export(request(0, 10), windows=[1000, 2000]),
    ],
)
def test_without_a_response_in_the_windows_there_is_nothing(text: str) -> None:
    assert token_metrics(text) is None


# Recorded models wait 10 ms before each response, and number their responses from 1.
FLAG = "stream_flag"  # three numbers, then a flag alone
NO_FLAG = "stream_no_flag"  # three numbers, the last one with the flag
SOME_EMPTY = "stream_some_empty"  # up to four numbers or none, then a flag alone
MIXED = "stream_mixed"  # as before; the flag comes with every second request's last number
LATE_FLAG = "stream_late_flag"  # three times a text and two numbers; the flag 10 ms later
ONE = "stream_one"  # one number, then a flag alone


def recorded(name: str) -> tuple[Export, dict[str, str]]:
    """A recorded export of a stream, and the row of its table."""
    raw, table, text = ((GOLDEN / f"{name}.{kind}").read_bytes() for kind in ("json", "csv", "txt"))
    content = known(read_export([raw.decode()], parse_counted(table.decode(), text.decode())))
    return content, next(csv.DictReader(table.decode().splitlines()))


def sent_responses(name: str) -> list[int]:
    """How many responses of each request are the model's: their numbers count from 1."""
    requests = json.loads((GOLDEN / f"{name}.json").read_text())["experiments"][0]["requests"]
    requests.sort(key=lambda entry: entry["response_timestamps"][-1])
    expected = [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]] if name == LATE_FLAG else [1.0, 2.0, 3.0, 4.0]
    return [
        sum(
            output["O"] == number
            for output, number in zip(entry["response_outputs"], expected, strict=False)
        )
        for entry in requests
    ]


@pytest.mark.parametrize("name", [FLAG, NO_FLAG, SOME_EMPTY, LATE_FLAG, ONE])
def test_the_end_of_a_stream_is_no_token_however_the_model_sends_it(name: str) -> None:
    content, row = recorded(name)

    assert [len(request.came) for request in content.requests] == sent_responses(name)
    values = known(sampling.token_metrics(content, *content.reported))
    assert values["output_token_throughput"] == pytest.approx(
        float(row["Response Throughput"]), rel=0.001
    )
    assert values["time_to_first_token_min"] >= 10
    if name == ONE:
        assert "inter_token_latency_p50" not in values
    else:
        assert values["inter_token_latency_p50"] == pytest.approx(10.7, abs=1)


def test_of_a_model_that_ends_its_streams_in_both_ways_all_tokens_are_counted() -> None:
    content, row = recorded(MIXED)

    values = known(sampling.token_metrics(content, *content.reported))
    assert values["output_token_throughput"] == pytest.approx(
        float(row["Response Throughput"]), rel=0.001
    )
    assert sum(len(request.came) for request in content.requests) == sum(sent_responses(MIXED))


@pytest.mark.parametrize("name", [FLAG, SOME_EMPTY, LATE_FLAG])
def test_a_request_ends_when_its_stream_is_closed(name: str) -> None:
    content, _ = recorded(name)
    raw = json.loads((GOLDEN / f"{name}.json").read_text())["experiments"][0]["requests"]

    assert [request.ended for request in content.requests] == sorted(
        entry["response_timestamps"][-1] for entry in raw
    )


def test_a_request_without_a_response_is_a_request_without_a_token() -> None:
    content, _ = recorded(SOME_EMPTY)

    empty = [request for request in content.requests if not request.came]
    assert len(empty) == 3
    assert all(not request.tokens and request.ended > request.sent for request in empty)
    assert sampling.joint_times(content, 0, 2**62) is not None


def test_counts_are_those_of_the_reported_windows_only() -> None:
    """A request of an earlier window ends like all others."""
    early = [request(ms, ms + 10, ms + 20, ms + 21, texts=["a", "b", "?"]) for ms in (0, 100)]
    late = [request(ms, ms + 10, ms + 11, texts=["a", "?"]) for ms in (600, 1600, 2600)]
    text = export(*early, *late, windows=[0, 500, 1500, 2500, 3500])

    content = known(read_export([text], Counted(3, 3)))

    assert [len(each.came) for each in content.requests] == [2, 2, 1, 1, 1]


def test_long_streams_at_the_edges_of_windows_do_not_hide_how_they_end() -> None:
    """More responses of a request than requests, and a flag that comes late: perf_analyzer counts
    the one that had its last response in the windows, although its flag came after them.
    """
    words = range(10, 1010, 10)
    requests = [request(ms, *(ms + each for each in words), ms + 1400) for ms in (0, 700, 1400)]

    content = known(read_export([export(*requests)], Counted(3, 300)))

    assert [len(each.came) for each in content.requests] == [100, 100, 100]


def test_a_text_among_several_that_is_empty_closes_nothing() -> None:
    response = request(0, 10, 20)
    for output in response["response_outputs"]:
        output["ERROR"] = ""

    values = known(token_metrics(export(response)))

    assert values["output_token_throughput"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    "odd",
    [
        request(500, 499),  # the clock was set back
        request(500, 490, 510),
        request(500, 520, 510),
    ],
)
def test_requests_that_cannot_have_been_so_are_counted_and_left_out(odd: dict[str, Any]) -> None:
    content = known(read_export([export(request(0, 10), odd, request(600, 620))]))

    assert content.impossible == 1
    assert [each.sent for each in content.requests] == [0, 600 * MS]


def test_an_export_of_impossible_requests_only_is_none() -> None:
    assert read_export([export(request(500, 499))]) is None


def test_a_number_of_requests_takes_from_the_first_to_the_last_answer() -> None:
    """perf_analyzer's only window ends up to a second later."""
    content = read_export(
        [export(*(request(ms, ms + 20) for ms in range(100, 1100, 100)), windows=[90, 2090])]
    )

    assert content is not None
    assert content.reported == (100 * MS, 1020 * MS + 1)
    assert content.requests_per_s == pytest.approx(10 / 0.92)
    values = known(sampling.token_metrics(content, *content.reported))
    assert values["output_token_throughput"] == pytest.approx(10 / 0.92)


def test_requests_in_windows_of_time_are_counted_over_these() -> None:
    content = known(read_export([export(*(request(ms, ms + 20) for ms in range(0, 3000, 100)))]))

    assert content.requests_per_s == 10


@pytest.mark.parametrize(
    ("name", "responses"), [(FLAG, 3), (NO_FLAG, 3), (SOME_EMPTY, 2), (LATE_FLAG, 3), (ONE, 1)]
)
def test_responses_are_counted_for_each_request(name: str, responses: float) -> None:
    assert recorded(name)[0].responses == responses


def test_a_last_response_without_text_is_no_token_though_it_counts_as_a_response() -> None:
    words = [request(ms, ms + 10, ms + 20, ms + 21, texts=["a", "b", ""]) for ms in (0, 1000, 2000)]

    content = known(read_export([export(*words)], Counted(3, 9)))

    assert [len(each.came) for each in content.requests] == [2, 2, 2]
    assert content.responses == 2


def test_responses_of_several_tokens_are_not_compared() -> None:
    counted = (GOLDEN / "stream_counted.json").read_text()
    content = known(read_export([counted], Counted(1, 1)))

    assert content.responses is None


def test_an_export_needs_memory_for_its_times_only() -> None:
    count = 20_000
    entry = json.dumps(request(0, 10, image="x" * 500))[1:].split(",", 1)[1]

    def blocks() -> Iterator[str]:
        yield '{"experiments": [{"requests": ['
        for number in range(count):
            yield f'{", " if number else ""}{{"timestamp": {number}, {entry}'
        yield f'], "window_boundaries": [0, {count * MS}]}}]}}'

    tracemalloc.start()
    content = read_export(blocks())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert content is not None
    assert len(content.requests) == count
    assert sum(map(len, blocks())) > 10 * 2**20
    assert peak < 200 * count + 2**20


def test_an_export_that_is_too_large_is_left_out_with_its_limit(tmp_path: Path, caplog) -> None:
    (tmp_path / OUTPUT).write_text("")
    (tmp_path / EXPORT).write_text(export(request(0, 10)))
    os.truncate(tmp_path / EXPORT, 2**29 + 1)

    with caplog.at_level(logging.WARNING):
        ended = collect(tmp_path, "", 0, embedded=False, stopped=None, death="")

    assert ended.export is None
    assert caplog.messages == ["export.json of perf_analyzer: Larger than 512 MiB"]


def test_deep_exports_are_none() -> None:
    assert read_export(["[" * 100_000]) is None
    assert read_export(['{"experiments": [{"requests": [', "[" * 100_000]) is None
