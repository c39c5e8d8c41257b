# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a server counts: from one reading to the next, and of several measurements together; what
the response cache does to values, and to the identity of a measurement.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from model_analyzer.domain.measurements import (
    BatchStatistics,
    ModelMeasurement,
    ModelStatistics,
    RequestCounts,
    counted_between,
)
from model_analyzer.domain.models import is_cached, without_cache
from model_analyzer.domain.profiles import setup_differences
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.noise.pooling import pool
from model_analyzer.noise.response_cache import with_hits
from model_analyzer.search.plan import Subject
from tests.unit.builders import trial, variant
from tests.unit.search import surfaces
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


_TIMES = {"perf_server_queue": 1.0, "perf_server_compute_infer": 20.0}


def counts(hits: int, misses: int) -> ModelStatistics:
    requests = RequestCounts(answered=hits + misses, hits=hits, misses=misses)
    return ModelStatistics(inferences=misses, executions=misses, requests=requests)


def test_times_of_executions_are_means_over_all_requests() -> None:
    """perf_analyzer's means are those of the requests that executed."""
    (work,) = trial().workloads

    model = with_hits(ModelMeasurement(values=_TIMES), work, {"m": counts(75, 25)})

    assert model.values == {
        "perf_server_queue": 1.0,
        "perf_server_compute_infer": 5.0,
        "cache_hit_rate": 75.0,
    }


def test_without_a_cache_nothing_changes() -> None:
    (work,) = trial().workloads
    model = ModelMeasurement(values=_TIMES)

    assert with_hits(model, work, {"m": counts(0, 0)}) is model
    assert with_hits(model, work, {}) is model
    assert with_hits(model, work, {"m": ModelStatistics(inferences=9, executions=9)}) is model


def test_the_times_of_an_ensemble_already_count_the_hits_of_its_steps() -> None:
    steps = [variant("a_config_0", model="a"), variant("b_config_0", model="b")]
    (work,) = trial(variant(composing=steps, ensemble_scheduling={"step": []})).workloads
    infer = "perf_server_compute_infer"
    model = ModelMeasurement(
        values={infer: 20.0}, composing={"a": {infer: 20.0}, "b": {infer: 10.0}}
    )

    hit = with_hits(model, work, {"m": counts(0, 0), "a": counts(50, 50), "b": counts(0, 0)})

    assert hit.composing == {"a": {infer: 10.0}, "b": {infer: 10.0}}
    assert hit.values == {infer: 20.0, "cache_hit_rate": 50.0}


def test_inferences_of_the_cache_are_served_though_not_executed() -> None:
    assert counts(75, 25).served == 100
    assert counts(0, 0).served == 0
    assert ModelStatistics(inferences=8, executions=2).served == 8


@pytest.mark.parametrize(
    ("config", "expected"),
    [({}, False), ({"response_cache": {}}, False), ({"response_cache": {"enable": True}}, True)],
)
def test_a_model_is_cached_if_its_configuration_says_so(
    config: dict[str, object], expected: bool
) -> None:
    assert is_cached(config) is expected
    assert not is_cached(without_cache(config))


def test_without_a_cache_is_another_condition_than_with_it() -> None:
    """And conditions of models without a cache are those of earlier versions."""
    kept, off = ServerSetup(), ServerSetup(uncached=True)

    assert kept.identity != off.identity
    assert "response cache" not in kept.meaning
    (difference,) = setup_differences(kept, off)
    assert str(difference) == "response cache: was as configured, now off"


def _subject(*, own: bool, part: bool, keeps: bool) -> Subject:
    enabled: dict[str, Any] = {"response_cache": {"enable": True}}
    called = surfaces.model("part", **(enabled if part else {}))
    facts = replace(surfaces.model("m", **(enabled if own else {})), composing=(called,))
    (searched,) = surfaces.subject(facts).models
    settings = replace(searched.settings, keeps_cache=keeps)
    return Subject(models=(replace(searched, settings=settings),), setup=ServerSetup())


def test_a_model_is_measured_without_its_cache_and_those_of_models_that_it_calls() -> None:
    assert _subject(own=True, part=False, keeps=False).uncached
    assert _subject(own=False, part=True, keeps=False).uncached
    assert not _subject(own=False, part=False, keeps=False).uncached
    assert not _subject(own=True, part=True, keeps=True).uncached
