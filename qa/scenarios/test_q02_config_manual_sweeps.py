# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q2: three configurations with listed parameters share a checkpoint directory: rows add up, and
what is the same variant in two of them is measured once.

The second has four combinations; one of them is a variant of the first.
"""

import pytest


@pytest.mark.slow
def test_rows_of_three_configurations_add_up(scenario) -> None:
    kind = scenario.kind
    steps = [
        ({"instance_group": [{"count": [1, 2, 3, 4], "kind": kind}]}, 5),
        (
            {
                "dynamic_batching": [{}, None],
                "instance_group": [{"count": [1], "kind": [kind, None]}],
            },
            8,
        ),
        ({"dynamic_batching": {"max_queue_delay_microseconds": [100, 200]}}, 10),
    ]
    for parameters, rows in steps:
        run = scenario.profile(
            run_config_search_disable=True,
            profile_models={"add_sub": {"model_config_parameters": parameters}},
        )
        assert run.status == 0, run.output
        assert scenario.tables == scenario.expected(rows)
