# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q9: the first two commands that people type, with nothing said about paths."""

import pytest


@pytest.mark.slow
def test_profile_and_report_with_default_paths(scenario) -> None:
    run = scenario.profile(
        profile_models=["add_sub"],
        skip_detailed_reports=False,
        run_config_search_max_concurrency=2,
        run_config_search_max_instance_count=2,
        run_config_search_max_model_batch_size=2,
    )
    assert run.status == 0, run.output
    for path in ("checkpoints", "output_model_repository", "results", "reports", "plots"):
        assert (scenario.directory / path).is_dir()
    (scenario.directory / "there").mkdir()

    status, output = scenario.scene.run(
        "report", "--report-model-configs", "add_sub_config_0,add_sub_config_1", "-e", "there"
    )

    assert status == 0, output
    for name in ("add_sub_config_0", "add_sub_config_1"):
        page = scenario.directory / "there" / "reports" / "detailed" / name / "detailed_report.html"
        assert name in page.read_text()
