# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q10: two models one after the other, each batch size at each concurrency."""

import pytest

LISTED = {
    "run_config_search_disable": True,
    "profile_models": ["add_sub", "other"],
    "concurrency": [1, 2],
}


@pytest.mark.parametrize(
    ("batch_sizes", "each"), [([1, 2], 4), pytest.param([1, 2, 4], 6, marks=pytest.mark.slow)]
)
def test_all_combinations_are_profiled(scenario, batch_sizes: list[int], each: int) -> None:
    scenario.clone("add_sub", "other")

    run = scenario.profile("--skip-summary-reports", **LISTED, batch_sizes=batch_sizes)

    assert run.status == 0, run.output
    for model in LISTED["profile_models"]:
        assert run.output.count(f"Profiling {model}_config_default") == each
    assert scenario.tables == {}
