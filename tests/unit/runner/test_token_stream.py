# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Answers of OpenAI's API: which pieces are tokens, when they came, and what has failed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.domain.models import OPENAI, ModelFacts
from model_analyzer.runner.load.input_files import input_mistakes
from model_analyzer.runner.load.profile_export import read_export
from model_analyzer.runner.load.token_stream import read_answer, usual_request

FACTS = ModelFacts(name="m", config={"name": "m", "platform": OPENAI}, files="")


def event(**content: Any) -> str:
    return f"data: {json.dumps(content)}\n\n"


def said(finish: str | None = None, **delta: Any) -> str:
    return event(choices=[{"delta": delta, "finish_reason": finish}])


ROLE, ONE, TWO, STOP, DONE = (
    said(role="assistant", content=""), said(content="one "), said(content="two"), said("stop"),
    "data: [DONE]\n\n",
)  # fmt: skip
USAGE = event(choices=[], usage={"completion_tokens": 5})
ERROR = event(error={"message": "out of memory", "type": "server_error"})
WHOLE = json.dumps({"choices": [{"message": {"content": "hi"}}], "usage": {"completion_tokens": 3}})


@pytest.mark.parametrize(
    ("pieces", "came", "tokens", "error"),
    [
        ([ROLE, ONE, TWO, STOP, DONE], [1, 2], [1, 1], ""),
        ([ROLE + ONE + TWO, STOP + DONE], [0, 0], [1, 1], ""),
        # an event counts when its end is there
        ([ROLE, ONE[:20], ONE[20:] + TWO, DONE], [2, 2], [1, 1], ""),
        ([ONE, TWO, STOP, USAGE, DONE], [0, 1], [3, 2], ""),
        ([": ping\n\n", event(choices=[{"text": "x", "finish_reason": "length"}])], [1], [1], ""),
        ([said(reasoning_content="hm"), said(tool_calls=[{}]), DONE], [0, 1], [1, 1], ""),
        ([ROLE, STOP, DONE], [], [], ""),
        ([WHOLE[:9], WHOLE[9:]], [1], [3], ""),
        ([ROLE, ONE, ERROR, DONE], [1], [1], "out of memory"),
        ([json.dumps({"error": "no such model"})], [], [], "no such model"),
        ([ROLE, ONE], [1], [1], "the stream ended before its end"),
        (["data: <html>\n\n"], [], [], "no answer of OpenAI's API: <html>"),
        (["data: [1]\n\n"], [], [], "no answer of OpenAI's API: [1]"),
    ],
)
def test_texts_are_tokens_and_errors_are_found(
    pieces: list[str], came: list[int], tokens: list[int], error: str
) -> None:
    answer = read_answer([*enumerate(pieces)])

    assert ([*answer.came], [*answer.tokens], answer.error) == (came, tokens, error)


def exported(*answers: list[str]) -> str:
    requests = [
        {
            "timestamp": 10 * number,
            "request_inputs": {"payload": "{}"},
            "response_timestamps": [10 * number + 1 + place for place in range(len(pieces))],
            "response_outputs": [{"response": piece} for piece in pieces],
        }
        for number, pieces in enumerate(answers)
    ]
    experiment = {"requests": requests, "window_boundaries": [0, 100]}
    return json.dumps({"experiments": [experiment], "service_kind": "openai"})


def test_an_export_has_tokens_ends_and_errors() -> None:
    export = read_export(
        [exported([ROLE, ONE, TWO, DONE], [ROLE, STOP, DONE], [ROLE, ERROR])], is_openai=True
    )

    assert export is not None
    assert export.requests.ended.tolist() == [4, 13, 22]
    assert export.requests.responses.tolist() == [2, 0, 0]
    assert export.requests.came.tolist() == [2, 3]
    assert export.errors == ["out of memory"]


@pytest.mark.parametrize(
    ("content", "mistake"),
    [
        (usual_request("m", "v1/chat/completions").decode(), ""),
        (usual_request("m", "v1/completions").decode(), ""),
        ('{"data": [[{"payload": [{"model": "m", "stream": true}]}]]}', ""),
        ('{"data": [{"payload": [{"model": "x", "stream": true}]}]}', "in 1 of 1 payload"),
        ('{"data": [{"payload": [{"model": "m"}]}]}', "in 1 of 1 payload"),
        ('{"data": [{"INPUT0": [1]}]}', "in 1 of 1 payload"),
        ("[]", "in 1 of 1 payload"),
        ("{", "in 1 of 1 payload"),
    ],
)
def test_payloads_are_checked(tmp_path: Path, content: str, mistake: str) -> None:
    (tmp_path / "in.json").write_text(content)

    found = input_mistakes({"input-data": "in.json"}, FACTS, [1], tmp_path)

    assert [f"asks for no stream of m {mistake}" in each.what for each in found] == [True] * bool(
        mistake
    )
