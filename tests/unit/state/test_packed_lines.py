# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Lines in little memory: every line comes back as it was added."""

from __future__ import annotations

import tracemalloc

import pytest

from model_analyzer.state import packed_lines
from model_analyzer.state.packed_lines import PackedLines


@pytest.fixture(params=[0, 5, 1000], ids=["all packed", "some packed", "none packed"])
def plain(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(packed_lines, "_PLAIN", request.param)
    monkeypatch.setattr(packed_lines, "_BLOCK", 4)
    return int(request.param)


def line(number: int) -> bytes:
    return f"line {number}\r\n".encode()


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("count", [0, 1, 4, 5, 9, 13])
def test_each_line_is_there_in_the_order_of_adding(count: int) -> None:
    lines = PackedLines[int]()
    for number in range(count):
        lines[number] = line(number)

    assert [*lines.items()] == [(number, line(number)) for number in range(count)]
    assert [lines[number] for number in reversed(range(count))] == [*lines.values()][::-1]
    assert (len(lines), 0 in lines, count in lines) == (count, count > 0, False)


@pytest.mark.usefixtures("plain")
def test_a_line_can_be_replaced_and_removed() -> None:
    lines = PackedLines[int]()
    for number in range(10):
        lines[number] = line(number)
    lines[3] = line(30)
    del lines[4]

    assert lines[3] == line(30)
    assert [*lines] == [0, 1, 2, 3, 5, 6, 7, 8, 9]
    with pytest.raises(KeyError):
        lines[4]


def test_lines_that_are_alike_take_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_lines, "_PLAIN", 0)
    lines, size = PackedLines[int](), 0
    tracemalloc.start()
    try:
        for number in range(5000):
            text = b"a part that all have " * 40 + line(number)
            lines[number] = text
            size += len(text)
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()

    assert held < size / 4
