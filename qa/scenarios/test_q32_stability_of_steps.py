# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q32: a search with the same limits takes the same steps."""

import shutil

import pytest


@pytest.mark.slow
def test_four_runs_take_the_same_steps(scenario) -> None:
    steps = []
    for _ in range(4):
        run = scenario.profile(
            profile_models=["add_sub"],
            run_config_search_max_concurrency=2,
            run_config_search_max_instance_count=2,
            run_config_search_max_model_batch_size=2,
        )
        assert run.status == 0, run.output
        assert run.output.count("Profiling server only metrics") == 1
        steps.append(run.profiled("add_sub"))
        shutil.rmtree(scenario.directory / "checkpoints")

    assert max(steps) - min(steps) <= 1
