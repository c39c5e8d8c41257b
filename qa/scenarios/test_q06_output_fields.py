# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q6: the columns of the tables are the user's choice, in files and in the log.

`analyze` is an old name of `profile` elsewhere; here it only reads the checkpoint.
"""

FIELDS = {
    "inference_output_fields": [
        "model_name", "batch_size", "concurrency", "model_config_path", "instance_group",
        "satisfies_constraints", "perf_throughput", "perf_latency_avg", "perf_latency_p99",
    ],
    "gpu_output_fields": [
        "model_name", "gpu_uuid", "model_config_path", "gpu_used_memory", "gpu_utilization",
    ],
    "server_output_fields": ["model_name", "gpu_uuid", "gpu_used_memory", "gpu_utilization"],
}  # fmt: skip


def test_tables_have_the_chosen_columns(scenario) -> None:
    models = {"profile_models": ["add_sub"]}
    run = scenario.profile(
        run_config_search_max_concurrency=2,
        run_config_search_max_instance_count=1,
        run_config_search_max_model_batch_size=1,
        **models,
    )
    assert run.status == 0, run.output
    assert scenario.tables == scenario.expected(4)

    run = scenario.run("analyze", "-v", **FIELDS, **models)

    assert run.status == 0, run.output
    assert scenario.tables == run.tables == scenario.expected(4, 9, 5, 4)
