# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q25: a search by Optuna tries a small share of the space: here one to three of 32."""

import pytest

pytest.importorskip("optuna", reason="the extra `optuna` is not installed")


@pytest.mark.slow
def test_a_small_share_is_tried(scenario) -> None:
    run = scenario.profile(
        "-v", "--run-config-search-mode", "optuna", "--latency-budget", "10",
        "--skip-summary-reports",
        profile_models=["add_sub"],
        run_config_search_max_concurrency=2,
        run_config_search_max_instance_count=2,
    )  # fmt: skip

    assert run.status == 0, run.output
    assert "Starting Optuna mode search" in run.output
    assert "Number of configs in search space: 32" in run.output
    assert 2 <= run.profiled("add_sub") <= 12
    assert scenario.tables == {}
