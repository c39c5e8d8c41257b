# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q20: a quick search over two models that are measured together."""

import pytest


@pytest.mark.slow
def test_two_models_at_once(scenario) -> None:
    run = scenario.profile(
        "--run-config-search-mode", "quick", "--skip-summary-reports",
        profile_models=["add", "sub"],
        run_config_profile_models_concurrently_enable=True,
    )  # fmt: skip

    assert run.status == 0, run.output
    assert "Starting quick mode search" in run.output
    for model in ("add", "sub"):
        assert 20 <= run.profiled(model) <= 80
    assert scenario.tables == {}
