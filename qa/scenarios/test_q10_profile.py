# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q10: two models one after the other, each batch size at each concurrency."""

import pytest


@pytest.mark.parametrize(
    ("batch_sizes", "each"), [("1,2", 4), pytest.param("1,2,4", 6, marks=pytest.mark.slow)]
)
def test_all_combinations_are_profiled(scenario, batch_sizes: str, each: int) -> None:
    scenario.clone("add_sub", "other")

    run = scenario.profile(
        "--skip-summary-reports", "-b", batch_sizes, "-c", "1,2", "--run-config-search-disable",
        profile_models=["add_sub", "other"],
    )  # fmt: skip

    assert run.status == 0, run.output
    for model in ("add_sub", "other"):
        assert run.output.count(f"Profiling {model}_config_default") == each
    assert not (scenario.directory / "results").exists()
    assert scenario.checkpoints == ["0.ckpt", "1.ckpt"]
