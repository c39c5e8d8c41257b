# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q21: two models measured together, each of their loads with each: no search, no mode."""

import pytest


@pytest.mark.slow
def test_every_load_meets_every_load(scenario) -> None:
    scenario.clone("add_sub", "other")

    run = scenario.profile(
        run_config_profile_models_concurrently_enable=True,
        run_config_search_disable=True,
        profile_models=["add_sub", "other"],
        batch_sizes=[1, 2],
        concurrency=[1, 2],
    )

    assert run.status == 0, run.output
    for model in ("add_sub", "other"):
        assert run.output.count(f"Profiling {model}_config_default") == 16
