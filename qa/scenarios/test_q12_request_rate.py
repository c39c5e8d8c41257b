# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q12: each batch size at each request rate."""

import pytest


@pytest.mark.parametrize(
    ("batch_sizes", "count"), [([4, 8], 4), pytest.param([1, 4, 8], 6, marks=pytest.mark.slow)]
)
def test_all_combinations_are_profiled(scenario, batch_sizes: list[int], count: int) -> None:
    run = scenario.profile(
        run_config_search_disable=True,
        profile_models=["add_sub"],
        batch_sizes=batch_sizes,
        request_rate=[1024, 2048],
    )

    assert run.status == 0, run.output
    assert run.output.count("Profiling add_sub_config_default") == count
    assert len(scenario.rows()) == count
