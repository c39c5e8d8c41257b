# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What the response cache does to values, and to the identity of a measurement."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from model_analyzer.domain.differences import setup_differences
from model_analyzer.domain.measurements import ModelMeasurement
from model_analyzer.domain.models import is_cached, without_cache
from model_analyzer.domain.response_cache import with_hits
from model_analyzer.domain.statistics import ModelStatistics, RequestCounts
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.search.plan import Subject
from tests.unit.builders import trial, variant
from tests.unit.search import surfaces

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
