# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q26: Optuna over two models that are measured together: one percent of 3025."""

import pytest

pytest.importorskip("optuna", reason="the extra `optuna` is not installed")


@pytest.mark.slow
@pytest.mark.xfail(strict=False, reason="until merged: optuna")
def test_two_models_at_once(scenario) -> None:
    run = scenario.profile(
        "--run-config-search-mode", "optuna", "--skip-summary-reports",
        profile_models=["add", "sub"],
        run_config_profile_models_concurrently_enable=True,
        min_percentage_of_search_space=1,
        max_percentage_of_search_space=1,
    )  # fmt: skip

    assert run.status == 0, run.output
    assert "Starting Optuna mode search" in run.output
    for model in ("add", "sub"):
        assert 16 <= run.profiled(model) <= 52
