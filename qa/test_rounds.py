# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Rounds of the real perf_analyzer: each kind of model, and what it cannot export."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Sequence
from typing import Any

import pytest

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.state.checkpoint import load
from tests.sizes import small_and_full

ONE = ("--run-config-search-disable",)
SLEEPS = """
import time
import triton_python_backend_utils as pb

class TritonPythonModel:
    def execute(self, requests):
        answers = []
        for request in requests:
            time.sleep({seconds})
            tensor = pb.get_input_tensor_by_name(request, "INPUT").as_numpy()
            answers.append(pb.InferenceResponse([pb.Tensor("OUTPUT", tensor)]))
        return answers
"""


def records(scene) -> Sequence[TrialRecord]:
    return list(load(scene.directory / "checkpoints").profile.records)


def rounds(scene) -> Sequence[Measurement]:
    """All outcomes, which must be rounds."""
    outcomes = [record.outcome for record in records(scene)]
    measured = [outcome for outcome in outcomes if isinstance(outcome, Measurement)]
    assert len(measured) == len(outcomes), outcomes
    assert all(outcome.is_round for outcome in measured)
    return measured


def profiled(scene, *arguments: str, **changes: Any) -> str:
    """The output of a successful run without measurement flags."""
    status, output = scene.profile(*arguments, **{"perf_analyzer_flags": {}, **changes})
    assert status == 0, output
    assert "Traceback" not in output
    return output


@small_and_full("model", "add_sub", "sim_gpu", "ensemble_chain", "bls_chain")
def test_every_kind_of_model_is_measured_from_the_times_of_its_requests(scene, model: str) -> None:
    calls = {"bls_composing_models": ["scale", "add_sub"]} if model == "bls_chain" else {}
    output = profiled(scene, *ONE, "-c", "1,4", profile_models=[model], **calls)

    first, second = rounds(scene)
    for measurement in (first, second):
        (model_measurement,) = measurement.models
        histogram = model_measurement.histograms["perf_latency"]
        assert histogram.total == model_measurement.requests
        assert 0.2 < model_measurement.seconds < 30
        p99 = model_measurement.values["perf_latency_p99"]
        assert histogram.quantile(0.99) == pytest.approx(p99, rel=0.02)
        # a closed loop: requests in flight are throughput times latency
        assert "perf_server_queue" in model_measurement.values
    in_flight = [
        each.models[0].values["perf_throughput"] * each.models[0].values["perf_latency_avg"] / 1000
        for each in (first, second)
    ]
    assert in_flight == pytest.approx([1, 4], rel=0.25)
    document = json.loads((scene.directory / "results" / "results.json").read_text())
    assert document["models"][0]["sentence"] in output
    best = document["models"][0]["recommended"]
    interval = best["intervals"]["perf_throughput"]
    assert interval["low"] < best["metrics"]["perf_throughput"] < interval["high"]


@pytest.mark.slow
def test_tokens_of_a_language_model_are_counted_in_rounds(scene) -> None:
    profiled(scene, *ONE, "-c", "2", model_type="LLM", profile_models=["sim_llm"])

    (measurement,) = rounds(scene)
    (model,) = measurement.models
    assert model.values["time_to_first_token_min"] >= 30
    assert model.values["output_token_throughput"] == pytest.approx(
        8 * model.values["perf_throughput"], rel=0.3
    )
    assert model.histograms["inter_token_latency"].total > (model.requests or 0)


@pytest.mark.slow
def test_a_model_of_one_request_per_second_takes_seconds(scene) -> None:
    scene.model("slow", SLEEPS.format(seconds=1))

    output = profiled(scene, *ONE, "-c", "1,2", profile_models=["slow"])

    first, second = rounds(scene)
    assert 8 <= (first.models[0].requests or 0) <= 12
    assert first.models[0].values["perf_throughput"] == pytest.approx(1, rel=0.1)
    assert first.duration_s < 40
    assert second.duration_s < 20  # it starts with the length of the first
    assert "measuring for" in output


@pytest.mark.slow
def test_requests_that_cannot_be_exported_leave_the_table(scene) -> None:
    """Random bits of 3072 floats are not all numbers, so perf_analyzer exports nothing."""
    scene.model("images", SLEEPS.format(seconds=0.02))
    config = scene.models / "images" / "config.pbtxt"
    config.write_text(config.read_text().replace("[ 4 ]", "[ 3, 32, 32 ]"))

    profiled(scene, *ONE, "-c", "1,2,4", profile_models=["images"])

    measured = rounds(scene)
    assert ["--profile-export-file" in each.commands[0] for each in measured] == [
        False,  # a fast model would export too much
        True,
        False,  # its export was empty
    ]
    for measurement in measured:
        (model,) = measurement.models
        assert model.histograms == {}
        assert len(model.windows) == 3
        assert model.values["perf_latency_p99"] > 20


@pytest.mark.slow
def test_a_request_rate_is_measured_in_rounds(scene) -> None:
    profiled(scene, "--run-config-search-disable", "--request-rate", "50")

    for measurement in rounds(scene):  # until there are enough requests for a p99
        assert measurement.models[0].values["perf_throughput"] == pytest.approx(50, rel=0.2)


def test_two_models_are_measured_for_the_same_time(scene) -> None:
    profiled(
        scene, *ONE, "-c", "2",
        profile_models=["add_sub", "sim_gpu"],
        run_config_profile_models_concurrently_enable=True,
    )  # fmt: skip

    (measurement,) = rounds(scene)
    assert len(measurement.models) == 2
    seconds = [model.seconds for model in measurement.models]
    assert seconds[0] == pytest.approx(seconds[1], rel=0.2)
    assert all(model.histograms for model in measurement.models)


# An adaptive search measures the best more than once.
SEARCH = {
    "profile_models": {"sim_gpu": {"cpu_only": True}},
    "search": "adaptive",
    "run_config_search_max_instance_count": 2,
    "run_config_search_max_model_batch_size": 8,
    "run_config_search_max_concurrency": 32,
    "max_trials": 12,
    "perf_analyzer_flags": {},
}


@small_and_full("kills", 1, 3)
def test_nothing_is_lost_between_two_rounds(scene, kills: int) -> None:
    """Killed after some outcomes, and run again until the search ends."""
    acknowledged: dict[str, float] = {}
    for _ in range(kills):
        process = scene.start("--progress", "json", **SEARCH)
        before = len(acknowledged)
        assert process.stdout is not None
        for line in process.stdout:
            event = json.loads(line) if line.startswith("{") else {}
            if event.get("event") == "trial_finished":
                acknowledged.setdefault(event["trial"], event["duration_s"])
            if len(acknowledged) >= before + 3:
                process.send_signal(signal.SIGKILL)
        process.wait(60)
        assert acknowledged.items() <= durations(scene).items()

    output = profiled(scene, **SEARCH)

    assert acknowledged.items() <= durations(scene).items()
    pairs = zip(records(scene), rounds(scene), strict=True)
    repeated = [measurement for record, measurement in pairs if record.trial.repetition]
    assert repeated
    assert all(measurement.models[0].seconds > 0.9 for measurement in repeated)
    assert re.search(r"\b\d times\b", output)


def durations(scene) -> dict[str, float]:
    return {record.trial.key: record.outcome.duration_s for record in records(scene)}
