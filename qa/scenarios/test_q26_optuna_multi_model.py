# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q26: Optuna over two models that are measured together: one percent of 3025, which is 30.

They and the default are at most 31 measurements. Then each of the best three and the default is
measured under concurrencies from 1 on, until throughput no longer grows: how many that are depends
on the machine, and is 11 at most. Elsewhere at most 52 in all are expected.
"""

import pytest

pytest.importorskip("optuna", reason="the extra `optuna` is not installed")


@pytest.mark.slow
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
    trials, _, _ = run.output.partition("Done with Optuna mode search")
    for model in ("add", "sub"):
        assert trials.count(f"Profiling {model}_config_") <= 31
        assert 16 <= run.profiled(model) <= 31 + 4 * 11
