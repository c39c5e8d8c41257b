# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The times at which perf_analyzer itself sends: `qa/test_traffic.py` compares them with it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from model_analyzer.domain.trials import Load, LoadKind, Workload
from model_analyzer.runner.load.schedule import own_due_times, own_rate
from tests.unit.builders import variant

NS = 10**9


def at_rate(rate: int, **config: Any) -> Workload:
    changed = replace(variant(), config={**variant().config, **config})
    return Workload(variant=changed, load=Load(kind=LoadKind.REQUEST_RATE, value=rate))


FILE = Workload(variant=variant(), load=Load(kind=LoadKind.REQUEST_INTERVALS, value=0))


def times(work: Workload, flags: dict[str, str], count: int, text: str = "") -> list[int]:
    due = own_due_times(work, flags, count, text)
    assert due is not None
    assert len(due) == count
    return list(due.tolist())


def test_a_rate_is_even_unless_the_flags_say_otherwise() -> None:
    assert times(at_rate(50), {}, 3) == [NS // 50, 2 * NS // 50, 3 * NS // 50]
    assert times(at_rate(50), {"request-distribution": "constant"}, 1) == [NS // 50]
    assert own_rate(at_rate(50)) == 50


def test_poisson_arrivals_are_those_of_the_seed_that_cpp_uses() -> None:
    # the first numbers of std::mt19937, as the C++ standard defines it
    lower, upper = 3499211612, 581869302
    first = -math.log(1 - (lower + upper * 2**32) / 2**64)
    poisson = {"request-distribution": "poisson"}
    assert times(at_rate(1), poisson, 1) == [pytest.approx(first * NS, abs=2)]
    gaps = np.diff(times(at_rate(200), poisson, 5000))
    assert np.mean(gaps) == pytest.approx(NS / 200, rel=0.05)
    assert np.std(gaps) == pytest.approx(NS / 200, rel=0.05)


@pytest.mark.parametrize(
    ("work", "flags", "senders"),
    [
        (at_rate(100), {}, 4),
        (at_rate(100), {"max-threads": "7"}, 7),
        (at_rate(100, sequence_batching={}), {"max-threads": "7"}, 4),
        (at_rate(100, sequence_batching={}), {"num-of-sequences": "3"}, 3),
    ],
)
def test_poisson_arrivals_begin_again_after_all_windows(
    work: Workload, flags: dict[str, str], senders: int
) -> None:
    shown = {**flags, "request-distribution": "poisson"}
    flags = {**shown, "max-trials": "5", "measurement-interval": "200"}
    due = times(work, flags, 400)
    without_end = times(work, shown, 400)
    # a second, and then until each sender has as many times
    cycle = next(n for n, time in enumerate(without_end) if time >= NS) + 1
    cycle = math.ceil(cycle / senders) * senders
    assert 70 < cycle < 130
    assert due[:cycle] == without_end[:cycle]
    assert due[cycle : 2 * cycle] == [due[cycle - 1] + time for time in due[:cycle]]


def test_a_file_begins_again_at_its_end() -> None:
    us = 1000
    assert times(FILE, {}, 5, "10\n20\n30\n") == [10 * us, 30 * us, 60 * us, 70 * us, 90 * us]
    assert times(FILE, {}, 1, " 10 # comment\n") == [10 * us]
    assert own_rate(FILE, "10000\n30000\n") == 50


@pytest.mark.parametrize("text", ["", "\n", "10\n\n20\n", "ten\n", "-10\n"])
def test_a_file_that_perf_analyzer_reads_in_another_way_is_not_guessed(text: str) -> None:
    assert own_due_times(FILE, {}, 3, text) is None
    assert own_rate(FILE, text) is None


def test_other_distributions_are_not_guessed() -> None:
    assert own_due_times(at_rate(9), {"request-distribution": "gamma"}, 3) is None
    assert own_rate(FILE, "0\n0\n") is None
