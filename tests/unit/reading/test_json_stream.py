# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""JSON in parts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_analyzer.domain.foreign_json import TooDeep
from model_analyzer.reading.json_stream import JsonStream, TooLong

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def blocks_of(text: str, size: int) -> Iterator[str]:
    return (text[begin : begin + size] for begin in range(0, len(text), size))


def read(stream: JsonStream) -> Any:
    """All of it, in the smallest parts."""
    match stream.next_character():
        case "[":
            return [read(stream) for _ in stream.items()]
        case "{":
            return {key: read(stream) for key in stream.keys()}  # noqa: SIM118  no mapping
        case _:
            return stream.value()


@given(VALUES, st.integers(1, 40), st.booleans(), st.sampled_from([None, 1]))
def test_blocks_of_any_size_give_the_same_value(
    value: Any, size: int, is_ascii: bool, indent: int | None
) -> None:
    text = json.dumps(value, ensure_ascii=is_ascii, indent=indent)

    assert JsonStream(blocks_of(text, size)).value() == value
    assert read(JsonStream(blocks_of(text, size))) == value


@pytest.mark.parametrize("size", [1, 3, 100])
def test_the_line_of_a_place_and_of_an_error_is_known(size: int) -> None:
    stream = JsonStream(blocks_of('[\n1,\n{"a":\n[1,\ntruth]}]', size))
    items = stream.items()
    for line in (2, 3):
        next(items)
        assert stream.next_character()
        assert stream.line == line
        if line == 2:
            assert stream.value() == 1

    with pytest.raises(ValueError, match="Expecting value"):
        stream.value()
    assert stream.line == 5


def test_constants_are_made_by_whoever_reads() -> None:
    constants: list[str] = []
    stream = JsonStream(["[NaN, -Infinity]"], constant=constants.append)

    assert stream.value() == [None, None]
    assert constants == ["NaN", "-Infinity"]


@pytest.mark.parametrize(
    "text",
    ["", "[", "[1", "[1,", "[1,]", "[1 2]", "{", '{"a"', '{"a":', '{"a":1,}', "{1:2}", "{a:1}",
     '["a', "[tru", "[truth]", "[1]]"[:2] + "}", '[{"a": "\\u12', "nothing"],
)  # fmt: skip
@pytest.mark.parametrize("size", [1, 100])
def test_what_is_not_json_is_an_error(text: str, size: int) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  the messages are those of several parsers
        read(JsonStream(blocks_of(text, size)))


def test_deep_values_are_refused() -> None:
    for levels in (101, 100_000):
        with pytest.raises(TooDeep):
            JsonStream(blocks_of("[" * levels + "]" * levels, 1000)).value()


def test_an_endless_value_is_refused() -> None:
    read_blocks = 0

    def endless() -> Iterator[str]:
        nonlocal read_blocks
        yield '["'
        while True:
            read_blocks += 1
            yield "x" * 2**18

    with pytest.raises(TooLong, match="has a value of more than 1 MiB"):
        JsonStream(endless(), most_characters=2**20).value()
    assert read_blocks <= 16


def test_an_error_is_seen_before_the_rest_is_read() -> None:
    blocks = iter(["[1, nothing" + " " * 100, *(["x"] * 100)])
    stream = JsonStream(blocks)

    with pytest.raises(ValueError, match="Expecting value"):
        read(stream)
    assert len(list(blocks)) >= 99
