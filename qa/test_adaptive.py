# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""An adaptive search on the real server."""

from __future__ import annotations

import json
from typing import Any

from model_analyzer.domain.slots import Lane
from model_analyzer.state.checkpoint import load

BOUNDS = {
    "run_config_search_mode": "adaptive",
    "run_config_search_max_instance_count": 2,
    "run_config_search_max_model_batch_size": 8,
    "run_config_search_max_concurrency": 16,
    "max_trials": 5,
}


def test_its_conclusion_is_stored_and_recommended(scene) -> None:
    status, output = scene.profile(**BOUNDS)

    assert status == 0, output
    # it ends before the limit where the machine's noise makes one look better than all others
    new, again = output.count("Profiling add_sub_"), output.count("Measuring add_sub_")
    assert 2 <= (measured := new + again) <= 5
    assert f"Search stopped after {measured} measurements" in output
    checkpoint = load(scene.directory / "checkpoints")
    # some are measured again
    trials = len({record.trial.first.key for record in checkpoint.records})
    model = results(scene)
    assert model["conclusion"]["trials"] == checkpoint.conclusions[Lane("add_sub")].trials == trials
    page = scene.directory / "reports" / "summaries" / "add_sub" / "result_summary.html"
    assert f"after {trials} trials" in page.read_text()

    status, output = scene.profile(**BOUNDS)

    assert status == 0, output
    assert "Profiling add_sub_" not in output
    assert scene.checkpoints == ["0.ckpt"]
    again = results(scene)
    assert again["recommended"] == model["recommended"]
    assert again["conclusion"] == model["conclusion"]


def results(scene) -> dict[str, Any]:
    text = (scene.directory / "results" / "results.json").read_text()
    model: dict[str, Any]
    (model,) = json.loads(text)["models"]
    return model
