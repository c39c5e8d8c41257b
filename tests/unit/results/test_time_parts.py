# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Where the time of a request goes: one source, in which unknown is unknown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.profiles import MeasuredTrial, TrialRecord
from model_analyzer.reports.breakdown import phases
from model_analyzer.results.explain.situation import Situation
from model_analyzer.results.time_parts import NOT_MEASURED, TimePart, TimeParts, time_parts
from tests.unit.builders import measurement, record, variant
from tests.unit.results.explain.observed import model, observed

PLAIN: Mapping[str, Any] = {
    "perf_latency_avg": 10.0, "perf_server_queue": 2.0, "perf_server_compute_input": 1.0,
    "perf_server_compute_infer": 4.0, "perf_server_compute_output": 0.5,
}  # fmt: skip
TOKENS: Mapping[str, Any] = {**PLAIN, "time_to_first_token_avg": 3.0}


def step(name: str, needs: str, makes: str) -> Mapping[str, Any]:
    return {"model_name": name, "input_map": {"X": needs}, "output_map": {"Y": makes}}


def ensemble(*steps: Mapping[str, Any]) -> ModelVariant:
    parts = [model(each["model_name"]) for each in steps]
    return variant("m_config_default", composing=parts, ensemble_scheduling={"step": list(steps)})


CHAIN = ensemble(step("first", "IN", "x"), step("last", "x", "OUT"))
FORK = ensemble(step("left", "IN", "L"), step("right", "IN", "R"))
STREAM = model(model_transaction_policy={"decoupled": True})


def parts_of(of: ModelVariant, **values: Any) -> TimeParts:
    return time_parts([of], measurement(100, 12, **values), uncached=False)


def test_parts_add_up_to_the_whole() -> None:
    known = parts_of(model(), **PLAIN)

    assert known.parts[TimePart.QUEUE] == 2
    assert known.parts[TimePart.OUTSIDE] == 2.5
    assert sum(known.parts.values()) == known.total == 10


def test_without_times_of_the_server_nothing_is_outside_the_model() -> None:
    known = parts_of(model(), perf_latency_avg=10.0)

    assert (known.parts, known.why) == ({}, NOT_MEASURED)


def test_without_the_time_of_executing_the_rest_is_unknown() -> None:
    known = parts_of(model(), perf_latency_avg=10.0, perf_server_queue=2.0)

    assert known.parts == {TimePart.QUEUE: 2}


def test_the_times_of_a_stream_are_those_of_its_tokens() -> None:
    assert parts_of(STREAM, **TOKENS).parts == {
        TimePart.QUEUE: 2, TimePart.FIRST_TOKEN: 1, TimePart.FURTHER_TOKENS: 7
    }  # fmt: skip
    assert parts_of(STREAM, **PLAIN).parts == {}


def test_an_ensemble_waits_in_the_queues_of_its_steps() -> None:
    """Its own statistics lack them, so that they are not known without those of a step."""
    parts = {name: {**PLAIN, "perf_server_compute_infer": 1.0} for name in ("first", "last")}
    known = parts_of(CHAIN, **{**PLAIN, "perf_server_queue": 0.0}, composing=parts)

    assert (known.parts[TimePart.QUEUE], known.parts[TimePart.COMPUTE]) == (4, 2)
    assert sum(known.parts.values()) == known.total
    assert parts_of(CHAIN, **PLAIN).parts.keys().isdisjoint({TimePart.QUEUE, TimePart.OUTSIDE})


def test_steps_at_the_same_time_need_the_times_of_each() -> None:
    assert parts_of(FORK, **PLAIN).parts == {}


CASES: Mapping[str, TrialRecord] = {
    "plain": observed(model(), 4, 49, 20, queue=60.0, copying=1.0),
    "chain": record(CHAIN, measurement(100, 12, **PLAIN)),
    "fork": observed(
        FORK, 1, 30, 30, outside=0.5, parts={"left": (1, 9.0, 2.0), "right": (1, 30.0, 0.1)}
    ),
    "stream": record(STREAM, measurement(100, 12, **TOKENS)),
    "stream without tokens": record(STREAM, measurement(100, 12, **PLAIN)),
    "no times": record(model(), measurement(100, 12, perf_latency_avg=10.0)),
}


@pytest.mark.parametrize("measured", CASES.values(), ids=CASES)
def test_explanation_and_page_say_the_same(measured: TrialRecord) -> None:
    assert isinstance(measured.outcome, Measurement)
    (work,) = measured.trial.workloads
    shown = phases(MeasuredTrial(measured.trial, measured.outcome))
    times = Situation(work=work, runs=(measured.outcome,)).times

    assert sum(shown.values()) == pytest.approx(sum(times.parts.values()))
    assert shown.get("Queue", 0.0) == times.queue
    assert shown.get("Compute infer", 0.0) == times.compute
