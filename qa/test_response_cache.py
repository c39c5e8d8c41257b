# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Models with Triton's response cache: perf_analyzer repeats its requests."""

from __future__ import annotations

import json
from typing import Any

import pytest

from model_analyzer.domain.measurements import Measurement
from model_analyzer.state.checkpoint import load
from qa.test_rounds import SLEEPS

CACHED = {
    "profile_models": ["m"],
    "triton_server_flags": {"cache-config": "local,size=1048576"},
    "run_config_search_disable": True,
    "concurrency": 1,
    "perf_analyzer_flags": {},
}


def measured(scene, **changes: Any) -> tuple[Measurement, str]:
    """The newest measurement of a model of 20 ms, and the output of the run."""
    if not (scene.models / "m").exists():
        scene.model("m", SLEEPS.format(seconds=0.02), extra="response_cache { enable: true }")
    status, output = scene.profile(**{**CACHED, **changes})
    assert status == 0, output
    records = load(scene.directory / "checkpoints").profile.records
    outcome = [*records][-1].outcome
    assert isinstance(outcome, Measurement)
    return outcome, output


def test_a_model_of_20_ms_answers_50_requests_a_second_and_not_thousands(scene) -> None:
    outcome, output = measured(scene)

    assert "model m: measured without the response cache of m." in output
    (model,) = outcome.models
    assert 5 < model.values["perf_throughput"] <= 50
    assert model.values["perf_latency_p50"] >= 20
    assert "cache_hit_rate" not in model.values
    counts = outcome.statistics["m"]
    assert counts.requests is not None
    assert counts.requests.answered == counts.inferences >= (model.requests or 0)
    results = json.loads((scene.directory / "results" / "results.json").read_text())
    remarks = " ".join(results["models"][0]["remarks"])
    assert "was measured without its response cache" in remarks
    # what is deployed is what the user had
    written = (scene.directory / "best" / "m" / "config.pbtxt").read_text()
    assert "response_cache {\n  enable: true\n}" in written


@pytest.mark.slow
def test_a_cache_that_is_kept_shows_its_hit_rate(scene) -> None:
    outcome, output = measured(scene, response_cache="keep")

    (model,) = outcome.models
    assert model.values["cache_hit_rate"] > 90
    assert model.values["perf_throughput"] > 100
    # an average request does not take the 20 ms of the few that executed
    assert model.values["perf_server_compute_infer"] < model.values["perf_latency_avg"]
    assert "Cache Hit" in output
    assert "of the requests were answered from the response cache" in output


ENSEMBLE = """\
name: "outer"
platform: "ensemble"
max_batch_size: 8
input [ { name: "INPUT" data_type: TYPE_FP32 dims: [ 4 ] } ]
output [ { name: "OUTPUT" data_type: TYPE_FP32 dims: [ 4 ] } ]
response_cache { enable: true }
ensemble_scheduling { step [ { model_name: "m" model_version: -1
  input_map { key: "INPUT" value: "INPUT" } output_map { key: "OUTPUT" value: "OUTPUT" } } ] }
"""


@pytest.mark.slow
def test_the_kept_cache_of_an_ensemble_is_no_failed_measurement(scene) -> None:
    """Its step, which has no cache, is executed once for thousands of answers."""
    scene.model("m", SLEEPS.format(seconds=0.02))
    (scene.models / "outer" / "1").mkdir(parents=True)
    (scene.models / "outer" / "config.pbtxt").write_text(ENSEMBLE)

    outcome, _ = measured(scene, response_cache="keep", profile_models=["outer"])

    (model,) = outcome.models
    assert model.values["cache_hit_rate"] > 90
    assert model.values["perf_throughput"] > 100
