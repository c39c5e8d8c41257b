# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q19: a quick search takes few measurements."""


def test_a_quick_search_is_short(scenario) -> None:
    run = scenario.profile(
        "--run-config-search-mode", "quick", "--latency-budget", "10", "--skip-summary-reports",
        profile_models=["add_sub"],
        run_config_search_max_concurrency=2,
        run_config_search_max_instance_count=2,
    )  # fmt: skip

    assert run.status == 0, run.output
    assert "Starting quick mode search" in run.output
    assert 4 <= run.profiled("add_sub") <= 16
    assert scenario.tables == {}
