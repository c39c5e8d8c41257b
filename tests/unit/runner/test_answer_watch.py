# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The throughput of a number of requests, from the server's counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.statistics import ModelStatistics, ServerStatistics
from model_analyzer.domain.windows import Window
from model_analyzer.runner.load.child import AnswerWatch
from model_analyzer.runner.load.generators import Generator
from tests.unit.builders import trial

TABLE = {"perf_throughput": 23.5, "perf_latency_p99": 21.0}


class Counting:
    """A server that has counted so many inferences, one number for each question."""

    def __init__(self, *counts: int) -> None:
        self._counts = iter(counts)

    def statistics(self, variants: Sequence[ModelVariant]) -> ServerStatistics:
        count = next(self._counts)
        return {"m": ModelStatistics(inferences=count, executions=1)} if count >= 0 else {}


def generator(requests: int | None = 47, *, exports: bool = False) -> Generator:
    (work,) = trial().workloads
    window = Window.lasting(1) if requests is None else Window.of_requests(requests)
    return Generator(work, window, exports)


def watched(generators: Sequence[Generator], *counts: int) -> AnswerWatch:
    """A watch that has looked every second, after a first look."""
    server: Any = Counting(*counts)
    watch = AnswerWatch(generators, server)
    for second in range(1, len(counts)):
        watch.look(float(second))
    return watch


def test_the_time_is_that_from_the_first_answer_to_the_last() -> None:
    """100 before; nothing for two seconds, 4 and then 40 more, and nothing until it ends."""
    one = generator()
    watch = watched([one], 100, 100, 100, 104, 124, 144, 144, 144)

    assert watch.is_needed
    assert watch.corrected(one, TABLE) == {**TABLE, "perf_throughput": 20.0}


def test_several_generators_share_the_answers_of_a_model() -> None:
    few, many = generator(25), generator(75)
    watch = watched([few, many], 0, 10, 60, 110)

    assert watch.corrected(few, TABLE) == {**TABLE, "perf_throughput": 12.5}
    assert watch.corrected(many, TABLE) == {**TABLE, "perf_throughput": 37.5}


@pytest.mark.parametrize("other", [generator(None), generator(exports=True)])
def test_other_loads_need_no_watch(other: Generator) -> None:
    """Time windows are as long as they say; and exported times are exact."""
    watch = watched([other])

    assert not watch.is_needed
    assert watch.corrected(other, TABLE) == TABLE


@pytest.mark.parametrize(
    "counts",
    [(0, 0, 0), (0, 47, 47), (100, 120, 20, 20), (-1, -1, -1)],
    ids=["nothing", "at once", "restarted", "no statistics"],
)
def test_what_was_not_seen_is_not_corrected(counts: tuple[int, ...]) -> None:
    one = generator()

    assert watched([one], *counts).corrected(one, TABLE) == TABLE


def test_a_failed_run_has_no_table() -> None:
    one = generator()
    assert watched([one], 0, 10, 20).corrected(one, None) is None
