# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q27: Optuna over models that are made of others."""

from pathlib import Path

import pytest

pytest.importorskip("optuna", reason="the extra `optuna` is not installed")

OPTUNA = ("--run-config-search-mode", "optuna")


@pytest.mark.slow
def test_an_ensemble(scenario) -> None:
    run = scenario.profile(*OPTUNA, profile_models=["ensemble_add_sub"])

    assert run.status == 0, run.output
    assert "Starting Optuna mode search" in run.output
    assert 13 <= run.profiled("ensemble_add_sub") <= 63


@pytest.mark.slow
def test_a_bls_model(scenario, short_windows) -> None:
    data = Path(__file__).with_name("bls_input_data.json")

    run = scenario.profile(
        *OPTUNA,
        profile_models=["bls"],
        bls_composing_models=["add"],
        perf_analyzer_flags={**short_windows, "input-data": str(data)},
    )

    assert run.status == 0, run.output
    assert "Starting Optuna mode search" in run.output
    assert 14 <= run.profiled("bls") <= 64
