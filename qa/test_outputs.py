# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The check of outputs on the real server: faults are found, healthy models are not accused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.domain.profiles import Verdict
from qa.outputs.cases import FAULTS, HEALTHY, Case
from qa.outputs.run import is_right, proofs

A_FEW = ("numbers_rows_reversed", "healthy_batches_process", "free_padding_in_the_mean")


def wrong_of(cases: list[Case], directory: Path) -> list[str]:
    """What was judged wrongly."""
    return [
        f"{case.name}: {proof.verdict.value}: {proof.sentence}"
        for case, proof in proofs(cases, directory)
        if not is_right(case, proof) or proof.verdict is Verdict.UNKNOWN
    ]


def test_a_fault_is_found_and_a_healthy_model_is_not_accused(tmp_path: Path) -> None:
    cases = [case for case in (*FAULTS, *HEALTHY) if case.name in A_FEW]
    assert wrong_of(cases, tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("group", [FAULTS, HEALTHY], ids=["faults", "healthy"])
def test_all_faults_are_found_and_no_healthy_model_is_accused(
    group: tuple[Case, ...], tmp_path: Path
) -> None:
    alone = [case for case in group if case.kind == "calls"]
    found = wrong_of([case for case in group if case not in alone], tmp_path / "all")
    for case in alone:
        found += wrong_of([case], tmp_path / case.name)
    assert found == []


def test_a_configuration_with_wrong_outputs_is_not_recommended(scene: Any) -> None:
    (case,) = (case for case in FAULTS if case.name == "numbers_rows_reversed")
    case.write(scene.models)
    scene.config["profile_models"] = {
        case.name: {
            "cpu_only": True,
            "parameters": {"concurrency": [8]},
            "model_config_parameters": {"max_batch_size": [8], "dynamic_batching": [{}]},
        }
    }

    status, output = scene.profile("--outputs", "on")

    assert status == 0, output
    (model,) = json.loads((scene.directory / "results" / "results.json").read_text())["models"]
    assert model["recommended"]["variant"] == f"{case.name}_config_default"
    verdicts = {proof["variant"]: proof["verdict"] for proof in model["proofs"]}
    assert verdicts == {
        f"{case.name}_config_0": "failed",
        f"{case.name}_config_default": "passed",
    }
    (failure,) = model["failures"]
    assert failure["reason"] == "WRONG_OUTPUTS"
    assert "only when requests are mixed" in failure["message"]
    assert "Proven: its outputs do not change when requests are mixed" in output


@pytest.mark.slow
@pytest.mark.parametrize("model", ["ensemble_chain", "bls_chain", "sim_llm"])
def test_ensembles_callers_and_streams_are_checked(scene: Any, model: str) -> None:
    scene.config["profile_models"] = {model: {"cpu_only": True}}
    if model == "bls_chain":
        scene.config["bls_composing_models"] = ["scale", "add_sub"]

    status, output = scene.profile(
        "--outputs", "on", "--run-config-search-max-concurrency", "2",
        "--run-config-search-max-instance-count", "2",
        "--run-config-search-max-model-batch-size", "2",
    )  # fmt: skip

    assert status == 0, output
    assert "Proven: its outputs" in output, output
