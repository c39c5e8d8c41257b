# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Traces of a load: every usual way to write them, and the line of each mistake."""

from __future__ import annotations

import pytest

from model_analyzer.errors import ConfigError
from model_analyzer.features.capacity.question import parse_trace


@pytest.mark.parametrize(
    "text",
    [
        "time,rate\n8:00,10\n08:30,20\n9:30:00,5\n",
        "0,10\n1800,20\n5400,5",
        "\n seconds , requests/s \n0, 10\n\n1800, 20\n5400, 5\n",
        "time,rate\n2026-11-23T08:00:00,10\n2026-11-23T08:30:00,20\n2026-11-23 09:30,5\n",
        "2026-11-23T08:00+01:00,1e1\n2026-11-23T07:30:00Z,20\n2026-11-23T09:30+01:00,5\n",
    ],
)
def test_times_and_rates_are_read(text: str) -> None:
    trace = parse_trace(text, "day.csv")

    assert trace.times_s == (0, 1800, 5400)
    assert trace.rates == (10, 20, 5)
    assert trace.end_s == 9000
    assert (trace.peak, trace.lowest) == (20, 5)


@pytest.mark.parametrize(
    ("at_s", "rate"), [(-1, 10), (0, 10), (1799, 10), (1800, 20), (5400, 5), (1e9, 5)]
)
def test_a_rate_holds_until_the_next(at_s: float, rate: float) -> None:
    assert parse_trace("0,10\n1800,20\n5400,5", "day.csv").rate(at_s) == rate


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "day.csv:1:1: a trace needs at least two rows of time and rate"),
        ("time,rate\n0,1\n", "day.csv:1:1: a trace needs at least two rows"),
        ("0,1\n10,x\n", "day.csv:2:1: 'x' is not a rate"),
        ("0,1\n10,-1\n", "day.csv:2:1: '-1' is not a rate"),
        ("0,1\n10,1e10\n", "day.csv:2:1: '1e10' is not a rate"),
        ("0,1\n10,nan\n", "day.csv:2:1: 'nan' is not a rate"),
        ("0,1\nnoon,1\n", "day.csv:2:1: 'noon' is not a time (write 14:30, or seconds)"),
        ("0,1\n\n0,2\n", "day.csv:3:1: the time 0 is not after the last one"),
        ("0,1\n1\n", "day.csv:2:1: expected a time and a rate, found 1 cell"),
        ("0,1\n1,2,3\n", "day.csv:2:1: expected a time and a rate, found 3 cells"),
        ("0,1\n" + "x" * 200_000 + ",1", "day.csv:2:1: is not valid CSV: field larger"),
        ("0,0\n1,0\n", "day.csv:1:1: the trace has no requests"),
        ("0,1\n1e9,1\n", "day.csv:2:1: a trace of more than 100 days"),
        ("0,1\n" + "".join(f"{n},1\n" for n in range(1, 100_002)), "more than 100000 rows"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_line(text: str, problem: str) -> None:
    with pytest.raises(ConfigError) as raised:
        parse_trace(text, "day.csv")

    assert problem in str(raised.value)
