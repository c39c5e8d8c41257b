# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q23: counts and kinds of instances that are listed for the models of an ensemble are kept.

The lines that say so are read by scripts.
"""

import re

import pytest


@pytest.mark.slow
def test_listed_instances_are_kept(scenario) -> None:
    listed = {"add": ("KIND_CPU", [1, 2, 4]), "sub": (scenario.kind, [1, 2])}

    run = scenario.profile(
        "--run-config-search-mode", "quick",
        profile_models=["ensemble_add_sub"],
        ensemble_composing_models={
            name: {
                "model_config_parameters": {
                    "instance_group": [{"kind": kind, "count": counts}],
                    "dynamic_batching": {"max_queue_delay_microseconds": [0]},
                }
            }
            for name, (kind, counts) in listed.items()
        },
    )  # fmt: skip

    assert run.status == 0, run.output
    assert 10 <= run.profiled("ensemble_add_sub") <= 40
    for name, (kind, counts) in listed.items():
        blocks = re.findall(
            rf"Creating model config: {name}_config_\d+\n(?:.*  .*\n)*?"
            r".*  Setting instance_group to \[\{'count': (\d+), 'kind': '(\w+)'\}\]\n",
            run.output,
        )
        assert blocks
        for count, block in blocks:
            assert block == kind
            assert min(counts) <= int(count) <= max(counts)
