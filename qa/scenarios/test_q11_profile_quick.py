# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q11: a quick search over HTTP."""

import pytest


@pytest.mark.slow
def test_a_quick_search_over_http(scenario) -> None:
    run = scenario.profile(
        "--client-protocol", "http", "--run-config-search-mode", "quick",
        profile_models=["add_sub"],
        run_config_search_max_concurrency=2,
        run_config_search_max_instance_count=2,
    )  # fmt: skip

    assert run.status == 0, run.output
    assert "Starting quick mode search" in run.output
    assert scenario.rows()
