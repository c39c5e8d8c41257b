# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Unknown is unknown: what was not measured meets no constraint, and misses none."""

from __future__ import annotations

from typing import Any

import pytest

from model_analyzer.domain.goals import are_met
from model_analyzer.reports.tables import answer_table
from model_analyzer.results.answer import answer_of
from tests.unit.builders import at_most, goal, measurement, ranking, record, variant

TWO = goal(*at_most(perf_latency_p99=30, gpu_used_memory=100))


@pytest.mark.parametrize(
    ("p99", "memory", "expected"),
    [(20, 50, True), (20, 150, False), (20, None, None), (40, None, False)],
)
def test_a_constraint_without_data_is_neither_met_nor_missed(
    p99: float, memory: float | None, expected: bool | None
) -> None:
    values: dict[str, Any] = {} if memory is None else {"gpu_used_memory": memory}

    assert are_met(TWO, measurement(100, p99, **values)) is expected


def test_an_answer_that_could_not_be_checked_is_unsure() -> None:
    ranked = ranking(record(variant(), measurement(100, 20)), by=TWO)

    answer = answer_of(ranked)

    assert answer.is_unchecked
    assert answer.is_unsure
    assert answer_table(ranked.results, TWO).rows[0][-1] == "not measured"
