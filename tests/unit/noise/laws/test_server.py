# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the server."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.statistics import RequestCounts
from model_analyzer.domain.trials import Failure, ServerSetup
from model_analyzer.noise.laws.catalogue import judged
from tests.unit.builders import measurement, trial, variant
from tests.unit.noise.laws.cases import doubt_of, executed


def server_times(infer: float, latency: float = 10.0) -> Measurement:
    return measurement(
        8000 / latency,
        perf_latency_avg=latency,
        perf_server_queue=1.0,
        perf_server_compute_infer=infer,
        requests=10_000,
    )


def test_the_parts_of_a_request_are_no_longer_than_the_request() -> None:
    assert doubt_of(trial(concurrency=8), server_times(9.0)) is None
    doubt = doubt_of(trial(concurrency=8), server_times(14.0))
    assert doubt is not None
    assert (
        "queue and execution in the server take 15.0 ms, more than the whole request, 10.0 ms"
        in doubt.text
    )


@pytest.mark.parametrize(
    "config",
    [
        {"model_transaction_policy": {"decoupled": True}},
        {"response_cache": {"enable": True}},
        {"ensemble_scheduling": {"step": [{"model_name": "a"}, {"model_name": "b"}]}},
    ],
)
def test_parts_that_do_not_add_up_are_not_compared(config: dict[str, Any]) -> None:
    assert doubt_of(trial(variant(**config), concurrency=8), server_times(14.0)) is None


PYTHON: dict[str, Any] = {"backend": "python", "instance_group": [{"count": 2, "kind": "KIND_CPU"}]}


def busy(throughput: float, *, batch: int = 1) -> Measurement:
    """Executions of 20 ms."""
    return replace(
        measurement(throughput, requests=1000),
        statistics={"m": executed(1000, 20.0, batch=batch)},
    )


@pytest.mark.parametrize(("throughput", "batch"), [(100, 1), (104, 1), (400, 4)])
def test_instances_execute_what_is_answered(throughput: float, batch: int) -> None:
    assert doubt_of(trial(variant(**PYTHON)), busy(throughput, batch=batch)) is None


def test_more_answers_than_executions_are_doubtful_or_a_failure() -> None:
    doubt = doubt_of(trial(variant(**PYTHON)), busy(140))
    assert doubt is not None
    assert doubt.text == (
        "m_config_0 at concurrency 1: 140 infer/sec would keep 2.80 instances of m busy,"
        " whose executions take 20.0 ms, but it has 2"
    )
    assert isinstance(judged(trial(variant(**PYTHON)), busy(300)), Failure)


@pytest.mark.parametrize(
    "config",
    [
        {**PYTHON, "backend": "vllm"},
        {**PYTHON, "backend": "tensorrtllm"},
        {**PYTHON, "instance_group": [{"count": 1, "kind": "KIND_MODEL"}]},
        {**PYTHON, "instance_group": [{"count": 1, "kind": "KIND_GPU"}]},  # of a remote server
        {**PYTHON, "model_transaction_policy": {"decoupled": True}},
        {**PYTHON, "sequence_batching": {"direct": {}}},
    ],
)
def test_unknown_instances_tell_nothing(config: dict[str, Any]) -> None:
    assert doubt_of(trial(variant(**config)), busy(300)) is None


@pytest.mark.parametrize("batch", [1, 4])
def test_what_the_cache_of_an_ensemble_answers_keeps_no_part_busy(batch: int) -> None:
    part = variant("part_config_0", model="part", **{**PYTHON, "max_batch_size": 8})
    steps: dict[str, Any] = {"ensemble_scheduling": {"step": [{"model_name": "part"}]}}
    ensemble = variant(composing=[part], response_cache={"enable": True}, max_batch_size=8, **steps)
    requests = RequestCounts(answered=1000, hits=990, misses=10)
    top = replace(executed(10 * batch, 40.0, batch=batch), requests=requests)
    made = replace(
        measurement(9000, requests=1000),
        statistics={"m": top, "part": executed(10 * batch, 20.0, batch=batch)},
    )
    load = trial(ensemble, batch_size=batch)

    assert doubt_of(load, made) is None
    # each request in a hundred takes 20 ms
    busier = replace(made, models=(replace(made.models[0], values={"perf_throughput": 90_000.0}),))
    assert "instances of part busy" in str(doubt_of(load, busier))


def test_a_group_has_its_instances_on_each_gpu() -> None:
    config: dict[str, Any] = {
        **PYTHON,
        "instance_group": [{"count": 1, "kind": "KIND_GPU"}, {"kind": "KIND_CPU"}],
    }
    setup = ServerSetup(devices=("A", "A"))
    assert doubt_of(trial(variant(**config), setup=setup), busy(150)) is None
    assert doubt_of(trial(variant(**config), setup=setup), busy(210)) is not None


@pytest.mark.parametrize(
    ("policy", "is_doubtful"),
    [
        ({"latest": {"num_versions": 2}}, False),
        ({"specific": {"versions": [1, 3]}}, False),
        ({"specific": {"versions": [3]}}, True),
        ({"all": {}}, False),
    ],
)
def test_each_version_has_its_instances(policy: dict[str, Any], is_doubtful: bool) -> None:
    of = variant(**PYTHON, version_policy=policy)
    assert (doubt_of(trial(of), busy(200)) is not None) == is_doubtful


def test_the_models_of_an_ensemble_are_judged() -> None:
    part = variant("part_config_0", model="part", **PYTHON)
    steps: dict[str, Any] = {"ensemble_scheduling": {"step": [{"model_name": "part"}]}}
    ensemble = variant(composing=[part], **steps)
    made = replace(busy(300), statistics={"m": executed(1000, 40), "part": executed(1000, 20)})
    outcome = judged(trial(ensemble), made)
    assert isinstance(outcome, Failure)
    assert "6.00 instances of part" in outcome.message
