# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Measurements that never ended, or took much longer than they could be worth."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

import pytest

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.trials import Failure, FailureReason
from model_analyzer.state.checkpoint import load
from qa.conftest import QUICK

ONE = ("--run-config-search-disable",)
SHAPES = {"shape": ["input_ids:16", "attention_mask:16", "token_type_ids:16"]}
SLEEPS = """
import time
import triton_python_backend_utils as pb

class TritonPythonModel:
    def execute(self, requests):
        time.sleep({seconds} * len(requests))
        tensors = [pb.get_input_tensor_by_name(each, "INPUT").as_numpy() for each in requests]
        return [pb.InferenceResponse([pb.Tensor("OUTPUT", each)]) for each in tensors]
"""


def records(scene) -> Sequence[TrialRecord]:
    return list(load(scene.directory / "checkpoints").profile.records)


def measured(scene, *arguments: str, **changes) -> Sequence[Measurement]:
    status, output = scene.profile(*arguments, **{"perf_analyzer_flags": {}, **changes})
    assert status == 0, output
    outcomes = [record.outcome for record in records(scene)]
    found = [outcome for outcome in outcomes if isinstance(outcome, Measurement)]
    assert len(found) == len(outcomes), output
    return found


# -- variable dimensions ---------------------------------------------------------------------------


@pytest.mark.slow
def test_variable_dimensions_are_measured_at_any_concurrency(scene) -> None:
    """With fewer warm-up requests than requests in flight, perf_analyzer never ends."""
    scene.add("encoder")
    outcomes = measured(
        scene, *ONE, "-c", "1,33,64,256", profile_models=["encoder"], perf_analyzer_flags=SHAPES
    )
    assert len(outcomes) == 4
    # the first answer, after a second, is in none of the values
    p99 = outcomes[0].model_value(0, "perf_latency_p99")
    assert p99 is not None
    assert p99 < 900
    for outcome in outcomes:
        assert outcome.duration_s - outcome.loading_s < 25


@pytest.mark.slow
def test_variable_dimensions_in_windows_of_the_user(scene) -> None:
    scene.add("encoder")
    flags = {**SHAPES, **QUICK, "max-threads": 12}
    assert measured(scene, *ONE, "-c", "33", profile_models=["encoder"], perf_analyzer_flags=flags)


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "threads"), [(3, 4), (30, 16)])
def test_variable_dimensions_at_a_rate(scene, rate: int, threads: int) -> None:
    """Each of perf_analyzer's threads has to send a warm-up request."""
    scene.add("encoder")
    flags = {**SHAPES, **QUICK, "measurement-interval": 1500, "max-threads": threads}
    assert measured(
        scene,
        *ONE,
        "--request-rate",
        str(rate),
        profile_models=["encoder"],
        perf_analyzer_flags=flags,
    )


# -- several perf_analyzers at once ----------------------------------------------------------------


@pytest.mark.slow
def test_generators_send_different_sequences(scene) -> None:
    """A server takes sequences with the same id for one, and refuses requests of them."""
    scene.add("totals")
    outcomes = measured(
        scene,
        *ONE,
        profile_models={"totals": {"cpu_only": True}},
        load={"arrivals": "poisson", "rate": 150},
        generators=2,
    )
    assert outcomes
    for outcome in outcomes:
        assert len(outcome.commands) == 2
        assert all("--sequence-id-range" in command for command in outcome.commands)


@pytest.mark.slow
def test_generators_that_would_share_memory_are_refused(scene) -> None:
    changes = {
        "load": {"arrivals": "poisson", "rate": 50},
        "generators": 2,
        "perf_analyzer_flags": {"shared-memory": "system"},
    }
    for arguments in (ONE, (*ONE, "--dry-run")):
        status, output = scene.profile(*arguments, **changes)
        assert status == 2, output
        assert "shared-memory cannot be combined with generators: 2" in output
    status, output = scene.run("config", "validate", "config.yaml")
    assert status == 2, output
    assert "shared-memory cannot be combined with generators: 2" in output
    assert not scene.checkpoints


# -- the time of a measurement ---------------------------------------------------------------------


@pytest.mark.slow
def test_a_model_that_hangs_costs_its_bound_and_not_ten_minutes(scene, crasher) -> None:
    crasher("hang")
    began = time.monotonic()
    status, output = scene.profile(
        *ONE, "-c", "1", profile_models=["crasher"], perf_analyzer_flags={}
    )
    assert status == 1
    named = "Still measuring: crasher_config_default at concurrency 1, for 10 s"
    assert f"{named}; expected 1 s, given up after 40 s" in output
    assert "crasher_config_default at concurrency 1: given up after 41 s" in output
    assert time.monotonic() - began < 120


@pytest.mark.slow
def test_a_hanging_model_ends_with_the_budget_which_the_next_run_has_again(scene, crasher) -> None:
    crasher("hang")
    search = ("--search", "adaptive", "--budget", "20s", "--progress", "json")
    began = time.monotonic()
    status, output = scene.profile(*search, profile_models=["crasher"], perf_analyzer_flags={})
    assert status == 1
    assert time.monotonic() - began < 60
    events = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    (named,) = [event for event in events if event["event"] == "still_measuring"]
    assert named["expected_s"] == 1.08
    assert named["given_up_after_s"] <= 20
    (failure,) = [record.outcome for record in records(scene)]
    assert isinstance(failure, Failure)
    assert failure.reason is FailureReason.BUDGET

    crasher_code = scene.models / "crasher" / "config.pbtxt"
    crasher_code.write_text(crasher_code.read_text().replace('"hang"', '"none"'))
    status, output = scene.profile(*search, profile_models=["crasher"], perf_analyzer_flags={})
    assert status == 0, output
    assert sum(isinstance(record.outcome, Measurement) for record in records(scene)) > 2


@pytest.mark.slow
@pytest.mark.parametrize(("seconds", "in_flight"), [(20, 1), (3, 16)])
def test_slow_models_are_measured(scene, seconds: int, in_flight: int) -> None:
    """One request after another, so the server goes on answering: that is evidence."""
    scene.model("sleeper", SLEEPS.format(seconds=seconds), max_batch_size=0)
    (outcome,) = measured(scene, *ONE, "-c", str(in_flight), profile_models=["sleeper"])
    throughput = outcome.model_value(0, "perf_throughput")
    assert throughput == pytest.approx(1 / seconds, rel=0.1)
