# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q13: a model that only runs on CPUs has no GPU tables, on any machine.

One instance is what `add` has by default: that variant is listed, and not measured again.
"""


def test_a_model_on_cpus(scenario) -> None:
    run = scenario.profile(
        "-v",
        profile_models={"add": {"cpu_only": True}},
        run_config_search_max_concurrency=4,
        run_config_search_max_instance_count=2,
        run_config_search_max_model_batch_size=1,
    )

    assert run.status == 0, run.output
    assert scenario.tables == run.tables == {"Models (Inference)": (9, 9)}
    assert run.profiled("add") == 6
