# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""When a load has got all answers that it will get."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from model_analyzer.domain.statistics import ModelStatistics, ServerStatistics
from model_analyzer.domain.trials import LoadKind
from model_analyzer.domain.windows import Window
from model_analyzer.runner.load.generators import Generator
from model_analyzer.runner.load.time_limits import StallWatch
from tests.unit.builders import trial

NS = 1_000_000_000


class SilentServer:
    """A server with a clock that is set. It has answered as many requests, of two inferences each,
    as there are times before.
    """

    def __init__(self, answered_at: Sequence[float], has_statistics: bool) -> None:
        self.time = 0.0
        self._answered_at = answered_at
        self._has_statistics = has_statistics

    def monotonic(self) -> float:
        return self.time

    def statistics(self, variants: Any) -> ServerStatistics:
        if not self._has_statistics:
            return {}
        count = 7 + 2 * sum(at <= self.time for at in self._answered_at)
        return {"m": ModelStatistics(inferences=count, executions=1)}


def stalled_at(
    monkeypatch,
    answered_at: Sequence[float],
    *,
    window: Callable[[int], Window] = Window.of_requests,
    has_statistics: bool = True,
    generators: int = 1,
) -> float | None:
    """When (s) a load of twelve requests, due from 0 to 11 s, of each generator counts as stalled;
    None if not within ten minutes.
    """
    server = SilentServer(answered_at, has_statistics)
    monkeypatch.setattr(time, "monotonic", server.monotonic)
    (work,) = trial(batch_size=2).workloads
    work = replace(work, load=replace(work.load, kind=LoadKind.REQUEST_INTERVALS, value=0))
    loads = [Generator(work, window(12), exports=True, due=np.arange(12) * NS)] * generators
    stand_in: Any = server
    watch = StallWatch(loads, stand_in)
    for half_seconds in range(1, 1200):
        server.time = half_seconds / 2
        if watch.look():
            assert watch.has_stalled
            return server.time
    assert not watch.has_stalled
    return None


def test_all_are_answered_and_it_does_not_end(monkeypatch) -> None:
    assert stalled_at(monkeypatch, range(1, 13)) == pytest.approx(22, abs=1.5)


def test_the_requests_of_one_of_four_threads_are_missing(monkeypatch) -> None:
    assert stalled_at(monkeypatch, range(1, 10)) == pytest.approx(19, abs=1.5)


@pytest.mark.parametrize("answers", [0, 3, 8, 10, 11])
def test_a_model_that_stands_still_is_measured(monkeypatch, answers: int) -> None:
    assert stalled_at(monkeypatch, range(1, answers + 1)) is None


def test_a_slow_model_has_more_time(monkeypatch) -> None:
    # an answer in 20 s, then five times as long
    assert stalled_at(monkeypatch, range(20, 200, 20)) == pytest.approx(280, abs=2)


def test_of_several_generators_one_may_stall(monkeypatch) -> None:
    assert stalled_at(monkeypatch, [n / 2 for n in range(1, 22)], generators=2) is not None
    assert stalled_at(monkeypatch, [n / 2 for n in range(1, 21)], generators=2) is None


def test_nothing_is_known_without_statistics(monkeypatch) -> None:
    assert stalled_at(monkeypatch, range(1, 13), has_statistics=False) is None


def test_windows_end_by_themselves(monkeypatch) -> None:
    assert stalled_at(monkeypatch, range(1, 13), window=Window.lasting) is None
