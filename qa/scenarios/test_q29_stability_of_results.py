# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q29: the same checkpoint gives the same best, every time."""

import pytest


@pytest.mark.slow
def test_the_first_row_stays(scenario) -> None:
    options = {
        "run_config_search_min_concurrency": 4,
        "run_config_search_max_concurrency": 4,
        "run_config_search_max_instance_count": 1,
        "run_config_search_max_model_batch_size": 2,
        "objectives": ["perf_throughput"],
        "profile_models": ["add_sub"],
    }
    assert scenario.profile(**options).status == 0

    first = []
    for _ in range(3):
        run = scenario.profile(**options)
        assert run.status == 0, run.output
        assert run.profiled("add_sub") == 0
        first.append(scenario.rows()[0])

    assert first[0] == first[1] == first[2]
