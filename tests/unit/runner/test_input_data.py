# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Inputs in the order of the requests of a log."""

from __future__ import annotations

import json

import pytest

from model_analyzer.reading.log_rows import LogProblem
from model_analyzer.runner.load.input_data import InputFile, parse_entries, size_of

DATA = {
    "data": [{"INPUT": [1.5, 2]}, {"INPUT": {"content": [7, 8], "shape": [2]}}, {"TEXT": ["é"]}]
}
ENTRIES = parse_entries([json.dumps(DATA)])


def test_each_request_has_its_input() -> None:
    first, second, third = DATA["data"]
    content = json.loads(b"".join(InputFile(ENTRIES, [2, 0, 0, 1], batch_size=1)))
    assert content == {"data": [third, first, first, second]}


def test_a_batch_consists_of_one_input() -> None:
    first, _, third = DATA["data"]
    content = json.loads(b"".join(InputFile(ENTRIES, [2, 0], batch_size=2)))
    assert content == {"data": [third, third, first, first]}


def test_the_size_is_known_before() -> None:
    numbers = [2, 0, 0, 1]
    commas = 2 * len(numbers) - 1
    whole = len(b"".join(InputFile(ENTRIES, numbers, 2))) - commas - len('{"data":[]}')
    assert size_of(ENTRIES, numbers, 2) == whole


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('{"data":\n [{},,]}', 2, "is not JSON"),
        ('{"data": [{"x": [NaN]}]}', 1, "is not JSON: NaN is not a number"),
        ('{"data": [{"x": ["\\ud800"]}]}', 1, "is not JSON: str is not valid UTF-8"),
        ('{"data": [{}]} {}', 1, "is not JSON: more text follows"),
        (f'{{"data": [{"[" * 5000}', 1, "is nested too deeply"),
        ("[]", 0, 'has no list "data" with inputs'),
        ('{"data": []}', 0, 'has no list "data" with inputs'),
        ('{"data": [{}, [{}]]}', 0, "has no mapping of tensors as input 1"),
        ('{"data": [{}], "validation_data": [{}]}', 0, "has validation_data"),
    ],
)
def test_a_file_without_entries_is_told(text: str, line: int, message: str) -> None:
    with pytest.raises(LogProblem) as raised:
        parse_entries([text])
    assert raised.value.line == line
    assert raised.value.message.startswith(message)
