# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a server counts: from one reading to the next, and of several measurements together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model_analyzer.domain.statistics import (
    BatchStatistics,
    ModelStatistics,
    RequestCounts,
    counted_between,
)
from model_analyzer.noise.pooling import pool
from tests.unit.state.samples import measurement


def model(*batches: tuple[int, int, float]) -> ModelStatistics:
    """A model that executed batches of these sizes so often, in so many milliseconds."""
    return ModelStatistics(
        inferences=sum(size * count for size, count, _ in batches),
        executions=sum(count for _, count, _ in batches),
        batches=tuple(BatchStatistics(*batch) for batch in batches),
    )


def test_counts_start_at_the_first_reading() -> None:
    warmed_up = {"m": model((4, 5, 50.0), (8, 1, 15.0))}
    after = {"m": model((2, 3, 12.0), (4, 7, 70.000001), (8, 1, 15.0))}

    assert counted_between(warmed_up, after) == {"m": model((2, 3, 12.0), (4, 2, 20.000001))}


@pytest.mark.parametrize(
    "after",
    [model((4, 4, 60.0)), model((8, 5, 60.0)), model((4, 5, 49.0)), model()],
    ids=["count", "size", "time", "all"],
)
def test_a_fallen_counter_leaves_no_counts(after: ModelStatistics) -> None:
    before = {"top": model((1, 1, 1.0)), "part": model((4, 5, 50.0))}

    assert counted_between(before, {"top": model((1, 9, 9.0)), "part": after}) == {}


def test_a_model_missing_from_a_reading_leaves_no_counts() -> None:
    both = {"top": model((1, 1, 1.0)), "part": model((4, 5, 50.0))}

    assert counted_between({}, both) == {}
    assert counted_between(both, {"top": model((1, 9, 9.0))}) == {}


def test_the_mean_batch_is_of_executions() -> None:
    assert model((2, 3, 6.0), (4, 1, 4.0)).mean_batch == 2.5
    assert model().mean_batch is None
    assert model((2, 3, 6.0), (4, 1, 4.0)).busy_ms == 10.0


def test_counts_of_repetitions_add_up() -> None:
    first = replace(measurement(), statistics={"m": model((2, 3, 6.0), (4, 1, 4.0))})
    second = replace(measurement(), statistics={"m": model((4, 2, 8.5))})

    mean = pool([first, measurement(), second])

    assert mean.statistics == {"m": model((2, 3, 6.0), (4, 3, 12.5))}


def counting(answered: int, failed: int = 0, hits: int = 0, misses: int = 0) -> ModelStatistics:
    requests = RequestCounts(answered=answered, failed=failed, hits=hits, misses=misses)
    return replace(model((1, 9, 9.0)), requests=requests)


def test_requests_are_counted_from_the_first_reading_on() -> None:
    between = counted_between({"m": counting(5, 1, 2, 3)}, {"m": counting(15, 2, 6, 9)})

    assert between["m"].requests == RequestCounts(answered=10, failed=1, hits=4, misses=6)
    assert between["m"].requests.hit_rate == 40


def test_fewer_requests_than_before_leave_no_counts() -> None:
    assert counted_between({"m": counting(5)}, {"m": counting(4)}) == {}


def test_the_requests_of_earlier_versions_are_unknown() -> None:
    assert (model((1, 1, 1.0)) + counting(5)).requests is None


def test_without_a_cache_there_is_no_hit_rate() -> None:
    assert RequestCounts(answered=5).hit_rate is None
