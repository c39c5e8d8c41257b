# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Mistakes in ensembles are told before a run, with ensemble, step and remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ensemble_cases import PARTS, Ensemble, step

USAGE = 2


def write(directory: Path, models: str) -> None:
    (directory / "c.yaml").write_text(f"model_repository: models\nprofile_models: {models}\n")


def test_a_step_without_a_version_is_named(run, tmp_path: Path) -> None:
    PARTS["a"].write(tmp_path / "models" / "step", "")
    Ensemble(steps=[step("step", version=None)]).write(tmp_path / "models" / "chain")
    write(tmp_path, "[chain]")

    status, _, error = run("config", "validate", "c.yaml")

    assert status == USAGE
    assert "step 1 (step) of chain has no model_version: write -1" in error
    _, output, error = run("doctor", "--no-models", "-f", "c.yaml")
    assert "step 1 (step) of chain has no model_version: write -1" in " ".join(output.split())


@pytest.mark.parametrize("models", ["[chain, chain2]", "all"])
def test_a_missing_step_is_told_once_for_each_ensemble(run, tmp_path: Path, models: str) -> None:
    for name in ("chain", "chain2"):
        Ensemble(steps=[step("resnet")]).write(tmp_path / "models" / name)
    write(tmp_path, models)

    status, _, error = run("config", "validate", "c.yaml")

    assert status == USAGE
    first, second = error.splitlines()
    assert "step 1 (resnet) of chain: no model 'resnet' in" in first
    assert "step 1 (resnet) of chain2: no model 'resnet' in" in second
    assert "did you mean" not in error
    assert "(add it, or correct its name)" in first
