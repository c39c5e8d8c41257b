# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Token metrics from perf_analyzer's export of every response: recorded ones, and made-up ones."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.domain.measurements import Values
from model_analyzer.runner.load import tokens
from model_analyzer.runner.load.profile_export import read_export

GOLDEN = Path(__file__).parents[2] / "golden" / "perf_analyzer"
MS = 1_000_000


def token_metrics(text: str) -> Values | None:
    """The token metrics of an export in perf_analyzer's windows."""
    content = read_export(text.encode())
    return (
        None if content is None else tokens.token_metrics(content, *tokens.reported_period(content))
    )


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
    values = token_metrics((GOLDEN / "stream.json").read_text())

    assert values is not None
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
    values = token_metrics((GOLDEN / "stream_counted.json").read_text())

    assert values is not None
    assert values["inter_token_latency_p50"] == pytest.approx(10 / 3, abs=0.5)
    assert 300 < values["output_token_throughput"] < 600


def test_every_statistic_has_its_tag() -> None:
    values = token_metrics(export(request(0, 20, 30, 50), request(100, 140, 150, 170)))

    assert values is not None
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

    values = token_metrics(text)

    assert values is not None
    assert values["time_to_first_token_max"] == 20
    assert values["inter_token_latency_max"] == 10
    assert values["output_token_throughput"] == pytest.approx(3 / 4)


def test_a_number_of_tokens_without_the_request_input_is_ignored() -> None:
    """perf_analyzer exports memory that nobody wrote for an output that did not come."""
    response = request(0, 10, 20)
    for output in response["response_outputs"]:
        output["num_output_tokens"] = 2475088561

    values = token_metrics(export(response))

    assert values is not None
    assert values["inter_token_latency_avg"] == 10


def test_an_empty_word_in_the_middle_is_a_token() -> None:
    values = token_metrics(export(request(0, 10, 20, 30, 31, texts=["a", "", "b", ""])))

    assert values is not None
    assert values["inter_token_latency_avg"] == 10
    assert values["output_token_throughput"] == 1


def test_one_response_has_no_times_between_tokens() -> None:
    values = token_metrics(export(request(0, 10)))

    assert values is not None
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
