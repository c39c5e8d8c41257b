# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Several models in one run on the real server, and the overview of them."""

from __future__ import annotations

import re
import shutil

import pytest


@pytest.mark.slow
def test_all_models_of_a_repository_have_an_overview(scene) -> None:
    """A model with a goal and a search mode of its own beside another one."""
    for path in list(scene.models.iterdir()):
        if path.name not in ("add_sub", "scale"):
            shutil.rmtree(path)

    status, output = scene.profile(
        profile_models={
            "all": {"cpu_only": True, "search": "quick"},
            "scale": {"cpu_only": True, "latency_budget": 0.001, "search": "adaptive"},
        },
        max_trials=2,
        run_config_search_max_instance_count=1,
        run_config_search_max_model_batch_size=2,
        run_config_search_max_concurrency=2,
    )

    assert status == 0, output
    assert "Done with quick mode search" in output
    assert "Search stopped after" in output
    page = scene.directory / "reports" / "index.html"
    assert f"wrote {page}" in output
    rows = re.findall(r'<tr>\s*<th scope="row".*?</tr>', page.read_text(), re.DOTALL)
    assert [re.findall(r'href="(.*?)"', row) for row in rows] == [
        [f"summaries/{model}/result_summary.html"] for model in ("scale", "add_sub")
    ]
    assert ["limits missed" in row for row in rows] == [True, False]

    status, output = scene.run("report", "--fleet", "-e", "again")

    assert status == 0, output
    again = (scene.directory / "again" / "reports" / "index.html").read_text()
    assert ["limits missed" in row for row in again.split("<tr>")[2:]] == [True, False]
